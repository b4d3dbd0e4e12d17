#include "flowctl/train/train_channel.h"

#include "flowctl/train/train_flaws.h"

namespace espalier {

std::uint32_t TrainSegmentPool::add(const TrainSegment& segment) {
  std::uint32_t index = free_;
  if (index == kNone) {
    index = static_cast<std::uint32_t>(segments_.size());
    segments_.push_back(segment);
  } else {
    free_ = segments_[index].next;
    segments_[index] = segment;
  }
  segments_[index].next = kNone;
  return index;
}

TrainChannel::TrainChannel(Link& link, const ChannelSpec& spec, TrainWheel& wheel,
                           TrainSegmentPool& segments)
    : vcs_(spec.vcs),
      segments_(segments),
      rate_(link.timing().ticks_per_flit),
      wheel_(wheel),
      forward_(link.timing().latency + spec.receiver_pipeline),
      spec_(spec),
      link_(link) {
  for (Vc& vc : vcs_) vc.credits.counted = spec.vc_depth_flits;
}

TrainEvent TrainChannel::event(TrainEvent::Kind kind, std::uint32_t vc, const FlitRun& flits) {
  TrainEvent event;
  event.kind = kind;
  event.vc = static_cast<std::uint8_t>(vc);
  event.channel = this;
  event.flits = flits;
  return event;
}

namespace {

FlitRun flits_alone(std::uint64_t n) {
  FlitRun run;
  run.n = n;
  return run;
}

// Observers see plain runs: each packet of a comb is one. `see(run, first)`: `first` is the number
// of its first flit.
template <class See>
void for_each_packet(const FlitRun& flits, const See& see) {
  if (!flits.has_gaps()) return see(flits, 0);
  const std::uint32_t packet = flits.comb->packet;
  for (std::uint64_t i = 0; i < flits.n; i += packet) {
    see(FlitRun{flits.tick_of(i), flits.rate, std::min<std::uint64_t>(packet, flits.n - i)}, i);
  }
}

}  // namespace

void TrainChannel::send_begin(std::uint32_t vc, const Train& train) {
  for (ChannelObserver* observer : observers_) {
    for_each_packet(train.flits, [&](const FlitRun& run, std::uint64_t first) {
      observer->run_sent({vc, train.message, train.hop, train.offset + first, run});
    });
  }
  TrainEvent begin = event(TrainEvent::Kind::begin, vc, train.flits);
  begin.hop = train.hop;
  begin.message = train.message;
  begin.offset = train.offset;
  post_begin(begin, forward_);
}

void TrainChannel::post_begin(TrainEvent& begin, Cycle latency) {
  begin.flits.delay(latency * spec_.ticks_per_cycle);
  wheel_.post(cycle_of_tick(begin.flits.tick_of(0), spec_.ticks_per_cycle), begin);
}

void TrainChannel::send_cut(std::uint32_t vc, std::uint64_t n, Cycle now) {
  for (ChannelObserver* observer : observers_) observer->run_cut(vc, n);
  wheel_.post(now + forward_, event(TrainEvent::Kind::cut, vc, flits_alone(n)));
}

void TrainChannel::return_credits(std::uint32_t vc, const FlitRun& flits) {
  for (ChannelObserver* observer : observers_) {
    for_each_packet(flits,
                    [&](const FlitRun& run, std::uint64_t) { observer->flits_left(vc, run); });
  }
  TrainEvent begin = event(TrainEvent::Kind::credit_begin, vc, flits);
  post_begin(begin, spec_.credit_latency);
}

void TrainChannel::cut_credits(std::uint32_t vc, std::uint64_t n, Cycle now) {
  for (ChannelObserver* observer : observers_) observer->leaving_cut(vc, n);
  wheel_.post(now + spec_.credit_latency, event(TrainEvent::Kind::credit_cut, vc, flits_alone(n)));
}

void TrainChannel::arrive(const TrainEvent& event, [[maybe_unused]] Cycle now) {
  TrainCredits& credits = vcs_[event.vc].credits;
  const VcMask bit = VcMask{1} << event.vc;
  switch (event.kind) {
    case TrainEvent::Kind::begin:
      begin(event);
      break;
    case TrainEvent::Kind::cut:
      cut(event);
      break;
    case TrainEvent::Kind::credit_begin:
      // All credits of the previous run have been seen: the last one left in an earlier cycle.
      sc_assert(credits.coming.before((now + 1) * spec_.ticks_per_cycle) == credits.coming.n);
      credits.counted += credits.coming.n;
      credits.coming = event.flits;
      sender_->credits_changed(sender_port_, (awaited_ & bit) != 0);
      awaited_ &= ~bit;
      break;
    case TrainEvent::Kind::credit_cut:
      sc_assert(event.flits.n <=
                credits.coming.n - credits.coming.before(now * spec_.ticks_per_cycle));
      credits.coming.n -= event.flits.n;
      if (!has_flaw(TrainFlaw::credit_cut_unnoticed)) sender_->credits_changed(sender_port_, true);
      break;
  }
}

namespace {

bool goes_on_with(const FlitRun& run, const FlitRun& next, Tick q) {
  return run.goes_on_with(next) || (has_flaw(TrainFlaw::phase_ignored) && !run.has_gaps() &&
                                    !next.has_gaps() && run.tick_of(run.n) / q == next.start / q);
}

}  // namespace

void TrainChannel::begin(const TrainEvent& event) {
  Vc& vc = vcs_[event.vc];
  const VcMask bit = VcMask{1} << event.vc;
  const bool was_empty = vc.head == TrainSegmentPool::kNone;
  TrainSegment* last = was_empty ? nullptr : &segments_[vc.tail];
  if (last != nullptr && last->message == event.message && last->end() == event.offset &&
      goes_on_with(last->usable, event.flits, spec_.ticks_per_cycle)) {
    last->usable.n += event.flits.n;
  } else {
    TrainSegment segment;
    segment.first = event.offset;
    segment.usable = event.flits;
    segment.message = event.message;
    segment.hop = event.hop;
    const std::uint32_t index = segments_.add(segment);
    if (was_empty) {
      vc.head = index;
      vc.next_flit = event.offset;
      *occupied_ |= bit;
    } else {
      segments_[vc.tail].next = index;
    }
    vc.tail = index;
  }
  if (was_empty) {
    receiver_->train_came(receiver_port_, event.vc);
  } else if ((ends_lazily_ & bit) != 0 && !has_flaw(TrainFlaw::lazy_end_unnoticed)) {
    receiver_->train_followed(receiver_port_, event.vc);
  } else {
    receiver_->train_changed(receiver_port_, false);
  }
}

void TrainChannel::cut(const TrainEvent& event) {
  Vc& vc = vcs_[event.vc];
  sc_assert(vc.tail != TrainSegmentPool::kNone);
  TrainSegment& last = segments_[vc.tail];
  sc_assert(event.flits.n <= last.usable.n);
  last.usable.n -= event.flits.n;
  // If a fast output has already emptied the segment, the cut leaves an empty segment.
  if (vc.head == vc.tail && vc.next_flit == last.end() &&
      !has_flaw(TrainFlaw::keep_exhausted_segment)) {
    drop_front(vc, event.vc);
  }
  receiver_->train_changed(receiver_port_, true);
}

void TrainChannel::leave(std::uint32_t number, std::uint64_t n) {
  Vc& vc = vcs_[number];
  vc.next_flit += n;
  sc_assert(vc.next_flit <= front(number).end());
  if (vc.next_flit == front(number).end()) drop_front(vc, number);
}

void TrainChannel::drop_front(Vc& vc, std::uint32_t number) {
  const std::uint32_t next = segments_[vc.head].next;
  segments_.remove(vc.head);
  vc.head = next;
  if (next == TrainSegmentPool::kNone) {
    vc.tail = next;
    *occupied_ &= ~(VcMask{1} << number);
  } else {
    vc.next_flit = segments_[next].first;
  }
}

}  // namespace espalier
