#include "alg/program/program_certifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "alg/program/program_certifier_parts.h"

namespace espalier::program_certifier {

// ---------------------------------------------------------------- the program in rows

namespace {

void add_block(FlatProgram& flat, std::uint32_t rank, std::uint32_t number) {
  const ThreadBlock& block = flat.program.ranks[rank].blocks[number];
  const auto id = static_cast<std::uint32_t>(flat.blocks.size());
  FlatBlock added;
  added.rank = rank;
  added.number = number;
  added.call = block.call;
  added.first = static_cast<std::uint32_t>(flat.steps.size());
  std::size_t length = block.steps.size();
  while (length > 0 && block.steps[length - 1].op == ProgramOp::nop &&
         !block.steps[length - 1].signals) {
    --length;
  }
  for (std::uint32_t s = 0; s < length; ++s) {
    FlatStep step;
    step.step = &block.steps[s];
    step.block = id;
    step.position = s;
    flat.steps.push_back(step);
  }
  added.end = static_cast<std::uint32_t>(flat.steps.size());
  flat.blocks.push_back(added);
}

void resolve_waits(FlatProgram& flat) {
  for (FlatStep& step : flat.steps) {
    if (step.step->wait_block < 0) continue;
    const std::uint32_t rank = flat.blocks[step.block].rank;
    const FlatBlock& awaited =
        flat.blocks[flat.first_block[rank] + static_cast<std::uint32_t>(step.step->wait_block)];
    // Trailing nops were left out, but this step is not a nop.
    step.waits_for = awaited.first + static_cast<std::uint32_t>(step.step->wait_step);
  }
}

void resolve_connections(FlatProgram& flat) {
  for (const Connection& connection : connections_of(flat.program)) {
    const auto id = static_cast<std::uint32_t>(flat.connections.size());
    FlatConnection added;
    if (connection.send_block != kNoPeer) {
      added.sender =
          flat.first_block[connection.from] + static_cast<std::uint32_t>(connection.send_block);
      flat.blocks[added.sender].out = id;
    }
    if (connection.recv_block != kNoPeer) {
      added.receiver =
          flat.first_block[connection.to] + static_cast<std::uint32_t>(connection.recv_block);
      flat.blocks[added.receiver].in = id;
    }
    flat.connections.push_back(std::move(added));
  }
  for (std::uint32_t s = 0; s < flat.steps.size(); ++s) {
    const FlatBlock& block = flat.block_of(s);
    const ProgramOp op = flat.steps[s].step->op;
    if (sends(op)) flat.connections[block.out].sends.push_back(s);
    if (receives(op)) flat.connections[block.in].receives.push_back(s);
  }
}

}  // namespace

FlatProgram::FlatProgram(const Program& of) : program(of) {
  steps.reserve(program.num_steps());
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    first_block.push_back(static_cast<std::uint32_t>(blocks.size()));
    for (std::uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b) add_block(*this, r, b);
  }
  first_block.push_back(static_cast<std::uint32_t>(blocks.size()));
  resolve_waits(*this);
  resolve_connections(*this);
}

Site FlatProgram::site(std::uint32_t step) const {
  const FlatBlock& block = block_of(step);
  return site_of(program, block.rank, block.number, steps[step].position);
}

// ---------------------------------------------------------------- capacity of contexts

