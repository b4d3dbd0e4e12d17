#include "router/router.h"

#include <fmt/format.h>

namespace espalier {

Router::Router(sc_core::sc_module_name module_name, ClockDomain& clock, const RouterSpec& spec,
               const MessageTable& messages, const PathTable& paths,
               const std::vector<InputPortSpec>& inputs, StallPattern stalls)
    : sc_module(module_name),
      clock_(clock),
      id_(clock.add(*this)),
      spec_(spec),
      lanes_(spec.lanes()),
      messages_(messages),
      paths_(paths) {
  for (const InputPortSpec& in : inputs) {
    links_.push_back(std::make_unique<Link>(in.name.c_str(), in.link_number, in.timing, stalls));
    channels_.push_back(std::make_unique<Channel>(*links_.back(), in.channel));
    inputs_.emplace_back(*channels_.back(), spec.vcs);
  }
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
  out.sink = &sink;
  out.sink_port = sink_port;
  out.sink_latency = latency;
  out.ticks_per_flit = spec_.ticks_per_cycle;
  outputs_.push_back(out);
}

void Router::connect() {
  for (InputUnit& in : inputs_) in.channel->connect_receiver(*this);
  std::size_t requesters = inputs_.size();
  if (lanes_) requesters *= kLanes;
  if (spec_.crossbar_inputs == CrossbarInputs::vc) requesters *= spec_.vcs;
  allocator_.emplace_back(static_cast<std::uint32_t>(requesters),
                          static_cast<std::uint32_t>(outputs_.size()));
  held_outputs_.reserve(outputs_.size());
}

Cycle Router::cycle_of(const Now& now, Tick tick) const {
  return tick <= now.end + spec_.ticks_per_cycle ? now.cycle + 1 : tick / spec_.ticks_per_cycle;
}

void Router::flit_coming(Cycle cycle) {
  allocate_at_ = std::min(allocate_at_, cycle);
  move_at_ =
      std::min(move_at_, cycle);  // it may also be the next flit of a packet that holds an output
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
  SwitchAllocator& allocator = allocator_.front();
  allocator.clear();
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    if (lanes_) {
      ask_in_lanes(now, i);
      continue;
    }
    InputUnit& in = inputs_[i];
    const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
    // A crossbar input that streams wakes this router at its tail at the latest.
    if (shared && in.streaming != 0) continue;
    VcMask waiting = in.waiting();
    if (waiting == 0) continue;
    VcMask could_go = 0;
    SwitchAllocator::Request request{};
    SwitchAllocator::Request last{};
    for (; waiting != 0; waiting &= waiting - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(waiting));
      if (!make_request(now, i, vc, request)) continue;
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
  const std::vector<SwitchAllocator::Request>& winners = allocator.allocate();
  for (const SwitchAllocator::Request& winner : winners) grant(winner);
  if (lanes_) {
    // Granted together, the short packet goes first.
    for (const SwitchAllocator::Request& winner : winners) {
      InputUnit& in = inputs_[winner.input];
      if (lane_of(outputs_[winner.output]) != Lane::control) continue;
      if (in.may_break_in())
        in.was_broken_into = true;
      else if (in.turn != Lane::none)
        continue;
      in.turn = Lane::control;
    }
    pass_turns();
  }
  // Losers try again; so may other VCs of their input ports.
  if (!allocator.all_granted()) allocate_again(now, now.end + 1);
}

void Router::ask_in_lanes(const Now& now, std::uint32_t input) {
  InputUnit& in = inputs_[input];
  if (in.granted_in(Lane::bulk) && in.granted_in(Lane::control)) return;
  std::array<VcMask, kLanes> could_go{};
  std::array<SwitchAllocator::Request, kLanes> requests{};
  SwitchAllocator::Request request{};
  for (VcMask waiting = in.waiting(); waiting != 0; waiting &= waiting - 1) {
    const auto vc = static_cast<std::uint32_t>(__builtin_ctz(waiting));
    const InputVc& state = in.vcs[vc];
    const auto is_busy = [&] {
      return in.granted_in(state.is_control ? Lane::control : Lane::bulk);
    };
    // Its packet's tail wakes this router.
    if (state.routed && is_busy()) continue;
    if (!make_request(now, input, vc, request) || is_busy()) continue;
    const std::size_t lane = state.is_control ? 1 : 0;
    could_go.at(lane) |= VcMask{1} << vc;
    requests.at(lane) = request;
  }
  for (const Lane lane : kEveryLane) {
    const auto number = static_cast<std::uint32_t>(lane);
    if (could_go.at(number) == 0) continue;
    SwitchAllocator::Request& asked = requests.at(number);
    const std::uint32_t picked = in.arbiter_of(lane).pick(could_go.at(number));
    if (picked != asked.vc) make_request(now, input, picked, asked);
    asked.crossbar_input = number * static_cast<std::uint32_t>(inputs_.size()) + input;
    allocator_.front().request(asked);
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
  if (out.held) return false;  // its tail wakes this router
  if (out.free_tick > now.end) {
    allocate_again(now, out.free_tick);
    return false;
  }
  // From a slow link into a fast one a packet waits until it can stream without a gap.
  Tick head = usable;
  const Tick in_rate = in.channel->ticks_per_flit();
  if (in_rate > out.ticks_per_flit && spec_.hold == SwitchHold::packet &&
      state.switching == Switching::vct) {
    head += (flit.left_in_packet - 1U) * (in_rate - out.ticks_per_flit);
    if (head > now.end) {
      allocate_again(now, head);
      return false;
    }
  }
  const bool continues = state.out_vc != kNoVc;
  const VcMask candidates = continues ? VcMask{1} << state.out_vc : state.permitted & ~out.owned;
  if (candidates == 0) return false;  // the owner's tail wakes this router
  std::uint32_t out_vc = 0;
  if (out.sink != nullptr) {
    out_vc = static_cast<std::uint32_t>(__builtin_ctz(candidates));
  } else {
    // With a switch allocated flit by flit, room was made sure of when the packet's first flit
    // went. A wormhole packet needs a credit for each.
    const std::uint32_t credits =
        state.inside_packet ? 1 : credits_to_start(state.switching, flit.left_in_packet);
    const VcChoice choice = choose_vc(*out.channel, candidates, credits, now.cycle, now.end);
    if (choice.vc == kNoVc) {
      allocate_again(now, choice.ask_again);
      return false;
    }
    out_vc = choice.vc;
  }
  const std::uint32_t crossbar_input =
      spec_.crossbar_inputs == CrossbarInputs::vc ? input * spec_.vcs + vc : input;
  request = {crossbar_input,
             state.out,
             input,
             vc,
             out_vc,
             std::max({out.free_tick, now.begin, head}),
             head};
  return true;
}

void Router::grant(const SwitchAllocator::Request& request) {
  InputUnit& in = inputs_[request.input];
  InputVc& state = in.vcs[request.vc];
  OutputUnit& out = outputs_[request.output];
  const Lane lane = lanes_ && state.is_control ? Lane::control : Lane::bulk;
  if (out.channel != nullptr && !state.inside_packet) {
    if (is_link_conflict(request, out.input, out.free_tick)) ++link_conflicts_;
  }
  in.arbiter_of(lane).grant(request.vc);
  in.granted_in(lane) = true;
  in.streaming |= VcMask{1} << request.vc;
  state.out_vc = request.out_vc;
  out.owned |= VcMask{1} << request.out_vc;
  out.held = true;
  out.is_wormhole = state.switching == Switching::wormhole;
  out.is_control = state.is_control;
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
    if (out.is_control && has_turn(out) && is_stalled(now, out)) {
      let_go(out);
      allocate_at_ = now.cycle;
      held_outputs_[i] = held_outputs_.back();
      held_outputs_.pop_back();
    } else {
      ++i;
    }
  }
}

// The wire is free, but the packet's next flit or a credit for it is missing.
bool Router::is_stalled(const Now& now, const OutputUnit& out) const {
  if (out.free_tick > now.end) return false;
  const VcBuffer& buffer = out.from->buffer();
  return buffer.empty() || buffer.front_usable() > now.end ||
         (out.to != nullptr && !may_send(now, out));
}

void Router::pass_turns() {
  if (!lanes_) return;
  for (const std::uint32_t o : held_outputs_) {
    InputUnit& in = inputs_[outputs_[o].input];
    if (in.turn == Lane::none) in.turn = lane_of(outputs_[o]);
  }
}

bool Router::move_flit(const Now& now, OutputUnit& out) {
  if (!has_turn(out)) return false;  // the tail of the packet that has it wakes this router
  if (out.free_tick > now.end) {
    move_again(now, out.free_tick);
    return false;
  }
  const VcBuffer& buffer = out.from->buffer();
  // Wormhole or a refusing link: the next flit's arrival wakes this router.
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
  } else if (ends_packet(flit.type)) {
    out.sink->packets_end(out.sink_port, flit.message, 1,
                          inputs_[out.input].vcs[out.vc].packet_flits,
                          now.cycle + out.sink_latency);
  }
  out.from->pop(now.begin);
  ++flit_hops_;
  if (out.is_control) ++control_flit_hops_;
  out.free_tick = departure + out.ticks_per_flit;
  if (spec_.hold == SwitchHold::flit || out.is_control) {
    inputs_[out.input].vcs[out.vc].inside_packet = !ends_packet(flit.type);
  }
  if (ends_packet(flit.type) || spec_.hold == SwitchHold::flit) {
    release(out, flit);
    allocate_again(now, now.end + 1);
    if (lanes_) move_again(now, now.end + 1);
    return true;
  }
  move_again(now, out.free_tick);
  return false;
}

