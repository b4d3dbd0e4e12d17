#include "flowctl/channel.h"

namespace espalier {

Channel::Channel(Link& link, const ChannelSpec& spec)
    : buffers_(spec.vcs, VcBuffer(spec.vc_depth_flits)),
      usable_after_((link.timing().latency + spec.receiver_pipeline) * spec.ticks_per_cycle),
      credit_after_(spec.credit_latency * spec.ticks_per_cycle),
      may_refuse_(link.may_refuse()),
      spec_(spec),
      link_(link) {}

void Channel::connect_receiver(FlitReceiver& receiver) {
  sc_assert(receiver_ == nullptr);
  receiver_ = &receiver;
}

std::uint64_t Channel::flits_carried() const {
  std::uint64_t flits = 0;
  for (const VcBuffer& buffer : buffers_) flits += buffer.flits_sent();
  return flits;
}

void Channel::attach_monitor() {
  monitor_ =
      std::make_unique<ChannelMonitor>(spec_.vcs, spec_.vc_depth_flits, spec_.credit_latency);
}

std::uint64_t depth_without_stall(Cycle link_latency, Cycle pipeline, Cycle credit_latency,
                                  std::uint32_t longest_packet) {
  return link_latency + pipeline + credit_latency + longest_packet - 1;
}

}  // namespace espalier
