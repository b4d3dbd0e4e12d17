// The flits that passed each channel, and when they left the buffer at the channel's end: a run's
// record, indexed by message and by time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sims/observe/record/run_record.h"

namespace espalier {

// Consecutive flits of one message that were sent without a gap, and left the buffer without a gap.
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
};

class ChannelLog {
 public:
  // `record` must outlive it. All messages of the run have arrived.
  explicit ChannelLog(const RunRecord& record);

  [[nodiscard]] const RunRecord& record() const { return record_; }
  [[nodiscard]] Cycle cycle_of(Tick tick) const {
    return cycle_of_tick(tick, record_.ticks_per_cycle);
  }
  [[nodiscard]] Tick tick_of(Cycle cycle) const { return cycle * record_.ticks_per_cycle; }
  // Number of routers on a message's path.
  [[nodiscard]] std::uint16_t hops(RecordIndex message) const;
  // The passage of flit `flit` of a message over its `hop`-th channel. Precondition: the flit was
  // sent there.
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
  // The passages in flight at some time in [from, until), in no particular order, that left through
  // the same output of the same router as `passage`, or (`same_input`) came by the same channel.
  [[nodiscard]] std::vector<const Passage*> beside(const Passage& passage, bool same_input,
                                                   Tick from, Tick until) const;
  // The passages that were being sent on a channel at some time in [from, until).
  [[nodiscard]] std::vector<const Passage*> sent_in(std::uint32_t channel, Tick from,
                                                    Tick until) const;
  // Flits sent on a VC, and flits that have left its buffer, before a tick.
  [[nodiscard]] std::uint64_t sent_before(std::uint32_t channel, std::uint32_t vc, Tick tick) const;
  [[nodiscard]] std::uint64_t left_before(std::uint32_t channel, std::uint32_t vc, Tick tick) const;
  // The first passage that begins to be sent on a channel at `tick` or later; nullptr if none does.
  [[nodiscard]] const Passage* next_sent(std::uint32_t channel, Tick tick) const;
  // The passage of the flit that leaves a VC's buffer after `left` others; nullptr after the last.
  [[nodiscard]] const Passage* next_to_leave(std::uint32_t channel, std::uint32_t vc,
                                             std::uint64_t left) const;
  // Flits that were sent on the passage's VC before it.
  [[nodiscard]] std::uint64_t flits_before(const Passage& passage) const;
  // The passage before `passage` on its VC; nullptr for the first.
  [[nodiscard]] const Passage* before_on_vc(const Passage& passage) const;

 private:
  // Passages ordered by the begin of a run: of being sent, or of leaving. `latest`: the latest end
  // of each passage and all before it.
  using RunOf = FlitRun Passage::*;
  struct Order {
    std::vector<std::uint32_t> passages;
    std::vector<Tick> latest;
  };
  // The passages of one VC in order, and the number of flits before each.
  struct OfVc {
    std::vector<std::uint32_t> passages;
    std::vector<std::uint64_t> flits_before;
  };
  void pair_up(std::uint32_t channel, std::uint32_t vc);
  void sort_by_message();
  void sort_by_time(Order& order, RunOf run) const;
  // The first of the passages, which are in order, whose run begins at `tick` or later.
  [[nodiscard]] std::size_t first_from(const std::vector<std::uint32_t>& passages, RunOf run,
                                       Tick tick) const;
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
