#include "router/train/train_router.h"

#include <algorithm>

#include "flowctl/train/train_flaws.h"

namespace espalier {

TrainRouter::TrainRouter(sc_core::sc_module_name module_name, ClockDomain& clock, TrainWheel& wheel,
                         TrainSegmentPool& segments, PacketStops& stops,
                         const TrainRouterSpec& spec, const MessageTable& messages,
                         const PathTable& paths, const std::vector<InputPortSpec>& inputs)
    : sc_module(module_name),
      clock_(clock),
      id_(clock.add(*this)),
      stops_(stops),
      spec_(spec),
      messages_(messages),
      paths_(paths),
      channels_(inputs, StallPattern{}, wheel, segments),
      arbiters_(inputs.size(), RoundRobinArbiter(spec.vcs)) {}

void TrainRouter::add_output(TrainChannel& channel) {
  Output out;
  out.train = TrainSender(&channel, channel.ticks_per_flit(), spec_.ticks_per_cycle);
  outputs_.push_back(std::move(out));
}

void TrainRouter::add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency) {
  Output out;
  out.train = TrainSender(nullptr, spec_.ticks_per_cycle, spec_.ticks_per_cycle);
  out.ejection = {&sink, sink_port, latency};
  outputs_.push_back(std::move(out));
}

void TrainRouter::connect() {
  const auto inputs = static_cast<std::uint32_t>(channels_.size());
  const auto outputs = static_cast<std::uint32_t>(outputs_.size());
  vcs_.resize(std::size_t{inputs} * spec_.vcs);
  occupied_.assign(inputs, 0);
  streaming_.assign(inputs, 0);
  parked_vcs_.assign(inputs, 0);
  parked_.resize(outputs);
  output_flags_.assign(outputs, {});
  input_flags_.assign(inputs, {});
  filled_.assign((inputs + 63) / 64, 0);
  input_of_.assign(outputs, 0);
  output_of_.assign(inputs, 0);
  active_.reserve(outputs);
  boundary_.assign(outputs, 0);
  check_.assign(outputs, kNever);
  for (std::uint32_t i = 0; i < inputs; ++i) {
    channels_[i].connect_receiver(*this, i, occupied_[i]);
  }
  for (std::uint32_t o = 0; o < outputs; ++o) {
    TrainChannel* channel = outputs_[o].train.to();
    if (channel != nullptr) channel->connect_sender(*this, o);
  }
  allocator_.emplace(num_crossbar_inputs(spec_.crossbar_inputs, inputs, spec_.vcs), outputs);
}

void TrainRouter::train_came(std::uint32_t input, std::uint32_t vc) {
  note_news(input);
  filled_[input / 64] |= std::uint64_t{1} << input % 64;
  new_heads_.push_back({input, vc});
  touched_ = true;
  clock_.wake_now(id_);
}

void TrainRouter::train_followed(std::uint32_t input, std::uint32_t vc) {
  note_news(input);
  followers_.push_back({input, vc});
  touched_ = true;
  clock_.wake_now(id_);
}

void TrainRouter::train_changed(std::uint32_t input, bool look_now) {
  note_news(input);
  if (!look_now) return;
  for (const std::uint32_t o : active_) {
    if (input_of_[o] == input && !has_flaw(TrainFlaw::cut_data_stay_sure)) {
      outputs_[o].sure_until = 0;
    }
  }
  recheck_now();
}

TrainRouter::Now TrainRouter::present(Cycle cycle) const {
  const Tick begin = cycle * spec_.ticks_per_cycle;
  return {cycle, begin, begin + spec_.ticks_per_cycle - 1};
}

