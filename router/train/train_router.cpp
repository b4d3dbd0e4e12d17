#include "router/train/train_router.h"

#include <fmt/format.h>

#include <algorithm>

#include "flowctl/train/train_flaws.h"

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
    inputs_.push_back({channels_.back().get(), RoundRobinArbiter(spec.vcs)});
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
  const auto inputs = static_cast<std::uint32_t>(inputs_.size());
  const auto outputs = static_cast<std::uint32_t>(outputs_.size());
  vcs_.resize(std::size_t{inputs} * spec_.vcs);
  occupied_.assign(inputs, 0);
  streaming_.assign(inputs, 0);
  notes_.assign(outputs, 0);
  input_notes_.assign(inputs, 0);
  input_of_.assign(outputs, 0);
  output_of_.assign(inputs, 0);
  active_.reserve(outputs);
  boundary_.assign(outputs, 0);
  check_.assign(outputs, kNever);
  for (std::uint32_t i = 0; i < inputs; ++i) {
    inputs_[i].channel->connect_receiver(*this, i, occupied_[i]);
  }
  for (std::uint32_t o = 0; o < outputs; ++o) {
    TrainChannel* channel = outputs_[o].train.to();
    if (channel != nullptr) channel->connect_sender(*this, o);
  }
  const std::size_t crossbar_inputs =
      inputs_.size() * (spec_.crossbar_inputs == CrossbarInputs::vc ? spec_.vcs : 1);
  allocator_.emplace_back(static_cast<std::uint32_t>(crossbar_inputs), outputs);
}

void TrainRouter::train_came(std::uint32_t input, std::uint32_t vc) {
  input_notes_[input] |= kInputNews;
  newcomers_.push_back({input, vc});
  touched_ = true;
  clock_.wake_now(id_);
}

void TrainRouter::train_followed(std::uint32_t input, std::uint32_t vc) {
  input_notes_[input] |= kInputNews;
  followers_.push_back({input, vc});
  touched_ = true;
  clock_.wake_now(id_);
}

void TrainRouter::train_changed(std::uint32_t input, bool look_now) {
  input_notes_[input] |= kInputNews;
  if (look_now) look_again();
}

TrainRouter::Now TrainRouter::present(Cycle cycle) const {
  const Tick begin = cycle * spec_.ticks_per_cycle;
  return {cycle, begin, begin + spec_.ticks_per_cycle - 1};
}

void TrainRouter::evaluate(Cycle cycle) {
  const Now now = present(cycle);
  if (touched_ || cycle >= planned_ || clock_.always_clocked()) {
    const bool simple = only_simple_ && cycle < waiters_next_ && !clock_.always_clocked();
    if (!simple || !evaluate_simply(now)) evaluate_all(now);
    touched_ = false;
    only_simple_ = true;
    newcomers_.clear();
    followers_.clear();
  }
  // Otherwise what was planned has been put off since, and left its old wake-up behind.
  planned_ = next_look();
  const Cycle next = std::max(planned_, cycle + 1);
  if (next < next_ || next_ <= cycle) {
    next_ = next;
    if (next != kNever) clock_.wake(id_, next);
  }
}

void TrainRouter::evaluate_all(const Now& now) {
  waiters_next_ = kNever;
  waiters_.clear();
  if (release_boundaries(now)) drop_broken_promises(now);
  allocate(now);
  mark_contention(now);
  settle(now);
}

std::uint64_t TrainRouter::gone_to_boundary(const Now& now, std::uint32_t output) {
  if (now.cycle < boundary_[output]) return 0;
  const TrainSender& train = outputs_[output].train;
  const std::uint64_t gone = train.gone_before(now.begin);
  const std::uint64_t position = train.offset() + gone;
  if (position == train.promised() || train.grid().is_boundary(position)) return gone;
  // Boundaries have been passed unseen, this packet is still on the wire.
  boundary_[output] = train.release_cycle(train.grid().packet_end(position));
  return 0;
}

TrainRouter::Wire TrainRouter::look_at_wire(const Now& now, std::uint32_t output) {
  if (has(output, kPromiseOpen)) return Wire::at_boundary;
  if (!has(output, kHeld)) return Wire::free;
  const std::uint64_t gone = gone_to_boundary(now, output);
  if (gone == 0) return Wire::busy;
  const TrainSender& train = outputs_[output].train;
  if (train.offset() + gone != train.promised()) return Wire::at_boundary;
  // Between a packet's end and its wire's readiness: what was planned for the latter stays planned.
  look_at(check_[output]);
  release(output, gone);
  return Wire::free;
}

// Every output whose train stands at a boundary, whether or not a look at it was planned for now:
// somebody who met the boundary by chance may be granted.
bool TrainRouter::release_boundaries(const Now& now) {
  bool promise_open = false;
  for (const std::uint32_t o : active_) {
    remove(o, kContended | kWanted);
    if (has(o, kHeld)) {
      if (has_flaw(TrainFlaw::release_planned_only) && now.cycle < check_[o] &&
          check_[o] != kNever) {
        continue;
      }
      if (const std::uint64_t gone = gone_to_boundary(now, o); gone != 0) release(o, gone);
    }
    promise_open |= has(o, kPromiseOpen);
  }
  return promise_open;
}

