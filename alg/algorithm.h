// Everything that `collective.algorithm` may name: schedule generators, planners, collective
// programs.
#pragma once

#include <string>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/plans/planner.h"
#include "alg/program/builtin_programs.h"

namespace espalier {

struct Algorithm {
  std::string name;
  std::string summary;
  std::vector<CollectiveOp> ops;
  // One of the three; none of a program that stands in a file.
  const Generator* generator = nullptr;
  const Planner* planner = nullptr;
  const BuiltinProgram* program = nullptr;

  [[nodiscard]] bool is_program() const { return generator == nullptr && planner == nullptr; }

  [[nodiscard]] bool computes(CollectiveOp op) const;
  // Empty where it runs on this topology, else a sentence for the user. What a built-in program
  // asks of the number of ranks it says itself (BuiltinProgram::unsuited).
  [[nodiscard]] std::string unsuited(const Topology& topology) const;
};

// In the order in which they are listed to users.
[[nodiscard]] const std::vector<Algorithm>& algorithms();
// nullptr where no algorithm has that name.
[[nodiscard]] const Algorithm* find_algorithm(const std::string& name);

}  // namespace espalier
