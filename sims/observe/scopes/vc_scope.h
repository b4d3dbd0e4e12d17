// A VC in a waveform: its state, flow and grant, and within a window also signals that change with
// every flit.
#pragma once

#include <algorithm>
#include <deque>

#include "flowctl/flit.h"
#include "flowctl/flit_run.h"
#include "flowctl/framing.h"
#include "sims/observe/record/run_record.h"
#include "sims/observe/waves/wave_recorder.h"

namespace espalier {

// Flits that leave a buffer, or their returning credits, in order of time.
class RunQueue {
 public:
  void add(const FlitRun& run) {
    if (!runs_.empty() && runs_.back().goes_on_with(run)) {
      runs_.back().n += run.n;
    } else {
      runs_.push_back(run);
    }
  }
  // Removes the last `n` flits, because a train was cut.
  void cut(std::uint64_t n) {
    cut_runs(runs_, n, [](FlitRun& run) -> FlitRun& { return run; });
  }
  // The tick of the first flit; kNever if the queue is empty.
  [[nodiscard]] Tick next() const { return runs_.empty() ? kNever : runs_.front().start; }
  // Precondition: not empty.
  [[nodiscard]] const FlitRun& front() const { return runs_.front(); }
  void take(std::uint64_t n) {
    runs_.front().drop(n);
    if (runs_.front().n == 0) runs_.pop_front();
  }
  // Removes the flits before `tick`, and returns their number.
  std::uint64_t take_before(Tick tick) {
    std::uint64_t taken = 0;
    while (!runs_.empty() && runs_.front().start < tick) {
      const std::uint64_t n = runs_.front().before(tick);
      taken += n;
      take(n);
    }
    return taken;
  }

 private:
  std::deque<FlitRun> runs_;
};

// The properties of a message that a waveform shows.
struct MessageFacts {
  std::uint64_t flow = 0;
  std::uint32_t out_port = 0;  // of the router after the buffer
  PacketGrid grid;
};

// Flits of one message that arrive in the buffer without a gap.
struct ArrivingRun {
  MessageFacts message;
  std::uint64_t offset = 0;  // offset of the first flit in the message
  // For a single flit in cycle fidelity. The flit types of a longer run follow from `grid`.
  bool has_type = false;
  FlitType type = FlitType::body;
  FlitRun landing;

  [[nodiscard]] FlitType type_of_first() const {
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
};

// Flits on their way into a VC's buffer and in the buffer, oldest first.
class VcArrivals {
 public:
  void add(const ArrivingRun& run) { runs_.push_back(run); }
  // Removes the last `n` flits, because a train was cut.
  void cut(std::uint64_t n) {
    cut_runs(runs_, n, [](ArrivingRun& run) -> FlitRun& { return run.landing; });
  }
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  // Precondition: not empty.
  [[nodiscard]] const ArrivingRun& front() const { return runs_.front(); }
  // The first `n` flits leave. Precondition: they belong to one run.
  void leave(std::uint64_t n) {
    ArrivingRun& run = runs_.front();
    run.landing.drop(n);
    run.offset += n;
    if (run.landing.n == 0) runs_.pop_front();
  }
  // Flits of the front run up to and including the end of the first packet.
  [[nodiscard]] std::uint64_t left_in_packet() const {
    const ArrivingRun& run = runs_.front();
    // This flit, or this flit and at least one more.
    if (run.has_type) return ends_packet(run.type) ? 1 : 2;
    return run.message.grid.packet_end(run.offset) - run.offset;
  }

 private:
  std::deque<ArrivingRun> runs_;
};

// idle: no flit has arrived. routing: the first flit is in the router's pipeline. waiting: the flit
// could leave, but has no switch, output VC or credit. active: the packet holds the switch, from
// the departure of its first flit to the departure of its last flit.
enum class VcState : std::uint8_t { idle, routing, waiting, active };

// State, flow and grant of a VC over time. The cost grows with the number of packets, not with the
// number of flits.
class VcStateScope {
 public:
  struct Signals {
    SignalId state;
    SignalId flow;   // of the first flit; unknown if there is none
    SignalId grant;  // output port of the packet that has the switch; unknown otherwise
  };
  // `pipeline`: cycles from the arrival of a flit to its earliest departure.
  VcStateScope(const Signals& signals, Cycle pipeline, Tick ticks_per_cycle)
      : signals_(signals), pipeline_(pipeline), q_(ticks_per_cycle) {}