namespace {

void check_contexts(const Program& program, std::size_t rank, const ProgramLimits& limits,
                    ProgramCertificate& certificate, Findings& findings) {
  // All blocks of a call must be resident at once, because they wait for each other.
  std::map<std::uint32_t, std::uint32_t> blocks_of_call;
  for (const ThreadBlock& block : program.ranks[rank].blocks) ++blocks_of_call[block.call];
  for (const auto& [call, blocks] : blocks_of_call) {
    certificate.most_contexts = std::max(certificate.most_contexts, blocks);
    if (limits.contexts == 0 || blocks <= limits.contexts) continue;
    findings.add_described(
        ProgramViolationKind::capacity, site_of(program, rank), [&, in = call, n = blocks] {
          const std::string of_call = program.num_calls() > 1 ? fmt::format(" in call {}", in) : "";
          return fmt::format("needs {} contexts{}, but an NI has {}", n, of_call, limits.contexts);
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
    findings.add(ProgramViolationKind::capacity, site_of(program, rank, b),
                 "has {} steps, but a context holds at most {}", steps, limits.context_steps);
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

namespace espalier {

const char* to_string(ProgramViolationKind kind) {
  constexpr std::array kNames{"malformed", "unmatched",     "deadlock", "uninitialised",
                              "race",      "postcondition", "capacity"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string describe(const ProgramViolation& violation) {
  std::string place =
      program_certifier::name_of({violation.gpu, violation.tb, violation.step, violation.line});
  if (violation.line != 0) {
    place += fmt::format("{}(line {})", place.empty() ? "" : " ", violation.line);
  }
  return place.empty() ? violation.what : place + ": " + violation.what;
}

namespace program_certifier {

namespace {
// The line of the innermost element with a line.
std::uint32_t first_line(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  if (a != 0) return a;
  return b != 0 ? b : c;
}
}  // namespace

Site site_of(const Program& program, std::size_t rank) {
  return {static_cast<std::int32_t>(rank), -1, -1, program.ranks[rank].line};
}

Site site_of(const Program& program, std::size_t rank, std::size_t block) {
  const RankProgram& of_rank = program.ranks[rank];
  return {static_cast<std::int32_t>(rank), static_cast<std::int32_t>(block), -1,
          first_line(of_rank.blocks[block].line, of_rank.line, 0)};
}

Site site_of(const Program& program, std::size_t rank, std::size_t block, std::size_t step) {
  const RankProgram& of_rank = program.ranks[rank];
  const ThreadBlock& of_block = of_rank.blocks[block];
  const ProgramStep& of_step = of_block.steps[step];
  if (of_step.plan_gpu >= 0) {
    return {of_step.plan_gpu, of_step.plan_block, of_step.plan_step, of_step.line};
  }
  return {static_cast<std::int32_t>(rank), static_cast<std::int32_t>(block),
          static_cast<std::int32_t>(step),
          first_line(of_block.steps[step].line, of_block.line, of_rank.line)};
}

std::string name_of(const Site& site) {
  if (site.gpu < 0) return {};
  std::string name = fmt::format("gpu {}", site.gpu);
  if (site.tb >= 0) name += fmt::format(" tb {}", site.tb);
  if (site.step >= 0) name += fmt::format(" step {}", site.step);
  return name;
}

std::vector<ProgramViolation> Findings::list() const {
  std::vector<ProgramViolation> result;
  for (std::size_t k = 0; k < kKinds; ++k) {
    result.insert(result.end(), listed_.at(k).begin(), listed_.at(k).end());
    const std::size_t rest = count_.at(k) - listed_.at(k).size();
    if (rest == 0) continue;
    ProgramViolation more;
    more.kind = static_cast<ProgramViolationKind>(k);
    more.what = fmt::format("and {} more", rest);
    result.push_back(std::move(more));
  }
  return result;
}

namespace {

void prove(const Program& program, const ProgramLimits& limits, ProgramCertificate& certificate,
           Findings& findings) {
  check_form(program, findings);
  if (program.num_ranks() == 0) return;
  check_capacity(program, limits, certificate, findings);
  if (findings.count(ProgramViolationKind::malformed) != 0) return;
  FlatProgram flat(program);
  for (const FlatConnection& connection : flat.connections) {
    const bool has_both_ends = connection.sender != kNone && connection.receiver != kNone;
    certificate.connections += has_both_ends ? 1 : 0;
    certificate.messages += connection.sends.size();
  }
  pair_messages(flat, findings);
  if (findings.count(ProgramViolationKind::unmatched) != 0 || limits.form_only) return;
  const std::vector<std::uint32_t> order = check_deadlock(flat, limits, certificate, findings);
  if (findings.count(ProgramViolationKind::deadlock) != 0) return;
  const ProgramStorage storage(program);
  check_races(flat, order, storage, findings);
  // A wrong result of one legal execution proves the program wrong, with or without races.
  check_data(flat, order, storage, certificate, findings);
}

}  // namespace

}  // namespace program_certifier

ProgramCertificate certify_program(const Program& program, const ProgramLimits& limits) {
  ProgramCertificate certificate;
  program_certifier::Findings findings;
  program_certifier::prove(program, limits, certificate, findings);
  certificate.violations = findings.list();
  if (program.also_out_of_place && certificate.ok() && !limits.form_only) {
    Program apart = program;
    apart.in_place = false;
    apart.also_out_of_place = false;
    certificate.out_of_place = certify_program(apart, limits).violations;
  }
  return certificate;
}

}  // namespace espalier
