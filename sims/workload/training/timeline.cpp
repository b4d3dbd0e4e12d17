#include "sims/workload/training/timeline.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sims/workload/graph/graph_hosts.h"
#include "sims/workload/graph/modelled_machine.h"

namespace espalier {

namespace {

constexpr ClockSpec kClock{1'000'000'000'000};  // a cycle is a picosecond
constexpr std::uint32_t kRanks = 2;

WorkGraph graph_of(const Workload& workload, const ParallelGroups& groups) {
  WorkGraph graph;
  graph.names = workload.names;
  for (const auto scope :
       {CommunicationScope::all, CommunicationScope::model, CommunicationScope::data}) {
    WorkGroup group{{}, {{0, 1}}};
    if (groups.of(scope).empty()) group.sets = {{0}, {1}};
    graph.groups.push_back(group);
  }
  graph.ranks.assign(kRanks, std::make_shared<const RankWork>(workload.work));
  return graph;
}

// Precondition: the hosts have finished.
TrainingTimeline times_of(const Workload& workload, const GraphHosts& hosts) {
  TrainingTimeline result;
  double* const parts[] = {&result.forward, &result.backward, &result.exposed_data,
                           &result.exposed_model};  // by TimePart
  const auto add = [&](double& to, Cycle picoseconds) {
    to += static_cast<double>(picoseconds) / 1e3;
  };
  const auto end_of = [&](std::uint32_t n) { return hosts.node_times(RankId(0), n).end; };
  Cycle now = 0;
  const auto wait_for = [&](std::vector<std::uint32_t> nodes) {
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return end_of(a) < end_of(b); });
    for (const std::uint32_t n : nodes) {
      if (end_of(n) <= now) continue;
      add(*parts[static_cast<std::size_t>(workload.parts[n])], end_of(n) - now);
      now = end_of(n);
    }
  };
  const RankWork& work = workload.work;
  std::vector<std::uint32_t> operations;
  Cycle covered = 0;  // communication is counted up to this time
  for (std::uint32_t n = 0; n < work.nodes.size(); ++n) {
    if (work.nodes[n].kind == WorkKind::collective) {
      operations.push_back(n);
      const Cycle begin = std::max(covered, hosts.node_times(RankId(0), n).begin);
      covered = std::max(covered, end_of(n));
      if (covered > begin) add(result.communication, covered - begin);
      continue;
    }
    wait_for(
        {work.waits.begin() + work.first_wait[n], work.waits.begin() + work.first_wait[n + 1]});
    wait_for({n});  // which computes
  }
  wait_for(operations);
  return result;
}

}  // namespace

TrainingTimeline run_timeline(const Workload& workload, const ParallelGroups& groups,
                              const CollectiveCost& cost, std::uint32_t iterations) {
  double longest = workload.computing();
  for (const CommunicationOp& op : workload.operations()) longest += cost(op) * 1e3;
  if (longest > kLongestIteration) {
    throw std::invalid_argument("an iteration of the workload takes more than 104 days");
  }
  const WorkGraph graph = graph_of(workload, groups);
  GraphHosts hosts(graph, IssueOrder::streams, kClock, 1, true);
  const std::vector<WorkSet> sets = sets_of(graph);
  const auto scope_of = [&](const HostCollective& what) {
    return static_cast<CommunicationScope>(sets[what.group].group);
  };
  ModelledDataPlane machine(
      hosts, kRanks,
      [&](const HostCollective& what) {
        const double ns = cost({what.op, what.bytes, scope_of(what)});
        return std::max<Cycle>(1, static_cast<Cycle>(std::llround(ns * 1e3)));
      },
      static_cast<std::uint32_t>(groups.all.size()),
      [&](const HostCollective& what) {
        std::vector<std::uint32_t> dimensions;
        for (const GroupDimension& d : groups.of(scope_of(what))) {
          dimensions.push_back(d.dimension);
        }
        return dimensions;
      });
  const std::string stuck = run_events(machine, nullptr);
  if (!stuck.empty()) throw std::logic_error(stuck);
  TrainingTimeline all = times_of(workload, hosts);
  // No operation outlives its iteration, so all iterations are equal.
  for (double* part :
       {&all.forward, &all.backward, &all.exposed_data, &all.exposed_model, &all.communication}) {
    *part *= iterations;
  }
  return all;
}

}  // namespace espalier
