// What passed each channel and when it left the buffer at its end: a run's record, in the two
// orders in which an account asks for it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sims/observe/record/run_record.h"

namespace espalier {

// Flits of one message that came one after the other, and left the buffer so too.
struct Passage {
  RecordIndex message = 0;
  std::uint32_t channel = 0;
  std::uint32_t vc = 0;
  std::uint16_t hop = 0;
  std::uint16_t out_port = 0;  // of the router at the channel's end
  std::uint64_t offset = 0;    // of the first flit, in the message
  FlitRun sent;                // onto the channel
  FlitRun left;                // from the buffer at its end

  [[nodiscard]] bool has(std::uint64_t flit) const {
    return flit >= offset && flit - offset < sent.n;
  }
  [[nodiscard]] Tick sent_at(std::uint64_t flit) const { return sent.tick_of(flit - offset); }
  [[nodiscard]] Tick left_at(std::uint64_t flit) const { return left.tick_of(flit - offset); }
  // The tick after the last flit has left.
  [[nodiscard]] Tick left_until() const { return left.tick_of(left.n); }
  [[nodiscard]] Tick sent_until() const { return sent.tick_of(sent.n); }
};

class Passages {
 public:
  // `record` must outlive it: of a run in which everything has arrived.
  explicit Passages(const RunRecord& record);

  [[nodiscard]] const RunRecord& record() const { return record_; }
  [[nodiscard]] Cycle cycle_of(Tick tick) const {
    return cycle_of_tick(tick, record_.ticks_per_cycle);
  }
  [[nodiscard]] Tick tick_of(Cycle cycle) const { return cycle * record_.ticks_per_cycle; }
  [[nodiscard]] const Passage& operator[](std::size_t passage) const { return passages_[passage]; }
  // Routers of a message's path.
  [[nodiscard]] std::uint16_t hops(RecordIndex message) const;
  // Where flit `flit` of a message is between its `hop`-th router and the next. Precondition: the
  // flit has gone there.
  [[nodiscard]] const Passage& find(RecordIndex message, std::uint16_t hop,
                                    std::uint64_t flit) const;
  // The passages of a message's last hop.
  struct Range {
    const Passage* first;
    const Passage* last;
    [[nodiscard]] const Passage* begin() const { return first; }
    [[nodiscard]] const Passage* end() const { return last; }
  };
  [[nodiscard]] Range last_hop(RecordIndex message) const;
  // Of these, in no particular order, those under way at some time in [from, until). Those that
  // left through the same output of the same router as `passage`, or (`same_input`) came to it by
  // the same channel:
  [[nodiscard]] std::vector<const Passage*> beside(const Passage& passage, bool same_input,
                                                   Tick from, Tick until) const;
  // Those that were sent on a channel:
  [[nodiscard]] std::vector<const Passage*> sent_in(std::uint32_t channel, Tick from,
                                                    Tick until) const;
  // Flits sent on a VC, and flits that have left its buffer, before a tick.
  [[nodiscard]] std::uint64_t sent_before(std::uint32_t channel, std::uint32_t vc, Tick tick) const;
  [[nodiscard]] std::uint64_t left_before(std::uint32_t channel, std::uint32_t vc, Tick tick) const;
  // The first one that begins to be sent on a channel at `tick` or later; nullptr where none does.
  [[nodiscard]] const Passage* next_sent(std::uint32_t channel, Tick tick) const;
  // With the flit that leaves a VC's buffer when `left` others have; nullptr after the last.
  [[nodiscard]] const Passage* next_to_leave(std::uint32_t channel, std::uint32_t vc,
                                             std::uint64_t left) const;
  // Flits that went over its VC before.
  [[nodiscard]] std::uint64_t flits_before(const Passage& passage) const;
  // The passage before `passage` on its VC; nullptr for the first.
  [[nodiscard]] const Passage* before_on_vc(const Passage& passage) const;

 private:
  // In order of their beginnings, with the latest end of each and all before it. What they begin
  // with is a run's: of leaving, or of being sent.
  using RunOf = FlitRun Passage::*;
  struct Order {
    std::vector<std::uint32_t> passages;
    std::vector<Tick> latest;
  };
  // Of one VC, in order: how many flits went before.
  struct OfVc {
    std::vector<std::uint32_t> passages;
    std::vector<std::uint64_t> flits_before;
  };
  void pair_up(std::uint32_t channel, std::uint32_t vc);
  void sort_by_message();
  void sort_by_time(Order& order, RunOf run) const;
  [[nodiscard]] std::vector<const Passage*> under_way(const Order& order, RunOf run, Tick from,
                                                      Tick until) const;
  [[nodiscard]] std::size_t vc_number(std::uint32_t channel, std::uint32_t vc) const {
    return first_vc_[channel] + vc;
  }
  [[nodiscard]] std::uint64_t count_before(const OfVc& of_vc, RunOf run, Tick tick) const;

  const RunRecord& record_;
  std::vector<Passage> passages_;          // by message, hop, offset
  std::vector<std::uint32_t> of_message_;  // where a message's begin; one more at the end
  std::vector<std::uint32_t> router_of_;   // by channel: the router at its end
  std::map<std::pair<std::uint32_t, std::uint16_t>, Order> by_output_;  // router, port
  std::vector<Order> by_input_;                                         // by channel
  std::vector<Order> by_sending_;                                       // by channel
  std::vector<std::size_t> first_vc_;                                   // by channel, in by_vc_
  std::vector<OfVc> by_vc_;
};

}  // namespace espalier
