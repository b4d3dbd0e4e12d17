// The routers and NIs that a program attaches itself: which vertices they are, and which systems
// cannot have them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "hw/topology/topology.h"
#include "sims/point/topology_config.h"

namespace espalier {

struct RunPoint;

struct ExternalParts {
  std::vector<NodeId> routers;  // in the order in which they are written
  std::vector<NodeId> nis;
  [[nodiscard]] bool any() const { return !routers.empty() || !nis.empty(); }
};

// Precondition: external_problem() finds nothing.
[[nodiscard]] ExternalParts external_parts(const Topology& topology, const ExternalConfig& config);

// What is wrong with system.topology.external.
struct ExternalProblem {
  std::string key;   // "system.topology.external.routers", or "....nis"
  std::string what;  // begins with the key
  std::string hint;
};
// The first problem: an unknown name, a name that is given twice, or a part of the configuration
// that is not exact with external modules. Empty if there is none.
[[nodiscard]] std::optional<ExternalProblem> external_problem(const RunPoint& point,
                                                              const Topology& topology);

}  // namespace espalier