void TrainRouter::release(std::uint32_t output, std::uint64_t flits) {
  Output& out = outputs_[output];
  const std::uint32_t input = input_of_[output];
  TrainChannel& channel = *inputs_[input].channel;
  Vc& vc = input_vc(input, out.vc);
  if (out.sink != nullptr && !out.is_told) eject(out, flits);
  out.train.release(flits);
  out.flits += flits;
  channel.leave(out.vc, flits);
  channel.set_ends_lazily(out.vc, false);
  streaming_[input] &= ~(VcMask{1} << out.vc);
  remove(output, kHeld);
  if (out.train.promise_open()) add(output, kPromiseOpen);
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
    if (!has(o, kPromiseOpen)) continue;
    const Output& out = outputs_[o];
    const std::uint32_t input = input_of_[o];
    const TrainChannel& channel = *inputs_[input].channel;
    const bool goes_on = (occupied_[input] & (VcMask{1} << out.vc)) != 0 &&
                         channel.front(out.vc).message == out.train.message() &&
                         channel.next_flit(out.vc) == out.train.offset();
    if (!goes_on) cut(now, o);
  }
}

void TrainRouter::cut(const Now& now, std::uint32_t output) {
  Output& out = outputs_[output];
  const std::uint64_t flits = out.train.cut(now.cycle);
  inputs_[input_of_[output]].channel->cut_credits(out.vc, flits, now.cycle);
  remove(output, kPromiseOpen);
}

void TrainRouter::allocate(const Now& now) {
  SwitchAllocator& allocator = allocator_.front();
  allocator.clear();
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    VcMask waiting = occupied_[i] & ~streaming_[i];
    if (waiting == 0) continue;
    const bool busy = shared && streaming_[i] != 0;
    VcMask could_go = 0;
    SwitchAllocator::Request last{};  // of the last VC that could go
    for (; waiting != 0; waiting &= waiting - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(waiting));
      const Hope hope = make_request(now, i, vc, last);
      if (hope == Hope::later) continue;
      note_waiter(i, vc, hope);
      if (busy || hope != Hope::could_go) continue;
      could_go |= VcMask{1} << vc;
      if (!shared) allocator.request(last);
    }
    if (!shared || could_go == 0) continue;
    const std::uint32_t picked = inputs_[i].arbiter.pick(could_go);
    if (picked != last.vc) make_request(now, i, picked, last);
    allocator.request(last);
  }
  if (const SwitchAllocator::Request* only = allocator.only_request()) {
    allocator.grant(*only);
    grant(now, *only);
  } else if (allocator.any()) {
    for (const SwitchAllocator::Request& winner : allocator.allocate()) grant(now, winner);
  }
}

TrainRouter::Hope TrainRouter::make_request(const Now& now, std::uint32_t input, std::uint32_t vc,
                                            SwitchAllocator::Request& request) {
  Vc& waiting = input_vc(input, vc);
  if (!waiting.front.known && !look_at_front(now, input, vc)) return Hope::later;
  const Front& front = waiting.front;
  const InputVc& state = waiting.state;
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
    return choose_out_vc(now, out, candidates, front.flits) == kNoVc ? Hope::wants
                                                                     : Hope::could_take;
  }
  const std::uint32_t out_vc = choose_out_vc(now, out, candidates, front.flits);
  if (out_vc == kNoVc) return Hope::wants;
  const std::uint32_t crossbar_input =
      spec_.crossbar_inputs == CrossbarInputs::vc ? input * spec_.vcs + vc : input;
  request = {crossbar_input, state.out,
             input,          vc,
             out_vc,         std::max({out.train.free_tick(), now.begin, front.head}),
             front.head};
  return Hope::could_go;
}

// False: the packet has not arrived yet, and may still be cut off.
bool TrainRouter::look_at_front(const Now& now, std::uint32_t input, std::uint32_t vc) {
  const TrainChannel& channel = *inputs_[input].channel;
  const Tick usable = channel.usable(vc);
  if (usable > now.end) {
    look_at_tick(now, usable);
    return false;
  }
  Vc& waiting = input_vc(input, vc);
  const TrainSegment& segment = channel.front(vc);
  const Message& message = messages_[segment.message];
  if (!waiting.state.routed) waiting.state.route(paths_.hop(message.path, segment.hop));
  const std::uint64_t flits = message.grid.length_at(channel.next_flit(vc));
  // From a slow link into a fast one a packet waits until it can stream without a gap.
  const Tick in_rate = channel.ticks_per_flit();
  const Tick out_rate = outputs_[waiting.state.out].train.rate();
  const Tick wait = in_rate > out_rate ? (flits - 1) * (in_rate - out_rate) : 0;
  waiting.front = {true, static_cast<std::uint32_t>(flits), usable + wait};
  return true;
}

