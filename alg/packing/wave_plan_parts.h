// Parts of wave_plan.cpp: how messages move into gaps (justify_sends.cpp), exchange their slots
// (slot_exchange.cpp), and find slots through switches (path_slots.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "alg/packing/wave_plan.h"

namespace espalier {

// A slot is as long as a message of one share.
class LinkSlots {
 public:
  LinkSlots(std::uint64_t slot_ps, std::uint64_t period_ps)
      : slot_ps_(slot_ps), period_ps_(period_ps) {
    if (period_ps != 0) next_free_.resize(period_ps / slot_ps + 1);
    std::iota(next_free_.begin(), next_free_.end(), 0U);
  }

  // The first time, not before `ps`, at which `slots` slots in a row are free.
  [[nodiscard]] std::uint64_t first_free(std::uint64_t ps, std::uint32_t slots) {
    if (period_ps_ == 0) return std::max(ps, free_from_);
    std::uint64_t base = ps / period_ps_ * period_ps_;
    std::uint64_t slot = (ps - base + slot_ps_ - 1) / slot_ps_;
    // Two periods at most: then every place has been seen.
    for (std::size_t turns = 0; turns <= 2 * next_free_.size(); ++turns) {
      if (slot >= count()) {
        base += period_ps_;
        slot = 0;
      }
      slot = find(static_cast<std::uint32_t>(slot));
      if (slot >= count()) continue;
      if (slot + slots <= count() && free_in_row(slot, slots)) return base + slot * slot_ps_;
      ++slot;
    }
    return kNever;
  }
  void take(std::uint64_t ps, std::uint32_t slots) {
    if (period_ps_ == 0) {
      free_from_ = ps + slots * slot_ps_;
      return;
    }
    const std::uint64_t slot = ps % period_ps_ / slot_ps_;
    for (std::uint64_t s = slot; s < slot + slots; ++s) {
      next_free_[s] = static_cast<std::uint32_t>(s + 1);
    }
  }
  [[nodiscard]] bool is_free(std::uint64_t ps, std::uint32_t slots) {
    return first_free(ps, slots) == ps;
  }

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

 private:
  [[nodiscard]] std::uint64_t count() const { return next_free_.size() - 1; }
  std::uint32_t find(std::uint32_t s) {
    std::uint32_t end = s;
    while (next_free_[end] != end) end = next_free_[end];
    while (next_free_[s] != end) {
      const std::uint32_t next = next_free_[s];
      next_free_[s] = end;
      s = next;
    }
    return end;
  }
  bool free_in_row(std::uint64_t slot, std::uint32_t slots) const {
    for (std::uint64_t s = slot; s < slot + slots; ++s) {
      if (next_free_[s] != s) return false;
    }
    return true;
  }

