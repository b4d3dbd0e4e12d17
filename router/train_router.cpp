#include "router/train_router.h"

#include <fmt/format.h>

#include <algorithm>

#include "flowctl/train_flaws.h"

namespace espalier {

TrainRouter::TrainRouter(sc_core::sc_module_name module_name, ClockDomain& clock, TrainWheel& wheel,
                         TrainSegmentPool& segments, const TrainRouterSpec& spec,
                         const MessageTable& messages, const PathTable& paths,
                         const std::vector<InputPortSpec>& inputs)
    : sc_module(module_name),
      clock_(clock),
      id_(clock.add(*this)),
      spec_(spec),
      messages_(messages),
      paths_(paths) {
  for (const InputPortSpec& in : inputs) {
    links_.push_back(
        std::make_unique<Link>(in.name.c_str(), in.link_number, in.timing, StallPattern{}));
    channels_.push_back(
        std::make_unique<TrainChannel>(*links_.back(), in.channel, wheel, segments));
    inputs_.push_back({channels_.back().get(), std::vector<Vc>(spec.vcs), 0, false,
                       RoundRobinArbiter(spec.vcs)});
  }
}

void TrainRouter::add_output(TrainChannel& channel) {
  Output out;
  out.train = TrainSender(&channel, channel.ticks_per_flit(), spec_.ticks_per_cycle);
  outputs_.push_back(out);
}

void TrainRouter::add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency) {
  Output out;
  out.train = TrainSender(nullptr, spec_.ticks_per_cycle, spec_.ticks_per_cycle);
  out.sink = &sink;
  out.sink_port = sink_port;
  out.sink_latency = latency;
  outputs_.push_back(out);
}

void TrainRouter::connect() {
  occupied_.assign(inputs_.size(), 0);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].channel->connect_receiver(*this, occupied_[i]);
  }
  for (Output& out : outputs_) {
    if (out.train.to() != nullptr) out.train.to()->connect_sender(*this);
  }
  const std::size_t crossbar_inputs =
      inputs_.size() * (spec_.crossbar_inputs == CrossbarInputs::vc ? spec_.vcs : 1);
  allocator_.emplace_back(static_cast<std::uint32_t>(crossbar_inputs),
                          static_cast<std::uint32_t>(outputs_.size()));
  active_.reserve(outputs_.size());
}

void TrainRouter::look_again() {
  touched_ = true;
  clock_.wake_now(id_);
}

void TrainRouter::evaluate(Cycle cycle) {
  // A check that has been put off since leaves its old wake-up behind.
  if (!touched_ && cycle < next_ && !clock_.always_clocked()) return;
  touched_ = false;
  next_ = kNever;
  waiters_.clear();
  const Tick begin = cycle * spec_.ticks_per_cycle;
  const Now now{cycle, begin, begin + spec_.ticks_per_cycle - 1};
  if (release_boundaries(now)) drop_broken_promises(now);
  allocate(now);
  mark_contention(now);
  settle(now);
  if (next_ != kNever) clock_.wake(id_, next_);
}

// Every output whose train stands at a boundary, whether or not a look at it was planned for now:
// somebody who met the boundary by chance may be granted.
bool TrainRouter::release_boundaries(const Now& now) {
  bool promise_open = false;
  for (const std::uint32_t o : active_) {
    Output& out = outputs_[o];
    out.contended = false;
    out.wanted = false;
    if (out.train.held()) {
      inputs_[out.input].contended = false;
      if (now.cycle < out.boundary) continue;
      if (has_flaw(TrainFlaw::release_planned_only) && now.cycle < out.check &&
          out.check != kNever) {
        continue;
      }
      const std::uint64_t gone = out.train.gone_before(now.begin);
      const std::uint64_t position = out.train.offset() + gone;
      if (position != out.train.promised() && !out.train.grid().is_boundary(position)) {
        // Boundaries have been passed unseen, this packet is still on the wire.
        out.boundary = out.train.release_cycle(out.train.grid().packet_end(position));
        continue;
      }
      release(out, gone);
    }
    promise_open |= out.train.promise_open();
  }
  return promise_open;
}

