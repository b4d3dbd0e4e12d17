#include "sims/observe/explain/run_account.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "sims/model/faults.h"
#include "sims/observe/explain/table_causes.h"
#include "sims/point/config.h"
#include "sims/system/program_simulation.h"
#include "sims/system/step_time.h"

namespace espalier {

namespace {

constexpr std::size_t kWorstSlips = 10;

using Json = nlohmann::ordered_json;

RouterRules router_rules(const SystemConfig& config) {
  return {config.router.crossbar_inputs == CrossbarInputs::port,
          config.router.switching == Switching::vct};
}

std::vector<NodeClock> clocks_of(const RunPoint& point, std::size_t nodes) {
  std::vector<NodeClock> clocks(nodes);
  for (std::size_t n = 0; n < nodes; ++n) {
    const NodeId node(n);
    clocks[n].skew = skew_of(point.faults, node);
    clocks[n].late = host_delay(point.faults, node) - clocks[n].skew;
    clocks[n].per_step = skew_per_step(point.faults, node);
  }
  return clocks;
}

}  // namespace

void RunAccount::note_highlights(const Explanation& explanation) {
  const RunRecord& record = recorder_.record();
  std::map<std::uint32_t, Cycle> at_vertex;
  for (const Segment& segment : explanation.path.segments) {
    std::uint32_t vertex = segment.vertex;
    if (vertex == kNowhere && segment.message != kNowhere) {
      vertex = record.messages[segment.message].operation.from.value();
    }
    if (vertex != kNowhere) at_vertex[vertex] += segment.cycles();
    if (segment.channel == kNowhere) continue;
    const std::string& name = record.channels[segment.channel].name;
    std::vector<std::string>& channels = highlights_.channels;
    if (std::find(channels.begin(), channels.end(), name) == channels.end()) {
      channels.push_back(name);
    }
  }
  std::vector<std::pair<std::uint32_t, Cycle>> order(at_vertex.begin(), at_vertex.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [vertex, cycles] : order) highlights_.nis.push_back(record.nis[vertex].name);
  if (!explanation.delays.empty()) highlights_.worst_slip = explanation.delays.front().at;
}

Json RunAccount::explain_tables(const Topology& topology, const RunPoint& point,
                                const ScheduleTables& tables,
                                const std::vector<PostedCollective>& posts,
                                std::uint32_t ni_ports) {
  const RecordedRun run(recorder_.record(), router_rules(point.system));
  const SystemTiming healthy = time_links(topology, point.system.clock);
  const TableEngine::Spec engine = table_engine_spec(point, tables, posts, healthy, ni_ports);
  std::vector<TableEngine::Spec> engines;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    engines.push_back(faulty_engine(engine, point.faults, NodeId(n)));
  }
  const TableCauses causes(tables, run, std::move(engines), authors_rules(point, tables),
                           clocks_of(point, topology.num_nodes()));
  Explanation explanation;
  explanation.path = critical_path(run, causes);
  explanation.delays =
      step_delays(causes, run, {point.system, healthy, tables.routes}, kWorstSlips);
  explanation.slack = step_slack(causes, run);
  note_highlights(explanation);
  return describe_explanation(run.record, explanation, [&](RecordIndex message) {
    Json place;
    place["step"] = causes.step_of(message);
    return place;
  });
}

Json RunAccount::explain_plan(const Topology& topology, const RunPoint& point,
                              const DimensionPlan& plan, bool folded) {
  std::optional<Topology> one;
  if (folded) one = make_folded(topology.dimensions()->dimensions);
  const Topology& simulated = one ? *one : topology;
  const DimensionProgram program(simulated, plan, point.collective->element_bytes,
                                 point.collective->parts);
  const RecordedRun run(recorder_.record(), router_rules(point.system));
  const SystemTiming healthy = time_links(simulated, point.system.clock);
  const std::vector<NodeClock> clocks = clocks_of(point, simulated.num_nodes());
  const auto causes = dimension_causes(program, run.record, run.index, clocks,
                                       point.system.ni.dimension_queue.arbitration_cycles);
  Explanation explanation;
  explanation.path = critical_path(run, *causes);
  explanation.delays =
      message_delays(run, {point.system, healthy, program.routes().routes()}, clocks, kWorstSlips);
  note_highlights(explanation);
  return describe_explanation(run.record, explanation, [&](RecordIndex message) {
    const StagePlace at = program.place_of(run.record.messages[message].operation.flow);
    const PlannedStage& stage = program.stage(at.stage);
    Json place;
    place["chunk"] = at.stage.chunk;
    place["stage"] = to_string(stage.kind);
    place["dimension"] = stage.dimension + 1;
    place["stage_step"] = at.step + 1;
    return place;
  });
}

Json RunAccount::explain_program(const Topology& topology, const RunPoint& point,
                                 const Program& program, Cycle cycles) {
  const RecordedRun run(recorder_.record(), router_rules(point.system));
  const SystemTiming healthy = time_links(topology, point.system.clock);
  const SystemTiming timing = time_links(faulty_links(topology, point.faults), point.system.clock);
  const ProgramRoutes routes = program_routes(topology, program);
  const ProtocolSpec protocol = protocol_of(program, point);
  const ContextProgram loaded(program, tiling_of(program, point), protocol, context_spec(point),
                              routes.forward);
  const std::vector<NodeClock> clocks = clocks_of(point, topology.num_nodes());
  ProgramPath path =
      program_path(loaded, run, slot_specs(point, timing, routes, protocol.slots), clocks, cycles);
  Explanation explanation;
  explanation.path = std::move(path.path);
  explanation.delays =
      message_delays(run, {point.system, healthy, routes.routes}, clocks, kWorstSlips);
  note_highlights(explanation);
  return describe_explanation(run.record, explanation, [&](RecordIndex message) {
    return describe_program_step(*path.senders[message]);
  });
}

}  // namespace espalier