void TrainRouter::evaluate(Cycle cycle) {
  const Now now = present(cycle);
  if (touched_ || cycle >= planned_ || clock_.always_clocked()) {
    const bool is_simple =
        fast_path_suffices_ && cycle < recheck_cycle_ && !clock_.always_clocked();
    if (!is_simple || !evaluate_fast_path(now)) evaluate_all(now);
    touched_ = false;
    fast_path_suffices_ = true;
    new_heads_.clear();
    followers_.clear();
  }
  // If no evaluation is due, the planned check was postponed, and this is the old wake-up.
  planned_ = next_evaluation();
  const Cycle next = std::max(planned_, cycle + 1);
  if (next < next_ || next_ <= cycle) {
    next_ = next;
    if (next != kNever) clock_.wake(id_, next);
  }
}

void TrainRouter::evaluate_all(const Now& now) {
  recheck_cycle_ = kNever;
  waiters_.clear();
  const bool promise_open = release_boundaries(now);
  if (promise_open) drop_broken_promises(now);
  allocate(now, promise_open);
  mark_contention(now);
  settle(now);
}

std::uint64_t TrainRouter::gone_to_boundary(const Now& now, std::uint32_t output) {
  if (now.cycle < boundary_[output]) return 0;
  const TrainSender& train = outputs_[output].train;
  const std::uint64_t gone = train.gone_before(now.begin);
  const std::uint64_t position = train.offset() + gone;
  if (has_flaw(TrainFlaw::gap_hidden) && position != train.promised() &&
      train.start_of_next(gone) > now.end) {
    return 0;
  }
  if (position == train.promised() || train.grid().is_boundary(position)) return gone;
  // The train has passed boundaries without a decision, and a later packet is on the wire now.
  boundary_[output] = train.release_cycle(train.grid().packet_end(position));
  return 0;
}

TrainRouter::Wire TrainRouter::wire_state(const Now& now, std::uint32_t output) {
  if (output_flags_[output].promise_open) return Wire::at_boundary;
  if (!output_flags_[output].held) return Wire::free;
  if (waits_to_resume(now, output)) return Wire::at_boundary;
  const std::uint64_t gone = gone_to_boundary(now, output);
  if (gone == 0) return Wire::busy;
  const TrainSender& train = outputs_[output].train;
  if (train.offset() + gone != train.promised()) return Wire::at_boundary;
  // The packet has ended but its wire is not free yet, so the check for that tick stays planned.
  recheck_at(check_[output]);
  release(output, gone);
  return Wire::free;
}

void TrainRouter::note_sought(const Now& now) {
  for (const std::uint32_t o : active_) {
    output_flags_[o].sought = input_flags_[input_of_[o]].sought = false;
  }
  for_each_filled([&](std::uint32_t i) {
    for (VcMask left = occupied_[i] & ~streaming_[i]; left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      if (!input_vc(i, vc).front.known && !inspect_front(now, i, vc)) continue;
      output_flags_[input_vc(i, vc).state.out].sought = input_flags_[i].sought = true;
    }
  });
}

bool TrainRouter::goes_on_alone(std::uint32_t output) const {
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  const bool is_sought =
      output_flags_[output].sought || (shared && input_flags_[input_of_[output]].sought);
  return grant_is_idle(output) && (!is_sought || has_flaw(TrainFlaw::seekers_unseen));
}

bool TrainRouter::grant_is_idle(std::uint32_t output) const {
  const Output& out = outputs_[output];
  const std::uint32_t input = input_of_[output];
  const std::uint32_t from = crossbar_input_of(spec_.crossbar_inputs, input, out.vc, spec_.vcs);
  // In packet mode, the packet chooses its VC anew.
  return (out.train.grid().message_mode && arbiters_[input].has_just_granted(out.vc) &&
          allocator_->has_just_granted(output, from)) ||
         has_flaw(TrainFlaw::idle_grant_assumed);
}

