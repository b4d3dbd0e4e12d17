// The searches for segments and rounds where a table lists every message, whose order need not have
// a period: in networks without switches in the planned order (alg/packing/list_plan.cpp), and
// elsewhere where time slots hold the order (alg/packing/justify_sends.cpp).
#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "alg/packing/segment_search.h"

namespace espalier {

namespace {

constexpr std::size_t kManyListedSends = 250'000;  // more must gain kWorthwhile
constexpr double kWorthwhile = 0.003;              // of the time
constexpr double kAtBound = 0.0002;                // above the busiest link's time: good enough
constexpr double kWorse = 1.002;                   // than the best: more segments are too many
constexpr std::uint32_t kLeadSegments = 4;         // that try all leads; if off: 3.8 % slower
constexpr std::uint32_t kFewestJustified = 4;
constexpr std::size_t kManyJustifiedSends = 500'000;  // of more, one number of rounds is planned
constexpr double kHopeless = 1.01;  // times other trees: no number of rounds makes up for it

// Without a lead, links would idle between the reduces and the copies of an all_reduce. Each
// segment leads the next segment by its time on the busiest link, divided by a number of this list;
// 0: no lead. 1 alone costs 10 %; meshes lose 0.4 % without 0 or 16.
constexpr std::uint32_t kLeads[] = {1, 2, 16, 0};

}  // namespace

bool SegmentSearch::fits_list(const TreeOps& trees, std::uint32_t segments) const {
  return segments == 1 ||
         (unit_bytes(trees) / segments >= std::max(kLeastMessage, request_.element_bytes) &&
          trees.ops.size() * segments <= kMostListedSends);
}

std::uint32_t SegmentSearch::most_listed(const TreeOps& trees) const {
  std::uint32_t most = 1;
  while (2 * most <= kMostSegments && fits_list(trees, 2 * most)) most *= 2;
  return most;
}

void SegmentSearch::plan_waiting() {
  // The time that is expected, the place among the trees that wait, and the busiest link's time.
  std::vector<std::tuple<std::uint64_t, std::size_t, std::uint64_t>> order;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const RoundTask task = task_of(waiting_[i], unit_bytes(waiting_[i]));
    const std::uint64_t least = busiest_link_ps(task);
    const std::vector<std::uint64_t> ways =
        remaining_paths(task.ops, successors_of(task.ops), arrivals_of(task)).remaining;
    const std::uint64_t whole = std::max(least, *std::max_element(ways.begin(), ways.end()));
    order.emplace_back(least + (whole - least) / most_listed(waiting_[i]), i, least);
  }
  std::sort(order.begin(), order.end());
  // Of two equal times the trees that were considered first have it, so the order in which they
  // are planned does not show.
  std::size_t best = best_ ? 0 : waiting_.size();
  for (const auto& [expected, i, least] : order) {
    const std::uint64_t gain = i < best ? 0 : 1;
    if (best_ && (listing_.is_spent() || least + gain > passing_.time_ps)) continue;
    Passing p = list_passing(waiting_[i], least);
    if (best_ && p.time_ps + gain > passing_.time_ps) continue;
    passing_ = std::move(p);
    best_ = std::move(waiting_[i]);
    best = i;
  }
  waiting_.clear();
}

