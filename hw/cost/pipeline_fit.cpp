#include "hw/cost/pipeline_fit.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {
// A stage of exactly a period fits it, rounding or not.
constexpr double kSlack = 1 + 1e-9;
}  // namespace

Cycle cycles_of(const std::vector<double>& stages_ps, double period_ps) {
  Cycle cycles = 1;
  double used = 0;  // of the present cycle
  for (const double stage : stages_ps) {
    if (used + stage <= period_ps * kSlack) {
      used += stage;
      continue;
    }
    if (used > 0) ++cycles;
    const auto whole = static_cast<Cycle>(std::ceil(stage / (period_ps * kSlack)));
    cycles += whole - 1;
    used = stage - static_cast<double>(whole - 1) * period_ps;
  }
  return cycles;
}

double shortest_period_ps(const std::vector<double>& stages_ps, Cycle cycles) {
  double sum = 0;
  for (const double stage : stages_ps) sum += stage;
  if (sum == 0) return 0;
  double too_short = sum / static_cast<double>(cycles) / 2;
  double enough = sum;
  for (int i = 0; i < 60; ++i) {
    const double middle = (too_short + enough) / 2;
    (cycles_of(stages_ps, middle) <= cycles ? enough : too_short) = middle;
  }
  return enough;
}

}  // namespace espalier
