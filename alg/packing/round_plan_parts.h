// Parts of round_plan.cpp: how messages move into gaps (justify_sends.cpp), exchange their time
// slots (time_slot_exchange.cpp), and find time slots through switches (path_time_slots.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "alg/packing/round_plan.h"

namespace espalier {

// A time slot is as long as a message of one share.
class LinkTimeSlots {
 public:
  LinkTimeSlots(std::uint64_t length_ps, std::uint64_t period_ps)
      : length_ps_(length_ps), period_ps_(period_ps) {
    if (period_ps != 0) next_free_.resize(period_ps / length_ps + 1);
    std::iota(next_free_.begin(), next_free_.end(), 0U);
  }

  // The first time, not before `ps`, at which `time_slots` time slots in a row are free.
  [[nodiscard]] std::uint64_t first_free(std::uint64_t ps, std::uint32_t time_slots) {
    if (period_ps_ == 0) return std::max(ps, free_from_);
    std::uint64_t base = ps / period_ps_ * period_ps_;
    std::uint64_t time_slot = (ps - base + length_ps_ - 1) / length_ps_;
    // Two periods at most: then every place has been seen.
    for (std::size_t turns = 0; turns <= 2 * next_free_.size(); ++turns) {
      if (time_slot >= count()) {
        base += period_ps_;
        time_slot = 0;
      }
      time_slot = find(static_cast<std::uint32_t>(time_slot));
      if (time_slot >= count()) continue;
      if (time_slot + time_slots <= count() && free_in_row(time_slot, time_slots))
        return base + time_slot * length_ps_;
      ++time_slot;
    }
    return kNever;
  }
  void take(std::uint64_t ps, std::uint32_t time_slots) {
    if (period_ps_ == 0) {
      free_from_ = ps + time_slots * length_ps_;
      return;
    }
    const std::uint64_t time_slot = ps % period_ps_ / length_ps_;
    for (std::uint64_t s = time_slot; s < time_slot + time_slots; ++s) {
      next_free_[s] = static_cast<std::uint32_t>(s + 1);
    }
  }
  [[nodiscard]] bool is_free(std::uint64_t ps, std::uint32_t time_slots) {
    return first_free(ps, time_slots) == ps;
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
  bool free_in_row(std::uint64_t time_slot, std::uint32_t time_slots) const {
    for (std::uint64_t s = time_slot; s < time_slot + time_slots; ++s) {
      if (next_free_[s] != s) return false;
    }
    return true;
  }

  std::uint64_t length_ps_;
  std::uint64_t period_ps_;
  std::vector<std::uint32_t> next_free_;  // union-find; one more than time slots
  std::uint64_t free_from_ = 0;           // without a period
};

// What the ops of a round occupy: op o takes link uses[i].link for length_ps, from offset_ps after
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

// `start_ps[w * ops + o]`: start of message `o` in round `w`. Precondition, preserved: no link
// carries two messages at once, and each message starts after its predecessors have arrived.
//
// All messages move as late as gaps allow, and then as early as gaps allow (double justification:
// Valls, Ballestin, Quintanilla 2005), until the gaps are at the ends of the plan. Returns its end.
std::uint64_t justify_sends(const RoundTask& task, const RoundSuccessors& after,
                            const LinkUses& uses, std::vector<std::uint64_t>& start_ps);

// The time slots of the ops of a round. Op o starts at phase_ps[o] + time_slot[o] * length_ps[o]
// within the period. `fixed` ops keep their time slots: they take several of some link.
struct OpTimeSlots {
  std::uint64_t period_ps = 0;
  std::vector<std::uint64_t> length_ps;   // by op
  std::vector<std::uint64_t> phase_ps;    // by op
  std::vector<std::uint64_t> arrival_ps;  // by op, from its start to the ops that wait for it
  std::vector<std::uint32_t> time_slot;   // by op
  std::vector<bool> fixed;                // by op
};

// An op that waits takes an earlier time slot of its links; the op that had this time slot takes
// the first op's, and so on along the links while ops collide (Kempe chains, as in edge colouring).
// An exchange stays if its units arrive earlier; late units count more.
void exchange_time_slots(const RouteSet& routes, const std::vector<RoundOp>& ops,
                         OpTimeSlots& time_slots, std::uint64_t attempts);

// A switch passes a packet at the rate of the slower of its two links, so a faster link of the
// route gives several time slots. A message that finds no common time slot makes others move:
// through one switch along a chain of two alternating time slots (edge colouring, Koenig 1916;
// 1 %), elsewhere by ejection of the fewest messages (modulo scheduling, Rau 1994; 12 %).
class PathTimeSlots {
 public:
  // `length_ps`: by link, the length of its time slots.
  PathTimeSlots(const RouteSet& routes, const std::vector<RoundOp>& ops,
                std::vector<std::uint64_t> length_ps, std::uint64_t period_ps);

