// A VC in a waveform: its state, flow and grant, and within a window also signals that change with
// every flit.
#pragma once

#include <deque>
#include <string>

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

  [[nodiscard]] FlitType type_of_first() const;
};

// Flits on their way into a VC's buffer and in the buffer, oldest first.
class VcArrivals {
 public:
  void add(const ArrivingRun& run) { runs_.push_back(run); }
  // Removes the last `n` flits, because a train was cut.
  void cut(std::uint64_t n);
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  // Precondition: not empty.
  [[nodiscard]] const ArrivingRun& front() const { return runs_.front(); }
  // The first `n` flits leave. Precondition: they belong to one run.
  void leave(std::uint64_t n);
  // Flits of the front run up to and including the end of the first packet.
  [[nodiscard]] std::uint64_t left_in_packet() const;

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
  void generate(Cycle until, WaveRecorder& recorder);

 private:
  void settle(Cycle until, WaveRecorder& recorder);
  void leave(Cycle until, WaveRecorder& recorder);
  void enter(Cycle at, VcState state, WaveRecorder& recorder);
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
    SignalId occupancy;  // flits that have arrived and not left
    SignalId credits;    // as the sender sees them
    // Type of the first flit (MultiTree, Table II); unknown if there is none.
    SignalId type;
  };
  VcFlitScope(const Signals& signals, std::uint64_t depth, Cycle credit_latency,
              Tick ticks_per_cycle)
      : signals_(signals), credits_(depth), credit_latency_(credit_latency), q_(ticks_per_cycle) {}

  void arriving(const ArrivingRun& run, const FlitRun& sent);
  void arriving_cut(std::uint64_t n);
  void leaving(const FlitRun& run);
  void leaving_cut(std::uint64_t n);
  // See VcStateScope. The first report is the state in cycle `from`.
  void generate(Cycle from, Cycle until, WaveRecorder& recorder);

 private:
  [[nodiscard]] Tick next_tick() const;
  // Takes all flits and credits before `tick`.
  void take_before(Tick tick);
  void show(Cycle at, WaveRecorder& recorder);

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
