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

TrainEvent TrainChannel::event(TrainEvent::Kind kind, std::uint32_t vc, std::uint64_t n) {
  TrainEvent event;
  event.kind = kind;
  event.vc = static_cast<std::uint8_t>(vc);
  event.channel = this;
  event.n = n;
  return event;
}

void TrainChannel::send_begin(std::uint32_t vc, const Train& train) {
  for (ChannelObserver* observer : observers_) {
    observer->run_sent({vc, train.message, train.hop, train.offset, {train.start, rate_, train.n}});
  }
  const Tick q = spec_.ticks_per_cycle;
  TrainEvent begin = event(TrainEvent::Kind::begin, vc, train.n);
  begin.hop = train.hop;
  begin.message = train.message;
  begin.offset = train.offset;
  begin.start = train.start + forward_ * q;
  wheel_.post(cycle_of_tick(begin.start, q), begin);
}

void TrainChannel::send_cut(std::uint32_t vc, std::uint64_t n, Cycle now) {
  for (ChannelObserver* observer : observers_) observer->run_cut(vc, n);
  wheel_.post(now + forward_, event(TrainEvent::Kind::cut, vc, n));
}

void TrainChannel::return_credits(std::uint32_t vc, std::uint64_t n, Tick start, Tick rate) {
  for (ChannelObserver* observer : observers_) observer->flits_left(vc, {start, rate, n});
  const Tick q = spec_.ticks_per_cycle;
  TrainEvent begin = event(TrainEvent::Kind::credit_begin, vc, n);
  begin.rate = rate;
  begin.start = start + spec_.credit_latency * q;
  wheel_.post(cycle_of_tick(begin.start, q), begin);
}

void TrainChannel::cut_credits(std::uint32_t vc, std::uint64_t n, Cycle now) {
  for (ChannelObserver* observer : observers_) observer->leaving_cut(vc, n);
  wheel_.post(now + spec_.credit_latency, event(TrainEvent::Kind::credit_cut, vc, n));
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
      credits.coming = {event.start, event.rate, event.n};
      sender_->credits_changed(sender_port_, (awaited_ & bit) != 0);
      awaited_ &= ~bit;
      break;
    case TrainEvent::Kind::credit_cut:
      sc_assert(event.n <= credits.coming.n - credits.coming.before(now * spec_.ticks_per_cycle));
      credits.coming.n -= event.n;
      if (!has_flaw(TrainFlaw::credit_cut_unnoticed)) sender_->credits_changed(sender_port_, true);
      break;
  }
}

bool TrainChannel::is_seamless(Tick end, Tick start) const {
  const Tick q = spec_.ticks_per_cycle;
  return end == start || (has_flaw(TrainFlaw::phase_ignored) && end / q == start / q);
}

void TrainChannel::begin(const TrainEvent& event) {
  Vc& vc = vcs_[event.vc];
  const VcMask bit = VcMask{1} << event.vc;
  const bool was_empty = vc.head == TrainSegmentPool::kNone;
  TrainSegment* last = was_empty ? nullptr : &segments_[vc.tail];
  if (last != nullptr && last->message == event.message && last->end() == event.offset &&
      is_seamless(last->usable + last->n * rate_, event.start)) {
    last->n += event.n;
  } else {
    TrainSegment segment;
    segment.first = event.offset;
    segment.n = event.n;
    segment.usable = event.start;
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
  sc_assert(event.n <= last.n);
  last.n -= event.n;
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