  std::uint64_t slot_ps_;
  std::uint64_t period_ps_;
  std::vector<std::uint32_t> next_free_;  // union-find; one more than slots
  std::uint64_t free_from_ = 0;           // without a period
};

// What the ops of a wave occupy: op o takes link uses[i].link for length_ps, from offset_ps after
// its start on, for i in [begin[o], begin[o + 1]).
struct LinkUses {
  struct Use {
    std::uint32_t link = 0;
    std::uint64_t offset_ps = 0;
    std::uint64_t length_ps = 0;
  };
  std::vector<std::uint32_t> begin{0};
  std::vector<Use> uses;
  std::vector<std::uint64_t> arrival_ps;  // by op, from its start to the ops that wait for it
};

// `start_ps[w * ops + o]`: start of message `o` in wave `w`. Precondition, preserved: no link
// carries two messages at once, and each message starts after its predecessors have arrived.
//
// While waves fill the network and while they leave it, links have gaps. All messages move as late
// as they can, the last ones first, and then as early as they can, the first ones first (double
// justification: Valls, Ballestin, Quintanilla 2005): a message takes a gap and leaves a gap to the
// messages behind it, until the gap is at an end of the plan. Repeated while the plan becomes
// shorter.
void justify_sends(const std::vector<WaveOp>& ops, const WaveSuccessors& after,
                   const LinkUses& uses, std::vector<std::uint64_t>& start_ps);

// The slots of the ops of a wave. Op o starts at phase_ps[o] + slot[o] * slot_ps[o] within the
// period. `fixed` ops keep their slots: they take more than one slot of some link.
struct OpSlots {
  std::uint64_t period_ps = 0;
  std::vector<std::uint64_t> slot_ps;     // by op
  std::vector<std::uint64_t> phase_ps;    // by op
  std::vector<std::uint64_t> arrival_ps;  // by op, from its start to the ops that wait for it
  std::vector<std::uint32_t> slot;        // by op
  std::vector<bool> fixed;                // by op
};

// Links at their bound have no slot to spare, so the ops that are placed last wait for a period at
// each link. Here an op that waits takes an earlier slot of its links; the op that had this slot
// takes the first op's slot, and so on along the links while ops collide (Kempe chains, as in edge
// colouring). An exchange stays if its units arrive earlier; late units count more. `attempts`:
// exchanges that are tried.
void exchange_slots(const RouteSet& routes, const std::vector<WaveOp>& ops, OpSlots& slots,
                    std::uint64_t attempts);

// A message takes a slot of its slowest link. A switch passes a packet at the rate of the slower of
// its two links, so a faster link of the route is busy as long and gives several slots.
//
// Choosing slots one after the other, as they come free, leaves gaps: a slot is free on one link
// and taken on another link of the path. Here a message that finds no common slot makes others
// move: through one switch along a chain of two alternating slots, which succeeds as long as both
// links have a slot left (edge colouring of a bipartite graph, Koenig 1916); elsewhere it takes the
// slots of the fewest messages, which look for new slots (ejection, as in iterative modulo
// scheduling, Rau 1994). tests/perf/ablation.py: without chains two boxes of eight take 1 % longer
// for 1 MiB, without ejection random networks up to 12 %.
class PathSlots {
 public:
  // `slot_ps`: by link, the length of its slots.
  PathSlots(const RouteSet& routes, const std::vector<WaveOp>& ops,
            std::vector<std::uint64_t> slot_ps, std::uint64_t period_ps);

  // Takes the first place from `wanted_ps` on, in a circle. Returns false if there was none after
  // many attempts.
  bool add(std::uint32_t op, std::uint64_t wanted_ps);
  // Within the period.
  [[nodiscard]] std::uint64_t start_ps(std::uint32_t op) const {
    return slot_of_[op] * slot_ps_[main_[op].index()];
  }

 private:
  static constexpr std::uint32_t kNone = ~0U;

  // Slots of a link in a row, in a circle.
  struct Slots {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  // The slots of a link that go with slot `slot` of the op's slowest link; none if too few.
  [[nodiscard]] Slots slots_at(std::uint32_t op, std::uint32_t slot, LinkId link) const;
  void mark(std::uint32_t op, std::uint32_t user);
  [[nodiscard]] bool is_free(std::uint32_t op, std::uint32_t slot) const;
  void set(std::uint32_t op, std::uint32_t slot);
  void clear(std::uint32_t op);
  bool move_chain(std::uint32_t op);
  void eject_for(std::uint32_t op, std::vector<std::uint32_t>& ejected);
  [[nodiscard]] std::uint32_t slots(LinkId link) const {
    return static_cast<std::uint32_t>(user_[link.index()].size());
  }
  [[nodiscard]] bool crosses_one_switch(std::uint32_t op) const;
  // The other link of an op that crosses one switch.
  [[nodiscard]] LinkId other(std::uint32_t op, LinkId link) const;

  const RouteSet& routes_;
  const std::vector<WaveOp>& ops_;
  std::vector<std::uint64_t> slot_ps_;
  std::vector<LinkId> main_;                      // by op: the slowest link of its route
  std::vector<std::vector<std::uint32_t>> user_;  // by link and slot: an op or kNone
  std::vector<std::uint32_t> slot_of_;            // by op: slot of its main link
  std::vector<std::uint32_t> ejections_;          // by op
  std::uint64_t looks_ = 0;                       // at slots
  std::mt19937 random_{1};
};

}  // namespace espalier