bool Router::may_send(const Now& now, const OutputUnit& out) const {
  if (out.may_refuse && !out.channel->ready(now.cycle)) return false;
  return !out.is_wormhole || out.to->buffer().has_room(1, now.end);
}

void Router::let_go(OutputUnit& out) {
  InputUnit& in = inputs_[out.input];
  out.held = false;
  in.streaming &= ~(VcMask{1} << out.vc);
  const Lane lane = lanes_ ? lane_of(out) : Lane::bulk;
  in.granted_in(lane) = false;
  if (lane == Lane::bulk) in.was_broken_into = false;
  in.turn = Lane::none;
}

void Router::release(OutputUnit& out, const Flit& flit) {
  let_go(out);
  InputUnit& in = inputs_[out.input];
  if (releases_vc(flit.type)) {
    out.owned &= ~(VcMask{1} << out.out_vc);
    in.vcs[out.vc] = {};
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
  const auto vc_name = [](const Channel& channel, std::uint32_t vc) {
    return fmt::format("{}.vc{}", channel.link().name(), vc);
  };
  for (const InputUnit& in : inputs_) {
    for (VcMask left = in.channel->occupied(); left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      const InputVc& state = in.vcs[vc];
      if (in.channel->buffer(vc).front_usable() > end || !state.routed) continue;
      const OutputUnit& out = outputs_[state.out];
      const std::string who = vc_name(*in.channel, vc);
      if (out.held && (&inputs_[out.input] != &in || out.vc != vc)) {
        const std::string holder = vc_name(*inputs_[out.input].channel, out.vc);
        waits.push_back({who, holder, fmt::format("{} output {} is held", name(), state.out)});
      } else if (out.channel != nullptr) {
        for (VcMask vcs = state.out_vc != kNoVc ? VcMask{1} << state.out_vc : state.permitted;
             vcs != 0; vcs &= vcs - 1) {
          const auto next_vc = static_cast<std::uint32_t>(__builtin_ctz(vcs));
          waits.push_back({who, vc_name(*out.channel, next_vc), "credits or the VC's owner"});
        }
      }
    }
  }
}

}  // namespace espalier
