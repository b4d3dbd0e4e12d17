#include "flowctl/channel_monitor.h"

#include <fmt/format.h>

namespace espalier {

ChannelMonitor::ChannelMonitor(std::uint32_t vcs, std::uint32_t depth, Cycle credit_latency)
    : ChannelMonitor(std::vector<std::uint32_t>(vcs, depth), credit_latency) {}

ChannelMonitor::ChannelMonitor(const std::vector<std::uint32_t>& depths, Cycle credit_latency)
    : vcs_(depths.size()), credit_latency_(credit_latency) {
  for (std::size_t vc = 0; vc < vcs_.size(); ++vc) vcs_[vc].credits = vcs_[vc].depth = depths[vc];
}

void ChannelMonitor::sent(std::uint32_t vc_number, const Flit& flit, Cycle now) {
  Vc& vc = vcs_[vc_number];
  collect_credits(vc, now);
  if (vc.credits == 0) {
    report(vc_number, now, "a flit was sent without a credit");
  } else {
    --vc.credits;
  }
  check_order(vc_number, vc, flit, now);
  vc.inside.push_back(flit);
  check_conservation(vc_number, vc, now);
}

void ChannelMonitor::left(std::uint32_t vc_number, const Flit& flit, Cycle now) {
  Vc& vc = vcs_[vc_number];
  collect_credits(vc, now);
  if (vc.inside.empty()) {
    report(vc_number, now, "a flit left the VC but never entered it");
  } else {
    const Flit& first = vc.inside.front();
    if (first.message != flit.message || first.left_in_packet != flit.left_in_packet ||
        first.type != flit.type) {
      report(vc_number, now, "flits left the VC in another order than they were sent");
    }
    vc.inside.pop_front();
  }
  vc.credits_under_way.push_back(now + credit_latency_);
  check_conservation(vc_number, vc, now);
}

void ChannelMonitor::credits_claimed(std::uint32_t vc_number, std::uint32_t credits, Cycle now) {
  Vc& vc = vcs_[vc_number];
  collect_credits(vc, now);
  ++checks_;
  if (credits != vc.credits) {
    report(vc_number, now, "the sender's credit count differs from the credits returned to it");
  }
}

void ChannelMonitor::check_drained() {
  for (std::uint32_t v = 0; v < vcs_.size(); ++v) {
    if (!vcs_[v].inside.empty()) report(v, kNever, "a flit entered the VC but never left it");
  }
}

void ChannelMonitor::collect_credits(Vc& vc, Cycle now) {
  while (!vc.credits_under_way.empty() && vc.credits_under_way.front() <= now) {
    vc.credits_under_way.pop_front();
    ++vc.credits;
  }
}

void ChannelMonitor::check_conservation(std::uint32_t vc_number, const Vc& vc, Cycle now) {
  ++checks_;
  if (vc.credits + vc.inside.size() + vc.credits_under_way.size() != vc.depth) {
    report(vc_number, now, "credits are not conserved");
  }
}

void ChannelMonitor::check_order(std::uint32_t vc_number, Vc& vc, const Flit& flit, Cycle now) {
  const bool sub_packet = (static_cast<unsigned>(flit.type) & 0b100U) != 0;
  if (vc.sub_packets_of.valid() && (!sub_packet || flit.message != vc.sub_packets_of)) {
    report(vc_number, now, "a flit entered a VC that another message owns");
  }
  const bool inside_packet = vc.expected_left != 0;
  if (inside_packet && (flit.left_in_packet != vc.expected_left || flit.message != vc.packet_of ||
                        carries_header(flit.type))) {
    report(vc_number, now, "the flits of a packet are not consecutive");
  }
  if (vc.sub_packets_of.valid() && flit.type == FlitType::sub_head) {
    report(vc_number, now, "a message has a second head flit");
  }
  if (vc.expected_left == 0 && !vc.sub_packets_of.valid() && !carries_header(flit.type)) {
    report(vc_number, now, "a packet does not start with a head flit");
  }
  if (ends_packet(flit.type) != (flit.left_in_packet == 1)) {
    report(vc_number, now, "the packet's last flit and its tail are not the same flit");
  }
  vc.expected_left = flit.left_in_packet - 1U;
  vc.packet_of = flit.message;
  if (flit.type == FlitType::sub_head) vc.sub_packets_of = flit.message;
  if (flit.type == FlitType::message_tail) vc.sub_packets_of = {};
}

void ChannelMonitor::report(std::uint32_t vc, Cycle now, const char* rule) {
  if (!violation_.empty()) return;
  violation_ = now == kNever ? fmt::format("vc {}: {}", vc, rule)
                             : fmt::format("cycle {}, vc {}: {}", now, vc, rule);
}

}  // namespace espalier
