// Fits a machine's calibrated numbers to its fitted third of the cases.
#pragma once

#include <optional>
#include <vector>

#include "sims/silicon/silicon_runs.h"
#include "sims/silicon/validation.h"

namespace espalier {

struct SiliconFit {
  Numbers numbers;
  double error_before = 0;  // ErrorMean over the medians of the fitted cases
  double error_after = 0;
};

// Changes one number after the other, up and down, in ever smaller steps, and keeps what is better
// for the machine's cases with `fitted`. Numbers that another machine has found stay as they are.
// nullopt if a signal stopped the simulations.
[[nodiscard]] std::optional<SiliconFit> fit_machine(const SiliconMachine& machine,
                                                    const std::vector<ComparedCase>& cases,
                                                    SiliconRuns& runs);

}  // namespace espalier