// Releases every output whose train is at a boundary, whether planned or not, because a packet that
// arrived in the cycle of an unplanned boundary may be granted.
bool TrainRouter::release_boundaries(const Now& now) {
  bool promise_open = false;
  bool may_go_on = false;
  if (has_flaw(TrainFlaw::sought_too_early)) note_sought(now);
  for (const std::uint32_t o : active_) {
    output_flags_[o].contended = output_flags_[o].wanted = output_flags_[o].at_boundary = false;
    const bool flawed =
        has_flaw(TrainFlaw::release_planned_only) && now.cycle < check_[o] && check_[o] != kNever;
    if (output_flags_[o].held && !flawed) {
      const bool resumes = waits_to_resume(now, o);
      const std::uint64_t gone = resumes ? 0 : gone_to_boundary(now, o);
      if (resumes || gone != 0) {
        const Output& out = outputs_[o];
        output_flags_[o].at_boundary = out.train.offset() + gone < out.sure_until;
        may_go_on |= output_flags_[o].at_boundary;
        if (!output_flags_[o].at_boundary) release(o, gone);
      }
    }
    promise_open |= output_flags_[o].promise_open;
  }
  if (!may_go_on) return promise_open;
  // Now every packet that can be granted in this cycle is at the front of its VC.
  if (!has_flaw(TrainFlaw::sought_too_early)) note_sought(now);
  for (const std::uint32_t o : active_) {
    if (!output_flags_[o].at_boundary || goes_on_alone(o)) continue;
    release(o, outputs_[o].train.gone_before(now.begin));
    promise_open |= output_flags_[o].promise_open;
  }
  return promise_open;
}

void TrainRouter::release(std::uint32_t output, std::uint64_t flits) {
  Output& out = outputs_[output];
  const std::uint32_t input = input_of_[output];
  TrainChannel& channel = channels_[input];
  Vc& vc = input_vc(input, out.vc);
  if (out.ejects() && !out.is_told) eject(out, flits);
  stops_.flit_hops += flits;
  if (flits != 0 && out.train.offset() + flits != out.train.grid().flits) {
    stops_[reason_of_stop(output, flits)] +=
        std::min<std::uint64_t>(flits, out.train.grid().packet);
  }
  out.train.release(flits);
  out.flits += flits;
  if (flits != 0) channel.leave(out.vc, flits);  // otherwise a cut may have emptied the VC
  channel.set_ends_lazily(out.vc, false);
  streaming_[input] &= ~(VcMask{1} << out.vc);
  output_flags_[output].held = output_flags_[output].resumed = false;
  out.ready = kNever;
  if (out.train.promise_open()) output_flags_[output].promise_open = true;
  const PacketGrid& grid = out.train.grid();
  if (!grid.message_mode || out.train.offset() == grid.flits) {
    out.owned &= ~(VcMask{1} << out.train.vc());
    vc.state = {};
    unpark(output);
  }
  vc.front.known = false;
}

// Reports packets that have left, or will certainly leave, to the NI in groups of equal length,
// with the arrivals of the first and the last. The packets between may be later or earlier than on
// a line through these, but never bind the NI more than those of the first and the last period,
// which are groups of their own: a packet's place in the period moves along a line.
void TrainRouter::eject(const Output& out, std::uint64_t flits) {
  const TrainSender& train = out.train;
  const PacketGrid& grid = train.grid();
  const auto arrival = [&](std::uint64_t boundary) {
    return train.release_cycle(boundary) - 1 + out.ejection.latency;
  };
  std::uint64_t at = train.offset();
  const std::uint64_t end = at + flits;
  std::uint64_t alone = has_flaw(TrainFlaw::uneven_told_as_even) ? 0 : train.uneven_packets();
  while (at != end) {
    const std::uint64_t length = grid.length_at(at);
    std::uint64_t count = 1;
    if (at >= grid.first_packet || length == grid.packet) {
      const std::uint64_t left = (end - at) / length;
      if (alone == 0) {
        const std::uint64_t last =
            has_flaw(TrainFlaw::uneven_told_as_even) ? 0 : train.uneven_packets();
        count = left > last ? left - last : 1;
      } else {
        --alone;
      }
    }
    const Cycle told = arrival(at + length);
    at += count * length;
    const Cycle first =
        has_flaw(TrainFlaw::gaps_not_told) ? arrival(at) - (count - 1) * length : told;
    out.ejection.sink->packets_end(out.ejection.port, train.message(), count,
                                   static_cast<std::uint32_t>(length), first,
                                   count == 1 ? told : arrival(at));
  }
}

