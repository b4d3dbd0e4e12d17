#include "alg/packing/round_plan_parts.h"

#include <algorithm>
#include <random>

namespace espalier {

namespace {

constexpr std::uint32_t kNoOp = ~0U;
constexpr std::size_t kLongestChain = 12;  // ops; longer ones hardly help; if off: 1.9 % slower
// How much worse an exchange may be at first; the tolerance falls to 0 (threshold accepting, Dueck
// and Scheuer 1990).
constexpr double kTolerance = 0.1;  // if off: 1.2 % slower

class TimeSlotExchange {
 public:
  TimeSlotExchange(const RouteSet& routes, const std::vector<RoundOp>& ops, OpTimeSlots& time_slots)
      : routes_(routes), ops_(ops), time_slots_(time_slots), place_of_(ops.size()) {
    std::size_t units = 0;
    std::size_t links = 0;
    for (std::uint32_t o = 0; o < ops.size(); ++o) {
      units = std::max<std::size_t>(units, ops[o].unit + std::size_t{1});
      for (const LinkId l : routes.links(ops[o].route)) links = std::max(links, l.index() + 1);
    }
    in_unit_.resize(units);
    user_.resize(links);
    list_ops(units);
    for (std::uint32_t o = 0; o < ops.size(); ++o) {
      if (time_slots.fixed[o]) continue;
      mark(o, o);
      movable_.push_back(o);
    }
    for (std::uint32_t u = 0; u < units; ++u) time_unit(u);
  }

  void run(std::uint64_t attempts) {
    if (movable_.empty()) return;
    std::mt19937 random(1);
    for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
      tolerance_ = kTolerance * (1 - static_cast<double>(attempt) / static_cast<double>(attempts));
      const std::uint32_t o = movable_[random() % movable_.size()];
      const TimedOp& timed = timed_[place_of_[o]];
      const std::uint64_t wait = timed.start - timed.ready;
      // The number of earlier time slots.
      const std::uint64_t earlier = wait / time_slots_.length_ps[o];
      if (earlier == 0) continue;
      const auto by = static_cast<std::uint32_t>(1 + random() % earlier);
      const std::uint32_t count = time_slots_of(o);
      try_time_slot(o, (time_slots_.time_slot[o] + count - by % count) % count);
    }
  }

 private:
  // An op, beside the others of its unit: units are timed again and again.
  struct TimedOp {
    std::uint64_t within = 0;  // the period: where it starts
    std::uint64_t start = 0;
    std::uint64_t ready = 0;
    std::uint64_t arrival = 0;
    std::uint32_t before_begin = 0;  // in before_
    std::uint32_t before_end = 0;
  };

  void list_ops(std::size_t units) {
    std::vector<std::vector<std::uint32_t>> of_unit(units);
    const RemainingPaths paths = remaining_paths(ops_, successors_of(ops_), time_slots_.arrival_ps);
    for (const std::uint32_t o : paths.order) of_unit[ops_[o].unit].push_back(o);
    first_of_unit_.push_back(0);
    for (const std::vector<std::uint32_t>& unit : of_unit) {
      for (const std::uint32_t o : unit) {
        place_of_[o] = static_cast<std::uint32_t>(timed_.size());
        TimedOp op;
        op.arrival = time_slots_.arrival_ps[o];
        op.before_begin = static_cast<std::uint32_t>(before_.size());
        for (const std::uint32_t d : ops_[o].after) before_.push_back(place_of_[d]);
        op.before_end = static_cast<std::uint32_t>(before_.size());
        timed_.push_back(op);
        set_within(o);
      }
      first_of_unit_.push_back(static_cast<std::uint32_t>(timed_.size()));
    }
  }

  void set_within(std::uint32_t o) {
    const std::uint64_t at =
        time_slots_.phase_ps[o] + time_slots_.time_slot[o] * time_slots_.length_ps[o];
    timed_[place_of_[o]].within = at % time_slots_.period_ps;
  }

  [[nodiscard]] std::uint32_t time_slots_of(std::uint32_t o) const {
    return static_cast<std::uint32_t>(time_slots_.period_ps / time_slots_.length_ps[o]);
  }

  void mark(std::uint32_t o, std::uint32_t user) {
    for (const LinkId l : routes_.links(ops_[o].route)) {
      auto& users = user_[l.index()];
      if (users.empty()) users.assign(time_slots_of(o), kNoOp);
      users[time_slots_.time_slot[o]] = user;
    }
  }

