// Short simulations in child processes, with which `algorithm: auto` confirms a choice.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "hw/ids.h"
#include "sims/experiment/choices.h"
#include "sims/process/child_process.h"
#include "sims/system/simulation.h"

namespace espalier {

using ShortRun = std::function<SimulationOutcome()>;

// The cycles of each run; none of a run that does not end with the right data. SystemC elaborates
// once per process, so each run has a child process; all run at the same time. Call before this
// process simulates. `choices` gets the time that this process waits.
[[nodiscard]] std::vector<std::optional<Cycle>> simulated_cycles(const std::vector<ShortRun>& runs,
                                                                 Choices& choices);

// Answers questions while this process simulates: the constructor forks a child that has not.
class ChoiceProcess {
 public:
  using Answer = std::function<Choice(Bytes size)>;
  explicit ChoiceProcess(const Answer& answer);
  ~ChoiceProcess();
  ChoiceProcess(const ChoiceProcess&) = delete;
  ChoiceProcess& operator=(const ChoiceProcess&) = delete;

  // The child's answer for a collective of this size. Throws std::runtime_error with the child's
  // error.
  [[nodiscard]] Choice ask(Bytes size);

 private:
  Descriptor questions_;
  Descriptor answers_;
  std::optional<ChildProcess> child_;
};

}  // namespace espalier
