#include "sims/report/page/rebuild.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "alg/certify/certifier.h"
#include "alg/plans/planner.h"
#include "alg/schedule/schedule_table.h"
#include "sims/config/reader.h"
#include "sims/config/resolved.h"
#include "sims/experiment/generate_tables.h"
#include "sims/model/plan_forecast.h"
#include "sims/report/page/config_differences.h"

namespace espalier::report {

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::optional<RebuiltSystem> rebuild_system(const ReportData& data, const ReportPoint& point,
                                            std::string& why) {
  if (!point.config_is_complete) {
    why = "its file does not have its configuration";
    return std::nullopt;
  }
  // JSON is also YAML, so the configuration reader can read it.
  ConfigResult config =
      read_run_config_text("configuration", nest_config(point.config).dump(),
                           data.sources[point.source].folder, {}, ConfigNeed::workload);
  if (!config.ok || config.points.size() != 1) {
    why = config.ok ? "its configuration has several points" : first_line(config.diagnostics);
    return std::nullopt;
  }
  return RebuiltSystem{std::move(config.points.front()), config.topology};
}

std::optional<Schedule> rebuild_schedule(const RebuiltSystem& system, std::string& why) {
  const CollectiveConfig& collective = *system.point.collective;
  if (planner_of(system.point) != nullptr) {
    why = "it plans chunks over dimensions and has no schedule of timesteps";
    return std::nullopt;
  }
  try {
    return raise_from_tables(
        *system.topology,
        expand_symmetry(*system.topology,
                        generate_tables(*system.topology, system.point.system, collective)));
  } catch (const std::exception& error) {
    why = first_line(error.what());
    return std::nullopt;
  }
}

FlowTree first_flow(const Schedule& schedule) {
  FlowTree tree;
  tree.flow = schedule.transfers.front().flow;
  for (const Transfer& transfer : schedule.transfers)
    tree.flow = std::min(tree.flow, transfer.flow);
  for (const Transfer& transfer : schedule.transfers) {
    if (transfer.flow != tree.flow) continue;
    auto& edges = transfer.kind == TransferKind::reduce ? tree.reduces : tree.copies;
    edges.push_back({transfer.from, transfer.to, transfer.route, transfer.step});
  }
  return tree;
}

Occupancy occupancy(const Topology& topology, const Schedule& schedule) {
  Timestep steps = schedule.num_steps;
  for (const Transfer& transfer : schedule.transfers) steps = std::max(steps, transfer.step);
  std::vector<std::vector<bool>> used(steps, std::vector<bool>(topology.num_links(), false));
  for (const Transfer& transfer : schedule.transfers) {
    for (std::size_t hop = 0; hop < schedule.routes.hops(transfer.route); ++hop)
      used[transfer.step - 1][schedule.routes.link(transfer.route, hop).index()] = true;
  }
  Occupancy result;
  for (Timestep step = 0; step < steps; ++step) {
    std::vector<double> parts;
    std::size_t all = 0;
    for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
      const auto& links = topology.out_links(NodeId(v));
      const auto count = static_cast<std::size_t>(std::count_if(
          links.begin(), links.end(), [&](LinkId link) { return used[step][link.index()]; }));
      all += count;
      parts.push_back(
          links.empty() ? 0.0 : static_cast<double>(count) / static_cast<double>(links.size()));
    }
    result.of_vertex.push_back(std::move(parts));
    result.of_all.push_back(static_cast<double>(all) / static_cast<double>(topology.num_links()));
  }
  return result;
}

}  // namespace espalier::report
