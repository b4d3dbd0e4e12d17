// Collective programs written by hand, for tests of the contexts that run them.
#pragma once

#include <string>
#include <vector>

#include "alg/program/program.h"
#include "model_test_support.h"
#include "sims/point/config.h"
#include "sims/system/program_simulation.h"

namespace espalier::test {

inline ProgramStep step_of(ProgramOp op, std::int32_t src, std::int32_t dst,
                           std::uint32_t count = 1, ProgramBuffer src_buffer = ProgramBuffer::input,
                           ProgramBuffer dst_buffer = ProgramBuffer::input) {
  ProgramStep step;
  step.op = op;
  step.src_buffer = src_buffer;
  step.src_offset = src;
  step.dst_buffer = dst_buffer;
  step.dst_offset = dst;
  step.count = count;
  return step;
}

inline Program program_of(CollectiveOp op, std::uint32_t ranks, std::uint32_t chunks) {
  Program program;
  program.name = "by hand";
  program.collective = op;
  program.in_place = true;
  program.chunks = chunks;
  program.ranks.resize(ranks);
  for (RankProgram& rank : program.ranks) rank.input_chunks = chunks;
  return program;
}

// One chunk of rank 0 goes to rank 1: nothing that a collective would promise.
inline Program one_send(std::uint32_t chunks = 1) {
  Program program = program_of(CollectiveOp::custom, 2, chunks);
  for (RankProgram& rank : program.ranks) rank.output_chunks = chunks;
  program.ranks[0].blocks.push_back({1, kNoPeer, 0, 0, {}});
  program.ranks[1].blocks.push_back({kNoPeer, 0, 0, 0, {}});
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const auto at = static_cast<std::int32_t>(c);
    program.ranks[0].blocks[0].steps.push_back(step_of(ProgramOp::send, at, at));
    program.ranks[1].blocks[0].steps.push_back(step_of(ProgramOp::recv, at, at));
    program.promises.push_back({1, c, {{0, c}}});
  }
  return program;
}

// Ring all-reduce, a chunk for each rank; its hops are spread over `channels`.
inline Program ring_program(std::uint32_t ranks, std::uint32_t channels = 1) {
  Program program = program_of(CollectiveOp::all_reduce, ranks, ranks * channels);
  program.num_channels = channels;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::uint32_t ch = 0; ch < channels; ++ch) {
      ThreadBlock block;
      block.send_peer = static_cast<std::int32_t>((r + 1) % ranks);
      block.recv_peer = static_cast<std::int32_t>((r + ranks - 1) % ranks);
      block.channel = ch;
      const auto chunk = [&](std::uint32_t behind) {
        return static_cast<std::int32_t>((r + 2 * ranks - behind) % ranks * channels + ch);
      };
      block.steps.push_back(step_of(ProgramOp::send, chunk(0), chunk(0)));
      for (std::uint32_t s = 1; s + 1 < ranks; ++s) {
        block.steps.push_back(step_of(ProgramOp::recv_reduce_send, chunk(s), chunk(s)));
      }
      block.steps.push_back(
          step_of(ProgramOp::recv_reduce_copy_send, chunk(ranks - 1), chunk(ranks - 1)));
      for (std::uint32_t s = 0; s + 2 < ranks; ++s) {
        block.steps.push_back(step_of(ProgramOp::recv_copy_send, chunk(s), chunk(s)));
      }
      block.steps.push_back(step_of(ProgramOp::recv, chunk(ranks - 2), chunk(ranks - 2)));
      program.ranks[r].blocks.push_back(block);
    }
  }
  return program;
}

struct ProgramResult {
  Cycle cycles = 0;
  bool verified = false;
  std::uint64_t messages = 0;
  std::string failure;
};

// In a process of its own.
inline ProgramResult run_by_hand(const Topology& topology, const RunPoint& point,
                                 const Program& program) {
  const Report report = in_child([&] {
    const SimulationOutcome outcome = simulate_program(topology, point, program, 0, {});
    return Report{{outcome.cycles, outcome.verified ? 1U : 0U, outcome.latency.messages},
                  outcome.failure};
  });
  return {report.numbers[0], report.numbers[1] != 0, report.numbers[2], report.text};
}

}  // namespace espalier::test
