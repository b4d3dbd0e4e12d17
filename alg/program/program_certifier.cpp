#include "alg/program/program_certifier.h"

#include <fmt/format.h>

#include "alg/program/program_certifier_parts.h"

namespace espalier {

const char* to_string(ProgramViolationKind kind) {
  switch (kind) {
    case ProgramViolationKind::malformed:
      return "malformed";
    case ProgramViolationKind::unmatched:
      return "unmatched";
    case ProgramViolationKind::deadlock:
      return "deadlock";
    case ProgramViolationKind::uninitialised:
      return "uninitialised";
    case ProgramViolationKind::race:
      return "race";
    case ProgramViolationKind::postcondition:
      return "postcondition";
    case ProgramViolationKind::capacity:
      return "capacity";
  }
  return "?";
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
// The line of the innermost element that has one.
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
  if (findings.count(ProgramViolationKind::unmatched) != 0) return;
  const std::vector<std::uint32_t> order = check_deadlock(flat, limits, certificate, findings);
  if (findings.count(ProgramViolationKind::deadlock) != 0) return;
  const ProgramStorage storage(program);
  check_races(flat, order, storage, findings);
  // What goes wrong in one legal execution is wrong, whether the program has races or not.
  check_data(flat, order, storage, certificate, findings);
}

}  // namespace

}  // namespace program_certifier

ProgramCertificate certify_program(const Program& program, const ProgramLimits& limits) {
  ProgramCertificate certificate;
  program_certifier::Findings findings;
  program_certifier::prove(program, limits, certificate, findings);
  certificate.violations = findings.list();
  if (program.also_out_of_place && certificate.ok()) {
    Program apart = program;
    apart.in_place = false;
    apart.also_out_of_place = false;
    certificate.out_of_place = certify_program(apart, limits).violations;
  }
  return certificate;
}

}  // namespace espalier
