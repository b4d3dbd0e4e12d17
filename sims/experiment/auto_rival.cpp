#include "sims/experiment/auto_rival.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

std::string to_text(const Rival& rival) {
  if (rival.failed) {
    return fmt::format("{}, not completed ({:.4g} planned)", rival.name, rival.planned_us);
  }
  return rival.simulated_us ? fmt::format("{}, {:.4g} us simulated ({:.4g} planned)", rival.name,
                                          *rival.simulated_us, rival.planned_us)
                            : fmt::format("{}, {:.4g} us planned", rival.name, rival.planned_us);
}

bool is_settled(const Rival& a, const Rival& b) {
  if (a.failed || b.failed) return true;
  if (a.simulated_us && b.simulated_us) return true;
  const bool known = (a.simulated_us || a.is_exact) && (b.simulated_us || b.is_exact);
  const double ratio = std::max(a.us(), b.us()) / std::min(a.us(), b.us());
  return known && ratio > kListError;
}

bool is_faster(const Rival& a, const Rival& b) {
  return a.failed != b.failed ? b.failed : a.us() < b.us();
}

void simulate(const std::vector<Rival*>& rivals, const std::vector<ShortRun>& runs,
              const ClockSpec& clock, Choices& choices) {
  const std::vector<std::optional<Cycle>> cycles = simulated_cycles(runs, choices);
  for (std::size_t k = 0; k < rivals.size(); ++k) {
    rivals[k]->failed = !cycles[k];
    if (!cycles[k]) continue;
    rivals[k]->simulated_us =
        static_cast<double>(*cycles[k]) * 1e6 / static_cast<double>(clock.hertz);
  }
}

}  // namespace espalier
