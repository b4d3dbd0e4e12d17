#include "router/router.h"

#include <algorithm>
#include <utility>

namespace espalier {

namespace {

// If the switch is allocated flit by flit, the packet's first flit has already reserved room for
// all flits of a cut-through packet. A wormhole packet needs a credit for each flit.
std::uint32_t credits_needed(const InputVc& state, const Flit& flit) {
  return state.inside_packet ? 1 : credits_to_start(state.switching, flit.left_in_packet);
}

}  // namespace

Router::Router(sc_core::sc_module_name module_name, ClockDomain& clock, const RouterSpec& spec,
               const MessageTable& messages, const PathTable& paths,
               const std::vector<InputPortSpec>& inputs, StallPattern stalls,
               MakeOutputHold make_outside_hold)
    : sc_module(module_name),
      clock_(clock),
      id_(clock.add(*this)),
      spec_(spec),
      has_lanes_(spec.has_lanes()),
      messages_(messages),
      paths_(paths),
      channels_(inputs, stalls),
      make_outside_hold_(std::move(make_outside_hold)) {
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
  const auto ports = static_cast<std::uint32_t>(inputs_.size());
  HoldSpec hold{ports,
                static_cast<std::uint32_t>(outputs_.size()),
                spec_.vcs,
                spec_.hold,
                spec_.crossbar_inputs,
                {}};
  for (const OutputUnit& out : outputs_) {
    hold.rotates.push_back(out.channel != nullptr && spec_.vc_order == VcOrder::rotating);
  }
  hold_.emplace(hold, has_lanes_ ? ports * static_cast<std::uint32_t>(kLanes) : ports);
  if (make_outside_hold_) outside_hold_ = make_outside_hold_(hold);
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
    if (outside_hold_ != nullptr) {
      allocate_outside(now);
    } else {
      allocate(now);
    }
  }
  if (move_at_ <= cycle) {
    move_at_ = kNever;
    for (const std::uint32_t o : held_outputs_) {
      outputs_[o].from->buffer().prefetch_head();
      if (outputs_[o].to != nullptr) outputs_[o].to->buffer().prefetch_tail();
    }
    for (std::size_t i = 0; i < held_outputs_.size();) {
      if (move_flit(now, held_outputs_[i])) {
        held_outputs_[i] = held_outputs_.back();
        held_outputs_.pop_back();
      } else {
        ++i;
      }
    }
  }
  if (outside_hold_ != nullptr) outside_hold_->end_cycle(cycle);
  const Cycle next = std::min(allocate_at_, move_at_);
  if (next != kNever) clock_.wake(id_, next);
}

void Router::allocate(const Now& now) {
  SwitchAllocator& allocator = hold_->allocator();
  allocator.clear();
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    if (has_lanes_) {
      request_in_lanes(now, i);
      continue;
    }
    const VcMask streaming = hold_->streaming(i);
    // A crossbar input that streams wakes this router no later than at its tail.
    if (shared && streaming != 0) continue;
    const VcMask waiting = inputs_[i].channel->occupied() & ~streaming;
    if (waiting == 0) continue;
    request_outputs(allocator, hold_->arbiter_of(i), shared, waiting,
                    [&](std::uint32_t vc, SwitchAllocator::Request& request) {
                      return make_request(now, i, vc, request);
                    });
  }
  if (!allocator.any()) return;
  const std::vector<SwitchAllocator::Request>& winners = hold_->decide();
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
  VcMask waiting = in.channel->occupied() & ~hold_->streaming(input);
  for (; waiting != 0; waiting &= waiting - 1) {
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
    const std::uint32_t requester = number * static_cast<std::uint32_t>(inputs_.size()) + input;
    const std::uint32_t picked = hold_->arbiter_of(requester).pick(grantable.at(number));
    if (picked != asked.vc) make_request(now, input, picked, asked);
    asked.crossbar_input = requester;
    hold_->allocator().request(asked);
  }
}