std::uint32_t TrainRouter::choose_out_vc(const Now& now, const Output& out, VcMask candidates,
                                         std::uint64_t flits) {
  if (candidates == 0) return kNoVc;  // an owner's tail is looked at, because its output is wanted
  if (out.sink != nullptr) return static_cast<std::uint32_t>(__builtin_ctz(candidates));
  const VcChoice choice =
      choose_vc(*out.train.to(), candidates, static_cast<std::uint32_t>(flits), now.cycle, now.end);
  if (choice.vc == kNoVc) {
    out.train.to()->wait_for_credits(candidates);
    look_at_tick(now, choice.ask_again);
  }
  return choice.vc;
}

void TrainRouter::grant(const Now& now, const SwitchAllocator::Request& request) {
  Input& in = inputs_[request.input];
  Output& out = outputs_[request.output];
  TrainSender& train = out.train;
  if (out.sink == nullptr) {
    const std::uint32_t before = input_of_[request.output];
    if (is_link_conflict(request, before, train.free_tick())) ++link_conflicts_;
  }
  in.arbiter.grant(request.vc);
  streaming_[request.input] |= VcMask{1} << request.vc;
  input_vc(request.input, request.vc).state.out_vc = request.out_vc;
  out.owned |= VcMask{1} << request.out_vc;
  output_of_[request.input] = request.output;
  add(request.output, kHeld | kGranted);
  if (!has(request.output, kActive)) {
    add(request.output, kActive);
    active_.push_back(request.output);
  }

  const TrainSegment& segment = in.channel->front(request.vc);
  const std::uint64_t offset = in.channel->next_flit(request.vc);
  if (has(request.output, kPromiseOpen)) {
    if (input_of_[request.output] == request.input && out.vc == request.vc &&
        train.continues(segment.message, offset, request.out_vc, request.start)) {
      train.go_on();
      remove(request.output, kPromiseOpen);
      return;
    }
    cut(now, request.output);
  }
  input_of_[request.output] = request.input;
  out.vc = request.vc;
  out.is_new = true;
  train.take(segment.message, messages_[segment.message].grid,
             static_cast<std::uint16_t>(segment.hop + 1), offset, request.out_vc, request.start);
}

// Who could go but may not makes what stands in its way contended: it is looked at again at the
// next boundary.
void TrainRouter::mark_contention(const Now& now) {
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  for (std::uint8_t& notes : input_notes_) notes &= static_cast<std::uint8_t>(~kInputContended);
  for (const Waiter& waiter : waiters_) {
    const VcMask streaming = streaming_[waiter.input];
    if ((streaming & (VcMask{1} << waiter.vc)) != 0) continue;  // granted
    add(waiter.output, kWanted);
    if (waiter.hope == Hope::wants) continue;
    bool in_the_way = false;
    if (has(waiter.output, kHeld)) {
      if (!has_flaw(TrainFlaw::output_waiter_ignored)) add(waiter.output, kContended);
      in_the_way = true;
    }
    if (shared && streaming != 0 && waiter.hope == Hope::could_go) {
      if (!has_flaw(TrainFlaw::shared_input_waiter_ignored))
        input_notes_[waiter.input] |= kInputContended;
      in_the_way = true;
    }
    // One iteration of the allocator left a free input and a free output unmatched.
    if (!in_the_way && !has_flaw(TrainFlaw::no_retry_of_unmatched)) look_at(now.cycle + 1);
  }
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
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    const TrainChannel& channel = *inputs_[i].channel;
    for (VcMask left = occupied_[i]; left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      const InputVc& state = input_vc(i, vc).state;
      if (channel.usable(vc) > end || !state.routed) continue;
      const Output& out = outputs_[state.out];
      const std::string who = vc_name(channel, vc);
      const std::uint32_t holder = input_of_[state.out];
      // A train that has left is let go when somebody asks for what it held, not before.
      const bool is_own = out.train.held() && holder == i && out.vc == vc;
      const std::uint64_t here = channel.front(vc).end() - channel.next_flit(vc);
      if (is_own && !channel.has_second(vc) && out.train.gone_before(end + 1) == here) continue;
      if (out.train.held() && (holder != i || out.vc != vc)) {
        waits.push_back({who, vc_name(*inputs_[holder].channel, out.vc),
                         fmt::format("{} output {} is held", name(), state.out)});
      } else if (out.train.to() != nullptr) {
        for (VcMask vcs = state.out_vc != kNoVc ? VcMask{1} << state.out_vc : state.permitted;
             vcs != 0; vcs &= vcs - 1) {
          waits.push_back({who,
                           vc_name(*out.train.to(), static_cast<std::uint32_t>(__builtin_ctz(vcs))),
                           "credits or the VC's owner"});
        }
      }
    }
  }
}

}  // namespace espalier
