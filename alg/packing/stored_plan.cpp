#include "alg/packing/stored_plan.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "alg/packing/link_slots.h"

namespace espalier {

namespace {

class StoredPlanner {
 public:
  StoredPlanner(const Topology& topology, const RouteSet& routes, const std::vector<WaveOp>& ops,
                Bytes segment, const MessageTiming& timing)
      : routes_(routes),
        ops_(ops),
        segment_(segment),
        timing_(timing),
        times_(topology, routes, timing) {
    for (std::size_t l = 0; l < topology.num_links(); ++l) {
      slot_ps_.push_back(times_.occupancy_ps(LinkId(l), segment));
    }
    std::vector<std::uint64_t> busy(slot_ps_.size(), 0);
    for (const WaveOp& op : ops) {
      for (std::size_t h = 0; h < routes.hops(op.route); ++h) {
        const std::size_t l = routes.link(op.route, h).index();
        busy[l] += slot_ps_[l];
      }
    }
    period_ps_ = *std::max_element(busy.begin(), busy.end());
    for (const std::uint64_t slot : slot_ps_) slots_.emplace_back(slot, period_ps_);
    find_least_times();
  }

  WavePlan plan() {
    WavePlan plan;
    plan.period_ps = period_ps_;
    plan.start_ps.assign(ops_.size(), 0);
    std::vector<std::uint64_t> usable(ops_.size(), 0);
    for (const std::uint32_t o : by_remaining_path()) {
      std::uint64_t ready = 0;
      for (const std::uint32_t d : ops_[o].after) ready = std::max(ready, usable[d]);
      const Way way = best_way(ops_[o], ready);
      for (std::size_t h = 0; h < way.start_ps.size(); ++h) {
        const std::size_t l = routes_.link(ops_[o].route, h).index();
        slots_[l].take(way.start_ps[h], 1);
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
    std::uint64_t wait_ps = 0;            // in the switches, for slots
  };

  // Time from an op's start to its use without waiting in a switch, plus the time by which it may
  // be late.
  void find_least_times() {
    std::vector<bool> turns_around(ops_.size(), false);
    for (const WaveOp& op : ops_) {
      if (op.kind != TransferKind::copy) continue;
      for (const std::uint32_t d : op.after) {
        turns_around[d] = turns_around[d] || ops_[d].kind == TransferKind::reduce;
      }
    }
    for (std::size_t o = 0; o < ops_.size(); ++o) {
      const WaveOp& op = ops_[o];
      std::uint64_t late = 0;
      for (std::size_t h = 0; h < routes_.hops(op.route); ++h) {
        late = std::max(late, slot_ps_[routes_.link(op.route, h).index()]);
      }
      least_.push_back(times_.arrival_ps(op, segment_) + late +
                       (turns_around[o] ? timing_.turnaround_ps : 0));
    }
  }

  // Predecessors have longer remaining paths, so they come first.
  [[nodiscard]] std::vector<std::uint32_t> by_remaining_path() const {
    const RemainingPaths paths = remaining_paths(ops_, successors_of(ops_), least_);
    std::vector<std::uint32_t> order(ops_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return paths.remaining[a] > paths.remaining[b];
    });
    return order;
  }

  // The way with the least wait in switches among the ways that begin within a period of `ready`;
  // the first one wins ties.
  [[nodiscard]] Way best_way(const WaveOp& op, std::uint64_t ready) {
    LinkSlots& first = slots_[routes_.link(op.route, 0).index()];
    std::optional<Way> best;
    for (std::uint64_t at = first.first_free(ready, 1); at < ready + period_ps_;
         at = first.first_free(at + 1, 1)) {
      Way way = way_from(op, at);
      if (!best || way.wait_ps < best->wait_ps) best = std::move(way);
      if (best->wait_ps == 0) break;
    }
    // A slot that began before `ready` in its period comes up to a slot after this period.
    return best ? *std::move(best) : way_from(op, first.first_free(ready, 1));
  }

  [[nodiscard]] Way way_from(const WaveOp& op, std::uint64_t start) {
    Way way{{start}, 0};
    std::uint64_t length = slot_ps_[routes_.link(op.route, 0).index()];
    for (std::size_t h = 1; h < routes_.hops(op.route); ++h) {
      const std::size_t l = routes_.link(op.route, h).index();
      const std::uint64_t own = slot_ps_[l];
      // The last packet cannot leave before it has come.
      const std::uint64_t ready = way.start_ps.back() + times_.head_ps(op.route, h) -
                                  times_.head_ps(op.route, h - 1) +
                                  (length > own ? length - own : 0);
      way.start_ps.push_back(slots_[l].first_free(ready, 1));
      way.wait_ps += way.start_ps.back() - ready;
      length = own;
    }
    return way;
  }

  const RouteSet& routes_;
  const std::vector<WaveOp>& ops_;
  Bytes segment_;
  const MessageTiming& timing_;
  MessageTimes times_;
  std::vector<std::uint64_t> slot_ps_;  // by link
  std::uint64_t period_ps_ = 0;
  std::vector<LinkSlots> slots_;      // by link
  std::vector<std::uint64_t> least_;  // by op
};

}  // namespace

WavePlan plan_stored_wave(const Topology& topology, const RouteSet& routes,
                          const std::vector<WaveOp>& ops, Bytes segment,
                          const MessageTiming& timing) {
  return StoredPlanner(topology, routes, ops, segment, timing).plan();
}

}  // namespace espalier