SegmentSearch::Passing SegmentSearch::list_passing(const TreeOps& trees, std::uint64_t least) {
  const std::uint32_t most = most_listed(trees);
  std::optional<Passing> best;
  std::uint32_t best_lead = kLeads[0];
  std::uint32_t best_segments = 1;
  const auto try_list = [&](std::uint32_t segments, std::uint32_t lead) {
    if (best && segments == best_segments && lead == best_lead) return best->time_ps;
    Passing p = listed_passing(trees, segments);
    const RoundTask task = task_of(trees, p.segment);
    const std::uint64_t of_segment = busiest_link_ps(task);
    const std::uint64_t limit =
        best ? static_cast<std::uint64_t>(kWorse * static_cast<double>(best->time_ps)) + 1
             : std::numeric_limits<std::uint64_t>::max();
    p.plan = plan_list(task, p.together, lead == 0 ? 0 : of_segment / lead, limit);
    constexpr std::uint64_t kWorkOfSend = 300;
    listing_.spend(kWorkOfSend * p.plan.start_ps.size());
    listing_.found_plan();
    p.time_ps = p.plan.end_ps(1);
    const std::uint64_t time = p.time_ps;
    if (!best || time < best->time_ps) {
      best = std::move(p);
      best_lead = lead;
      best_segments = segments;
    }
    return time;
  };
  const auto try_leads = [&](std::uint32_t segments) {
    for (const std::uint32_t lead : kLeads) try_list(segments, lead);
  };
  if (request_.segments != 0) {
    try_leads(request_.segments);
  } else {
    std::uint32_t worse = 0;
    for (std::uint32_t s = 1; s <= most && worse < 2 && !listing_.is_spent(); s *= 2) {
      const auto before = best ? static_cast<double>(best->time_ps) : 0;
      if (s == kLeadSegments) try_leads(s);
      const std::uint64_t time = s == kLeadSegments ? best->time_ps : try_list(s, best_lead);
      const auto now = static_cast<double>(best->time_ps);
      worse = static_cast<double>(time) > kWorse * now ? worse + 1 : 0;
      // The time to fill and empty the links halves with each doubling of the segments.
      const double above = now - static_cast<double>(least);
      const double gain = std::min(before == 0 ? above : before - now, above) / 2;
      if (above < kAtBound * now) break;
      if (2 * s * trees.ops.size() > kManyListedSends && gain < kWorthwhile * now) break;
    }
    const std::uint32_t found = best_segments;
    if (trees.ops.size() * found <= kManyListedSends && found > kLeadSegments &&
        !listing_.is_spent()) {
      try_leads(found);
      for (const std::uint32_t s : {found / 4 * 3, found / 2 * 3}) {
        if (fits_list(trees, s)) try_list(s, best_lead);
      }
    }
  }
  return std::move(*best);
}

// The number of rounds near `wanted` whose messages have the fewest flits. Segments are whole
// flits, so some numbers of rounds send more flits than the data need.
std::uint32_t SegmentSearch::well_cut(Bytes unit, std::uint32_t wanted) const {
  std::uint32_t best = wanted;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t w = std::max(1U, wanted - wanted / 8); w <= wanted + wanted / 8; ++w) {
    const std::uint64_t flits = w * request_.timing.flits(segment_bytes(unit, w));
    if (flits >= least) continue;
    least = flits;
    best = w;
  }
  return best;
}

void SegmentSearch::consider_justified(const TreeOps& trees, std::uint32_t rounds) {
  const Bytes unit = unit_bytes(trees);
  std::optional<Passing> best;
  std::uint32_t best_rounds = 0;
  const auto try_rounds = [&](std::uint32_t wanted) {
    Passing p = listed_passing(trees, wanted);
    if (p.together < 2 || p.together == best_rounds || is_spent()) return false;
    const RoundTask task = guarded(task_of(trees, p.segment));
    const RoundPlan round = plan_round(task, true);
    // The busiest link's time, which gaps cannot shorten.
    const double least =
        trees.owned.empty()
            ? static_cast<double>(round.period_ps) / round.stretch * (p.together - 1)
            : static_cast<double>(busiest_link_ps(task_of(trees, unit)));
    const Passing* rival = best ? &*best : best_ ? &passing_ : nullptr;
    if (rival != nullptr && least >= static_cast<double>(rival->time_ps)) return false;
    p.plan = justified(task, round, p.together);
    budget_.spend(round.work + kWorkOfJustified * p.plan.start_ps.size());
    p.time_ps = p.plan.end_ps(1);
    if (best && p.time_ps >= best->time_ps) return false;
    best_rounds = p.together;
    best = std::move(p);
    return true;
  };
  if (request_.segments != 0) {
    try_rounds(request_.segments);
  } else {
    // Gaps at the ends are filled, so half of the rounds of the best periodic plan are enough.
    const auto most = static_cast<std::uint32_t>(
        std::min<std::size_t>(rounds, kMostListedSends / trees.ops.size()));
    const std::uint32_t first = well_cut(unit, std::min(most, rounds / 2));
    if (!try_rounds(first)) return;
    const auto of_best = static_cast<double>(best->time_ps);
    if (best_ && of_best > kHopeless * static_cast<double>(passing_.time_ps)) return;
    if (trees.ops.size() * first <= kManyJustifiedSends) {
      for (std::uint32_t w = first / 2; w >= kFewestJustified && try_rounds(well_cut(unit, w));) {
        w /= 2;
      }
      const std::uint32_t found = best_rounds;
      try_rounds(well_cut(unit, found - found / 4));
      if (found == first) try_rounds(well_cut(unit, std::min(most, found + found / 2)));
    }
  }
  if (best) consider_passing(trees, std::move(*best));
}

}  // namespace espalier
