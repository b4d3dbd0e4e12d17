#include "router/router.h"

#include <algorithm>

namespace espalier {

Router::Router(sc_core::sc_module_name module_name, ClockDomain& clock, const RouterSpec& spec,
               const MessageTable& messages, const PathTable& paths,
               const std::vector<InputPortSpec>& inputs, StallPattern stalls)
    : sc_module(module_name),
      clock_(clock),
      id_(clock.add(*this)),
      spec_(spec),
      has_lanes_(spec.has_lanes()),
      messages_(messages),
      paths_(paths),
      channels_(inputs, stalls) {
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs_.emplace_back(channels_[i], spec.vcs);
}

void Router::add_output(Channel& channel) {
  OutputUnit out;
  out.channel = &channel;
  out.may_refuse = channel.may_refuse();
  out.ticks_per_flit = channel.ticks_per_flit();
  outputs_.push_back(out);
}

void Router::add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency) {
  OutputUnit out;
  out.ejection = {&sink, sink_port, latency, sink.flit_observer()};
  out.ticks_per_flit = spec_.ticks_per_cycle;
  outputs_.push_back(out);
}

void Router::connect() {
  for (InputUnit& in : inputs_) in.channel->connect_receiver(*this);
  const std::size_t requesting_ports = inputs_.size() * (has_lanes_ ? kLanes : 1);
  allocator_.emplace(num_crossbar_inputs(spec_.crossbar_inputs, requesting_ports, spec_.vcs),
                     static_cast<std::uint32_t>(outputs_.size()));
  held_outputs_.reserve(outputs_.size());
}

Cycle Router::cycle_of(const Now& now, Tick tick) const {
  return tick <= now.end + spec_.ticks_per_cycle ? now.cycle + 1 : tick / spec_.ticks_per_cycle;
}

void Router::flit_coming(Cycle cycle) {
  allocate_at_ = std::min(allocate_at_, cycle);
  // The flit may be the next flit of a packet that holds an output.
  move_at_ = std::min(move_at_, cycle);
  clock_.wake(id_, cycle);
}

void Router::evaluate(Cycle cycle) {
  const Tick begin = cycle * spec_.ticks_per_cycle;
  const Now now{cycle, begin, begin + spec_.ticks_per_cycle - 1};
  if (spec_.has_control && move_at_ <= cycle) {
    release_stalled(now);
    pass_turns();
  }
  if (allocate_at_ <= cycle) {
    allocate_at_ = kNever;
    allocate(now);
  }
  if (move_at_ <= cycle) {
    move_at_ = kNever;
    for (const std::uint32_t o : held_outputs_) {
      outputs_[o].from->buffer().prefetch_head();
      if (outputs_[o].to != nullptr) outputs_[o].to->buffer().prefetch_tail();
    }
    for (std::size_t i = 0; i < held_outputs_.size();) {
      if (move_flit(now, outputs_[held_outputs_[i]])) {
        held_outputs_[i] = held_outputs_.back();
        held_outputs_.pop_back();
      } else {
        ++i;
      }
    }
  }
  const Cycle next = std::min(allocate_at_, move_at_);
  if (next != kNever) clock_.wake(id_, next);
}

void Router::allocate(const Now& now) {
  SwitchAllocator& allocator = *allocator_;
  allocator.clear();
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    if (has_lanes_) {
      request_in_lanes(now, i);
      continue;
    }
    const InputUnit& in = inputs_[i];
    // A crossbar input that streams wakes this router no later than at its tail.
    if (shared && in.streaming != 0) continue;
    const VcMask waiting = in.waiting();
    if (waiting == 0) continue;
    request_outputs(allocator, in.arbiter, shared, waiting,
                    [&](std::uint32_t vc, SwitchAllocator::Request& request) {
                      return make_request(now, i, vc, request);
                    });
  }
  if (!allocator.any()) return;
  const std::vector<SwitchAllocator::Request>& winners = allocator.allocate();
  for (const SwitchAllocator::Request& winner : winners) grant(winner);
  if (has_lanes_) {
    // If two packets are granted together, the control packet goes first, because it is short.
    for (const SwitchAllocator::Request& winner : winners) {
      InputUnit& in = inputs_[winner.input];
      if (outputs_[winner.output].lane != Lane::control) continue;
      if (in.may_be_interrupted()) {
        in.was_interrupted = true;
      } else if (in.turn) {
        continue;
      }
      in.turn = Lane::control;
    }
    pass_turns();
  }
  // Losers try again, and so may other VCs of their input ports.
  if (!allocator.all_granted()) allocate_again(now, now.end + 1);
}

