#include "alg/packing/segment_search.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "alg/routes/links.h"

namespace espalier {

namespace {

constexpr std::uint32_t kFewSegments = 8;  // planned for any number of sends; if off: 5.7 % slower
constexpr double kLessStretch = 0.005;     // of the period: tried again with other segments
constexpr std::size_t kMostListedOps = 200'000;
constexpr std::size_t kMostReplayedSends = 4'000'000;

}  // namespace

// Rows that repeat cost a cycle in every pass in which they do not issue; plans do not count it.
bool SegmentSearch::has_many_rows(const Passing& p) const {
  return request_.table_repeat && request_.table_rows != 0 && p.rows > request_.table_rows;
}

bool SegmentSearch::is_better(const Passing& a, const Passing& b) const {
  const bool many_a = has_many_rows(a);
  const bool many_b = has_many_rows(b);
  if (many_a && many_b && a.rows != b.rows) return a.rows < b.rows;
  return many_a != many_b ? many_b : a.time_ps < b.time_ps;
}

std::vector<OwnedData> SegmentSearch::owned_by(const TreeOps& trees) const {
  if (!trees.owned.empty()) return trees.owned;
  const std::size_t parts = trees.per_rank == 0 ? 1 : topology_.num_nodes();
  const std::vector<Bytes> offsets = cut_evenly(request_.size, parts, request_.element_bytes);
  std::vector<OwnedData> owned;
  for (std::size_t part = 0; part < parts; ++part) {
    owned.push_back({0,
                     request_.node_of(is_rooted(request_.op) ? request_.root : part),
                     offsets[part + 1] - offsets[part],
                     trees.per_rank == 0 ? static_cast<std::uint32_t>(trees.units) : trees.per_rank,
                     {}});
  }
  return owned;
}

Bytes SegmentSearch::unit_bytes(const TreeOps& trees) const {
  Bytes most = 0;
  for (const OwnedData& owned : owned_by(trees)) {
    const Bytes elements = owned.bytes / request_.element_bytes;
    most = std::max(most, (elements + owned.units - 1) / owned.units * request_.element_bytes);
  }
  return most;
}

RoundTask SegmentSearch::task_of(const TreeOps& trees, Bytes segment) const {
  RoundTask task{topology_, trees.routes, trees.ops, segment, request_.timing};
  for (const OwnedData& owned : trees.owned) {
    const Bytes elements = owned.bytes / request_.element_bytes;
    task.unit_bytes.insert(task.unit_bytes.end(), owned.units,
                           (elements + owned.units - 1) / owned.units * request_.element_bytes);
  }
  return task;
}

// Whole elements, and whole flits where that changes the number of segments little.
Bytes SegmentSearch::segment_bytes(Bytes unit, Bytes segments) const {
  const auto round_up = [](Bytes value, Bytes to) { return (value + to - 1) / to * to; };
  const Bytes even = std::max(request_.element_bytes,
                              round_up((unit + segments - 1) / segments, request_.element_bytes));
  const Bytes flit = std::lcm<Bytes>(request_.timing.flit_bytes, request_.element_bytes);
  constexpr Bytes kFewFlits = 8;  // if off: 2.7 % slower
  return segments == 1 || even < kFewFlits * flit ? even : round_up(even, flit);
}

std::size_t SegmentSearch::rows_of(const std::vector<RoundOp>& ops) const {
  std::vector<std::size_t> rows(topology_.num_vertices(), 0);
  for (const RoundOp& op : ops) ++rows[op.from.index()];
  return *std::max_element(rows.begin(), rows.end());
}

bool SegmentSearch::is_listed(const TreeOps& trees) const {
  return !request_.table_repeat && !shares_links(trees.routes, trees.ops) &&
         trees.ops.size() * request_.segments <= kMostListedSends;
}

SegmentSearch::Passing SegmentSearch::round_passing(const TreeOps& trees, Bytes segments) const {
  Passing p;
  p.segment = segment_bytes(unit_bytes(trees), segments);
  p.rounds = static_cast<std::uint32_t>((unit_bytes(trees) + p.segment - 1) / p.segment);
  p.rows = rows_of(trees.ops);
  return p;
}

SegmentSearch::Passing SegmentSearch::listed_passing(const TreeOps& trees, Bytes segments) const {
  Passing p = round_passing(trees, segments);
  std::swap(p.rounds, p.together);
  p.rows *= p.together;
  return p;
}

void SegmentSearch::consider(TreeOps trees) {
  if (!part_links_.empty()) {
    RouteSet routes(topology_);
    for (RoundOp& op : trees.ops) {
      std::vector<LinkId> path;
      for (const LinkId l : trees.routes.links(op.route)) path.push_back(part_links_[l.index()]);
      op.route = routes.add(topology_, path);
    }
    trees.routes = std::move(routes);
  }
  const bool waits = is_listed(trees);
  if (waits) {
    waiting_.push_back(std::move(trees));
    budget_.found_plan();
  }
  if (!waits || topology_.num_switches() != 0) plan_waiting();
  if (waits) return;
  const Bytes unit = unit_bytes(trees);
  std::vector<Passing> found;
  std::map<std::uint32_t, double> stretch_of;  // period that was found, by `together`
  const auto try_passing = [&](std::uint32_t together, std::uint32_t rounds) {
    if (is_spent() && !found.empty()) return;
    Passing p;
    p.together = together;
    p.segment = segment_bytes(unit, Bytes{together} * rounds);
    p.rounds =
        static_cast<std::uint32_t>((unit + together * p.segment - 1) / (together * p.segment));
    const std::vector<RoundOp> ops = tree_copies(trees.ops, together);
    p.rows = rows_of(ops);
    double& stretch = stretch_of.try_emplace(together, 1.0).first->second;
    p.plan = plan_round({topology_, trees.routes, ops, p.segment, request_.timing}, p.rounds != 1,
                        stretch);
    budget_.spend(p.plan.work);
    if (p.rounds != 1) stretch = std::max(1.0, p.plan.stretch - kLessStretch);
    p.time_ps = p.plan.end_ps(p.rounds);
    found.push_back(std::move(p));
  };
  const std::uint32_t given = request_.segments;
  const bool shared = shares_links(trees.routes, trees.ops);
  const bool is_exact = shared && !mixes_rates(task_of(trees, unit));
  const std::uint32_t factor = shared ? 4 : 2;
  for (std::uint32_t segments = 1; segments <= kMostSegments; segments *= factor) {
    const std::uint32_t s = given == 0 ? segments : given;
    if (given == 0 && s > kFewSegments && trees.ops.size() * s > kMostReplayedSends) break;
    if (s > 1 && unit / s < std::max(kLeastMessage, request_.element_bytes)) break;
    // Without a period, links that several nodes share do not fill.
    const bool listed = !shared || s <= kFewSegments || given != 0;
    if (listed && trees.ops.size() * s <= kMostListedOps) try_passing(s, 1);
    if (s >= 4) try_passing(1, s);
    if (s >= 32 && s % 4 == 0) try_passing(4, s / 4);
    if (shared && s >= 128 && s % 16 == 0) try_passing(16, s / 16);
    if (given != 0) break;
  }
  if (found.empty()) try_passing(1, 1);
  const auto sort_found = [&] {
    std::sort(found.begin(), found.end(),
              [&](const Passing& a, const Passing& b) { return is_better(a, b); });
  };
  sort_found();
  // Exchanging time slots shortens a round more if the period is long, so fewer, longer rounds are
  // tried too.
  if (is_exact && given == 0 && found.front().rounds >= 4) {
    const std::uint32_t together = found.front().together;
    const std::uint32_t rounds = found.front().rounds;
    try_passing(together, rounds / 2);
    try_passing(together, rounds - rounds / 4);
    sort_found();
  }
  if (shared && request_.timing.slot_counter && !request_.table_repeat) {
    const Passing& front = found.front();
    const bool periodic = front.rounds > 1;
    consider_justified(trees, front.together * (periodic ? front.rounds : 4));
    if (best_ && periodic && is_exact) return;
  }
  constexpr std::size_t kReplayed = 4;  // if off: 2.6 % slower
  if (found.size() > kReplayed) found.resize(kReplayed);
  for (Passing& p : found) {
    // The largest gain of exchanging time slots, in practice.
    constexpr double kMostGain = 0.12;  // if off: 2.6 % slower
    const bool hopeless =
        best_ && has_many_rows(p) >= has_many_rows(passing_) &&
        static_cast<double>(p.time_ps) * (1 - kMostGain) > static_cast<double>(passing_.time_ps);
    const std::vector<RoundOp> ops = tree_copies(trees.ops, p.together);
    const RoundTask task{topology_, trees.routes, ops, p.segment, request_.timing};
    if (is_exact && !hopeless) {
      shorten_span(task, p.plan);
      p.time_ps = p.plan.end_ps(p.rounds);
    }
    const std::size_t sends = trees.ops.size() * p.together * p.rounds;
    // If time slots hold the order, messages start when they are planned to.
    const bool held = request_.timing.slot_counter && shares_links(trees.routes, trees.ops);
    if (sends <= kMostReplayedSends && !held) p.time_ps = replay_ps(task, p.plan, p.rounds);
    consider_passing(trees, std::move(p));
  }
}

void SegmentSearch::consider_stored(const TreeOps& trees) {
  // Messages that must fit into a VC buffer: one arrives while another leaves.
  constexpr Bytes kPerBuffer = 2;
  const Bytes unit = unit_bytes(trees);
  const Bytes longest = std::max<Bytes>(1, request_.timing.stored_bytes / kPerBuffer);
  const Bytes least = (unit + longest - 1) / longest;
  const Bytes given = request_.segments;
  if (given != 0 && given < least) return;
  for (Bytes segments = std::max(given, least);; segments *= 2) {
    if (trees.ops.size() * segments > kMostReplayedSends) break;
    if (segments > least && unit / segments < std::max(kLeastMessage, request_.element_bytes))
      break;
    Passing p = round_passing(trees, segments);
    if (p.segment > request_.timing.stored_bytes) break;  // a buffer of few flits
    p.plan = plan_stored_round(task_of(trees, p.segment));
    p.time_ps = p.plan.end_ps(p.rounds);
    budget_.spend(kWorkOfStored * trees.ops.size());
    consider_passing(trees, std::move(p));
    if (given != 0 || is_spent()) break;
  }
}

void SegmentSearch::consider_steps(const TreeOps& trees, const std::vector<ShiftStep>& steps,
                                   const std::vector<std::uint32_t>& turns) {
  Passing p = round_passing(trees, std::max(1U, request_.segments));
  p.plan = plan_steps(task_of(trees, p.segment), steps, turns, p.rounds != 1);
  p.time_ps = p.plan.end_ps(p.rounds);
  consider_passing(trees, std::move(p));
}

std::uint64_t SegmentSearch::end_ps(const TreeOps& trees,
                                    const std::vector<std::uint64_t>& starts) const {
  const MessageTimes times(topology_, trees.routes, request_.timing);
  std::uint64_t end = 0;
  for (std::size_t o = 0; o < starts.size(); ++o) {
    end = std::max(end, starts[o] + times.arrival_ps(trees.ops[o], unit_bytes(trees)));
  }
  return end;
}

std::uint64_t SegmentSearch::consider_starts(const TreeOps& trees,
                                             std::vector<std::uint64_t> starts) {
  Passing p = round_passing(trees, 1);
  p.plan.span_ps = end_ps(trees, starts);
  p.plan.start_ps = std::move(starts);
  // Without time slots the machine only keeps the order.
  p.time_ps = request_.timing.slot_counter ? p.plan.span_ps
                                           : replay_ps(task_of(trees, p.segment), p.plan, p.rounds);
  const std::uint64_t time_ps = p.time_ps;
  consider_passing(trees, std::move(p));
  return time_ps;
}

void SegmentSearch::consider_passing(const TreeOps& trees, Passing p) {
  if (best_ && !is_better(p, passing_)) return;
  passing_ = std::move(p);
  best_ = trees;
  budget_.found_plan();
}

Schedule SegmentSearch::schedule(const char* algorithm) {
  plan_waiting();
  Schedule schedule = empty_schedule(algorithm, topology_, request_);
  schedule.routes = best_->routes;
  schedule.is_budget_spent = is_spent() || listing_.is_spent();
  schedule.ni_ports = most_links_of_a_node(topology_, request_.relays);
  const std::uint32_t segments = passing_.together * passing_.rounds;
  cut(schedule, segments);
  const std::vector<RoundOp> ops = tree_copies(best_->ops, passing_.together);
  const bool held = request_.timing.slot_counter && shares_links(best_->routes, best_->ops);
  add_sends(schedule, ops, passing_.plan, passing_.rounds, held,
            [&](const RoundOp& op, std::uint32_t round) {
              const std::size_t unit = op.unit / passing_.together;
              const std::size_t segment =
                  std::size_t{round} * passing_.together + op.unit % passing_.together;
              return ChunkId(unit * segments + segment);
            });
  return schedule;
}

// The segments of a unit are equal but for the last ones, so that a table entry repeats with a
// constant stride.
void SegmentSearch::cut(Schedule& schedule, std::uint32_t segments) const {
  Bytes first = 0;
  for (const OwnedData& owned : owned_by(*best_)) {
    const std::vector<Bytes> within = cut_evenly(owned.bytes, owned.units, request_.element_bytes);
    for (std::size_t u = 0; u < owned.units; ++u) {
      const Bytes length = within[u + 1] - within[u];
      for (std::uint32_t s = 0; s < segments; ++s) {
        const Bytes begin = std::min(length, s * passing_.segment);
        const Bytes end = std::min(length, begin + passing_.segment);
        schedule.chunks.push_back(
            {first + within[u] + begin, end - begin, owned.owner, owned.destination, owned.group});
      }
    }
    first += owned.bytes;
  }
}

}  // namespace espalier
