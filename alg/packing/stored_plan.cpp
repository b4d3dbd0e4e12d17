#include "alg/packing/round_plan.h"

#include <algorithm>
#include <optional>

#include "alg/packing/round_plan_parts.h"

namespace espalier {

namespace {

class StoredPlanner {
 public:
  explicit StoredPlanner(const RoundTask& task)
      : routes_(task.routes),
        ops_(task.ops),
        times_(task.topology, task.routes, task.timing),
        least_(arrivals_of(task)) {
    for (std::size_t l = 0; l < task.topology.num_links(); ++l) {
      length_ps_.push_back(times_.occupancy_ps(LinkId(l), task.segment));
    }
    for (std::size_t o = 0; o < ops_.size(); ++o) {
      least_[o] += times_.slowest_ps(ops_[o].route, task.segment);
    }
    period_ps_ = busiest_link_ps(task);
    for (const std::uint64_t time_slot : length_ps_)
      time_slots_.emplace_back(time_slot, period_ps_);
  }

  RoundPlan plan() {
    RoundPlan plan;
    plan.period_ps = period_ps_;
    plan.start_ps.assign(ops_.size(), 0);
    std::vector<std::uint64_t> usable(ops_.size(), 0);
    const RemainingPaths paths = remaining_paths(ops_, successors_of(ops_), least_);
    for (const std::uint32_t o : paths.longest_first()) {
      std::uint64_t ready = 0;
      for (const std::uint32_t d : ops_[o].after) ready = std::max(ready, usable[d]);
      const Way way = best_way(ops_[o], ready);
      for (std::size_t h = 0; h < way.start_ps.size(); ++h) {
        const std::size_t l = routes_.link(ops_[o].route, h).index();
        time_slots_[l].take(way.start_ps[h], 1);
      }
      plan.start_ps[o] = way.start_ps.front();
      usable[o] = plan.start_ps[o] + least_[o] + way.wait_ps;
      plan.span_ps = std::max(plan.span_ps, usable[o]);
    }
    return plan;
  }

 private:
  struct Way {
    std::vector<std::uint64_t> start_ps;  // by hop
    std::uint64_t wait_ps = 0;            // in the switches, for time slots
  };

  // The way with the least wait in switches among the ways that begin within a period of `ready`;
  // the first one wins ties.
  [[nodiscard]] Way best_way(const RoundOp& op, std::uint64_t ready) {
    LinkTimeSlots& first = time_slots_[routes_.link(op.route, 0).index()];
    std::optional<Way> best;
    for (std::uint64_t at = first.first_free(ready, 1); at < ready + period_ps_;
         at = first.first_free(at + 1, 1)) {
      Way way = way_from(op, at);
      if (!best || way.wait_ps < best->wait_ps) best = std::move(way);
      if (best->wait_ps == 0) break;
    }
    // A time slot that began before `ready` in its period comes up to a time slot after this
    // period.
    return best ? *std::move(best) : way_from(op, first.first_free(ready, 1));
  }

  [[nodiscard]] Way way_from(const RoundOp& op, std::uint64_t start) {
    Way way{{start}, 0};
    std::uint64_t length = length_ps_[routes_.link(op.route, 0).index()];
    for (std::size_t h = 1; h < routes_.hops(op.route); ++h) {
      const std::size_t l = routes_.link(op.route, h).index();
      const std::uint64_t own = length_ps_[l];
      // The last packet cannot leave before it has come.
      const std::uint64_t ready = way.start_ps.back() +
                                  times_.hop_ps(routes_.link(op.route, h - 1)) +
                                  (length > own ? length - own : 0);
      way.start_ps.push_back(time_slots_[l].first_free(ready, 1));
      way.wait_ps += way.start_ps.back() - ready;
      length = own;
    }
    return way;
  }

  const RouteSet& routes_;
  const std::vector<RoundOp>& ops_;
  MessageTimes times_;
  // By op: from its start to its use without waiting in a switch, plus the time by which it may be
  // late.
  std::vector<std::uint64_t> least_;
  std::vector<std::uint64_t> length_ps_;  // by link
  std::uint64_t period_ps_ = 0;
  std::vector<LinkTimeSlots> time_slots_;  // by link
};

}  // namespace

RoundPlan plan_stored_round(const RoundTask& task) { return StoredPlanner(task).plan(); }

}  // namespace espalier
