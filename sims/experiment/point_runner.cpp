#include "sims/experiment/point_runner.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "alg/bounds/bounds.h"
#include "alg/certify/channel_dependencies.h"
#include "alg/generators/generator.h"
#include "alg/routes/routing.h"
#include "alg/schedule/schedule_table.h"
#include "sims/config/resolved.h"
#include "sims/experiment/coordination_runner.h"
#include "sims/experiment/describe_cost.h"
#include "sims/experiment/describe_outcome.h"
#include "sims/experiment/plan_runner.h"
#include "sims/experiment/program_runner.h"
#include "sims/experiment/training_runner.h"
#include "sims/experiment/workload_runner.h"
#include "sims/model/build_program.h"
#include "sims/observe/explain/run_account.h"
#include "sims/point/enum_names.h"
#include "sims/point/fidelity.h"
#include "sims/system/fabric.h"
#include "sims/system/tenant_traffic.h"
#include "sims/system/vc_partition.h"

namespace espalier {

ScheduleTables generate_tables(const Topology& topology, const CollectiveConfig& collective) {
  const CollectiveRequest request = collective_request(collective);
  return lower_to_tables(find_generator(collective.algorithm)->generate(topology, request));
}

namespace {

// Packets of control messages on all routes they may take, in the VCs they may use; beside the
// gradients of `tables` where these share the VCs. A cycle of waiting in words, empty if none.
std::string control_deadlock(const Topology& topology, const RunPoint& point,
                             const ScheduleTables* tables) {
  const ControlConfig& control = *point.control;
  ChannelDependencies dependencies(
      topology, partition_vcs(topology, point.system.router.vcs, &control).classes);
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId from(n);
    RouteSet routes(topology);
    for (const NodeId to : control_destinations(topology, control.pattern, from)) {
      const RouteId route = routes.add(topology, route_packet(topology, from, to));
      dependencies.add(routes, route);
    }
  }
  const bool shared = control.vcs == ControlVcs::shared && tables != nullptr;
  for (std::size_t r = 0; shared && r < tables->routes.size(); ++r) {
    dependencies.add(tables->routes, RouteId(r));
  }
  const std::string cycle = dependencies.cycle();
  return cycle.empty() ? cycle : "control messages: " + cycle;
}

// Other tenants' packets beside the gradients of `tables`, whose VCs they share. As above.
std::string tenant_deadlock(const Topology& topology, const RunPoint& point,
                            const ScheduleTables& tables, std::uint32_t classes) {
  ChannelDependencies dependencies(topology, classes);
  add_tenants(dependencies, topology, point);
  for (std::size_t r = 0; r < tables.routes.size(); ++r) {
    dependencies.add(tables.routes, RouteId(r));
  }
  const std::string cycle = dependencies.cycle();
  return cycle.empty() ? cycle : "beside other tenants: " + cycle;
}

}  // namespace

Certificate certify_point(const Topology& topology, const RunPoint& point,
                          const ScheduleTables& tables) {
  CertifierLimits limits;
  limits.table_entries = point.system.ni.table_entries;
  limits.element_bytes = point.collective ? point.collective->element_bytes : 0;
  // A blocked wormhole packet that holds the switch blocks the other VCs too.
  const RouterConfig& router = point.system.router;
  const bool keeps_apart = router.switching == Switching::vct || router.hold == SwitchHold::flit;
  const ControlConfig* control = point.control ? &*point.control : nullptr;
  limits.vc_classes = keeps_apart ? partition_vcs(topology, router.vcs, control).classes : 1;
  Certificate certificate = certify(topology, tables, limits);
  if (point.control) {
    const std::string cycle = control_deadlock(topology, point, &tables);
    if (!cycle.empty()) certificate.violations.push_back({ViolationKind::deadlock, cycle});
  }
  if (point.tenants) {
    const std::string cycle = tenant_deadlock(topology, point, tables, limits.vc_classes);
    if (!cycle.empty()) certificate.violations.push_back({ViolationKind::deadlock, cycle});
  }
  return certificate;
}

