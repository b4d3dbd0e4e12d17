// A collective program on a point's network and NIs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "alg/bounds/bounds.h"
#include "sims/choose/certify_point.h"
#include "sims/experiment/describe_cost.h"
#include "sims/experiment/point_run.h"
#include "sims/model/build_program.h"
#include "sims/observe/explain/run_account.h"
#include "sims/point/enum_names.h"
#include "sims/point/fidelity.h"
#include "sims/system/program_simulation.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

void describe_program(Json& result, const Topology& topology, const RunPoint& point,
                      const CollectiveWork& work) {
  const Program& program = *work.program;
  const Tiling tiling = tiling_of(program, point);
  const ProtocolSpec protocol = protocol_of(program, point);
  // A program from a file has a name of its own, by which tables tell several programs apart.
  result["algorithm"] = point.collective->program.given == nullptr
                            ? point.collective->algorithm
                            : program_label(point.collective->program);
  if (!work.choice.empty()) result["choice"] = work.choice;
  result["program"] = program.name;
  result["op"] = to_string(program.collective);
  result["topology"] = topology.name();
  result["nodes"] = topology.num_nodes();
  result["size_bytes"] = point.collective->size;
  result["flow_control"] = name_of(point.system.flow_control.mode);
  result["fidelity"] = name_of(chosen_fidelity(point));
  result["protocol"] = to_string(program.protocol);
  result["instructions"] = program.num_steps();
  result["channels"] = program.num_channels;
  const BuiltinProgram* const built_in = work.built_in;
  if (built_in != nullptr && !built_in->uses_segments()) {
    result["instances"] = point.collective->program.instances;
  }
  result["calls"] = program.num_calls();
  result["chunk_bytes"] = tiling.chunk_bytes;
  result["tiles"] = tiling.tiles;
  result["slots"] = protocol.slots;
  if (built_in != nullptr && program.collective == CollectiveOp::all_reduce) {
    result["bitwise_identical"] = built_in->bitwise_identical;
  }
}

void describe_certificate(Json& result, const ProgramCertificate* certificate) {
  if (certificate == nullptr) {
    result["certified"] = nullptr;
    return;
  }
  result["certified"] = certificate->ok();
  result["least_slots"] = certificate->least_slots;
  result["contexts_max"] = certificate->most_contexts;
  result["context_steps_max"] = certificate->most_steps;
  result["connections"] = certificate->connections;
  // Without promises, `verified` only says that every message was delivered.
  if (!certificate->promises_known) result["promises_known"] = false;
}

// No bound is proven for the operations that only programs compute.
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
    describe_program(result, topology(), point(), work_);
  }
  std::string certify(Json& result) override {
    const bool check = point().simulation.check;
    certificate_ = work_.certificate ? std::exchange(work_.certificate, {})
                                     : certify_program_point(topology(), point(), program_, !check);
    // A malformed program cannot be simulated, whether it is to be checked or not.
    if (!check && can_run(*certificate_)) certificate_.reset();
    describe_certificate(result, certificate_ ? &*certificate_ : nullptr);
    return certificate_ && !certificate_->ok() ? refusal(*certificate_) : std::string();
  }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    const std::uint32_t root = certificate_ ? certificate_->root : program_.root.value_or(0);
    return simulate_program(topology(), point(), program_, root, hooks);
  }
  [[nodiscard]] std::optional<RunBound> bound() const override {
    const Bytes size = point().collective->size;
    if (!has_bound(program_.collective)) return RunBound{size, {}, {}, {}, {}};
    return RunBound{size, collective_bound(topology(), program_.collective, size, {}), {}, {}, {}};
  }
  [[nodiscard]] RunNeed need() const override {
    RunNeed need = configured_need(point());
    need.program = program_contexts(program_, point());
    return need;
  }
  [[nodiscard]] Json explain(RunAccount& account, const SimulationOutcome& outcome) const override {
    return account.explain_program(topology(), point(), program_, outcome.cycles);
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
