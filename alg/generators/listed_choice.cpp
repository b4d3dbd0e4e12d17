// The search for segments in networks without switches, where a table lists every message of all
// segments in the planned order (alg/packing/list_plan.cpp).
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "alg/generators/segment_choice.h"

namespace espalier {

namespace {

constexpr std::uint32_t kMostListedSegments = 8192;
constexpr Bytes kLeastListedSegment = 256;         // bytes; a smaller message is mostly head
constexpr std::size_t kManyListedSends = 250'000;  // more must gain kWorthwhile
constexpr double kWorthwhile = 0.003;              // of the time
constexpr double kAtBound = 0.0002;                // above the busiest link's time: good enough
constexpr double kWorse = 1.002;                   // than the best: more segments are too many
constexpr std::uint32_t kLeadSegments = 4;         // with which all leads are tried

// If the messages with the longest remaining paths of all segments went first, links would idle
// while the last of these messages pass and the first copies of an all_reduce begin. Each segment
// therefore leads the next segment by its time on the busiest link, divided by a number of this
// list; 0: no lead.
constexpr std::uint32_t kLeads[] = {1, 2, 16, 0};

}  // namespace

void SegmentChoice::consider_listed(const TreeOps& trees) {
  const Bytes unit = unit_bytes(trees);
  const std::uint64_t least = busiest_link_ps(task_of(trees, unit));
  if (best_ && least >= passing_.time_ps) return;
  std::optional<Passing> best;
  std::uint32_t best_lead = kLeads[0];
  std::uint32_t best_segments = 1;
  const auto try_list = [&](std::uint32_t segments, std::uint32_t lead) {
    Passing p;
    p.segment = segment_bytes(unit, segments);
    p.together = static_cast<std::uint32_t>((unit + p.segment - 1) / p.segment);
    p.rows = rows_of(trees.ops) * p.together;
    const WaveTask task = task_of(trees, p.segment);
    const std::uint64_t of_segment = busiest_link_ps(task);
    const std::uint64_t limit =
        best ? static_cast<std::uint64_t>(kWorse * static_cast<double>(best->time_ps)) + 1
             : std::numeric_limits<std::uint64_t>::max();
    p.plan = plan_list(task, p.together, lead == 0 ? 0 : of_segment / lead, limit);
    p.time_ps = p.plan.end_ps(1);
    const std::uint64_t time = p.time_ps;
    if (!best || time < best->time_ps) {
      best = std::move(p);
      best_lead = lead;
      best_segments = segments;
    }
    return time;
  };
  const auto fits_unit = [&](std::uint32_t segments) {
    return segments == 1 ||
           (unit / segments >= std::max(kLeastListedSegment, request_.element_bytes) &&
            trees.ops.size() * segments <= kMostListedSends);
  };
  const auto try_leads = [&](std::uint32_t segments) {
    for (const std::uint32_t lead : kLeads) try_list(segments, lead);
  };
  if (request_.segments != 0) {
    try_leads(request_.segments);
  } else {
    std::uint32_t worse = 0;
    for (std::uint32_t s = 1; s <= kMostListedSegments && fits_unit(s) && worse < 2; s *= 2) {
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
    if (trees.ops.size() * found <= kManyListedSends && found > kLeadSegments) {
      try_leads(found);
      for (const std::uint32_t s : {found / 4 * 3, found / 2 * 3}) {
        if (fits_unit(s)) try_list(s, best_lead);
      }
    }
  }
  consider_passing(trees, std::move(*best));
}

}  // namespace espalier
