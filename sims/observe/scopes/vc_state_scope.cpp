#include "sims/observe/scopes/vc_state_scope.h"

#include <algorithm>

namespace espalier {

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

// From settled_ to `until` nothing leaves.
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

// Flits of the first run, up to the end of a packet or of what leaves before `until`.
void VcStateScope::leave(Cycle until, WaveRecorder& recorder) {
  const FlitRun run = leaving_.front();
  const Cycle first = cycle_of(run.start);
  enter(first, VcState::active, recorder);
  std::uint64_t n = std::min(run.before(until * q_), arrivals_.front().landing.n);
  const std::uint64_t packet = arrivals_.left_in_packet();
  // Where a flit leaves in every cycle, so do packets of one message without a gap.
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

}  // namespace espalier
