// Does every step mean something: operands, peers, what it waits for?
#include <fmt/format.h>

#include "alg/program/program_certifier_parts.h"

namespace espalier::program_certifier {

namespace {

// MSCCL-IR, A.6.
constexpr std::uint32_t kMostChunksOfStep = 71;

struct StepCheck {
  const Program& program;
  std::size_t rank;
  std::size_t block;
  Findings& findings;

  [[nodiscard]] const ThreadBlock& of_block() const { return program.ranks[rank].blocks[block]; }
  [[nodiscard]] Site site(std::size_t step) const { return site_of(program, rank, block, step); }

  [[nodiscard]] std::uint32_t declared(ProgramBuffer buffer) const {
    const RankProgram& of_rank = program.ranks[rank];
    if (buffer == ProgramBuffer::scratch) return of_rank.scratch_chunks;
    return buffer == ProgramBuffer::input ? of_rank.input_chunks : of_rank.output_chunks;
  }

  void check_operand(std::size_t s, const char* name, ProgramBuffer buffer, std::int32_t offset) {
    const std::uint32_t count = of_block().steps[s].count;
    const std::uint32_t size = declared(buffer);
    if (offset >= 0 && static_cast<std::uint64_t>(offset) + count <= size) return;
    findings.add(kMalformed, site(s), [&] {
      return fmt::format("its {} is {} {}, {} chunks long, but buffer {} has {} chunks here", name,
                         to_string(buffer), offset, count, to_string(buffer), size);
    });
  }

  void check_operands(std::size_t s) {
    const ProgramStep& step = of_block().steps[s];
    const std::uint32_t least = step.op == ProgramOp::nop ? 0 : 1;
    if (step.count < least || step.count > kMostChunksOfStep) {
      findings.add(kMalformed, site(s), [&] {
        return fmt::format("its count is {}, allowed are {} to {}", step.count, least,
                           kMostChunksOfStep);
      });
    }
    if (reads_source(step.op)) check_operand(s, "source", step.src_buffer, step.src_offset);
    if (writes_target(step.op)) check_operand(s, "target", step.dst_buffer, step.dst_offset);
    if (sends(step.op) && of_block().send_peer == kNoPeer) {
      findings.add(kMalformed, site(s), [] { return "sends, but its block has no peer for that"; });
    }
    if (receives(step.op) && of_block().recv_peer == kNoPeer) {
      findings.add(kMalformed, site(s),
                   [] { return "receives, but its block has no peer for that"; });
    }
  }

  // What is wrong with the wait, as the end of a sentence; nullptr: nothing.
  [[nodiscard]] const char* wrong_wait(std::size_t s) const {
    const ProgramStep& step = of_block().steps[s];
    const auto& blocks = program.ranks[rank].blocks;
    if (step.wait_block < 0 || static_cast<std::size_t>(step.wait_block) >= blocks.size()) {
      return "which does not exist";
    }
    const ThreadBlock& other = blocks[static_cast<std::size_t>(step.wait_block)];
    if (step.wait_step < 0 || static_cast<std::size_t>(step.wait_step) >= other.steps.size()) {
      return "which does not exist";
    }
    // Of its own block only what comes before it is ever done, and that needs no wait.
    if (static_cast<std::size_t>(step.wait_block) == block &&
        static_cast<std::size_t>(step.wait_step) >= s) {
      return "which its own block comes to only afterwards";
    }
    // Scoreboards are cleared between calls.
    if (other.call != of_block().call) return "which belongs to another call";
    const ProgramStep& target = other.steps[static_cast<std::size_t>(step.wait_step)];
    if (target.op == ProgramOp::nop) return "a nop, which never signals";
    return target.signals ? nullptr : "which does not signal";
  }

  void check_wait(std::size_t s) {
    const ProgramStep& step = of_block().steps[s];
    if (step.wait_block == -1 && step.wait_step == -1) return;
    const char* wrong = wrong_wait(s);
    if (wrong == nullptr) return;
    findings.add(kMalformed, site(s), [&] {
      return fmt::format("waits for gpu {} tb {} step {}, {}", rank, step.wait_block,
                         step.wait_step, wrong);
    });
  }

  // Nops hand their waits to the next step, and only to one that has a wait itself.
  void check_nops(std::size_t s) {
    const auto& steps = of_block().steps;
    if (s == 0 || steps[s - 1].op != ProgramOp::nop) return;
    if (steps[s].op == ProgramOp::nop || steps[s].wait_block != -1) return;
    findings.add(kMalformed, site(s), [&] {
      return fmt::format("comes after the nop {}, but waits for nothing itself",
                         name_of(site(s - 1)));
    });
  }

  // Runtimes may run consecutive reductions into one place as one of many operands, which have one
  // length (MSCCL-IR, A.7).
  void check_reductions(std::size_t s) {
    if (s == 0) return;
    const ProgramStep& last = of_block().steps[s - 1];
    const ProgramStep& step = of_block().steps[s];
    const bool joins = last.op == ProgramOp::reduce && step.op == ProgramOp::reduce &&
                       !last.signals && step.wait_block == -1 &&
                       last.dst_buffer == step.dst_buffer && last.dst_offset == step.dst_offset &&
                       last.src_buffer == step.src_buffer;
    if (!joins || last.count == step.count) return;
    findings.add(kMalformed, site(s), [&] {
      return fmt::format(
          "reduces {} chunks into the place into which {} reduces {}, and both may run as one "
          "reduction: their counts must agree",
          step.count, name_of(site(s - 1)), last.count);
    });
  }
};

}  // namespace

void check_step_form(const Program& program, std::size_t rank, std::size_t block,
                     Findings& findings) {
  StepCheck check{program, rank, block, findings};
  for (std::size_t s = 0; s < check.of_block().steps.size(); ++s) {
    check.check_operands(s);
    check.check_wait(s);
    check.check_nops(s);
    check.check_reductions(s);
  }
}

}  // namespace espalier::program_certifier
