// A simulation with hosts that post collectives, and what came of it.
#pragma once

#include <string>
#include <vector>

#include "model_test_support.h"
#include "posting_hosts.h"
#include "sims/point/config.h"
#include "sims/system/host_simulation.h"

namespace espalier {

// Rank r is node r.
inline HostedOutcome simulate_hosts(const Topology& topology, const RunPoint& point,
                                    HostProgram& hosts, const TablesOfSize& tables_of,
                                    const SimulationHooks& hooks) {
  std::vector<NodeId> nodes;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) nodes.emplace_back(n);
  return simulate_hosts(topology, point, nodes, hosts, tables_of, hooks);
}

namespace test {

struct HostedRun {
  bool verified = false;
  Cycle cycles = 0;
  std::vector<HostedCollective> collectives;
  std::vector<std::vector<Cycle>> done;  // by rank and collective
  std::string failure;
  Numbers all;  // what must not depend on how the run was executed
};

inline TablesOfSize tables_by(const std::string& algorithm, const Topology& topology) {
  return [=, &topology](Bytes bytes) { return tables_for(algorithm, topology, bytes); };
}

inline HostedRun run_hosts(const Topology& topology, const RunPoint& point,
                           const TablesOfSize& tables_of, const std::vector<Bytes>& sizes,
                           const std::vector<PostList>& posts) {
  const std::size_t count = sizes.size();
  const Report report = in_child([&] {
    PostingHosts hosts(sizes, posts);
    const HostedOutcome outcome = simulate_hosts(topology, point, hosts, tables_of, {});
    Numbers numbers = reproducible(outcome.simulation);
    for (std::size_t c = 0; c < count; ++c) {
      const HostedCollective hosted =
          c < outcome.collectives.size() ? outcome.collectives[c] : HostedCollective{};
      numbers.insert(numbers.end(), {hosted.bytes, hosted.first_post, hosted.last_post,
                                     hosted.first_issue, hosted.last_visible});
    }
    for (const auto& of_rank : hosts.done()) {
      numbers.insert(numbers.end(), of_rank.begin(), of_rank.end());
    }
    return Report{numbers, outcome.simulation.failure};
  });
  HostedRun run;
  run.all = report.numbers;
  run.failure = report.text;
  run.verified = report.numbers[1] != 0;
  run.cycles = report.numbers[2];
  std::size_t at = report.numbers.size() - count * (5 + posts.size());
  const auto next = [&] { return report.numbers[at++]; };
  for (std::size_t c = 0; c < count; ++c) {
    HostedCollective hosted;
    hosted.bytes = next();
    hosted.first_post = next();
    hosted.last_post = next();
    hosted.first_issue = next();
    hosted.last_visible = next();
    run.collectives.push_back(hosted);
  }
  for (std::size_t r = 0; r < posts.size(); ++r) {
    run.done.emplace_back();
    for (std::size_t c = 0; c < count; ++c) run.done.back().push_back(next());
  }
  return run;
}

inline RunPoint point_of(const SystemConfig& system, Fidelity fidelity = Fidelity::train) {
  RunPoint point;
  point.system = system;
  point.simulation.fidelity = fidelity;
  point.simulation.monitors = fidelity == Fidelity::cycle;
  return point;
}

}  // namespace test

}  // namespace espalier