  void arriving(const ArrivingRun& run) { arrivals_.add(run); }
  void arriving_cut(std::uint64_t n) { arrivals_.cut(n); }
  void leaving(const FlitRun& run) { leaving_.add(run); }
  void leaving_cut(std::uint64_t n) { leaving_.cut(n); }
  // Reports all changes before cycle `until`. Flits before this cycle must be final.
  void generate(Cycle until, WaveRecorder& recorder) {
    if (!is_shown_) enter(0, VcState::idle, recorder);
    while (leaving_.next() < until * q_) {
      settle(cycle_of(leaving_.next()), recorder);
      leave(until, recorder);
    }
    settle(until, recorder);
  }

 private:
  // No flit leaves from settled_ to `until`.
  void settle(Cycle until, WaveRecorder& recorder) {
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
  // Handles flits of the first run, up to the end of a packet or to the last flit that leaves
  // before `until`.
  void leave(Cycle until, WaveRecorder& recorder) {
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
  void enter(Cycle at, VcState state, WaveRecorder& recorder) {
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
  [[nodiscard]] Cycle cycle_of(Tick tick) const { return tick / q_; }

  Signals signals_;
  Cycle pipeline_;
  Tick q_;
  VcArrivals arrivals_;
  RunQueue leaving_;
  bool inside_packet_ = false;
  Cycle settled_ = 0;  // the state is known up to this cycle
  // The values that were shown last.
  VcState state_ = VcState::idle;
  std::uint64_t flow_ = 0;
  std::uint32_t out_port_ = 0;
  bool is_shown_ = false;
};

// The flits in a VC's buffer, the credits at its sender, and the type of the first flit. The cost
// grows with the number of flits, so only a window is shown.
class VcFlitScope {
 public:
  struct Signals {
    SignalId type;       // of the first flit (MultiTree, Table II); unknown if there is none
    SignalId occupancy;  // flits that have arrived and not left
    SignalId credits;    // as the sender sees them
  };
  VcFlitScope(const Signals& signals, std::uint64_t depth, Cycle credit_latency,
              Tick ticks_per_cycle)
      : signals_(signals), credits_(depth), credit_latency_(credit_latency), q_(ticks_per_cycle) {}

  void arriving(const ArrivingRun& run, const FlitRun& sent) {
    arrivals_.add(run);
    landing_.add(run.landing);
    sent_.add(sent);
  }
  void arriving_cut(std::uint64_t n) {
    arrivals_.cut(n);
    landing_.cut(n);
    sent_.cut(n);
  }
  void leaving(const FlitRun& run) {
    leaving_.add(run);
    returning_.add({run.start + credit_latency_ * q_, run.rate, run.n});
  }
  void leaving_cut(std::uint64_t n) {
    leaving_.cut(n);
    returning_.cut(n);
  }
  // See VcStateScope. The first report is the state in cycle `from`.
  void generate(Cycle from, Cycle until, WaveRecorder& recorder) {
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

 private:
  [[nodiscard]] Tick next_tick() const {
    return std::min({sent_.next(), landing_.next(), leaving_.next(), returning_.next()});
  }
  // Takes all flits and credits before `tick`.
  void take_before(Tick tick) {
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
  void show(Cycle at, WaveRecorder& recorder) {
    recorder.change(at, signals_.occupancy, occupancy_);
    recorder.change(at, signals_.credits, credits_);
    if (occupancy_ == 0) {
      recorder.change_to_unknown(at, signals_.type);
    } else {
      recorder.change(at, signals_.type,
                      static_cast<std::uint64_t>(arrivals_.front().type_of_first()));
    }
  }

  Signals signals_;
  std::uint64_t credits_;
  Cycle credit_latency_;
  Tick q_;
  std::uint64_t occupancy_ = 0;
  VcArrivals arrivals_;
  RunQueue sent_;
  RunQueue landing_;
  RunQueue leaving_;
  RunQueue returning_;
  bool is_shown_ = false;
};

}  // namespace espalier
