// The step of training that a graph of work describes, on the simulated network.
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "sims/choose/choose.h"
#include "sims/experiment/result_parts.h"
#include "sims/experiment/training_work.h"
#include "sims/point/config.h"
#include "sims/system/host_simulation.h"
#include "sims/workload/graph/graph_hosts.h"
#include "sims/workload/graph/work_path.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// Collectives that differ in their ranks alone: groups of one size, whose ranks are equally far
// apart (0: their distances differ), are the groups of one axis of parallelism.
struct CollectiveKind {
  CollectiveOp op;
  std::size_t ranks;
  std::uint32_t stride;

  friend bool operator<(const CollectiveKind& a, const CollectiveKind& b) {
    return std::tie(a.ranks, a.stride, a.op) < std::tie(b.ranks, b.stride, b.op);
  }
};

std::uint32_t stride_of(const std::vector<std::uint32_t>& ranks) {
  const std::uint32_t stride = ranks[1] - ranks[0];
  for (std::size_t r = 2; r < ranks.size(); ++r) {
    if (ranks[r] - ranks[r - 1] != stride) return 0;
  }
  return ranks[1] < ranks[0] ? 0 : stride;
}

class GraphRun : public PointRun {
 public:
  explicit GraphRun(const PointInput& input)
      : PointRun(input), graph_(*point().workload->graph), sets_(sets_of(graph_)) {
    ranks_.nodes = nodes_by_rank(topology(), point());
    if (graph_.ranks.size() > ranks_.nodes.size()) {
      throw std::invalid_argument(fmt::format("the work has {} ranks, but the network has {} nodes",
                                              graph_.ranks.size(), ranks_.nodes.size()));
    }
    ranks_.nodes.resize(graph_.ranks.size());
    for (const WorkSet& set : sets_) {
      std::vector<RankId>& members = ranks_.groups.emplace_back();
      for (const std::uint32_t rank : members_of(set)) members.emplace_back(rank);
    }
  }