// An open promise is continued by the next packet of the train, at the front of the same VC. After
// a cut this packet does not come, so the promise ends before another packet leaves the VC.
void TrainRouter::drop_broken_promises(const Now& now) {
  for (const std::uint32_t o : active_) {
    if (!output_flags_[o].promise_open) continue;
    const Output& out = outputs_[o];
    const std::uint32_t input = input_of_[o];
    const TrainChannel& channel = channels_[input];
    const bool goes_on = (occupied_[input] & (VcMask{1} << out.vc)) != 0 &&
                         channel.front(out.vc).message == out.train.message() &&
                         channel.next_flit(out.vc) == out.train.offset();
    if (!goes_on) cut(now, o);
  }
}

void TrainRouter::cut(const Now& now, std::uint32_t output) {
  Output& out = outputs_[output];
  const std::uint64_t flits = out.train.cut(now.cycle);
  channels_[input_of_[output]].cut_credits(out.vc, flits, now.cycle);
  output_flags_[output].promise_open = false;
  if (!has_flaw(TrainFlaw::cut_forgets_ready)) recheck_at(out.ready);
}

void TrainRouter::allocate(const Now& now, bool promise_open) {
  SwitchAllocator& allocator = *allocator_;
  allocator.clear();
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  for_each_filled([&](std::uint32_t i) {
    const VcMask waiting = occupied_[i] & ~(streaming_[i] | parked_vcs_[i]);
    if (waiting == 0) return;
    const bool busy = shared && streaming_[i] != 0;
    request_outputs(allocator, arbiters_[i], shared, waiting,
                    [&](std::uint32_t vc, SwitchAllocator::Request& request) {
                      const Cycle recheck = recheck_cycle_;
                      const RequestStatus status = make_request(now, i, vc, request);
                      const std::uint32_t out = input_vc(i, vc).state.out;
                      if (promise_open && is_in_gap(i, vc, out)) {
                        // If it resumes, nothing is to be looked at until then.
                        outputs_[out].ready = recheck_cycle_ < recheck ? recheck_cycle_ : kNever;
                        recheck_cycle_ = recheck;
                      }
                      if (status == RequestStatus::not_ready) return false;
                      note_waiter(i, vc, status);
                      return status == RequestStatus::grantable && !busy;
                    });
  });
  if (const SwitchAllocator::Request* only = allocator.only_request()) {
    allocator.grant(*only);
    grant(now, *only);
  } else if (allocator.any()) {
    for (const SwitchAllocator::Request& winner : allocator.allocate()) grant(now, winner);
  }
}

TrainRouter::RequestStatus TrainRouter::make_request(const Now& now, std::uint32_t input,
                                                     std::uint32_t vc,
                                                     SwitchAllocator::Request& request) {
  Vc& waiting = input_vc(input, vc);
  if (!waiting.front.known && !inspect_front(now, input, vc)) return RequestStatus::not_ready;
  const Front& front = waiting.front;
  const InputVc& state = waiting.state;
  Output& out = outputs_[state.out];
  if (!output_flags_[state.out].held && out.train.free_tick() > now.end) {
    recheck_at_tick(now, out.train.free_tick());
    return RequestStatus::not_ready;
  }
  if (front.head > now.end) {
    recheck_at_tick(now, front.head);
    return RequestStatus::not_ready;
  }
  // In packet mode the holder's VC is released at the boundary, where its credits are not known
  // yet.
  const bool held = output_flags_[state.out].held;
  if (held && (front.has_room || !out.train.grid().message_mode)) {
    return RequestStatus::blocked_by_holder;
  }
  std::uint32_t out_vc = state.out_vc;
  if (!front.has_room) {
    const VcChoice choice = find_out_vc(now, out, waiting);
    if (choice.vc == kNoVc) {
      return choice.ask_again == kNever ? RequestStatus::no_vc : RequestStatus::no_credits_yet;
    }
    out_vc = choice.vc;
  }
  if (held) return RequestStatus::blocked_by_holder;
  request = {crossbar_input_of(spec_.crossbar_inputs, input, vc, spec_.vcs),
             state.out,
             input,
             vc,
             out_vc,
             true,
             std::max({out.train.free_tick(), now.begin, front.head}),
             front.head};
  return RequestStatus::grantable;
}

