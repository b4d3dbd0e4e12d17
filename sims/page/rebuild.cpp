#include "sims/page/rebuild.h"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "alg/certify/certifier.h"
#include "alg/schedule/schedule_table.h"
#include "alg/time/schedule_time.h"
#include "sims/choose/choose.h"
#include "sims/config/reader.h"
#include "sims/model/plan_forecast.h"
#include "sims/page/config_differences.h"

namespace espalier::report {

namespace {

constexpr const char* kConfigName = "configuration";

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
      read_run_config_text(kConfigName, nest_config(point.config).dump(),
                           data.sources[point.source].folder, {}, ConfigNeed::library);
  if (!config.ok || config.points.size() != 1) {
    why = config.ok ? "its configuration has several points" : first_line(config.diagnostics);
    // Results of others may name any file, whose text a page must not show.
    const bool is_in_file = !config.ok && why.rfind(kConfigName, 0) != 0;
    if (is_in_file) why = why.substr(0, why.find(": error")) + " does not describe its network";
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
    const ScheduleTables tables = expand_symmetry(
        *system.topology, generate_tables(*system.topology, system.point.system, collective));
    Schedule schedule = raise_from_tables(*system.topology, tables);
    schedule.listed_order = tables.listed_order;
    return schedule;
  } catch (const std::exception& error) {
    why = first_line(error.what());
    return std::nullopt;
  }
}

std::map<FlowId, std::size_t> trees_of(const Schedule& schedule) {
  std::map<FlowId, std::set<std::pair<TransferKind, LinkId>>> links;
  for (const Transfer& transfer : schedule.transfers) {
    for (std::size_t hop = 0; hop < schedule.routes.hops(transfer.route); ++hop) {
      links[transfer.flow].insert({transfer.kind, schedule.routes.link(transfer.route, hop)});
    }
  }
  std::map<std::set<std::pair<TransferKind, LinkId>>, std::size_t> numbers;
  std::map<FlowId, std::size_t> trees;
  for (const auto& [flow, taken] : links) {
    trees[flow] = numbers.emplace(taken, numbers.size()).first->second;
  }
  return trees;
}

std::vector<NumberedTree> numbered_trees(const Topology& topology, const Schedule& schedule,
                                         const MessageTiming& timing) {
  std::vector<double> number(schedule.transfers.size());
  for (std::size_t t = 0; t < number.size(); ++t) {
    number[t] = static_cast<double>(schedule.transfers[t].step);
  }
  if (schedule.listed_order) {
    for (const LinkUse& use : planned_link_uses(topology, schedule, timing)) {
      number[use.transfer.index()] = static_cast<double>(use.end_ps) * 1e-6;
    }
  }
  std::map<std::pair<FlowId, bool>, NumberedTree> phases;  // of flows
  for (std::size_t t = 0; t < number.size(); ++t) {
    const Transfer& transfer = schedule.transfers[t];
    const bool reduces = transfer.kind == TransferKind::reduce;
    NumberedTree& tree = phases[{transfer.flow, reduces}];
    tree.flow = transfer.flow;
    tree.reduces = reduces;
    tree.planned = schedule.listed_order;
    tree.edges.push_back({transfer.from, transfer.to, transfer.route, number[t]});
  }
  const auto begin_of = [](const NumberedTree& tree) { return tree.edges.front().number; };
  const std::map<FlowId, std::size_t> trees = trees_of(schedule);
  std::map<std::pair<std::size_t, bool>, NumberedTree> first;
  for (auto& [phase, tree] : phases) {
    std::stable_sort(tree.edges.begin(), tree.edges.end(),
                     [](const TreeEdge& a, const TreeEdge& b) { return a.number < b.number; });
    const auto [same, is_new] =
        first.try_emplace({trees.at(phase.first), phase.second}, std::move(tree));
    if (is_new) continue;
    const std::size_t flows = same->second.flows + 1;
    if (begin_of(tree) < begin_of(same->second)) same->second = std::move(tree);
    same->second.flows = flows;
  }
  std::vector<NumberedTree> all;
  for (auto& [tree, numbered] : first) all.push_back(std::move(numbered));
  std::stable_sort(all.begin(), all.end(), [&](const NumberedTree& a, const NumberedTree& b) {
    return begin_of(a) < begin_of(b);
  });
  return all;
}

Occupancy occupancy(const Topology& topology, const Schedule& schedule,
                    const MessageTiming& timing) {
  constexpr std::size_t kParts = 64;  // of the planned time
  Occupancy result;
  result.planned = schedule.listed_order;
  std::vector<std::vector<double>> used;  // by timestep or part, by link
  if (result.planned) {
    const std::vector<LinkUse> uses = planned_link_uses(topology, schedule, timing);
    std::uint64_t end_ps = 1;
    for (const LinkUse& use : uses) end_ps = std::max(end_ps, use.end_ps);
    result.end_us = static_cast<double>(end_ps) * 1e-6;
    used.assign(kParts, std::vector<double>(topology.num_links(), 0));
    const double part_ps = static_cast<double>(end_ps) / kParts;
    for (const LinkUse& use : uses) {
      const double from = static_cast<double>(use.start_ps) / part_ps;
      const double to = static_cast<double>(use.end_ps) / part_ps;
      for (auto part = static_cast<std::size_t>(from); part < kParts; ++part) {
        const auto start = static_cast<double>(part);
        if (start >= to) break;
        used[part][use.link.index()] += std::min(to, start + 1) - std::max(from, start);
      }
    }
  } else {
    Timestep steps = schedule.num_steps;
    for (const Transfer& transfer : schedule.transfers) steps = std::max(steps, transfer.step);
    used.assign(steps, std::vector<double>(topology.num_links(), 0));
    for (const Transfer& transfer : schedule.transfers) {
      for (std::size_t hop = 0; hop < schedule.routes.hops(transfer.route); ++hop)
        used[transfer.step - 1][schedule.routes.link(transfer.route, hop).index()] = 1;
    }
  }
  for (const std::vector<double>& of_link : used) {
    std::vector<double> parts;
    double all = 0;
    for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
      double sum = 0;
      const auto& links = topology.out_links(NodeId(v));
      for (const LinkId link : links) sum += of_link[link.index()];
      all += sum;
      parts.push_back(links.empty() ? 0 : sum / static_cast<double>(links.size()));
    }
    result.of_vertex.push_back(std::move(parts));
    result.of_all.push_back(all / static_cast<double>(topology.num_links()));
  }
  return result;
}

}  // namespace espalier::report