  // Times the ops of a unit by the present time slots; returns when the unit has arrived.
  std::uint64_t time_unit(std::uint32_t unit) {
    std::uint64_t end = 0;
    for (std::uint32_t p = first_of_unit_[unit]; p < first_of_unit_[unit + 1]; ++p) {
      TimedOp& op = timed_[p];
      std::uint64_t period = 0;  // latest period in which an op before it starts
      op.ready = 0;
      for (std::uint32_t i = op.before_begin; i < op.before_end; ++i) {
        const TimedOp& before = timed_[before_[i]];
        period = std::max(period, before.start - before.within);
        op.ready = std::max(op.ready, before.start + before.arrival);
      }
      op.start = period + op.within;
      while (op.start < op.ready) op.start += time_slots_.period_ps;
      end = std::max(end, op.start + op.arrival);
    }
    in_unit_[unit] = end;
    return end;
  }

  // Late units count more.
  [[nodiscard]] double cost(std::uint64_t end) const {
    const double periods = static_cast<double>(end) / static_cast<double>(time_slots_.period_ps);
    const double square = periods * periods;
    return square * square * square * square;
  }

  // Finds the ops that must change between time slots `a` and `b` if `o` does. False if they are
  // too many, or if an op must not change.
  bool find_chain(std::uint32_t o, std::uint32_t b) {
    const std::uint32_t a = time_slots_.time_slot[o];
    chain_.assign(1, o);
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      const std::uint32_t moved = chain_[i];
      const std::uint32_t to = time_slots_.time_slot[moved] == a ? b : a;
      for (const LinkId l : routes_.links(ops_[moved].route)) {
        const std::uint32_t other = user_[l.index()][to];
        if (other == kNoOp || std::find(chain_.begin(), chain_.end(), other) != chain_.end()) {
          continue;
        }
        if (chain_.size() == kLongestChain) return false;
        chain_.push_back(other);
      }
    }
    return true;
  }

  void exchange(std::uint32_t a, std::uint32_t b) {
    for (const std::uint32_t o : chain_) mark(o, kNoOp);
    for (const std::uint32_t o : chain_) {
      time_slots_.time_slot[o] = time_slots_.time_slot[o] == a ? b : a;
      set_within(o);
    }
    for (const std::uint32_t o : chain_) mark(o, o);
  }

  void try_time_slot(std::uint32_t o, std::uint32_t b) {
    const std::uint32_t a = time_slots_.time_slot[o];
    if (a == b || !find_chain(o, b)) return;
    touched_.clear();
    for (const std::uint32_t c : chain_) {
      if (std::find(touched_.begin(), touched_.end(), ops_[c].unit) == touched_.end()) {
        touched_.push_back(ops_[c].unit);
      }
    }
    double before = 0;
    for (const std::uint32_t u : touched_) before += cost(in_unit_[u]);
    exchange(a, b);
    const double most = before * (1 + tolerance_);
    double after = 0;
    std::size_t timed = 0;
    while (timed < touched_.size() && after <= most) after += cost(time_unit(touched_[timed++]));
    if (after <= most) return;
    exchange(a, b);
    for (std::size_t t = 0; t < timed; ++t) time_unit(touched_[t]);
  }

  const RouteSet& routes_;
  const std::vector<RoundOp>& ops_;
  OpTimeSlots& time_slots_;
  std::vector<std::uint32_t> movable_;
  std::vector<TimedOp> timed_;  // unit by unit, predecessors first
  std::vector<std::uint32_t> first_of_unit_;
  std::vector<std::uint32_t> before_;             // places in timed_
  std::vector<std::uint32_t> place_of_;           // by op: in timed_
  std::vector<std::uint64_t> in_unit_;            // by unit: its last arrival
  std::vector<std::vector<std::uint32_t>> user_;  // by link and time slot
  double tolerance_ = 0;
  std::vector<std::uint32_t> chain_;
  std::vector<std::uint32_t> touched_;  // units
};

}  // namespace

void exchange_time_slots(const RouteSet& routes, const std::vector<RoundOp>& ops,
                         OpTimeSlots& time_slots, std::uint64_t attempts) {
  TimeSlotExchange(routes, ops, time_slots).run(attempts);
}

}  // namespace espalier
