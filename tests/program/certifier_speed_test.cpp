// A sweep certifies a program for every point: it must not be felt. Bounds are ten times what it
// takes on an ordinary core, for slow machines and sanitizers' sake.
#include <catch2/catch.hpp>

#include <chrono>
#include <iostream>

#include "alg/program/program_certifier.h"
#include "sketch.h"

using namespace espalier;
using namespace espalier::program_test;

namespace {

double seconds_to_certify(const char* name, const Program& program,
                          const ProgramLimits& limits = {}) {
  const auto start = std::chrono::steady_clock::now();
  const ProgramCertificate certificate = certify_program(program, limits);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  REQUIRE(certificate.ok());
  std::cout << name << ": " << program.num_ranks() << " ranks, at most "
            << certificate.most_contexts << " blocks, " << program.num_steps()
            << " steps: " << taken.count() << " s\n";
  return taken.count();
}

// Every block does all it does `times` times; of the results nothing is promised then.
Program repeated(Program program, int times) {
  program.collective = CollectiveOp::custom;
  for (RankProgram& rank : program.ranks) {
    for (ThreadBlock& block : rank.blocks) {
      const std::vector<ProgramStep> once = block.steps;
      for (int k = 1; k < times; ++k) {
        block.steps.insert(block.steps.end(), once.begin(), once.end());
      }
    }
  }
  return program;
}

}  // namespace

TEST_CASE("Certifying takes no time worth mentioning") {
  REQUIRE(seconds_to_certify("ring", ring_all_reduce(32, 1, 1)) < 1);
  REQUIRE(seconds_to_certify("all-pairs", all_pairs_all_reduce(32, 1)) < 1);
  REQUIRE(seconds_to_certify("hierarchical", hierarchical_all_reduce(4, 8)) < 1);
  REQUIRE(seconds_to_certify("two-step", two_step_all_to_all(4, 8)) < 1);
  REQUIRE(seconds_to_certify("64 blocks", repeated(ring_all_reduce(8, 64, 1), 3)) < 3);
  REQUIRE(seconds_to_certify("8 blocks", repeated(ring_all_reduce(32, 8, 1), 4)) < 3);
  REQUIRE(seconds_to_certify("32 blocks", ring_all_reduce(32, 32, 1)) < 3);
  ProgramLimits one_by_one;
  one_by_one.chunks_per_slot = 1;
  one_by_one.slots = 80;
  REQUIRE(seconds_to_certify("long steps", ring_all_reduce(32, 8, 71), one_by_one) < 3);
}