void TrainRouter::release(Output& out, std::uint64_t flits) {
  Input& in = inputs_[out.input];
  Vc& vc = in.vcs[out.vc];
  if (out.sink != nullptr && !out.is_told) eject(out, flits);
  out.train.release(flits);
  out.flits += flits;
  in.channel->leave(out.vc, flits);
  in.channel->set_ends_lazily(out.vc, false);
  in.streaming &= ~(VcMask{1} << out.vc);
  const PacketGrid& grid = out.train.grid();
  if (!grid.message_mode || out.train.offset() == grid.flits) {
    out.owned &= ~(VcMask{1} << out.train.vc());
    vc.state = {};
  }
  vc.front.known = false;
}

// Tells the NI of packets that have left or certainly will, in groups of equal length.
void TrainRouter::eject(const Output& out, std::uint64_t flits) {
  const TrainSender& train = out.train;
  const PacketGrid& grid = train.grid();
  std::uint64_t at = train.offset();
  const std::uint64_t end = at + flits;
  while (at != end) {
    const std::uint64_t length = grid.length_at(at);
    // As many packets of the same length as there are.
    std::uint64_t count = 1;
    if (at >= grid.first_packet || length == grid.packet) count = (end - at) / length;
    at += count * length;
    out.sink->packets_end(out.sink_port, train.message(), count, static_cast<std::uint32_t>(length),
                          train.release_cycle(at) - 1 + out.sink_latency);
  }
}

// A promise is kept only by the packet behind it, at the front of the same VC. Where that will not
// come any more (a cut has arrived), the promise ends before anything else leaves that VC.
void TrainRouter::drop_broken_promises(const Now& now) {
  for (const std::uint32_t o : active_) {
    Output& out = outputs_[o];
    if (!out.train.promise_open()) continue;
    const TrainChannel& channel = *inputs_[out.input].channel;
    const bool goes_on = (channel.occupied() & (VcMask{1} << out.vc)) != 0 &&
                         channel.front(out.vc).message == out.train.message() &&
                         channel.next_flit(out.vc) == out.train.offset();
    if (!goes_on) cut(now, out);
  }
}

void TrainRouter::cut(const Now& now, Output& out) {
  const std::uint64_t flits = out.train.cut(now.cycle);
  inputs_[out.input].channel->cut_credits(out.vc, flits, now.cycle);
}

void TrainRouter::allocate(const Now& now) {
  SwitchAllocator& allocator = allocator_.front();
  allocator.clear();
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    if (occupied_[i] == 0) continue;
    Input& in = inputs_[i];
    VcMask waiting = occupied_[i] & ~in.streaming;
    if (waiting == 0) continue;
    const bool busy = shared && in.streaming != 0;
    VcMask could_go = 0;
    SwitchAllocator::Request request{};
    SwitchAllocator::Request last{};
    for (; waiting != 0; waiting &= waiting - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(waiting));
      const Hope hope = make_request(now, i, vc, request);
      if (hope == Hope::later) continue;
      waiters_.push_back({i, vc, in.vcs[vc].state.out, hope});
      if (busy || hope != Hope::could_go) continue;
      could_go |= VcMask{1} << vc;
      last = request;
      if (!shared) allocator.request(request);
    }
    if (!shared || could_go == 0) continue;
    const std::uint32_t picked = in.arbiter.pick(could_go);
    if (picked != last.vc) make_request(now, i, picked, last);
    allocator.request(last);
  }
  if (!allocator.any()) return;
  for (const SwitchAllocator::Request& winner : allocator.allocate()) grant(now, winner);
}

