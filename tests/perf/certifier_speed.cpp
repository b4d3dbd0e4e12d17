// Certifying a program takes time in proportion to its steps: a sweep certifies one for every
// point. Prints the time of a step in small and in large programs, and fails if it grows tenfold.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "alg/program/program_certifier.h"
#include "tests/program/sketch.h"

using namespace espalier;
using namespace espalier::program_test;

namespace {

// Seconds of the processor for each step, the least of three runs.
double per_step(const char* name, const Program& program, const ProgramLimits& limits = {}) {
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t start = std::clock();
    const ProgramCertificate certificate = certify_program(program, limits);
    const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (certificate.most_contexts == 0) return 1e9;
    least = std::min(least, taken);
  }
  fmt::print("{:<14} {:>3} ranks {:>8} steps {:>8.3f} s {:>8.2f} us a step\n", name,
             program.num_ranks(), program.num_steps(), least,
             1e6 * least / static_cast<double>(program.num_steps()));
  return least / static_cast<double>(program.num_steps());
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

int main() {
  ProgramLimits one_by_one;
  one_by_one.chunks_per_slot = 1;
  one_by_one.slots = 80;
  const double growth = std::max(
      {per_step("rings", ring_all_reduce(32, 32, 1)) / per_step("rings", ring_all_reduce(32, 8, 1)),
       per_step("64 blocks", repeated(crossing_rings(8, 64), 4)) /
           per_step("64 blocks", repeated(crossing_rings(8, 64), 1)),
       per_step("32 blocks", repeated(crossing_rings(32, 32), 1)) /
           per_step("32 blocks", repeated(crossing_rings(8, 32), 1)),
       per_step("long steps", ring_all_reduce(32, 8, 71), one_by_one) /
           per_step("long steps", ring_all_reduce(32, 8, 18), one_by_one)});
  fmt::print("a step takes up to {:.1f} times as long in the longer program\n", growth);
  return growth < 8 ? 0 : 1;
}
