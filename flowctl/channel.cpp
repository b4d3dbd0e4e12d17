#include "flowctl/channel.h"

#include <algorithm>

namespace espalier {

Channel::Channel(Link& link, const ChannelSpec& spec) : spec_(spec), link_(link) {
  vcs_.reserve(spec.vcs);
  for (std::uint32_t vc = 0; vc < spec.vcs; ++vc) {
    vcs_.emplace_back(*this, vc, spec.vc_depth_flits,
                      (link.timing().latency + spec.receiver_pipeline) * spec.ticks_per_cycle,
                      spec.credit_latency * spec.ticks_per_cycle);
  }
}

void Channel::connect_receiver(FlitReceiver& receiver) {
  sc_assert(receiver_ == nullptr);
  receiver_ = &receiver;
}

bool Channel::credit_under_way(Tick now_end) const {
  return std::any_of(vcs_.begin(), vcs_.end(),
                     [&](const ChannelVc& vc) { return vc.buffer().credit_under_way(now_end); });
}

std::uint64_t Channel::flits_carried() const {
  std::uint64_t flits = 0;
  for (const ChannelVc& vc : vcs_) flits += vc.buffer().flits_sent();
  return flits;
}

void Channel::attach_monitor() {
  monitor_ =
      std::make_unique<ChannelMonitor>(spec_.vcs, spec_.vc_depth_flits, spec_.credit_latency);
  for (ChannelVc& vc : vcs_) vc.set_monitored();
}

}  // namespace espalier
