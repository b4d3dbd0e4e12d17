#include "sims/observe/scopes/vc_scope.h"

#include <algorithm>

#include "sims/observe/record/run_record.h"

namespace espalier {

FlitType ArrivingRun::type_of_first() const {
  if (has_type) return type;
  const PacketGrid& grid = message.grid;
  const bool begins = grid.is_boundary(offset);
  const bool ends = grid.packet_end(offset) == offset + 1;
  if (!grid.message_mode) {
    if (begins) return ends ? FlitType::head_tail : FlitType::head;
    return ends ? FlitType::tail : FlitType::body;
  }
  if (offset == 0) return FlitType::sub_head;
  if (!ends) return FlitType::sub_body;
  return offset + 1 == grid.flits ? FlitType::message_tail : FlitType::sub_tail;
}

void VcArrivals::cut(std::uint64_t n) {
  cut_runs(runs_, n, [](ArrivingRun& run) -> FlitRun& { return run.landing; });
}

void VcArrivals::leave(std::uint64_t n) {
  ArrivingRun& run = runs_.front();
  run.landing.drop(n);
  run.offset += n;
  if (run.landing.n == 0) runs_.pop_front();
}

std::uint64_t VcArrivals::left_in_packet() const {
  const ArrivingRun& run = runs_.front();
  // This flit, or this flit and at least one more.
  if (run.has_type) return ends_packet(run.type) ? 1 : 2;
  return run.message.grid.packet_end(run.offset) - run.offset;
}

void VcStateScope::enter(Cycle at, VcState state, WaveRecorder& recorder) {
  const MessageFacts* message = state == VcState::idle ? nullptr : &arrivals_.front().message;
  const bool same_message =
      message != nullptr && message->flow == flow_ && message->out_port == out_port_;
  if (state == state_ && is_shown_ && (message == nullptr || same_message)) return;
  is_shown_ = true;
  state_ = state;
  if (message != nullptr) {
    flow_ = message->flow;
    out_port_ = message->out_port;
  }
  recorder.change(at, signals_.state, static_cast<std::uint64_t>(state));
  if (message == nullptr) {
    recorder.change_to_unknown(at, signals_.flow);
  } else {
    recorder.change(at, signals_.flow, flow_);
  }
  if (state == VcState::active) {
    recorder.change(at, signals_.grant, out_port_);
  } else {
    recorder.change_to_unknown(at, signals_.grant);
  }
}

void VcStateScope::generate(Cycle until, WaveRecorder& recorder) {
  if (!is_shown_) enter(0, VcState::idle, recorder);
  while (leaving_.next() < until * q_) {
    settle(cycle_of(leaving_.next()), recorder);
    leave(until, recorder);
  }
  settle(until, recorder);
}

// No flit leaves from settled_ to `until`.
void VcStateScope::settle(Cycle until, WaveRecorder& recorder) {
  if (settled_ >= until) return;
  if (!inside_packet_) {
    const Cycle from = settled_;
    const Cycle landed =
        arrivals_.empty() ? kNever : std::max(from, cycle_of(arrivals_.front().landing.start));
    const Cycle usable =
        arrivals_.empty()
            ? kNever
            : std::max(from, cycle_of(arrivals_.front().landing.start + pipeline_ * q_));
    if (landed > from && state_ != VcState::idle) enter(from, VcState::idle, recorder);
    if (landed < until && usable > landed && (state_ != VcState::routing || landed == from)) {
      enter(landed, VcState::routing, recorder);
    }
    if (usable < until && (state_ != VcState::waiting || usable == from)) {
      enter(usable, VcState::waiting, recorder);
    }
  }
  settled_ = until;
}

// Handles flits of the first run, up to the end of a packet or to the last flit that leaves before
// `until`.
void VcStateScope::leave(Cycle until, WaveRecorder& recorder) {
  const FlitRun run = leaving_.front();
  const Cycle first = cycle_of(run.start);
  enter(first, VcState::active, recorder);
  std::uint64_t n = std::min(run.before(until * q_), arrivals_.front().landing.n);
  const std::uint64_t packet = arrivals_.left_in_packet();
  // If a flit leaves in every cycle, the packets of one message follow each other without a gap.
  const bool without_gap = run.rate <= q_;
  if (!without_gap) n = std::min(n, packet);
  const Cycle last = cycle_of(run.tick_of(n - 1));
  const PacketGrid& grid = arrivals_.front().message.grid;
  inside_packet_ = arrivals_.front().has_type ? !ends_packet(arrivals_.front().type)
                                              : !grid.is_boundary(arrivals_.front().offset + n);
  arrivals_.leave(n);
  leaving_.take(n);
  settled_ = last + 1;
}

void VcFlitScope::arriving(const ArrivingRun& run, const FlitRun& sent) {
  arrivals_.add(run);
  landing_.add(run.landing);
  sent_.add(sent);
}

void VcFlitScope::arriving_cut(std::uint64_t n) {
  arrivals_.cut(n);
  landing_.cut(n);
  sent_.cut(n);
}

void VcFlitScope::leaving(const FlitRun& run) {
  leaving_.add(run);
  returning_.add({run.start + credit_latency_ * q_, run.rate, run.n});
}

void VcFlitScope::leaving_cut(std::uint64_t n) {
  leaving_.cut(n);
  returning_.cut(n);
}

Tick VcFlitScope::next_tick() const {
  return std::min({sent_.next(), landing_.next(), leaving_.next(), returning_.next()});
}

void VcFlitScope::take_before(Tick tick) {
  credits_ -= sent_.take_before(tick);
  credits_ += returning_.take_before(tick);
  occupancy_ += landing_.take_before(tick);
  std::uint64_t left = leaving_.take_before(tick);
  occupancy_ -= left;
  while (left != 0) {
    const std::uint64_t here = std::min(left, arrivals_.front().landing.n);
    arrivals_.leave(here);
    left -= here;
  }
}

void VcFlitScope::show(Cycle at, WaveRecorder& recorder) {
  recorder.change(at, signals_.occupancy, occupancy_);
  recorder.change(at, signals_.credits, credits_);
  if (occupancy_ == 0) {
    recorder.change_to_unknown(at, signals_.type);
  } else {
    recorder.change(at, signals_.type,
                    static_cast<std::uint64_t>(arrivals_.front().type_of_first()));
  }
}

void VcFlitScope::generate(Cycle from, Cycle until, WaveRecorder& recorder) {
  if (from >= until) {
    take_before(until * q_);
    return;
  }
  if (!is_shown_) {
    is_shown_ = true;
    take_before(from * q_);
    show(from, recorder);
  }
  // Flits that arrive, are sent or leave in a cycle are shown in this cycle.
  while (next_tick() < until * q_) {
    const Cycle cycle = next_tick() / q_;
    take_before((cycle + 1) * q_);
    show(cycle, recorder);
  }
}

}  // namespace espalier
