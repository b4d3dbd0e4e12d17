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

// The cases with `fitted` of the machine, and below 1 MiB, where simulations are short, also those
// of machines that share its numbers.
[[nodiscard]] std::vector<const ComparedCase*> cases_to_fit(const SiliconMachine& machine,
                                                            const std::vector<ComparedCase>& cases);

// Changes one number after the other, up and down, in ever smaller steps, and keeps what is better
// for cases_to_fit(). nullopt if a signal stopped the simulations.
[[nodiscard]] std::optional<SiliconFit> fit_machine(const SiliconMachine& machine,
                                                    const std::vector<ComparedCase>& cases,
                                                    SiliconRuns& runs);

}  // namespace espalier