inline bool Router::inspect_front(const Now& now, std::uint32_t input, std::uint32_t vc,
                                  Front& front) {
  InputUnit& in = inputs_[input];
  const VcBuffer& buffer = in.channel->buffer(vc);
  front.usable = buffer.front_usable();
  if (front.usable > now.end) {
    allocate_again(now, front.usable);
    return false;
  }
  front.flit = buffer.front();
  InputVc& state = in.vcs[vc];
  if (!state.routed) {
    const Message& message = messages_[front.flit.message];
    state.route(paths_.hop(message.path, front.flit.hop), message);
  }
  return true;
}

inline bool Router::is_wire_free(const Now& now, const OutputUnit& out) {
  if (out.free_tick <= now.end) return true;
  allocate_again(now, out.free_tick);
  return false;
}

inline Tick Router::ready_to_stream(const Now& now, std::uint32_t input, const InputVc& state,
                                    const Front& front) {
  Tick head = front.usable;
  if (spec_.hold == SwitchHold::packet && state.switching == Switching::vct) {
    head += wait_to_stream(front.flit.left_in_packet, inputs_[input].channel->ticks_per_flit(),
                           outputs_[state.out].ticks_per_flit);
  }
  if (head > now.end) allocate_again(now, head);
  return head;
}

bool Router::make_request(const Now& now, std::uint32_t input, std::uint32_t vc,
                          SwitchAllocator::Request& request) {
  Front front;
  if (!inspect_front(now, input, vc, front)) return false;
  const InputVc& state = inputs_[input].vcs[vc];
  if (hold_->is_held(state.out)) return false;  // the packet's tail wakes this router
  const OutputUnit& out = outputs_[state.out];
  if (!is_wire_free(now, out)) return false;
  const Tick head = ready_to_stream(now, input, state, front);
  if (head > now.end) return false;
  const VcChoice choice = choose_out_vc(
      out.channel, hold_->candidates(input, vc, state.out, state.permitted),
      credits_needed(state, front.flit), now.cycle, now.end, hold_->first_vc(state.out));
  if (choice.vc == kNoVc) {
    if (choice.ask_again != kNever) allocate_again(now, choice.ask_again);
    return false;
  }
  request = {crossbar_input_of(spec_.crossbar_inputs, input, vc, spec_.vcs),
             state.out,
             input,
             vc,
             choice.vc,
             !state.inside_packet,
             std::max({out.free_tick, now.begin, head}),
             head};
  return true;
}

// The hold outside is shown every packet whose next flit is there, also one that streams or whose
// output is held.
void Router::allocate_outside(const Now& now) {
  std::size_t requests = 0;
  Front front;
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    for (VcMask left = inputs_[i].channel->occupied(); left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      if (!inspect_front(now, i, vc, front)) continue;
      const InputVc& state = inputs_[i].vcs[vc];
      if (ready_to_stream(now, i, state, front) > now.end) continue;
      const OutputUnit& out = outputs_[state.out];
      const VcMask credits =
          vcs_with_credits(now, out.channel, state.permitted, credits_needed(state, front.flit));
      outside_hold_->request({i, vc, state.out, !state.inside_packet, is_wire_free(now, out),
                              state.permitted, credits});
      ++requests;
    }
  }
  if (requests == 0) return;
  const std::vector<HoldGrant>& grants = outside_hold_->decide();
  for (const HoldGrant& granted : grants) {
    inspect_front(now, granted.input, granted.vc, front);
    const InputVc& state = inputs_[granted.input].vcs[granted.vc];
    const Tick head = ready_to_stream(now, granted.input, state, front);
    const Tick start = std::max({outputs_[granted.output].free_tick, now.begin, head});
    grant({0, granted.output, granted.input, granted.vc, granted.out_vc, !state.inside_packet,
           start, head});
  }
  // A packet loses only to one that is granted.
  if (!grants.empty()) allocate_again(now, now.end + 1);
}

