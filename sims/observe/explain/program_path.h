// The critical path of a collective program: the rules of program contexts
// (ni/engines/program_context.h), read backwards.
#pragma once

#include <vector>

#include "ni/engines/context_program.h"
#include "ni/engines/slot_credits.h"
#include "sims/observe/explain/critical_path.h"

namespace espalier {

struct ProgramPath {
  CriticalPath path;  // from the end of the last context's last step back to the hosts' call
  std::vector<const ContextRecord::Step*> senders;  // by message: the step that sends it
};

// The program took `cycles` from the hosts' call, in cycle 0. `slots`: by connection, `clocks`: by
// node. Precondition: the run is complete.
[[nodiscard]] ProgramPath program_path(const ContextProgram& program, const RecordedRun& run,
                                       const std::vector<SlotCredits::Spec>& slots,
                                       const std::vector<NodeClock>& clocks, Cycle cycles);

}  // namespace espalier
