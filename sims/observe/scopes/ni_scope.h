// A network interface in a waveform: the hardware of its issue engine, and the state of its back
// end.
#pragma once

#include <string>
#include <vector>

#include "ni/engine_view.h"
#include "ni/network_interface.h"
#include "sims/observe/waves/wave_recorder.h"

namespace espalier {

// Records when NIs enter the steps of a schedule.
class StepClock {
 public:
  explicit StepClock(std::size_t nis) : nis_(nis) {}
  void entered(Timestep step, Cycle now);
  // The cycle in which the first NI entered the step; kNever if none has.
  [[nodiscard]] Cycle begin_of(Timestep step) const;
  // The cycle in which the last NI entered a later step or ended its last step; kNever if an NI has
  // not.
  [[nodiscard]] Cycle end_of(Timestep step) const;

 private:
  struct Step {
    Cycle first = kNever;
    std::size_t entered = 0;
    Cycle last = 0;
  };
  std::size_t nis_;
  std::vector<Step> steps_;  // by step
};

class NiScope : public NiObserver {
 public:
  // To be constructed before the simulation, after the NI's engine is loaded. The caller connects
  // the scope to the NI. The scope has the NI's name.
  NiScope(NetworkInterface& ni, WaveRecorder& recorder, StepClock& steps);

  [[nodiscard]] bool is_wanted() const { return is_wanted_; }
  void evaluated(const NetworkInterface& ni, Cycle now) override;
  // Reports the changes before cycle `until` that occur without an event.
  void generate(Cycle until);

 private:
  struct TableSignals {
    SignalId timestep, lockstep, entry, op, flow, step, ready, stall;
  };
  struct DimensionSignals {
    SignalId depth, head, chosen, in_flight;
  };
  struct ContextSignals {
    SignalId pc, op, tile, requests, stall;
  };
  void show_table(const TableView& table, Cycle now);
  void count_down(Cycle from, Cycle until);
  void show_dimensions(const std::vector<DimensionView>& dimensions, Cycle now);
  void add_contexts(const std::string& name);
  void show_contexts(const std::vector<ContextView>& contexts, Cycle now);

  WaveRecorder& recorder_;
  StepClock& steps_;
  bool is_wanted_ = false;
  TableSignals table_;
  std::vector<DimensionSignals> dimensions_;
  std::vector<ContextSignals> contexts_;
  SignalId sends_, held_, reducing_, delivered_;
  EngineView view_;  // a member only to reuse its memory
  Timestep timestep_ = 0;
  Cycle lockstep_until_ = 0;
  Cycle reducing_until_ = 0;
};

}  // namespace espalier
