// A configuration run in two ways that must give the same.
#pragma once

#include <string>
#include <vector>

#include "observation.h"

namespace espalier::fuzz {

// Overrides that make the two runs of one configuration.
struct Variants {
  std::vector<std::string> reference{"simulation.fidelity=cycle", "simulation.rtl=none"};
  // Fidelity train, but cycle for the Verilog of routers: draw_workload() and the shrinker give no
  // other case a setting that trains do not model.
  std::vector<std::string> subject{"simulation.fidelity=auto"};
};

struct Verdict {
  enum class Kind : std::uint8_t {
    same,
    different,
    broken,  // the configuration is refused, or the reference itself ends badly
  };
  Kind kind = Kind::same;
  std::string words;            // for people; empty where same
  std::uint64_t messages = 0;   // delivered by the reference
  std::uint64_t flit_hops = 0;  // of the reference
};

[[nodiscard]] Verdict compare(const std::string& config_path, const Variants& variants);

// What differs, the earliest deliveries first; empty where nothing does.
[[nodiscard]] std::string describe_differences(const Observation& reference,
                                               const Observation& subject);

}  // namespace espalier::fuzz
