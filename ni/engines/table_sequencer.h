// The decisions of MultiTree's NI in one cycle: whether the next timestep begins, and which of the
// next table entries issue (section IV-A, Fig. 6). Timestep counter and lockstep down-counter are
// its state. hw/rtl/ni_control.v decides the same.
#pragma once

#include <functional>
#include <memory>

#include "hw/ids.h"
#include "hw/rtl_probe.h"
#include "ni/modes.h"

namespace espalier {

// What the sequencer sees of one entry and its surroundings.
struct SequencerInputs {
  bool valid = false;   // the table's memory has given the entry
  Timestep step = 0;    // of the entry; not before the present one
  Cycle step_time = 0;  // of that step
  bool clear = false;   // its messages have come and are written back, its slot too
  bool room = false;    // in the injection queues of its sends
  bool posted = false;  // the host's doorbell for the next step has rung
  bool reduction_idle = false;
  bool all_sent = false;  // the sends of the present step have left
};

struct SequencerDecision {
  bool enters_step = false;  // the next step begins in this cycle
  bool issues = false;       // the entry is done with
};

class TableSequencer {
 public:
  TableSequencer() = default;
  virtual ~TableSequencer() = default;
  TableSequencer(const TableSequencer&) = delete;
  TableSequencer& operator=(const TableSequencer&) = delete;

  // Decides for the next entry in cycle `now`. Cycles do not descend. If the entry issues, the one
  // after it may be decided in the same cycle.
  virtual SequencerDecision decide(Cycle now, const SequencerInputs& inputs) = 0;
  // The inputs from the cycle after the last decision on, until the next one. A sequencer that is
  // clocked needs them.
  virtual void rest(const SequencerInputs& inputs) = 0;
  [[nodiscard]] virtual bool is_clocked() const = 0;

  [[nodiscard]] virtual Timestep timestep() const = 0;
  // The lockstep counter holds the step before this cycle.
  [[nodiscard]] virtual Cycle lockstep_until() const = 0;

  // nullptr if no Verilog decides.
  [[nodiscard]] virtual RtlProbe* rtl_probe() { return nullptr; }
};

// What makes the sequencer of an NI whose table issues up to `issue_per_cycle` entries in a cycle.
using MakeSequencer = std::function<std::unique_ptr<TableSequencer>(LockstepMode mode,
                                                                    std::uint32_t issue_per_cycle)>;
[[nodiscard]] std::unique_ptr<TableSequencer> make_sequencer(LockstepMode mode,
                                                             std::uint32_t issue_per_cycle);

}  // namespace espalier