  // Takes the first place from `wanted_ps` on, in a circle. Returns false if there was none after
  // many attempts.
  bool add(std::uint32_t op, std::uint64_t wanted_ps);
  // Within the period.
  [[nodiscard]] std::uint64_t start_ps(std::uint32_t op) const {
    return time_slot_of_[op] * length_ps_[main_[op].index()];
  }
  // In about nanoseconds: several looks at a time.
  [[nodiscard]] std::uint64_t work() const { return looks_ / 4; }

 private:
  static constexpr std::uint32_t kNone = ~0U;

  // A link as ops see it whose slowest link has time slots of `main_ps`. Looks at time slots are
  // nearly all of the search, so the costs are kept and not counted anew.
  struct View {
    std::uint64_t main_ps = 0;
    std::uint32_t in_row = 0;  // time slots of this link in one of the slowest link
    // By time slot of the slowest link: the users of the link in it, a user with its ejections for
    // every time slot. 0: free.
    std::vector<std::uint32_t> cost;
    // By time slot of this link: the time slots of the slowest link that have it,
    // seen_by[begin[t] .. begin[t + 1]).
    std::vector<std::uint32_t> begin;
    std::vector<std::uint32_t> seen_by;
  };

  void add_view(LinkId link, std::uint64_t main_ps);
  [[nodiscard]] const View& view(LinkId link, std::uint32_t op) const;
  // Calls visit(place) for the op's places in user_[link].
  template <class Visit>
  void for_each_place(LinkId link, std::uint64_t main_ps, std::uint32_t time_slot,
                      Visit visit) const;
  void mark(std::uint32_t op, std::uint32_t user);
  // Costs of the op's time slots [begin, end), in sums_.
  void sum_costs(std::uint32_t op, std::uint32_t begin, std::uint32_t end);
  [[nodiscard]] std::uint32_t find_free(std::uint32_t op, std::uint32_t begin, std::uint32_t end);
  void set(std::uint32_t op, std::uint32_t time_slot);
  void clear(std::uint32_t op);
  bool move_chain(std::uint32_t op);
  void eject_for(std::uint32_t op, std::vector<std::uint32_t>& ejected);
  [[nodiscard]] std::uint32_t time_slots(LinkId link) const {
    return static_cast<std::uint32_t>(user_[link.index()].size());
  }
  [[nodiscard]] bool crosses_one_switch(std::uint32_t op) const;
  // The other link of an op that crosses one switch.
  [[nodiscard]] LinkId other(std::uint32_t op, LinkId link) const;

  const RouteSet& routes_;
  const std::vector<RoundOp>& ops_;
  std::vector<std::uint64_t> length_ps_;
  std::uint64_t period_ps_;
  std::vector<LinkId> main_;                      // by op: the slowest link of its route
  std::vector<std::vector<std::uint32_t>> user_;  // by link and time slot: an op or kNone
  std::vector<std::uint32_t> time_slot_of_;       // by op: time slot of its main link
  std::vector<std::uint32_t> ejections_;          // by op
  std::vector<std::vector<View>> views_;          // by link
  std::vector<std::uint32_t> sums_;               // by time slot of an op
  std::uint64_t looks_ = 0;                       // at time slots
  std::mt19937 random_{1};
};

}  // namespace espalier