TrainRouter::Hope TrainRouter::make_request(const Now& now, std::uint32_t input, std::uint32_t vc,
                                            SwitchAllocator::Request& request) {
  Input& in = inputs_[input];
  if (!in.vcs[vc].front.known && !look_at_front(now, in, vc)) return Hope::later;
  const Front& front = in.vcs[vc].front;
  const InputVc& state = in.vcs[vc].state;
  Output& out = outputs_[state.out];
  if (!out.train.held() && out.train.free_tick() > now.end) {
    look_at_tick(now, out.train.free_tick());
    return Hope::later;
  }
  if (front.head > now.end) {
    look_at_tick(now, front.head);
    return Hope::later;
  }
  const bool continues = state.out_vc != kNoVc;
  const VcMask candidates = continues ? VcMask{1} << state.out_vc : state.permitted & ~out.owned;
  if (out.train.held()) {
    // A VC owned by a packet is let go at the boundary, with credits that cannot be told yet.
    if (!out.train.grid().message_mode) return Hope::could_take;
    return choose_out_vc(now, out, candidates, front.flits) == kNoVc ? Hope::wants : Hope::could_take;
  }
  const std::uint32_t out_vc = choose_out_vc(now, out, candidates, front.flits);
  if (out_vc == kNoVc) return Hope::wants;
  const std::uint32_t crossbar_input =
      spec_.crossbar_inputs == CrossbarInputs::vc ? input * spec_.vcs + vc : input;
  request = {crossbar_input, state.out, input, vc, out_vc,
             std::max({out.train.free_tick(), now.begin, front.head})};
  return Hope::could_go;
}

// False: the packet has not arrived yet, and may still be cut off.
bool TrainRouter::look_at_front(const Now& now, Input& in, std::uint32_t vc) {
  const TrainChannel& channel = *in.channel;
  const Tick usable = channel.usable(vc);
  if (usable > now.end) {
    look_at_tick(now, usable);
    return false;
  }
  Vc& input_vc = in.vcs[vc];
  const TrainSegment& segment = channel.front(vc);
  const Message& message = messages_[segment.message];
  if (!input_vc.state.routed) input_vc.state.route(paths_.hop(message.path, segment.hop));
  const std::uint64_t flits = message.grid.length_at(channel.next_flit(vc));
  // From a slow link into a fast one a packet waits until it can stream without a gap.
  const Tick in_rate = channel.ticks_per_flit();
  const Tick out_rate = outputs_[input_vc.state.out].train.rate();
  const Tick wait = in_rate > out_rate ? (flits - 1) * (in_rate - out_rate) : 0;
  input_vc.front = {true, static_cast<std::uint32_t>(flits), usable + wait};
  return true;
}

std::uint32_t TrainRouter::choose_out_vc(const Now& now, const Output& out, VcMask candidates,
                                         std::uint64_t flits) {
  if (candidates == 0) return kNoVc;  // an owner's tail is looked at, because its output is wanted
  if (out.sink != nullptr) return static_cast<std::uint32_t>(__builtin_ctz(candidates));
  const VcChoice choice = choose_vc(*out.train.to(), candidates, static_cast<std::uint32_t>(flits),
                                    now.cycle, now.end);
  if (choice.vc == kNoVc) {
    out.train.to()->wait_for_credits(candidates);
    look_at_tick(now, choice.ask_again);
  }
  return choice.vc;
}

void TrainRouter::grant(const Now& now, const SwitchAllocator::Request& request) {
  Input& in = inputs_[request.input];
  InputVc& state = in.vcs[request.vc].state;
  Output& out = outputs_[request.output];
  TrainSender& train = out.train;
  in.arbiter.grant(request.vc);
  in.streaming |= VcMask{1} << request.vc;
  state.out_vc = request.out_vc;
  out.owned |= VcMask{1} << request.out_vc;
  out.was_granted = true;

  const TrainSegment& segment = in.channel->front(request.vc);
  const std::uint64_t offset = in.channel->next_flit(request.vc);
  if (out.input == request.input && out.vc == request.vc &&
      train.continues(segment.message, offset, request.out_vc, request.start)) {
    train.go_on();
    return;
  }
  if (train.promise_open()) cut(now, out);
  if (!out.is_active) {
    out.is_active = true;
    active_.push_back(request.output);
  }
  out.input = request.input;
  out.vc = request.vc;
  out.is_new = true;
  train.take(segment.message, messages_[segment.message].grid,
             static_cast<std::uint16_t>(segment.hop + 1), offset, request.out_vc, request.start);
}