// Returns false if the packet has not arrived yet and may still be cut.
bool TrainRouter::inspect_front(const Now& now, std::uint32_t input, std::uint32_t vc) {
  const TrainChannel& channel = channels_[input];
  const Tick usable = channel.usable(vc);
  if (usable > now.end) {
    recheck_at_tick(now, usable);
    return false;
  }
  Vc& waiting = input_vc(input, vc);
  const TrainSegment& segment = channel.front(vc);
  const Message& message = messages_[segment.message];
  if (!waiting.state.routed) waiting.state.route(paths_.hop(message.path, segment.hop));
  const std::uint64_t flits = message.grid.length_at(channel.next_flit(vc));
  const Tick wait =
      wait_to_stream(flits, channel.ticks_per_flit(), outputs_[waiting.state.out].train.rate());
  waiting.front = {true, static_cast<std::uint32_t>(flits), usable + wait, false};
  return true;
}

VcChoice TrainRouter::find_out_vc(const Now& now, const Output& out, Vc& waiting) {
  const VcMask candidates = waiting.state.candidates(out.owned);
  const VcChoice choice = choose_out_vc(out.train.to(), candidates, waiting.front.flits, now.cycle,
                                        now.end, out.first_vc);
  waiting.front.has_room = choice.vc != kNoVc && choice.vc == waiting.state.out_vc;
  // If every candidate has an owner, the owners' tails are evaluated, because their output is
  // wanted.
  if (choice.vc == kNoVc && candidates != 0) {
    out.train.to()->wait_for_credits(candidates);
    recheck_at_tick(now, choice.ask_again);
  }
  return choice;
}

void TrainRouter::unpark(std::uint32_t output) {
  output_flags_[output].has_parked = false;
  for (const NewHead& head : parked_[output]) {
    parked_vcs_[head.input] &= ~(VcMask{1} << head.vc);
  }
  parked_[output].clear();
}

void TrainRouter::grant(const Now& now, const SwitchAllocator::Request& request) {
  Output& out = outputs_[request.output];
  TrainSender& train = out.train;
  if (!out.ejects()) {
    const std::uint32_t before = input_of_[request.output];
    if (is_link_conflict(request, before, train.free_tick())) ++counters_[kLinkConflicts];
    // The order moves at grants only: later packets of a message keep its VC and ask for none.
    if (spec_.vc_order == VcOrder::rotating) out.first_vc = (request.out_vc + 1) % spec_.vcs;
  }
  arbiters_[request.input].grant(request.vc);
  streaming_[request.input] |= VcMask{1} << request.vc;
  input_vc(request.input, request.vc).state.out_vc = request.out_vc;
  out.owned |= VcMask{1} << request.out_vc;
  output_of_[request.input] = request.output;
  output_flags_[request.output].held = output_flags_[request.output].granted = true;
  if (!output_flags_[request.output].active) {
    output_flags_[request.output].active = true;
    active_.push_back(request.output);
  }

  const TrainChannel& channel = channels_[request.input];
  const TrainSegment& segment = channel.front(request.vc);
  const std::uint64_t offset = channel.next_flit(request.vc);
  if (output_flags_[request.output].promise_open) {
    if (input_of_[request.output] == request.input && out.vc == request.vc &&
        train.continues(segment.message, offset, request.out_vc, request.start)) {
      train.go_on();
      output_flags_[request.output].promise_open = false;
      return;
    }
    cut(now, request.output);
  }
  input_of_[request.output] = request.input;
  out.vc = request.vc;
  out.is_new = true;
  out.sure_until = 0;
  train.take(segment.message, messages_[segment.message].grid,
             static_cast<std::uint16_t>(segment.hop + 1), offset, request.out_vc, request.start);
}