void Router::request_in_lanes(const Now& now, std::uint32_t input) {
  InputUnit& in = inputs_[input];
  if (in.granted_in(Lane::bulk) && in.granted_in(Lane::control)) return;
  std::array<VcMask, kLanes> grantable{};
  std::array<SwitchAllocator::Request, kLanes> requests{};
  SwitchAllocator::Request request{};
  for (VcMask waiting = in.waiting(); waiting != 0; waiting &= waiting - 1) {
    const auto vc = static_cast<std::uint32_t>(__builtin_ctz(waiting));
    const InputVc& state = in.vcs[vc];
    // A lane that holds an output wakes this router at its packet's tail.
    if (state.routed && in.granted_in(state.lane)) continue;
    if (!make_request(now, input, vc, request) || in.granted_in(state.lane)) continue;
    const auto lane = static_cast<std::size_t>(state.lane);
    grantable.at(lane) |= VcMask{1} << vc;
    requests.at(lane) = request;
  }
  for (const Lane lane : {Lane::bulk, Lane::control}) {
    const auto number = static_cast<std::uint32_t>(lane);
    if (grantable.at(number) == 0) continue;
    SwitchAllocator::Request& asked = requests.at(number);
    const std::uint32_t picked = in.arbiter_of(lane).pick(grantable.at(number));
    if (picked != asked.vc) make_request(now, input, picked, asked);
    asked.crossbar_input = number * static_cast<std::uint32_t>(inputs_.size()) + input;
    allocator_->request(asked);
  }
}

bool Router::make_request(const Now& now, std::uint32_t input, std::uint32_t vc,
                          SwitchAllocator::Request& request) {
  InputUnit& in = inputs_[input];
  const VcBuffer& buffer = in.channel->buffer(vc);
  const Tick usable = buffer.front_usable();
  if (usable > now.end) {
    allocate_again(now, usable);
    return false;
  }
  InputVc& state = in.vcs[vc];
  const Flit flit = buffer.front();
  if (!state.routed) {
    const Message& message = messages_[flit.message];
    state.route(paths_.hop(message.path, flit.hop), message);
  }

  OutputUnit& out = outputs_[state.out];
  if (out.held) return false;  // the packet's tail wakes this router
  if (out.free_tick > now.end) {
    allocate_again(now, out.free_tick);
    return false;
  }
  Tick head = usable;
  if (spec_.hold == SwitchHold::packet && state.switching == Switching::vct) {
    head += wait_to_stream(flit.left_in_packet, in.channel->ticks_per_flit(), out.ticks_per_flit);
  }
  if (head > now.end) {
    allocate_again(now, head);
    return false;
  }
  // If the switch is allocated flit by flit, the packet's first flit has already reserved room for
  // all flits of a cut-through packet. A wormhole packet needs a credit for each flit.
  const std::uint32_t credits =
      state.inside_packet ? 1 : credits_to_start(state.switching, flit.left_in_packet);
  const VcChoice choice = choose_out_vc(out.channel, state.candidates(out.owned), credits,
                                        now.cycle, now.end, out.first_vc);
  if (choice.vc == kNoVc) {
    if (choice.ask_again != kNever) allocate_again(now, choice.ask_again);
    return false;
  }
  request = {crossbar_input_of(spec_.crossbar_inputs, input, vc, spec_.vcs),
             state.out,
             input,
             vc,
             choice.vc,
             std::max({out.free_tick, now.begin, head}),
             head};
  return true;
}

void Router::grant(const SwitchAllocator::Request& request) {
  InputUnit& in = inputs_[request.input];
  InputVc& state = in.vcs[request.vc];
  OutputUnit& out = outputs_[request.output];
  const Lane lane = has_lanes_ ? state.lane : Lane::bulk;
  if (out.channel != nullptr && !state.inside_packet) {
    if (is_link_conflict(request, out.input, out.free_tick)) ++counters_[kLinkConflicts];
    if (spec_.vc_order == VcOrder::rotating) out.first_vc = (request.out_vc + 1) % spec_.vcs;
  }
  in.arbiter_of(lane).grant(request.vc);
  in.granted_in(lane) = true;
  in.streaming |= VcMask{1} << request.vc;
  state.out_vc = request.out_vc;
  out.owned |= VcMask{1} << request.out_vc;
  out.held = true;
  out.is_wormhole = state.switching == Switching::wormhole;
  out.lane = state.lane;
  out.from = &in.channel->vc(request.vc);
  if (out.channel != nullptr) out.to = &out.channel->vc(request.out_vc);
  out.input = request.input;
  out.vc = request.vc;
  out.out_vc = request.out_vc;
  out.free_tick = request.start;
  held_outputs_.push_back(request.output);
  if (!state.inside_packet)
    state.packet_flits = in.channel->buffer(request.vc).front().left_in_packet;
  move_at_ = 0;  // the first flit leaves in this cycle
}

void Router::release_stalled(const Now& now) {
  for (std::size_t i = 0; i < held_outputs_.size();) {
    OutputUnit& out = outputs_[held_outputs_[i]];
    if (out.lane == Lane::control && has_turn(out) && is_stalled(now, out)) {
      release_switch(out);
      allocate_at_ = now.cycle;
      held_outputs_[i] = held_outputs_.back();
      held_outputs_.pop_back();
    } else {
      ++i;
    }
  }
}

