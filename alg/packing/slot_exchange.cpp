#include "alg/packing/slot_exchange.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace espalier {

namespace {

constexpr std::uint32_t kNoOp = ~0U;
constexpr std::size_t kLongestChain = 12;  // ops; longer ones hardly ever help
// How much worse an exchange may be at first; the tolerance falls to 0 (threshold accepting, Dueck
// and Scheuer 1990).
constexpr double kTolerance = 0.1;

class SlotExchange {
 public:
  SlotExchange(const RouteSet& routes, const std::vector<WaveOp>& ops, OpSlots& slots)
      : routes_(routes), ops_(ops), slots_(slots), start_(ops.size()), ready_(ops.size()) {
    std::size_t units = 0;
    std::size_t links = 0;
    for (std::uint32_t o = 0; o < ops.size(); ++o) {
      units = std::max<std::size_t>(units, ops[o].unit + std::size_t{1});
      for (std::size_t h = 0; h < routes.hops(ops[o].route); ++h) {
        links = std::max<std::size_t>(links, routes.link(ops[o].route, h).index() + 1);
      }
    }
    of_unit_.resize(units);
    in_unit_.resize(units);
    user_.resize(links);
    for (const std::uint32_t o : in_order()) of_unit_[ops[o].unit].push_back(o);
    for (std::uint32_t o = 0; o < ops.size(); ++o) {
      if (slots.fixed[o]) continue;
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
      const std::uint64_t wait = start_[o] - ready_[o];
      // The slots at which it would start earlier.
      const std::uint64_t earlier = wait / slots_.slot_ps[o];
      if (earlier == 0) continue;
      const auto by = static_cast<std::uint32_t>(1 + random() % earlier);
      const std::uint32_t count = slots_of(o);
      try_slot(o, (slots_.slot[o] + count - by % count) % count);
    }
  }

 private:
  // Predecessors first.
  [[nodiscard]] std::vector<std::uint32_t> in_order() const {
    std::vector<std::uint32_t> missing(ops_.size());
    std::vector<std::vector<std::uint32_t>> successors(ops_.size());
    std::vector<std::uint32_t> order;
    for (std::uint32_t o = 0; o < ops_.size(); ++o) {
      missing[o] = static_cast<std::uint32_t>(ops_[o].after.size());
      if (missing[o] == 0) order.push_back(o);
      for (const std::uint32_t d : ops_[o].after) successors[d].push_back(o);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const std::uint32_t s : successors[order[i]]) {
        if (--missing[s] == 0) order.push_back(s);
      }
    }
    return order;
  }

  [[nodiscard]] std::uint32_t slots_of(std::uint32_t o) const {
    return static_cast<std::uint32_t>(slots_.period_ps / slots_.slot_ps[o]);
  }

  void mark(std::uint32_t o, std::uint32_t user) {
    for (std::size_t h = 0; h < routes_.hops(ops_[o].route); ++h) {
      auto& users = user_[routes_.link(ops_[o].route, h).index()];
      if (users.empty()) users.assign(slots_of(o), kNoOp);
      users[slots_.slot[o]] = user;
    }
  }

  // When the ops of a unit start, and the unit has arrived, by the slots as they are.
  std::uint64_t time_unit(std::uint32_t unit) {
    std::uint64_t end = 0;
    for (const std::uint32_t o : of_unit_[unit]) {
      std::uint64_t ready = 0;
      for (const std::uint32_t d : ops_[o].after) {
        ready = std::max(ready, start_[d] + slots_.arrival_ps[d]);
      }
      const std::uint64_t within = slots_.phase_ps[o] + slots_.slot[o] * slots_.slot_ps[o];
      std::uint64_t start = ready / slots_.period_ps * slots_.period_ps + within % slots_.period_ps;
      if (start < ready) start += slots_.period_ps;
      ready_[o] = ready;
      start_[o] = start;
      end = std::max(end, start + slots_.arrival_ps[o]);
    }
    in_unit_[unit] = end;
    return end;
  }

  // Late units count more.
  [[nodiscard]] double cost(std::uint64_t end) const {
    const double periods = static_cast<double>(end) / static_cast<double>(slots_.period_ps);
    const double square = periods * periods;
    return square * square * square * square;
  }

  // The ops that change between `a` and `b` if `o` does. False if there are too many, or one may
  // not.
  bool find_chain(std::uint32_t o, std::uint32_t b) {
    const std::uint32_t a = slots_.slot[o];
    chain_.assign(1, o);
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      const std::uint32_t moved = chain_[i];
      const std::uint32_t to = slots_.slot[moved] == a ? b : a;
      for (std::size_t h = 0; h < routes_.hops(ops_[moved].route); ++h) {
        const auto& users = user_[routes_.link(ops_[moved].route, h).index()];
        const std::uint32_t other = users[to];
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
    for (const std::uint32_t o : chain_) slots_.slot[o] = slots_.slot[o] == a ? b : a;
    for (const std::uint32_t o : chain_) mark(o, o);
  }

  void try_slot(std::uint32_t o, std::uint32_t b) {
    const std::uint32_t a = slots_.slot[o];
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
    double after = 0;
    for (const std::uint32_t u : touched_) after += cost(time_unit(u));
    if (after <= before * (1 + tolerance_)) return;
    exchange(a, b);
    for (const std::uint32_t u : touched_) time_unit(u);
  }

  const RouteSet& routes_;
  const std::vector<WaveOp>& ops_;
  OpSlots& slots_;
  std::vector<std::uint32_t> movable_;
  std::vector<std::vector<std::uint32_t>> of_unit_;  // ops, predecessors first
  std::vector<std::uint64_t> in_unit_;               // by unit: its last arrival
  std::vector<std::vector<std::uint32_t>> user_;     // by link and slot
  std::vector<std::uint64_t> start_;                 // by op
  std::vector<std::uint64_t> ready_;                 // by op
  double tolerance_ = 0;
  std::vector<std::uint32_t> chain_;
  std::vector<std::uint32_t> touched_;  // units
};

}  // namespace

void exchange_slots(const RouteSet& routes, const std::vector<WaveOp>& ops, OpSlots& slots,
                    std::uint64_t attempts) {
  SlotExchange(routes, ops, slots).run(attempts);
}

}  // namespace espalier