// A packet that could go, but whose output or shared crossbar input is busy, marks that resource as
// contended: its train is evaluated at the next boundary.
void TrainRouter::mark_contention(const Now& now) {
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  for (const std::uint32_t input : contended_inputs_) input_flags_[input].contended = false;
  contended_inputs_.clear();
  for (std::size_t p = 0; p < outputs_with_parked_.size();) {
    OutputFlags& flags = output_flags_[outputs_with_parked_[p]];
    if (flags.has_parked) {
      flags.wanted = true;
      ++p;
    } else {
      outputs_with_parked_[p] = outputs_with_parked_.back();
      outputs_with_parked_.pop_back();
    }
  }
  for (const Waiter& waiter : waiters_) {
    const auto [input, vc, output, status] = waiter;
    const VcMask streaming = streaming_[input];
    if ((streaming & (VcMask{1} << vc)) != 0) continue;  // granted
    const bool in_gap = is_in_gap(input, vc, output);
    if (!in_gap) output_flags_[output].wanted = true;
    if (status == RequestStatus::no_vc && !in_gap) {
      parked_[output].push_back({input, vc});
      if (!output_flags_[output].has_parked) outputs_with_parked_.push_back(output);
      output_flags_[output].has_parked = true;
      parked_vcs_[input] |= VcMask{1} << vc;
    }
    if (status == RequestStatus::no_vc || status == RequestStatus::no_credits_yet) continue;
    bool is_blocked = false;
    if (output_flags_[output].held) {
      if (!has_flaw(TrainFlaw::output_waiter_ignored)) output_flags_[output].contended = true;
      is_blocked = true;
    }
    if (shared && streaming != 0 && status == RequestStatus::grantable) {
      if (!has_flaw(TrainFlaw::shared_input_waiter_ignored)) note_contended(input);
      is_blocked = true;
    }
    // One iteration of the allocator has left a free input and a free output unmatched.
    if (!is_blocked && !has_flaw(TrainFlaw::no_retry_of_unmatched)) recheck_at(now.cycle + 1);
  }
}

// The fast path: the outcome is certain for most of the router ----------------------------------

// Fast path: since the last evaluation, trains have ended whose resources no packet waited for, and
// new heads have arrived. Packets that waited before cannot become grantable. So only the new heads
// need a decision, unless two of them conflict, or one conflicts with a train at a boundary.
bool TrainRouter::evaluate_fast_path(const Now& now) {
  const auto is_due = [&](std::uint32_t o) {
    return output_flags_[o].held && check_[o] <= now.cycle;
  };
  for (const std::uint32_t o : active_) {
    if (is_due(o) && !ended_alone(now, o)) return false;
  }
  for (const std::uint32_t o : active_) {
    if (is_due(o)) release_ended(now, o);
  }
  for (const Follower& follower : followers_) evaluate_follower(now, follower);

  bool alone = true;
  for (const NewHead& head : new_heads_) alone = alone && stands_alone(now, head);
  for (const NewHead& head : new_heads_) {
    const Vc& waiting = input_vc(head.input, head.vc);
    if (waiting.front.known) output_flags_[waiting.state.out].new_head = false;
    input_flags_[head.input].new_head = false;
  }
  if (!alone) return false;
  for (const NewHead& head : new_heads_) evaluate_new_head(now, head);
  return true;
}

bool TrainRouter::ended_alone(const Now& now, std::uint32_t output) const {
  const TrainSender& train = outputs_[output].train;
  return !(output_flags_[output].contended || output_flags_[output].wanted) &&
         !input_flags_[input_of_[output]].contended &&
         train.offset() + train.gone_before(now.begin) == train.promised();
}

void TrainRouter::release_ended(const Now& now, std::uint32_t output) {
  const std::uint32_t input = input_of_[output];
  const std::uint32_t vc = outputs_[output].vc;
  release(output, outputs_[output].train.gone_before(now.begin));
  if ((occupied_[input] & (VcMask{1} << vc)) != 0) new_heads_.push_back({input, vc});
}

