#include "sims/experiment/program_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "alg/bounds/bounds.h"
#include "alg/certify/channel_dependencies.h"
#include "alg/program/connection_routes.h"
#include "sims/config/resolved.h"
#include "sims/experiment/describe_cost.h"
#include "sims/experiment/describe_outcome.h"
#include "sims/model/build_program.h"
#include "sims/observe/explain/run_account.h"
#include "sims/point/enum_names.h"
#include "sims/point/fidelity.h"
#include "sims/system/program_simulation.h"
#include "sims/system/tenant_traffic.h"
#include "sims/system/vc_partition.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// A cycle of waiting among the messages' packets, in words; empty if none.
std::string network_deadlock(const Topology& topology, const RunPoint& point,
                             const Program& program) {
  const RouterConfig& router = point.system.router;
  const ControlConfig* control = point.control ? &*point.control : nullptr;
  const bool keeps_apart = router.switching == Switching::vct || router.hold == SwitchHold::flit;
  ChannelDependencies dependencies(
      topology, keeps_apart ? partition_vcs(topology, router.vcs, control).classes : 1);
  RouteSet routes(topology);
  for (const Connection& connection : connections_of(program)) {
    dependencies.add(
        routes, routes.add(topology, connection_route(topology, NodeId(connection.from),
                                                      NodeId(connection.to), connection.channel)));
  }
  add_tenants(dependencies, topology, point);
  return dependencies.cycle();
}

void describe_program(Json& result, const Topology& topology, const RunPoint& point,
                      const Program& program) {
  const Tiling tiling = tiling_of(program, point);
  const ProtocolSpec protocol = protocol_of(program, point);
  result["algorithm"] = point.collective->algorithm;
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
  if (!point.collective->program.given) {
    result["instances"] = point.collective->program.instances;
  }
  result["calls"] = program.num_calls();
  result["chunk_bytes"] = tiling.chunk_bytes;
  result["tiles"] = tiling.tiles;
  result["slots"] = protocol.slots;
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
  // Else `verified` says no more than that everything was delivered.
  if (!certificate->promises_known) result["promises_known"] = false;
}

// Nothing is proven of what only programs compute.
bool has_bound(CollectiveOp op) {
  return op != CollectiveOp::broadcast && op != CollectiveOp::reduce && op != CollectiveOp::custom;
}

void describe_program_bound(Json& result, const Topology& topology, const RunPoint& point,
                            const Program& program, const SimulationOutcome& outcome) {
  const double time_ns = nanoseconds(outcome.cycles, point.system.clock);
  const Bytes size = point.collective->size;
  result["bandwidth_GBps"] = time_ns == 0 ? 0.0 : static_cast<double>(size) / time_ns;
  if (!has_bound(program.collective)) {
    result["bound_ns"] = nullptr;
    result["bound_ratio"] = nullptr;
    return;
  }
  const CollectiveBound bound = collective_bound(topology, program.collective, size, {});
  const double bound_ns = bound.seconds * 1e9;
  result["bound_ns"] = bound_ns;
  result["bound_ratio"] = time_ns == 0 ? 0.0 : bound_ns / time_ns;
  result["bound_binding"] = bound.binding;
}

bool can_run(const ProgramCertificate& certificate) {
  return std::none_of(certificate.violations.begin(), certificate.violations.end(),
                      [](const ProgramViolation& violation) {
                        return violation.kind == ProgramViolationKind::malformed ||
                               violation.kind == ProgramViolationKind::unmatched;
                      });
}

PointReport refused_program(PointReport report, const ProgramCertificate& certificate) {
  std::string why = "the program does not pass the certifier:\n";
  for (const ProgramViolation& violation : certificate.violations) {
    why += fmt::format("  {}: {}\n", to_string(violation.kind), describe(violation));
  }
  return refused(std::move(report), why);
}

}  // namespace

ProgramCertificate certify_program_point(const Topology& topology, const RunPoint& point,
                                         const Program& program) {
  const ProgramNiConfig& config = point.system.ni.program;
  ProgramLimits limits;
  limits.slots = protocol_of(program, point).slots;
  limits.chunks_per_slot = tiling_of(program, point).chunks_per_slot;
  limits.contexts = config.contexts;
  limits.context_steps = config.context_steps;
  ProgramCertificate certificate = certify_program(program, limits);
  if (!certificate.ok()) return certificate;
  const std::string cycle = network_deadlock(topology, point, program);
  if (!cycle.empty()) {
    ProgramViolation violation;
    violation.kind = ProgramViolationKind::deadlock;
    violation.what = cycle;
    certificate.violations.push_back(violation);
  }
  return certificate;
}

PointReport run_program(const Topology& topology, const RunPoint& point,
                        const SimulationHooks& hooks, RunAccount* account) {
  const auto begin = std::chrono::steady_clock::now();
  PointReport report;
  const Program program = build_program(topology, point);
  describe_program(report.result, topology, point, program);
  report.result["config_hash"] = config_hash(point);
  std::optional<ProgramCertificate> certificate = certify_program_point(topology, point, program);
  // What is no program cannot be simulated, whether it is to be checked or not.
  if (!point.simulation.check && can_run(*certificate)) certificate.reset();
  describe_certificate(report.result, certificate ? &*certificate : nullptr);
  if (certificate && !certificate->ok()) return refused_program(std::move(report), *certificate);
  const std::uint32_t root = certificate ? certificate->root : program.root.value_or(0);
  const SimulationOutcome outcome = simulate_program(topology, point, program, root, hooks);
  describe_outcome(report.result, point, outcome);
  describe_links(report.result, topology, outcome);
  describe_program_bound(report.result, topology, point, program, outcome);
  describe_cost(report.result, topology, point, outcome);
  if (account != nullptr && outcome.complete) {
    report.result["explanation"] =
        account->explain_program(topology, point, program, outcome.cycles);
  }
  finish(report, outcome, begin);
  return report;
}

}  // namespace espalier
