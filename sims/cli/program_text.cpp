#include "sims/cli/program_text.h"

#include <fmt/format.h>

namespace espalier {

namespace {

std::string place_text(ProgramBuffer buffer, std::int32_t offset, std::uint32_t count) {
  if (count <= 1) return fmt::format("{}[{}]", to_string(buffer), offset);
  return fmt::format("{}[{}..{}]", to_string(buffer), offset,
                     offset + static_cast<std::int32_t>(count) - 1);
}

std::string step_text(const ProgramStep& step) {
  std::string text = fmt::format("{:<4}", to_string(step.op));
  if (reads_source(step.op)) text += " " + place_text(step.src_buffer, step.src_offset, step.count);
  if (writes_target(step.op)) {
    text += " -> " + place_text(step.dst_buffer, step.dst_offset, step.count);
  }
  if (step.wait_block != kNoPeer) {
    text += fmt::format("  waits for tb {} step {}", step.wait_block, step.wait_step);
  }
  if (step.signals) text += "  signals";
  return text;
}

std::string block_text(const ThreadBlock& block) {
  std::string text;
  if (block.send_peer != kNoPeer) text += fmt::format(" send {}", block.send_peer);
  if (block.recv_peer != kNoPeer) text += fmt::format(" recv {}", block.recv_peer);
  text += text.empty() ? " local" : fmt::format(" channel {}", block.channel);
  if (block.call != 0) text += fmt::format(" call {}", block.call);
  return text;
}

}  // namespace

std::string program_text(const Program& program) {
  std::string text = fmt::format(
      "{}: {}{} of {} chunks on {} ranks, {}, {} instructions\n", program.name,
      to_string(program.collective), program.in_place ? " in place" : "", program.chunks,
      program.num_ranks(), to_string(program.protocol), program.num_steps());
  for (std::size_t r = 0; r < program.num_ranks(); ++r) {
    const RankProgram& rank = program.ranks[r];
    text += fmt::format("gpu {}: i {} o {} s {}\n", r, rank.input_chunks, rank.output_chunks,
                        rank.scratch_chunks);
    for (std::size_t b = 0; b < rank.blocks.size(); ++b) {
      text += fmt::format("  tb {}:{}\n", b, block_text(rank.blocks[b]));
      const auto& steps = rank.blocks[b].steps;
      for (std::size_t s = 0; s < steps.size(); ++s) {
        text += fmt::format("    {:>3} {}\n", s, step_text(steps[s]));
      }
    }
  }
  return text;
}

std::string certificate_text(const Program& program, const ProgramCertificate& certificate) {
  std::string text = fmt::format(
      "  {} instructions and {} messages over {} connections; at most {} contexts per NI, {} steps "
      "per context\n",
      program.num_steps(), certificate.messages, certificate.connections, certificate.most_contexts,
      certificate.most_steps);
  if (certificate.least_slots != 0) {
    text += fmt::format("  slots per connection: {} suffice\n", certificate.least_slots);
  }
  if (!certificate.promises_known) {
    text +=
        "  what the custom collective promises is not given: its results are not proven "
        "(collective.program.promises)\n";
  }
  if (!certificate.out_of_place.empty()) {
    text += fmt::format("  warning: it is offered out of place too, but is wrong there: {}: {}\n",
                        to_string(certificate.out_of_place.front().kind),
                        describe(certificate.out_of_place.front()));
  }
  for (const ProgramViolation& violation : certificate.violations) {
    text += fmt::format("  {}: {}\n", to_string(violation.kind), describe(violation));
  }
  return text;
}

}  // namespace espalier
