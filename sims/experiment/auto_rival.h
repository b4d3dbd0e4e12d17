// A candidate of `algorithm: auto`, and what is known of its time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hw/topology/link_timing.h"
#include "sims/experiment/choices.h"
#include "sims/experiment/confirm_choice.h"

namespace espalier {

// How far planned times are off: of messages over several links, which share routers' buffers; and
// of messages over one link, if their NIs list them in the planned order.
inline constexpr double kPlannersError = 2;
inline constexpr double kListError = 1.01;

struct Rival {
  std::string name;
  double planned_us = 0;
  bool is_exact = false;  // the planned time is the machine's own, but for ties
  std::optional<double> simulated_us;
  bool failed = false;  // its simulation did not end with the right data

  [[nodiscard]] double us() const { return simulated_us.value_or(planned_us); }
};

// "forest, 2.634 us planned"
[[nodiscard]] std::string to_text(const Rival& rival);

// Whether one of the two is faster by more than the planned times are off.
[[nodiscard]] bool is_settled(const Rival& a, const Rival& b);
// A rival whose simulation failed is slower than every other one.
[[nodiscard]] bool is_faster(const Rival& a, const Rival& b);

// Simulates all of them at the same time, as simulated_cycles() does. `runs`: by rival.
void simulate(const std::vector<Rival*>& rivals, const std::vector<ShortRun>& runs,
              const ClockSpec& clock, Choices& choices);

}  // namespace espalier
