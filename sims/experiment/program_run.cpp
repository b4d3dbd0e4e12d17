// A collective program on a point's network and NIs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "alg/bounds/bounds.h"
#include "sims/choose/certify_point.h"
#include "sims/experiment/result_parts.h"
#include "sims/model/idle_times.h"
#include "sims/observe/explain/run_account.h"
#include "sims/system/program_simulation.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// No bound is proven for the operations that only programs compute, nor for switches that add.
bool has_bound(CollectiveOp op) {
  return op != CollectiveOp::broadcast && op != CollectiveOp::reduce && op != CollectiveOp::custom;
}

bool can_run(const ProgramCertificate& certificate) {
  return std::none_of(certificate.violations.begin(), certificate.violations.end(),
                      [](const ProgramViolation& violation) {
                        return violation.kind == ProgramViolationKind::malformed ||
                               violation.kind == ProgramViolationKind::unmatched;
                      });
}

std::string refusal(const ProgramCertificate& certificate) {
  std::string why = "the program does not pass the certifier:\n";
  for (const ProgramViolation& violation : certificate.violations) {
    why += fmt::format("  {}: {}\n", to_string(violation.kind), describe(violation));
  }
  return why;
}

class ProgramRun : public PointRun {
 public:
  // Precondition: the work is a program.
  ProgramRun(const PointInput& input, CollectiveWork work)
      : PointRun(input), work_(std::move(work)), program_(*work_.program) {}

  void describe(Json& result) const override {
    write_fields(result, ProgramResult{facts(), work_, program_});
  }
  std::string certify(Json& result) override {
    const bool check = point().simulation.check;
    certificate_ = work_.certificate ? std::exchange(work_.certificate, {})
                                     : certify_program_point(topology(), point(), program_, !check);
    // A malformed program cannot be simulated, whether it is to be checked or not.
    if (!check && can_run(*certificate_)) certificate_.reset();
    write_fields(result, Certified{});
    if (!certificate_) return {};
    write_fields(result, *certificate_);
    return certificate_->ok() ? std::string() : refusal(*certificate_);
  }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    const std::uint32_t root = certificate_ ? certificate_->root : program_.root.value_or(0);
    return simulate_program(topology(), point(), program_, root, hooks);
  }
  [[nodiscard]] std::optional<RunBound> bound() const override {
    const Bytes size = point().collective->size;
    RunBound bound;
    bound.size = size;
    bound.bus_factor = bus_factor(program_.collective, topology().num_nodes());
    if (has_bound(program_.collective) && program_.switches == 0) {
      bound.bound = collective_bound(topology(), program_.collective, size, {},
                                     held_inputs(point(), topology()));
    }
    return bound;
  }
  [[nodiscard]] RunNeed need() const override {
    RunNeed need = configured_need(point());
    need.program = program_contexts(program_, point());
    return need;
  }
  [[nodiscard]] Json explain(RunAccount& account, const SimulationOutcome&) const override {
    return account.explain_program(topology(), point(), program_);
  }

 private:
  CollectiveWork work_;
  const Program& program_;  // of the work
  std::optional<ProgramCertificate> certificate_;
};

}  // namespace

std::unique_ptr<PointRun> make_program_run(const PointInput& input, CollectiveWork work) {
  return std::make_unique<ProgramRun>(input, std::move(work));
}

}  // namespace espalier