// Who could go but may not makes what stands in its way contended: it is looked at again at the next
// boundary.
void TrainRouter::mark_contention(const Now& now) {
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  for (const Waiter& waiter : waiters_) {
    Input& in = inputs_[waiter.input];
    if ((in.streaming & (VcMask{1} << waiter.vc)) != 0) continue;  // granted
    Output& out = outputs_[waiter.output];
    out.wanted = true;
    if (waiter.hope == Hope::wants) continue;
    bool in_the_way = false;
    if (out.train.held()) {
      if (!has_flaw(TrainFlaw::output_waiter_ignored)) out.contended = true;
      in_the_way = true;
    }
    if (shared && in.streaming != 0 && waiter.hope == Hope::could_go) {
      if (!has_flaw(TrainFlaw::shared_input_waiter_ignored)) in.contended = true;
      in_the_way = true;
    }
    // One iteration of the allocator left a free input and a free output unmatched.
    if (!in_the_way && !has_flaw(TrainFlaw::no_retry_of_unmatched)) look_at(now.cycle + 1);
  }
}

// Announces new trains, ends promises that were not taken up, and finds the next time to look.
void TrainRouter::settle(const Now& now) {
  for (std::size_t a = 0; a < active_.size();) {
    Output& out = outputs_[active_[a]];
    if (out.train.held()) {
      plan(now, out);
    } else if (out.train.promise_open()) {
      const Cycle due = out.train.decision_cycle(out.train.offset());
      if (due <= now.cycle) {
        cut(now, out);
      } else {
        look_at(due);
      }
    }
    if (out.train.held() || out.train.promise_open()) {
      ++a;
    } else {
      out.is_active = false;
      active_[a] = active_.back();
      active_.pop_back();
    }
  }
}

void TrainRouter::plan(const Now& now, Output& out) {
  TrainSender& train = out.train;
  TrainChannel& channel = *inputs_[out.input].channel;
  if (out.was_granted) {
    const std::uint64_t packet_end = train.offset() + train.grid().length_at(train.offset());
    out.boundary = train.release_cycle(packet_end);
    if (out.is_new) announce(out, packet_end);
  }
  const bool alone = !out.contended && !out.wanted && !inputs_[out.input].contended;
  const bool data_news = channel.take_data_news(out.vc);
  const bool credit_news = train.to() != nullptr && train.to()->take_credit_news(train.vc());
  const bool as_planned = !out.was_granted && !data_news && !credit_news && alone &&
                          out.planned_alone && out.check > now.cycle;
  if (!as_planned) out.check = next_check(now, out);
  out.was_granted = false;
  out.planned_alone = alone;
  if (out.check != kNever) look_at(std::max(out.check, now.cycle + 1));
}

void TrainRouter::announce(Output& out, std::uint64_t packet_end) {
  TrainSender& train = out.train;
  TrainChannel& channel = *inputs_[out.input].channel;
  out.is_new = false;
  const bool one_packet = out.contended || inputs_[out.input].contended ||
                          channel.ticks_per_flit() > train.rate();
  const std::uint64_t end = one_packet ? packet_end : channel.front(out.vc).end();
  train.promise(end);
  channel.return_credits(out.vc, end - train.offset(), train.free_tick(), train.rate());
  // A packet that has started cannot be cut.
  out.is_told = out.sink != nullptr &&
                (end == packet_end || has_flaw(TrainFlaw::deliver_promised_tail));
  if (out.is_told) eject(out, end - train.offset());
}