void TrainRouter::evaluate_follower(const Now& now, const Follower& follower) {
  if ((streaming_[follower.input] & (VcMask{1} << follower.vc)) == 0) return;
  const std::uint32_t output = input_vc(follower.input, follower.vc).state.out;
  if (ended_alone(now, output)) {
    release_ended(now, output);
  } else {
    plan(now, output);
  }
}

bool TrainRouter::stands_alone(const Now& now, const NewHead& head) {
  InputFlags& input = input_flags_[head.input];
  if (input.new_head) return false;
  input.new_head = true;
  if (!inspect_front(now, head.input, head.vc)) return true;
  const std::uint32_t output = input_vc(head.input, head.vc).state.out;
  if (output_flags_[output].new_head) return false;
  output_flags_[output].new_head = true;
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  const bool in_free = !shared || streaming_[head.input] == 0 ||
                       wire_state(now, output_of_[head.input]) != Wire::at_boundary;
  return in_free && wire_state(now, output) != Wire::at_boundary;
}

void TrainRouter::evaluate_new_head(const Now& now, const NewHead& head) {
  const auto [input, vc] = head;
  SwitchAllocator::Request request{};
  const RequestStatus status = make_request(now, input, vc, request);
  if (status == RequestStatus::not_ready) return;
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  std::uint32_t to_plan = input_vc(input, vc).state.out;
  if (status == RequestStatus::grantable && !(shared && streaming_[input] != 0)) {
    allocator_->grant(request);
    grant(now, request);
  } else if (status == RequestStatus::grantable) {
    output_flags_[to_plan].wanted = true;
    if (!has_flaw(TrainFlaw::shared_input_waiter_ignored)) note_contended(input);
    to_plan = output_of_[input];  // the train that has the crossbar input
  } else {
    const bool contends =
        status == RequestStatus::blocked_by_holder && !has_flaw(TrainFlaw::output_waiter_ignored);
    output_flags_[to_plan].wanted = true;
    if (contends) output_flags_[to_plan].contended = true;
  }
  if (output_flags_[to_plan].held) plan(now, to_plan);
}

// Statistics and waits ------------------------------------------------------------------------

void TrainRouter::copy_arbiters(TrainRouter& other, const Ports& inputs, const Ports& outputs,
                                Cycle now) {
  for (const auto& [from, to] : inputs) arbiters_[to] = other.arbiters_[from];
  const std::uint32_t vcs = num_crossbar_inputs(spec_.crossbar_inputs, 1, spec_.vcs);
  for (const auto& [from, to] : outputs) {
    if (other.flits_sent(from, now) == 0) continue;
    const std::uint32_t winner = other.allocator_->arbiter(from).last_winner();
    allocator_->arbiter(to).grant(inputs.at(winner / vcs) * vcs + winner % vcs);
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
  for (std::uint32_t i = 0; i < channels_.size(); ++i) {
    const TrainChannel& channel = channels_[i];
    for (VcMask left = occupied_[i]; left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      const InputVc& state = input_vc(i, vc).state;
      if (channel.usable(vc) > end || !state.routed) continue;
      const Output& out = outputs_[state.out];
      const std::uint32_t owner = input_of_[state.out];
      const bool is_own = owner == i && out.vc == vc;
      if (out.train.held() && is_own) {
        // A train that has left keeps its output until another packet requests it.
        const std::uint64_t here = channel.front(vc).end() - channel.next_flit(vc);
        if (!channel.has_second(vc) && out.train.gone_before(end + 1) == here) continue;
      }
      const bool by_another = out.train.held() && !is_own;
      const Link* holder = by_another ? &channels_[owner].link() : nullptr;
      const TrainChannel* next = out.train.to();
      add_waits_of({channel.link(), vc, state, holder, out.vc, next ? &next->link() : nullptr},
                   name(), waits);
    }
  }
}

}  // namespace espalier