VcMask Router::vcs_with_credits(const Now& now, const Channel* channel, VcMask vcs,
                                std::uint32_t flits) {
  if (channel == nullptr) return vcs;
  VcMask with = 0;
  for (VcMask left = vcs; left != 0; left &= left - 1) {
    const VcMask vc = left & (~left + 1);
    const VcChoice choice = choose_vc(*channel, vc, flits, now.cycle, now.end);
    if (choice.vc != kNoVc) {
      with |= vc;
    } else if (choice.ask_again != kNever) {
      allocate_again(now, choice.ask_again);
    }
  }
  return with;
}

void Router::grant(const SwitchAllocator::Request& request) {
  InputUnit& in = inputs_[request.input];
  InputVc& state = in.vcs[request.vc];
  OutputUnit& out = outputs_[request.output];
  const Lane lane = has_lanes_ ? state.lane : Lane::bulk;
  if (out.channel != nullptr && request.starts &&
      is_link_conflict(request, out.input, out.free_tick)) {
    ++counters_[kLinkConflicts];
  }
  in.granted_in(lane) = true;
  state.out_vc = request.out_vc;
  out.is_wormhole = state.switching == Switching::wormhole;
  out.lane = state.lane;
  out.from = &in.channel->vc(request.vc);
  if (out.channel != nullptr) out.to = &out.channel->vc(request.out_vc);
  out.input = request.input;
  out.vc = request.vc;
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
      leave_input(out);
      hold_->release_switch(held_outputs_[i]);
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

bool Router::move_flit(const Now& now, std::uint32_t output) {
  OutputUnit& out = outputs_[output];
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
      const std::uint32_t out_vc = inputs_[out.input].vcs[out.vc].out_vc;
      out.ejection.observer->flit_ejected(out.ejection.port, out_vc, flit);
    }
    if (ends_packet(flit.type)) {
      const std::uint32_t flits = inputs_[out.input].vcs[out.vc].packet_flits;
      const Cycle arrival = now.cycle + out.ejection.latency;
      out.ejection.sink->packets_end(out.ejection.port, flit.message, 1, flits, arrival, arrival);
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
    release(output, flit);
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

void Router::leave_input(const OutputUnit& out) {
  InputUnit& in = inputs_[out.input];
  const Lane lane = has_lanes_ ? out.lane : Lane::bulk;
  in.granted_in(lane) = false;
  if (lane == Lane::bulk) in.was_interrupted = false;
  in.turn.reset();
}

void Router::release(std::uint32_t output, const Flit& flit) {
  const OutputUnit& out = outputs_[output];
  leave_input(out);
  const bool frees_vc = releases_vc(flit.type);
  if (outside_hold_ != nullptr) {
    outside_hold_->flit_leaves(output, ends_packet(flit.type), frees_vc);
  } else {
    hold_->flit_leaves(output, ends_packet(flit.type), frees_vc);
  }
  if (frees_vc) inputs_[out.input].vcs[out.vc] = {};
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

std::vector<RtlPlace> Router::rtl() {
  if (outside_hold_ == nullptr) return {};
  return {{name(), &outside_hold_->rtl_probe()}};
}

void Router::explain_waits(Cycle cycle, WaitList& waits) const {
  const Tick end = (cycle + 1) * spec_.ticks_per_cycle - 1;
  for (const InputUnit& in : inputs_) {
    for (VcMask left = in.channel->occupied(); left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      const InputVc& state = in.vcs[vc];
      if (in.channel->buffer(vc).front_usable() > end || !state.routed) continue;
      const OutputUnit& out = outputs_[state.out];
      const bool is_held =
          std::find(held_outputs_.begin(), held_outputs_.end(), state.out) != held_outputs_.end();
      const bool by_another = is_held && (&inputs_[out.input] != &in || out.vc != vc);
      const Link* holder = by_another ? &inputs_[out.input].channel->link() : nullptr;
      const Link* next = out.channel == nullptr ? nullptr : &out.channel->link();
      add_waits_of({in.channel->link(), vc, state, holder, out.vc, next}, name(), waits);
    }
  }
}

}  // namespace espalier
