#include "flowctl/channel.h"

namespace espalier {

Channel::Channel(Link& link, const ChannelSpec& spec) : spec_(spec), link_(link) {
  vcs_.reserve(spec.vcs);
  for (std::uint32_t vc = 0; vc < spec.vcs; ++vc) {
    vcs_.emplace_back(*this, vc, spec.depth_of(vc),
                      (link.timing().latency + spec.receiver_pipeline) * spec.ticks_per_cycle,
                      spec.credit_latency * spec.ticks_per_cycle);
  }
}

void Channel::connect_receiver(FlitReceiver& receiver) {
  sc_assert(receiver_ == nullptr);
  receiver_ = &receiver;
}

bool Channel::credit_under_way(Tick now_end, VcMask vcs) const {
  for (VcMask left = vcs & all_vcs(spec_.vcs); left != 0; left &= left - 1) {
    const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
    if (vcs_[vc].buffer().credit_under_way(now_end)) return true;
  }
  return false;
}

std::uint64_t Channel::flits_carried() const {
  std::uint64_t flits = 0;
  for (const ChannelVc& vc : vcs_) flits += vc.buffer().flits_sent();
  return flits;
}

void Channel::attach_monitor() {
  std::vector<std::uint32_t> depths;
  for (std::uint32_t vc = 0; vc < spec_.vcs; ++vc) depths.push_back(spec_.depth_of(vc));
  monitor_ = std::make_unique<ChannelMonitor>(depths, spec_.credit_latency);
  for (ChannelVc& vc : vcs_) vc.set_watched();
}

void Channel::observe(ChannelObserver& observer) {
  observers_.push_back(&observer);
  for (ChannelVc& vc : vcs_) vc.set_watched();
}

void Channel::watch_send(std::uint32_t vc, const Flit& flit, Tick departure) {
  if (monitor_) {
    const Tick q = spec_.ticks_per_cycle;
    const Cycle now = departure / q;
    monitor_->credits_claimed(vc, buffer(vc).credits_seen((now + 1) * q - 1), now);
    monitor_->sent(vc, flit, now);
  }
  for (ChannelObserver* observer : observers_) observer->flit_sent(vc, flit, departure);
}

void Channel::watch_pop(std::uint32_t vc, Tick now_begin) {
  if (monitor_) monitor_->left(vc, buffer(vc).front(), now_begin / spec_.ticks_per_cycle);
  for (ChannelObserver* observer : observers_) {
    observer->flits_left(vc, {now_begin, spec_.ticks_per_cycle, 1});
  }
}

}  // namespace espalier