// True if the wire is free, but the packet's next flit or a credit for it is missing.
bool Router::is_stalled(const Now& now, const OutputUnit& out) const {
  if (out.free_tick > now.end) return false;
  const VcBuffer& buffer = out.from->buffer();
  return buffer.empty() || buffer.front_usable() > now.end ||
         (out.to != nullptr && !may_send(now, out));
}

void Router::pass_turns() {
  if (!has_lanes_) return;
  for (const std::uint32_t o : held_outputs_) {
    InputUnit& in = inputs_[outputs_[o].input];
    if (!in.turn) in.turn = outputs_[o].lane;
  }
}

bool Router::move_flit(const Now& now, OutputUnit& out) {
  if (!has_turn(out)) return false;  // the tail of the packet that has the turn wakes this router
  if (out.free_tick > now.end) {
    move_again(now, out.free_tick);
    return false;
  }
  const VcBuffer& buffer = out.from->buffer();
  // Wormhole switching or a refusing link: the arrival of the next flit wakes this router.
  if (buffer.empty()) return false;
  if (buffer.front_usable() > now.end) {
    move_again(now, buffer.front_usable());
    return false;
  }
  if (out.to != nullptr && !may_send(now, out)) {
    move_again(now, now.end + 1);
    return false;
  }
  Flit flit = buffer.front();
  ++flit.hop;
  const Tick departure = std::max(out.free_tick, now.begin);
  if (out.to != nullptr) {
    out.to->send(flit, departure);
  } else {
    if (out.ejection.observer != nullptr) {
      out.ejection.observer->flit_ejected(out.ejection.port, out.out_vc, flit);
    }
    if (ends_packet(flit.type)) {
      const std::uint32_t flits = inputs_[out.input].vcs[out.vc].packet_flits;
      out.ejection.sink->packets_end(out.ejection.port, flit.message, 1, flits,
                                     now.cycle + out.ejection.latency);
    }
  }
  out.from->pop(now.begin);
  ++flit_hops_;
  if (out.lane == Lane::control) ++control_flit_hops_;
  out.free_tick = departure + out.ticks_per_flit;
  if (spec_.hold == SwitchHold::flit || out.lane == Lane::control) {
    inputs_[out.input].vcs[out.vc].inside_packet = !ends_packet(flit.type);
  }
  if (ends_packet(flit.type) || spec_.hold == SwitchHold::flit) {
    release(out, flit);
    allocate_again(now, now.end + 1);
    if (has_lanes_) move_again(now, now.end + 1);
    return true;
  }
  move_again(now, out.free_tick);
  return false;
}

bool Router::may_send(const Now& now, const OutputUnit& out) const {
  if (out.may_refuse && !out.channel->ready(now.cycle)) return false;
  return !out.is_wormhole || out.to->buffer().has_room(1, now.end);
}

void Router::release_switch(OutputUnit& out) {
  InputUnit& in = inputs_[out.input];
  out.held = false;
  in.streaming &= ~(VcMask{1} << out.vc);
  const Lane lane = has_lanes_ ? out.lane : Lane::bulk;
  in.granted_in(lane) = false;
  if (lane == Lane::bulk) in.was_interrupted = false;
  in.turn.reset();
}

void Router::release(OutputUnit& out, const Flit& flit) {
  release_switch(out);
  if (releases_vc(flit.type)) {
    out.owned &= ~(VcMask{1} << out.out_vc);
    inputs_[out.input].vcs[out.vc] = {};
  }
}

bool Router::under_way(Cycle cycle) const {
  const Tick end = (cycle + 1) * spec_.ticks_per_cycle - 1;
  for (const InputUnit& in : inputs_) {
    for (VcMask left = in.channel->occupied(); left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      if (in.channel->buffer(vc).front_usable() > end) return true;
    }
  }
  return std::any_of(outputs_.begin(), outputs_.end(), [&](const OutputUnit& out) {
    return out.free_tick > end || (out.channel != nullptr && out.channel->credit_under_way(end));
  });
}

void Router::explain_waits(Cycle cycle, WaitList& waits) const {
  const Tick end = (cycle + 1) * spec_.ticks_per_cycle - 1;
  for (const InputUnit& in : inputs_) {
    for (VcMask left = in.channel->occupied(); left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      const InputVc& state = in.vcs[vc];
      if (in.channel->buffer(vc).front_usable() > end || !state.routed) continue;
      const OutputUnit& out = outputs_[state.out];
      const bool by_another = out.held && (&inputs_[out.input] != &in || out.vc != vc);
      const Link* holder = by_another ? &inputs_[out.input].channel->link() : nullptr;
      const Link* next = out.channel == nullptr ? nullptr : &out.channel->link();
      add_waits_of({in.channel->link(), vc, state, holder, out.vc, next}, name(), waits);
    }
  }
}

}  // namespace espalier
