#include "ni/train/train_injection_port.h"

#include "flowctl/train/train_flaws.h"

namespace espalier {

TrainInjectionPort::TrainInjectionPort(TrainChannel& channel, PacketStops& stops,
                                       const InjectionSpec& spec)
    : InjectionPort(spec),
      channel_(channel),
      stops_(stops),
      ticks_per_cycle_(channel.spec().ticks_per_cycle),
      train_(&channel, channel.ticks_per_flit(), channel.spec().ticks_per_cycle) {}

Cycle TrainInjectionPort::evaluate(Cycle now) {
  Cycle earliest = now;
  if (train_.held()) {
    const std::uint64_t gone = train_.gone_before(now * ticks_per_cycle_);
    if (gone != 0 && train_.grid().is_boundary(train_.offset() + gone)) {
      release(gone);
    } else {
      const bool read_by_itself = queue().one_by_one();
      if (!take_note_of_end(now)) return next_check(now);
      if (read_by_itself) return now + 1;  // the DMA engine has buffer space again
      earliest = now + 1;
    }
  }
  if (queue().empty()) return kNever;
  Cycle ask_again = kNever;
  if (start_packet(now, earliest, ask_again)) {
    // A packet of one flit ends as it starts.
    return take_note_of_end(now) ? now + 1 : next_check(now);
  }
  if (!train_.promise_open()) return ask_again;
  if (train_.resume_cycle() > now) return std::min(ask_again, train_.resume_cycle());
  train_.cut(now);
  return ask_again;
}

// The end of a message, and with it the free place in the queue, takes effect in the cycle of the
// last flit, because others wait for it. The same holds for the buffer space of a packet that was
// read by itself.
bool TrainInjectionPort::take_note_of_end(Cycle now) {
  const std::uint64_t gone = train_.gone_before((now + 1) * ticks_per_cycle_);
  if (train_.offset() + gone != train_.promised()) return false;
  if (!queue().one_by_one() && train_.promised() != train_.grid().flits) return false;
  const MessageId message = train_.message();
  const bool read_by_itself = queue().one_by_one();
  release(gone);
  if (train_.offset() == train_.grid().flits) {
    offset_ = 0;
    vc_ = kNoVc;
    set_sent(message);
  }
  if (read_by_itself) {
    queue().packet_sent();
  } else {
    queue().message_sent();
  }
  return true;
}

void TrainInjectionPort::release(std::uint64_t flits) {
  const PacketGrid& grid = train_.grid();
  const bool has_first = train_.offset() == 0;
  const std::uint64_t packets = (flits + grid.packet - 1) / grid.packet;
  count_flits(flits, grid.message_mode ? (has_first ? 1 : 0) : packets);
  stops_.flit_hops += flits;
  if (train_.offset() + flits != grid.flits) {
    stops_[queue().one_by_one() ? StopReason::data
           : keeps_vc()         ? StopReason::credits
                        : StopReason::vc_choice] += std::min<std::uint64_t>(flits, grid.packet);
  }
  train_.release(flits);
  offset_ = train_.offset();
  if (!grid.message_mode) vc_ = kNoVc;
}

bool TrainInjectionPort::start_packet(Cycle now, Cycle earliest, Cycle& ask_again) {
  const Cycle ready = queue().packet_ready();
  if (ready == kNever) {
    set_blocked_on("dma");
    return false;
  }
  const Cycle start = std::max(earliest, ready);
  const PacketGrid grid = queue().framing().grid();
  const auto flits = static_cast<std::uint32_t>(grid.length_at(offset_));
  const Tick now_end = (now + 1) * ticks_per_cycle_ - 1;
  // Message mode: a message keeps its VC until its tail.
  VcMask candidates = vc_ != kNoVc ? VcMask{1} << vc_ : permitted();
  if (start > now) {
    // No other packet leaves before `start`. If the first VC has room now, this packet will take
    // it.
    const std::uint32_t first = first_of(candidates);
    candidates = VcMask{1} << first;
    if (queue().one_by_one() || !channel_.has_room(first, flits, now_end)) {
      set_blocked_on("dma");
      ask_again = start;
      return false;
    }
  }
  const VcChoice choice = choose_vc(channel_, candidates, flits, now, now_end, first_vc_);
  if (choice.vc == kNoVc) {
    set_blocked_on("credit");
    channel_.wait_for_credits(candidates);
    if (choice.ask_again != kNever) ask_again = choice.ask_again / ticks_per_cycle_;
    return false;
  }
  set_blocked_on("");
  vc_ = choice.vc;
  if (queue().spec().vc_order == VcOrder::rotating) first_vc_ = (vc_ + 1) % channel_.spec().vcs;
  const Tick start_tick = start * ticks_per_cycle_;
  if (train_.continues(queue().message(), offset_, vc_, start_tick)) {
    train_.go_on();
    return true;
  }
  if (train_.promise_open()) train_.cut(now);
  train_.take(queue().message(), grid, 0, offset_, vc_, start_tick);
  FlitRun flits_ahead =
      train_.forecast(queue().one_by_one() ? grid.packet_end(offset_) : grid.flits, nullptr, true,
                      keeps_vc(), channel_.combs());
  if (channel_.is_observed()) flits_ahead.keep_packets(TrainChannel::kObservedPackets);
  train_.promise(flits_ahead);
  return true;
}

VcMask TrainInjectionPort::permitted() const {
  return queue().spec().vcs & queue().vcs() & all_vcs(channel_.spec().vcs);
}

std::uint32_t TrainInjectionPort::first_of(VcMask candidates) const {
  const VcMask below = candidates & ((VcMask{1} << first_vc_) - 1);
  const VcMask from_first = candidates & ~below;
  return static_cast<std::uint32_t>(__builtin_ctz(from_first != 0 ? from_first : below));
}

bool TrainInjectionPort::keeps_vc() const {
  return train_.grid().message_mode || (permitted() & (permitted() - 1)) == 0;
}

Cycle TrainInjectionPort::next_check(Cycle now) const {
  const std::uint64_t promised = train_.promised();
  const bool is_end = queue().one_by_one() || promised == train_.grid().flits;
  const Cycle end = is_end ? train_.release_cycle(promised) - 1 : train_.decision_cycle(promised);
  // Each packet chooses a VC anew, because a VC with a lower number may have got credits.
  const VcMask below = permitted() & ((VcMask{1} << vc_) - 1);
  if (!train_.grid().message_mode && below != 0 && !has_flaw(TrainFlaw::vc_choice_skipped)) {
    const std::uint64_t boundary = train_.next_boundary(now * ticks_per_cycle_);
    if (boundary != promised) return train_.decision_cycle(boundary);
  }
  const std::uint64_t from = train_.is_plain() ? train_.grid().packet_end(train_.offset())
                                               : train_.next_boundary(now * ticks_per_cycle_);
  const std::uint64_t unsure = !train_.is_plain() && train_.has_pattern({})
                                   ? train_.first_unsure_of_pattern(promised, from, {})
                                   : train_.first_unsure_of_credits(promised, from);
  if (unsure == promised) return end;
  const Cycle boundary = train_.decision_cycle(unsure);
  if (!keeps_vc()) return std::min(end, boundary);
  // Nothing else leaves the port in a gap: the next packet starts as promised, or earlier with its
  // last credit.
  const std::uint64_t gone = unsure - train_.offset();
  const Tick room = channel_.room_at(vc_, gone + train_.grid().length_at(unsure));
  const Tick start = std::min(room, train_.start_of_next(gone));
  return std::min(end, std::max(boundary, cycle_of_tick(start, ticks_per_cycle_)));
}

std::uint64_t TrainInjectionPort::packets_left(Cycle now) const {
  if (!train_.held()) return offset_;
  return train_.grid().boundary_before(train_.offset() +
                                       train_.gone_before((now + 1) * ticks_per_cycle_));
}

// At the end of a promise an evaluation comes first.
Cycle TrainInjectionPort::packets_left_at(std::uint64_t flits) const {
  if (!train_.held() || flits > train_.promised()) return kNever;
  return train_.release_cycle(train_.grid().packet_end(flits - 1)) - 1;
}

// Flits are counted when their train releases them; the train under way has sent some more.
std::uint64_t TrainInjectionPort::flits_sent(Cycle now) const {
  return counted_flits() + (train_.held() ? train_.gone_before((now + 1) * ticks_per_cycle_) : 0);
}

bool TrainInjectionPort::under_way(Cycle now) const {
  if (queue().empty()) return false;
  const Cycle ready = train_.held() ? now : queue().packet_ready();
  return (ready > now && ready != kNever) || train_.held();
}

}  // namespace espalier