// The first boundary at which skipping it could be wrong.
Cycle TrainRouter::next_check(const Now& now, Output& out) {
  const TrainSender& train = out.train;
  TrainChannel& channel = *inputs_[out.input].channel;
  channel.set_ends_lazily(out.vc, false);
  if (inputs_[out.input].contended) return out.boundary;
  const std::uint64_t data_end = channel.front(out.vc).end();
  const std::uint64_t limit = std::min(train.promised(), data_end);
  const bool last_packet = out.boundary == train.release_cycle(limit);
  // Where the data ends, too, nothing may be put off: what comes into the VC may leave by another
  // output before the wire of this one is free.
  if (out.contended && (last_packet || train.full_rate())) return out.boundary;
  if (!last_packet) {
    const bool every_packet =
        out.contended || channel.ticks_per_flit() > train.rate() || may_choose_another_vc(out);
    if (every_packet) {
      return train.decision_cycle(
          train.grid().packet_end(train.offset() + train.gone_before(now.begin)));
    }
    const std::uint64_t unsure = train.first_unsure_of_credits(limit);
    if (unsure < limit) return train.decision_cycle(unsure);
  }
  if (data_end > train.promised()) return train.decision_cycle(train.promised());
  // A cut has come, or promise and data end together.
  const bool wanted = out.wanted && !has_flaw(TrainFlaw::tail_waiter_ignored);
  if (data_end < train.promised() || wanted || channel.has_second(out.vc) ||
      completes_message(out)) {
    return train.release_cycle(data_end);
  }
  channel.set_ends_lazily(out.vc, true);
  return kNever;
}

// In packet mode every packet chooses its VC: a lower one may have got credits.
bool TrainRouter::may_choose_another_vc(const Output& out) const {
  const VcMask permitted = inputs_[out.input].vcs[out.vc].state.permitted;
  return !out.train.grid().message_mode && out.sink == nullptr &&
         (permitted & ((VcMask{1} << out.train.vc()) - 1)) != 0 &&
         !has_flaw(TrainFlaw::vc_choice_skipped);
}

// The NI must be told in time of a message's last flit.
bool TrainRouter::completes_message(const Output& out) const {
  if (out.sink == nullptr || out.is_told) return false;
  const TrainSender& train = out.train;
  return messages_[train.message()].flits_left == train.promised() - train.offset();
}

std::uint64_t TrainRouter::flits_sent(std::size_t output, Cycle now) const {
  const Output& out = outputs_[output];
  const Tick end = (now + 1) * spec_.ticks_per_cycle;
  return out.flits + (out.train.held() ? out.train.gone_before(end) : 0);
}

std::uint64_t TrainRouter::flit_hops(Cycle now) const {
  std::uint64_t flits = 0;
  for (std::size_t o = 0; o < outputs_.size(); ++o) flits += flits_sent(o, now);
  return flits;
}

void TrainRouter::explain_waits(Cycle cycle, WaitList& waits) const {
  const Tick end = (cycle + 1) * spec_.ticks_per_cycle - 1;
  const auto vc_name = [](const TrainChannel& channel, std::uint32_t vc) {
    return fmt::format("{}.vc{}", channel.link().name(), vc);
  };
  for (const Input& in : inputs_) {
    for (VcMask left = in.channel->occupied(); left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      const InputVc& state = in.vcs[vc].state;
      if (in.channel->usable(vc) > end || !state.routed) continue;
      const Output& out = outputs_[state.out];
      const std::string who = vc_name(*in.channel, vc);
      const bool itself = &inputs_[out.input] == &in && out.vc == vc;
      if (out.train.held() && !itself) {
        waits.push_back({who, vc_name(*inputs_[out.input].channel, out.vc),
                         fmt::format("{} output {} is held", name(), state.out)});
      } else if (out.train.to() != nullptr) {
        for (VcMask vcs = state.out_vc != kNoVc ? VcMask{1} << state.out_vc : state.permitted;
             vcs != 0; vcs &= vcs - 1) {
          waits.push_back({who, vc_name(*out.train.to(),
                                        static_cast<std::uint32_t>(__builtin_ctz(vcs))),
                           "credits or the VC's owner"});
        }
      }
    }
  }
}

}  // namespace espalier