namespace {

using Json = nlohmann::ordered_json;

void describe_collective(Json& result, const Topology& topology, const RunPoint& point,
                         const ScheduleTables& tables, const Certificate* certificate) {
  result["algorithm"] = tables.algorithm;
  result["op"] = to_string(tables.op);
  result["topology"] = topology.name();
  result["nodes"] = topology.num_nodes();
  result["size_bytes"] = tables.size;
  result["flow_control"] = name_of(point.system.flow_control.mode);
  result["lockstep"] = name_of(point.system.ni.lockstep);
  result["fidelity"] = name_of(chosen_fidelity(point));
  if (point.collective) describe_rank_order(result, point.collective->rank_order);
  result["timesteps"] = tables.num_steps;
  if (certificate != nullptr) {
    result["certified"] = certificate->ok();
    result["contention_free"] = certificate->contention_free;
    const TableFormat format = table_format(tables, topology.num_nodes());
    result["table_entries_max"] = certificate->most_table_entries;
    result["table_entry_bits"] = format.entry_bits();
    result["table_bytes_max"] = format.table_bytes(certificate->most_table_entries);
  } else {
    result["certified"] = nullptr;
  }
}

// Of each node: what it owns at the end or has at the start; in an all_to_all what node 0 sends it.
std::vector<Bytes> parts_of(const Topology& topology, const ScheduleTables& tables) {
  if (tables.op == CollectiveOp::all_reduce) return {};
  std::vector<Bytes> parts(topology.num_nodes(), 0);
  const bool exchanges = tables.op == CollectiveOp::all_to_all;
  for (const Chunk& chunk : tables.chunks) {
    if (exchanges && chunk.owner != NodeId(0)) continue;
    const NodeId holder = exchanges ? chunk.destination : chunk.owner;
    // A schedule file that is not checked may leave out whose a chunk is.
    if (holder.index() < parts.size()) parts[holder.index()] += chunk.size;
  }
  return parts;
}

void describe_bound(Json& result, const Topology& topology, const RunPoint& point,
                    const ScheduleTables& tables, const SimulationOutcome& outcome) {
  const double time_ns = nanoseconds(outcome.cycles, point.system.clock);
  const CollectiveBound bound =
      collective_bound(topology, tables.op, tables.size, parts_of(topology, tables));
  const double bound_ns = bound.seconds * 1e9;
  result["bandwidth_GBps"] = time_ns == 0 ? 0.0 : static_cast<double>(tables.size) / time_ns;
  result["bound_ns"] = bound_ns;
  result["bound_ratio"] = time_ns == 0 ? 0.0 : bound_ns / time_ns;
  result["bound_binding"] = bound.binding;
}

PointReport run_collective(const Topology& topology, const RunPoint& point,
                           const std::optional<ScheduleTables>& given, const SimulationHooks& hooks,
                           RunAccount* account) {
  const auto begin = std::chrono::steady_clock::now();
  PointReport report;
  const ScheduleTables tables = given ? *given : generate_tables(topology, *point.collective);
  std::optional<Certificate> certificate;
  if (point.simulation.check) certificate = certify_point(topology, point, tables);
  describe_collective(report.result, topology, point, tables,
                      certificate ? &*certificate : nullptr);
  report.result["config_hash"] = config_hash(point);
  if (certificate && !certificate->ok()) return refused(std::move(report), certificate->violations);
  const SimulationOutcome outcome = simulate_collective(topology, point, tables, hooks);
  describe_outcome(report.result, point, outcome);
  describe_links(report.result, topology, outcome);
  describe_bound(report.result, topology, point, tables, outcome);
  describe_cost(report.result, topology, point, outcome, table_need(tables, topology.num_nodes()));
  if (account != nullptr && outcome.complete) {
    report.result["explanation"] =
        account->explain_tables(topology, point, tables, {}, outcome.ni_ports);
  }
  finish(report, outcome, begin);
  return report;
}

void describe_training(Json& result, const RunPoint& point) {
  const TrainingConfig& training = *point.training;
  result["network"] = training.file.empty() ? training.network : training.file;
  result["layers"] = training.layers.size();
  result["parameters"] = count_parameters(training.layers);
  result["mini_batch"] = training.mini_batch;
  result["overlap"] = name_of(training.overlap);
}

Json describe_iteration(const RunPoint& point, const IterationTimes& times) {
  Json iteration;
  const auto add = [&](const std::string& name, Cycle cycles) {
    iteration[name + "_cycles"] = cycles;
    iteration[name + "_ns"] = nanoseconds(cycles, point.system.clock);
  };
  add("forward", times.forward);
  add("backward", times.backward);
  add("compute", times.compute());
  add("compute_alone", times.compute() - times.overlapped);
  add("all_reduce", times.all_reduce);
  add("overlapped", times.overlapped);
  add("exposed", times.exposed());
  add("iteration", times.iteration);
  iteration["exposed_share"] = times.iteration == 0 ? 0.0
                                                    : static_cast<double>(times.exposed()) /
                                                          static_cast<double>(times.iteration);
  return iteration;
}

// Per all-reduce, in cycles of the simulation: from the end of back-propagation without overlap,
// from its start with it.
Json describe_collectives(const RunPoint& point, const IterationPlan& plan,
                          const std::vector<PostedCollective>& posts,
                          const std::vector<CollectiveSpan>& spans) {
  Json collectives = Json::array();
  for (std::size_t c = 0; c < spans.size(); ++c) {
    Json collective;
    const bool is_layer = point.training->overlap == Overlap::layerwise;
    if (is_layer) {
      collective["layer"] = point.training->layers[plan.posts[c].layer].name;
      collective["size_bytes"] = plan.posts[c].parameters * point.collective->element_bytes;
    } else {
      collective["size_bytes"] = point.collective->size;
    }
    collective["posted_cycle"] = posts[c].at;
    collective["first_issue_cycle"] = spans[c].first_issue;
    collective["last_visible_cycle"] = spans[c].last_visible;
    collectives.push_back(std::move(collective));
  }
  return collectives;
}

PointReport run_training(const Topology& topology, const RunPoint& point,
                         const std::optional<ScheduleTables>& given, const SimulationHooks& hooks,
                         RunAccount* account) {
  const auto begin = std::chrono::steady_clock::now();
  PointReport report;
  const TrainingTables tables =
      given ? single_all_reduce(*given) : training_tables(topology, point);
  std::optional<Certificate> certificate;
  if (point.simulation.check) certificate = certify_training(topology, point, tables);
  describe_training(report.result, point);
  describe_collective(report.result, topology, point, tables.tables,
                      certificate ? &*certificate : nullptr);
  report.result["config_hash"] = config_hash(point);
  if (certificate && !certificate->ok()) return refused(std::move(report), certificate->violations);
  const IterationPlan plan = plan_iteration(*point.training);
  const SimulationOutcome outcome =
      simulate_collectives(topology, point, tables.tables, tables.posts, hooks);
  if (outcome.complete) {
    report.result["training"] = describe_iteration(
        point, iteration_times(plan, point.training->overlap, outcome.collectives));
    report.result["collectives"] =
        describe_collectives(point, plan, tables.posts, outcome.collectives);
  }
  describe_outcome(report.result, point, outcome);
  describe_links(report.result, topology, outcome);
  describe_bound(report.result, topology, point, tables.tables, outcome);
  describe_cost(report.result, topology, point, outcome,
                table_need(tables.tables, topology.num_nodes()));
  if (account != nullptr && outcome.complete) {
    report.result["explanation"] =
        account->explain_tables(topology, point, tables.tables, tables.posts, outcome.ni_ports);
  }
  finish(report, outcome, begin);
  return report;
}

// The same control messages on an idle network, for comparison.
PointReport run_control(const Topology& topology, const RunPoint& point,
                        const SimulationHooks& hooks) {
  const auto begin = std::chrono::steady_clock::now();
  PointReport report;
  Json& result = report.result;
  result["algorithm"] = nullptr;
  result["topology"] = topology.name();
  result["nodes"] = topology.num_nodes();
  result["fidelity"] = name_of(chosen_fidelity(point));
  result["config_hash"] = config_hash(point);
  if (point.simulation.check) {
    report.failure = control_deadlock(topology, point, nullptr);
    result["certified"] = report.failure.empty();
    if (!report.failure.empty()) {
      result["verified"] = false;
      result["failure"] = report.failure;
      return report;
    }
  }
  const SimulationOutcome outcome = simulate_control(topology, point, hooks);
  result["flit_hops"] = outcome.flit_hops;
  describe_control(result, point, outcome);
  result["verified"] = outcome.verified;
  if (!outcome.failure.empty()) result["failure"] = outcome.failure;
  describe_cost(result, topology, point, outcome);
  finish(report, outcome, begin);
  return report;
}

PointReport run_traffic(const Topology& topology, const RunPoint& point,
                        const SimulationHooks& hooks) {
  const auto begin = std::chrono::steady_clock::now();
  const SimulationOutcome outcome = simulate_traffic(topology, point, hooks);
  PointReport report;
  Json& result = report.result;
  result["traffic"] = name_of(point.traffic->pattern);
  result["topology"] = topology.name();
  result["nodes"] = topology.num_nodes();
  // What is listed in a file has neither one size nor one rate.
  const bool is_drawn = point.traffic->pattern != TrafficPattern::file;
  if (is_drawn) result["message_bytes"] = point.traffic->message_bytes;
  result["flow_control"] = name_of(point.system.flow_control.mode);
  result["fidelity"] = name_of(chosen_fidelity(point));
  if (is_drawn) result["offered_flits_per_node_cycle"] = point.traffic->injection_rate;
  result["accepted_flits_per_node_cycle"] =
      outcome.cycles == 0 ? 0.0
                          : static_cast<double>(outcome.flits_injected) /
                                static_cast<double>(outcome.cycles * topology.num_nodes());
  result["config_hash"] = config_hash(point);
  describe_outcome(result, point, outcome);
  describe_links(result, topology, outcome);
  describe_cost(result, topology, point, outcome);
  finish(report, outcome, begin);
  return report;
}

PointReport run_kind(const Topology& topology, const RunPoint& point,
                     const std::optional<ScheduleTables>& tables, const SimulationHooks& hooks,
                     RunAccount* account) {
  if (point.traffic) return run_traffic(topology, point, hooks);
  if (point.workload) return run_workload(topology, point);
  if (point.coordination) return run_coordination(topology, point, hooks);
  if (point.training) return run_training(topology, point, tables, hooks, account);
  if (!tables && has_program(point)) return run_program(topology, point, hooks, account);
  if (topology.dimensions() && point.collective) return run_plan(topology, point, hooks, account);
  if (!point.collective && !tables) return run_control(topology, point, hooks);
  return run_collective(topology, point, tables, hooks, account);
}

}  // namespace

PointReport run_point(const Topology& topology, const RunPoint& point,
                      const std::optional<ScheduleTables>& tables, const SimulationHooks& hooks,
                      RunAccount* account) {
  try {
    return run_kind(topology, point, tables, hooks, account);
  } catch (const std::invalid_argument& error) {
    return not_run(error.what());
  }
}

}  // namespace espalier