  void describe(Json& result) const override { write_fields(result, StepWork{facts()}); }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    GraphHosts hosts(graph_, point().workload->issue, point().system.clock,
                     !hooks.observers.empty());
    SimulationOutcome outcome =
        simulate_hosts(
            topology(), point(), ranks_, hosts,
            [&](const HostCollective& what) { return tables_of(what); }, hooks)
            .simulation;
    if (!hosts.failure().empty()) outcome.failure = hosts.failure();
    outcome.verified = outcome.verified && outcome.failure.empty();
    outcome.complete = outcome.verified;
    outcome.cycles = 0;
    for (const RankTimes& times : hosts.rank_times()) {
      outcome.cycles = std::max(outcome.cycles, times.end);
    }
    if (outcome.complete) measure(hosts, outcome.cycles);
    return outcome;
  }
  void describe_outcome(Json& result, const SimulationOutcome& outcome) const override {
    write_fields(result, StepOutcome{{point(), outcome}, step_, choices_text(taken_)});
  }
  [[nodiscard]] RunNeed need() const override {
    RunNeed need = configured_need(point());
    need.contexts = ranks_.most_groups_of_a_rank();
    return need;
  }
  // Computation between collectives takes most of the time, and has no price.
  [[nodiscard]] bool counts_energy() const override { return false; }

 private:
  [[nodiscard]] const std::vector<std::uint32_t>& members_of(const WorkSet& set) const {
    return graph_.groups[set.group].sets[set.set];
  }
  // auto chooses by plan, because this process simulates already.
  [[nodiscard]] ScheduleTables tables_of(const HostCollective& what) {
    // Traces give bytes alone: ranks have equal parts of any number of them, if they can.
    RunPoint of_size = point();
    const std::size_t ranks = members_of(sets_[what.group]).size();
    const Bytes part = what.bytes % ranks == 0 ? what.bytes / ranks : what.bytes;
    of_size.collective->element_bytes = std::gcd(of_size.collective->element_bytes, part);
    ScheduleTables tables = certified_tables(topology(), of_size, ranks_, what);
    std::string& taken = taken_[what.bytes];
    if (taken.find(tables.taken) == std::string::npos) {
      taken += (taken.empty() ? "" : " and ") + tables.taken;
    }
    if (taken.empty()) taken_.erase(what.bytes);
    return tables;
  }
  [[nodiscard]] CollectiveKind kind_of(const HostCollective& what) const {
    const std::vector<std::uint32_t>& ranks = members_of(sets_[what.group]);
    return {what.op, ranks.size(), stride_of(ranks)};
  }
  [[nodiscard]] double ns(double cycles) const {
    return cycles * nanoseconds(1, point().system.clock);
  }

  void measure(const GraphHosts& hosts, Cycle end) {
    const std::vector<RankTimes>& all = hosts.rank_times();
    const auto ranks = static_cast<double>(all.size());
    double compute = 0;
    double exposed = 0;
    step_.idle_min_ns = ns(static_cast<double>(end));
    for (const RankTimes& times : all) {
      compute += static_cast<double>(times.compute);
      exposed += static_cast<double>(times.exposed);
      const double idle = ns(static_cast<double>(end - times.compute - times.exposed));
      step_.idle_ns += idle / ranks;
      step_.idle_min_ns = std::min(step_.idle_min_ns, idle);
      step_.idle_max_ns = std::max(step_.idle_max_ns, idle);
      step_.rank_end_ns.push_back(ns(static_cast<double>(times.end)));
    }
    step_.compute_ns = ns(compute / ranks);
    step_.exposed_ns = ns(exposed / ranks);
    step_.exposed_sends_ns = ns(static_cast<double>(hosts.exposed_sends()) / ranks);
    for (const auto& work : graph_.ranks) {
      for (const WorkNode& node : work->nodes) {
        if (node.kind != WorkKind::send) continue;
        ++step_.sends;
        step_.send_bytes += node.bytes;
      }
    }
    std::map<CollectiveKind, StepCollective> kinds;
    for (const GraphCollective& collective : hosts.collectives()) {
      const CollectiveKind kind = kind_of(collective.what);
      StepCollective& sum = kinds[kind];
      sum.op = to_string(kind.op);
      sum.ranks = kind.ranks;
      sum.stride = kind.stride;
      ++sum.count;
      sum.bytes += collective.what.bytes;
      sum.exposed_ns += ns(static_cast<double>(collective.exposed) / ranks);
    }
    if (hosts.keeps_times()) follow(hosts, kinds);
    for (const auto& [kind, sum] : kinds) step_.collectives.push_back(sum);
  }

  void follow(const GraphHosts& hosts, std::map<CollectiveKind, StepCollective>& kinds) {
    // By WorkKind.
    constexpr const char* kWords[] = {"none", "compute", "host", "send", "receive", "collective"};
    std::vector<StepPart>& path = step_.path.emplace();
    for (const PathPart& part : critical_path(graph_, hosts)) {
      const WorkNode& node = graph_.ranks[part.rank.index()]->nodes[part.node];
      path.push_back({part.rank.value(), node.id, graph_.names[node.name],
                      kWords[static_cast<std::size_t>(node.kind)],
                      ns(static_cast<double>(part.from)), ns(static_cast<double>(part.to))});
      if (node.kind != WorkKind::collective) continue;
      const std::uint32_t number = hosts.node_times(part.rank, part.node).partner;
      StepCollective& sum = kinds[kind_of(hosts.collectives()[number].what)];
      sum.path_ns = sum.path_ns.value_or(0) + path.back().to_ns - path.back().from_ns;
    }
  }

  const WorkGraph& graph_;
  std::vector<WorkSet> sets_;
  JobRanks ranks_;
  StepResult step_;
  std::map<Bytes, std::string> taken_;  // by size, what auto took
};

}  // namespace

std::unique_ptr<PointRun> make_graph_run(const PointInput& input) {
  return std::make_unique<GraphRun>(input);
}

}  // namespace espalier
