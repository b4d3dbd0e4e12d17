// Checks the rules of flow control on one channel with its own count of credits and flits.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "flowctl/flit.h"

namespace espalier {

// Checked at every flit that is sent or leaves the buffer:
// - A flit is sent only with a credit, so at most `depth` flits are in flight or buffered.
// - Credits are conserved: the sender sees as many credits as the monitor counts, and credits at
//   the sender + flits in flight or buffered + credits in flight = depth.
// - Flits leave a VC in the order in which they were sent.
// - On each VC the flits of a packet follow each other from first to last, and in message mode so
//   do the packets of a message.
class ChannelMonitor {
 public:
  ChannelMonitor(std::uint32_t vcs, std::uint32_t depth, Cycle credit_latency);
  // Depths by VC.
  ChannelMonitor(const std::vector<std::uint32_t>& depths, Cycle credit_latency);

  void sent(std::uint32_t vc, const Flit& flit, Cycle now);
  void left(std::uint32_t vc, const Flit& flit, Cycle now);
  // The sender's credits according to the buffer, before a flit is sent in cycle `now`.
  void credits_claimed(std::uint32_t vc, std::uint32_t credits, Cycle now);
  // At the end: checks that every flit that entered has left.
  void check_drained();

  // The first broken rule; empty if none is.
  [[nodiscard]] const std::string& violation() const { return violation_; }
  [[nodiscard]] std::uint64_t checks() const { return checks_; }

 private:
  struct Vc {
    std::uint32_t depth = 0;
    std::uint32_t credits = 0;            // seen by the sender
    std::deque<Flit> inside;              // in flight or buffered
    std::deque<Cycle> credits_under_way;  // cycles in which the sender will see them
    MessageId sub_packets_of;             // message that owns the VC until its tail
    MessageId packet_of;
    std::uint32_t expected_left = 0;  // of the packet in progress
  };
  void collect_credits(Vc& vc, Cycle now);
  void check_conservation(std::uint32_t vc_number, const Vc& vc, Cycle now);
  void check_order(std::uint32_t vc_number, Vc& vc, const Flit& flit, Cycle now);
  void report(std::uint32_t vc, Cycle now, const char* rule);

  std::vector<Vc> vcs_;
  Cycle credit_latency_;
  std::string violation_;
  std::uint64_t checks_ = 0;
};

}  // namespace espalier
