#include "sims/silicon/silicon_fit.h"

#include <array>
#include <string>
#include <utility>

namespace espalier {

namespace {

constexpr double kHopeless = 1e12;  // microseconds

// The error with these numbers; nullopt if the simulations were stopped.
std::optional<double> error_with(const Numbers& numbers,
                                 const std::vector<const ComparedCase*>& fitted,
                                 SiliconRuns& runs) {
  std::vector<CasePlan> plans;
  for (const ComparedCase* compared : fitted) {
    plans.push_back(plan_case(*compared->machine, compared->measured, numbers));
  }
  const auto times = runs.times_of(plans);
  if (!times) return std::nullopt;
  ErrorMean mean;
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    // Numbers with which a case does not run are no candidates.
    const bool runs_well = (*times)[i].failure.empty() && (*times)[i].microseconds > 0;
    mean.add(runs_well ? (*times)[i].microseconds : kHopeless, fitted[i]->median());
  }
  return mean.error();
}

}  // namespace

std::optional<SiliconFit> fit_machine(const SiliconMachine& machine,
                                      const std::vector<ComparedCase>& cases, SiliconRuns& runs) {
  constexpr std::array kSteps{0.25, 0.08, 0.025};
  std::vector<const ComparedCase*> fitted;
  for (const ComparedCase& compared : cases) {
    if (compared.fitted && compared.machine == &machine) fitted.push_back(&compared);
  }
  SiliconFit fit;
  fit.numbers = machine.numbers();
  for (const FittedNumber& number : machine.fitted) {
    if (number.start != 0) fit.numbers[number.name] = number.start;
  }
  if (fitted.empty()) return fit;
  const auto before = error_with(fit.numbers, fitted, runs);
  if (!before) return std::nullopt;
  fit.error_before = fit.error_after = *before;
  for (const double step : kSteps) {
    for (const FittedNumber& number : machine.fitted) {
      for (const double factor : {1 + step, 1 / (1 + step)}) {
        bool is_better = true;
        while (is_better) {
          Numbers changed = fit.numbers;
          changed[number.name] *= factor;
          if (machine.text_of(number, changed[number.name]) ==
              machine.text_of(number, fit.numbers[number.name])) {
            break;
          }
          const auto error = error_with(changed, fitted, runs);
          if (!error) return std::nullopt;
          is_better = *error < fit.error_after;
          if (!is_better) continue;
          fit.error_after = *error;
          fit.numbers = std::move(changed);
        }
      }
    }
  }
  return fit;
}

}  // namespace espalier
