// The registry of everything that `collective.algorithm` may name: schedule generators, planners,
// collective programs.
#pragma once

#include <string>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/plans/planner.h"
#include "alg/program/builtin_programs.h"
#include "alg/schedule/algorithm_row.h"

namespace espalier {

struct Algorithm : AlgorithmRow {
  // One of the three is set; none for a program that is read from a file.
  const Generator* generator = nullptr;
  const Planner* planner = nullptr;
  const BuiltinProgram* program = nullptr;

  [[nodiscard]] bool is_program() const { return generator == nullptr && planner == nullptr; }
  // Empty where it runs on this topology, else a sentence for the user. A built-in program checks
  // the number of ranks itself (BuiltinProgram::unsuited).
  [[nodiscard]] std::string unsuited(const Topology& topology) const;
};

// In the order in which they are listed to users.
[[nodiscard]] const std::vector<Algorithm>& algorithms();
// nullptr where no algorithm has that name.
[[nodiscard]] const Algorithm* find_algorithm(const std::string& name);

}  // namespace espalier
