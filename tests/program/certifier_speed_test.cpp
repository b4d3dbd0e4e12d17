// A sweep certifies a program for every point: it must not be felt. Bounds are ten times what it
// takes on an ordinary core, for slow machines and sanitizers' sake.
#include <catch2/catch.hpp>

#include <ctime>
#include <iostream>

#include "alg/program/program_certifier.h"
#include "sketch.h"

using namespace espalier;
using namespace espalier::program_test;

namespace {

double seconds_to_certify(const char* name, const Program& program,
                          const ProgramLimits& limits = {}) {
  // Of the processor: others may want it too.
  const std::clock_t start = std::clock();
  const ProgramCertificate certificate = certify_program(program, limits);
  const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::cout << name << ": " << program.num_ranks() << " ranks, at most "
            << certificate.most_contexts << " blocks, " << program.num_steps()
            << " steps: " << taken << " s\n";
  return taken;
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

// Rings of which each leaves what it has to the next one in the end, in scratch.
Program crossing_rings(std::uint32_t ranks, std::uint32_t channels) {
  Program program = ring_all_reduce(ranks, channels, 1);
  for (RankProgram& rank : program.ranks) {
    rank.scratch_chunks = channels;
    for (std::size_t b = 0; b < rank.blocks.size(); ++b) {
      ProgramStep copy;
      copy.op = ProgramOp::copy;
      copy.src_offset = static_cast<std::int32_t>(b * ranks);
      copy.dst_buffer = ProgramBuffer::scratch;
      copy.dst_offset = static_cast<std::int32_t>(b);
      copy.count = 1;
      copy.signals = true;
      ProgramStep take = copy;
      take.src_buffer = ProgramBuffer::scratch;
      take.src_offset = static_cast<std::int32_t>((b + 1) % channels);
      take.dst_buffer = ProgramBuffer::input;
      take.dst_offset = copy.src_offset;
      take.signals = false;
      take.wait_block = take.src_offset;
      take.wait_step = static_cast<std::int32_t>(rank.blocks[b].steps.size());
      rank.blocks[b].steps.push_back(copy);
      rank.blocks[b].steps.push_back(take);
    }
  }
  return program;
}

}  // namespace

TEST_CASE("Large programs are certified within 3 seconds") {
  REQUIRE(seconds_to_certify("ring", ring_all_reduce(32, 1, 1)) < 1);
  REQUIRE(seconds_to_certify("all-pairs", all_pairs_all_reduce(32, 1)) < 1);
  REQUIRE(seconds_to_certify("hierarchical", hierarchical_all_reduce(4, 8)) < 1);
  REQUIRE(seconds_to_certify("two-step", two_step_all_to_all(4, 8)) < 1);
  REQUIRE(seconds_to_certify("many rings", ring_all_reduce(32, 32, 1)) < 3);
  REQUIRE(seconds_to_certify("64 blocks", repeated(crossing_rings(8, 64), 3)) < 3);
  REQUIRE(seconds_to_certify("32 blocks", repeated(crossing_rings(32, 32), 1)) < 3);
  REQUIRE(seconds_to_certify("8 blocks", repeated(crossing_rings(32, 8), 4)) < 3);
  ProgramLimits one_by_one;
  one_by_one.chunks_per_slot = 1;
  one_by_one.slots = 80;
  REQUIRE(seconds_to_certify("long steps", ring_all_reduce(32, 8, 71), one_by_one) < 3);
}
