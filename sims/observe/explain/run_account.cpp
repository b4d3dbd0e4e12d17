#include "sims/observe/explain/run_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sims/model/faults.h"
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

void RunAccount::note_highlights(const TimePath& path, const std::vector<Delay>& delays) {
  const RunRecord& record = recorder_.record();
  std::map<std::uint32_t, Cycle> at_vertex;
  for (const Segment& segment : path.segments) {
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
  if (!delays.empty()) highlights_.worst_slip = delays.front().at;
}

Json RunAccount::answers(const Backtrack& back, const Describer& describer,
                         const Topology& topology, const StepRules* steps) {
  const RunRecord& record = recorder_.record();
  Json answers = Json::array();
  for (const NodeId asked : questions_.nis) {
    const NodeId ni = topology.is_folded() ? NodeId(0) : asked;
    if (record.nis[ni.index()].name.empty()) {
      mistake_ = fmt::format("--ni: {} has no network interface", topology.vertex_name(ni));
      return answers;
    }
    answers.push_back(ni_account(back, describer, ni));
  }
  for (const LinkId asked : questions_.links) {
    if (topology.is_folded()) {
      mistake_ = "--link: one NPU stands for all; -s simulation.fold=off simulates every link";
      return answers;
    }
    const std::string name = channel_name(topology, topology.link(asked));
    const auto channel = std::find_if(record.channels.begin(), record.channels.end(),
                                      [&](const auto& each) { return each.name == name; });
    answers.push_back(link_account(back.run(), describer,
                                   static_cast<std::uint32_t>(channel - record.channels.begin())));
  }
  for (const Timestep asked : questions_.steps) {
    const std::size_t last = steps == nullptr ? 0 : steps->healthy.step_time.size();
    if (asked == 0 || asked > last) {
      mistake_ = steps == nullptr
                     ? "--step: only schedule tables have timesteps, but NIs execute the queues of "
                       "a plan's dimensions or a program"
                     : fmt::format("--step {}: the schedule has timesteps 1 to {}", asked, last);
      return answers;
    }
    answers.push_back(step_account(back, describer, *steps, asked));
  }
  for (const RecordIndex asked : questions_.messages) {
    const std::size_t all = record.messages.size();
    if (asked >= all || record.messages[asked].operation.is_background()) {
      mistake_ = fmt::format("--message {}: expected a message of the collective, from 0 to {}",
                             asked, all - 1);
      return answers;
    }
    answers.push_back(message_account(back, describer, asked));
  }
  return answers;
}

Json RunAccount::account(const Backtrack& back, const std::vector<Delay>& delays,
                         const Topology& topology, const StepRules* steps,
                         const DescribePlace& place) {
  const Describer describer(recorder_.record(), place);
  const TimePath path = back.whole_run();
  note_highlights(path, delays);
  Json json = describer.whole_run(path, delays);
  if (steps != nullptr) json["slack"] = slack_account(back.run(), describer, *steps, path.to);
  Json parts = answers(back, describer, topology, steps);
  if (!parts.empty()) json["parts"] = std::move(parts);
  return json;
}

Json RunAccount::explain_tables(const Topology& topology, const RunPoint& point,
                                const ScheduleTables& tables,
                                const std::vector<PostedCollective>& posts,
                                std::uint32_t ni_ports) {
  const RecordedRun run(recorder_.record(), router_rules(point.system));
  const SystemTiming healthy = time_links(topology, point.system.clock);
  const TableEngine::Spec engine = table_engine_spec(point, tables, posts, healthy, ni_ports);
  const TableCauses causes(tables, run, clocks_of(point, topology.num_nodes()));
  const UnloadedNetwork network{point.system, healthy, tables.routes};
  const std::optional<AuthorsRules> authors = authors_rules(point, tables);
  const StepRules steps{causes, network, engine, authors};
  const auto back = message_backtrack(run, causes);
  const std::vector<Delay> delays = step_delays(causes, run, network, kWorstSlips);
  return account(*back, delays, topology, &steps, [&](RecordIndex message) {
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
  const std::vector<Delay> delays =
      message_delays(run, {point.system, healthy, program.routes().routes()}, clocks, kWorstSlips);
  const auto back = message_backtrack(run, *causes);
  return account(*back, delays, simulated, nullptr, [&](RecordIndex message) {
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
                                 const Program& program) {
  const RecordedRun run(recorder_.record(), router_rules(point.system));
  const SystemTiming healthy = time_links(topology, point.system.clock);
  const SystemTiming timing = time_links(faulty_links(topology, point.faults), point.system.clock);
  const ProgramRoutes routes = program_routes(topology, program);
  const ProtocolSpec protocol = protocol_of(program, point);
  const ContextProgram loaded(program, tiling_of(program, point), protocol, context_spec(point),
                              routes.forward);
  const std::vector<NodeClock> clocks = clocks_of(point, topology.num_nodes());
  const std::vector<SlotCredits::Spec> slots = slot_specs(point, timing, routes, protocol.slots);
  const ProgramBacktrack way = program_backtrack(loaded, run, slots, clocks);
  const std::vector<Delay> delays =
      message_delays(run, {point.system, healthy, routes.routes}, clocks, kWorstSlips);
  return account(*way.back, delays, topology, nullptr,
                 [&](RecordIndex message) { return describe_program_step(*way.senders[message]); });
}

}  // namespace espalier
