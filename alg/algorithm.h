// Everything that `collective.algorithm` may name: schedule generators and planners alike.
#pragma once

#include <string>
#include <vector>

#include "alg/generator.h"
#include "alg/planner.h"

namespace espalier {

struct Algorithm {
  std::string name;
  std::string summary;
  std::vector<CollectiveOp> ops;
  // Exactly one of the two.
  const Generator* generator = nullptr;
  const Planner* planner = nullptr;

  [[nodiscard]] bool computes(CollectiveOp op) const;
  // Empty where it runs on this topology, else a sentence for the user.
  [[nodiscard]] std::string unsuited(const Topology& topology) const;
};

// In the order in which they are listed to users.
[[nodiscard]] const std::vector<Algorithm>& algorithms();
// nullptr where no algorithm has that name.
[[nodiscard]] const Algorithm* find_algorithm(const std::string& name);

}  // namespace espalier
