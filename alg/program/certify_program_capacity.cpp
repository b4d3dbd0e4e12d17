// Does the program fit the contexts that run it?
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "alg/program/program_certifier_parts.h"

namespace espalier::program_certifier {

namespace {

void check_contexts(const Program& program, std::size_t rank, const ProgramLimits& limits,
                    ProgramCertificate& certificate, Findings& findings) {
  // All blocks of a call must be resident at once: they wait for each other.
  std::map<std::uint32_t, std::uint32_t> blocks_of_call;
  for (const ThreadBlock& block : program.ranks[rank].blocks) ++blocks_of_call[block.call];
  for (const auto& [call, blocks] : blocks_of_call) {
    certificate.most_contexts = std::max(certificate.most_contexts, blocks);
    if (limits.contexts == 0 || blocks <= limits.contexts) continue;
    findings.add(
        ProgramViolationKind::capacity, site_of(program, rank), [&, in = call, n = blocks] {
          const std::string of_call = program.num_calls() > 1 ? fmt::format(" in call {}", in) : "";
          return fmt::format("needs {} contexts{}, an NI has {}", n, of_call, limits.contexts);
        });
  }
}

void check_context_steps(const Program& program, std::size_t rank, const ProgramLimits& limits,
                         ProgramCertificate& certificate, Findings& findings) {
  const auto& blocks = program.ranks[rank].blocks;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto steps = static_cast<std::uint32_t>(blocks[b].steps.size());
    certificate.most_steps = std::max(certificate.most_steps, steps);
    if (limits.context_steps == 0 || steps <= limits.context_steps) continue;
    findings.add(ProgramViolationKind::capacity, site_of(program, rank, b), [&] {
      return fmt::format("has {} steps, a context holds {}", steps, limits.context_steps);
    });
  }
}

}  // namespace

void check_capacity(const Program& program, const ProgramLimits& limits,
                    ProgramCertificate& certificate, Findings& findings) {
  for (std::size_t r = 0; r < program.num_ranks(); ++r) {
    check_contexts(program, r, limits, certificate, findings);
    check_context_steps(program, r, limits, certificate, findings);
  }
}

}  // namespace espalier::program_certifier
