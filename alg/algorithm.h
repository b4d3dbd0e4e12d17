// The registry of all values of `collective.algorithm`: schedule generators, planners, collective
// programs.
#pragma once

#include <string>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/plans/planner.h"
#include "alg/program/builtin_programs.h"
#include "alg/schedule/algorithm_row.h"

namespace espalier {

struct Algorithm : AlgorithmRow {
  // At most one of the three is set, and none for a program that is read from a file and for a
  // library. But `auto` is
  // a generator and, on a multi-dimensional system, a planner.
  const Generator* generator = nullptr;
  const Planner* planner = nullptr;
  const BuiltinProgram* program = nullptr;
  // A library that chooses one of the programs; the reader writes its choice into the point.
  bool is_library = false;

  // The row that counts on a system that is multi-dimensional, or is not.
  [[nodiscard]] const AlgorithmRow& row_on(bool is_dimensional) const;
  [[nodiscard]] bool is_program() const {
    return generator == nullptr && planner == nullptr && !is_library;
  }
  // An all_reduce gives every rank the same bits of a floating-point sum. Programs from files are
  // not examined.
  [[nodiscard]] bool is_bitwise_identical() const {
    return program == nullptr || program->bitwise_identical;
  }
  // Returns an empty text if the algorithm runs on this topology, otherwise a sentence for the
  // user. A built-in program checks the number of ranks itself (BuiltinProgram::unsuited).
  [[nodiscard]] std::string unsuited(const Topology& topology) const;
};

// In the order in which users see them.
[[nodiscard]] const std::vector<Algorithm>& algorithms();
// Returns nullptr if no algorithm has that name.
[[nodiscard]] const Algorithm* find_algorithm(const std::string& name);

}  // namespace espalier
