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
                                    HostProgram& hosts, const TablesOf& tables_of,
                                    const SimulationHooks& hooks) {
  JobRanks ranks;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) ranks.nodes.emplace_back(n);
  return simulate_hosts(topology, point, ranks, hosts, tables_of, hooks);
}

namespace test {

struct HostedRun {
  bool verified = false;
  Cycle cycles = 0;
  std::vector<HostedCollective> collectives;
  std::vector<std::vector<Cycle>> done;  // by rank and collective
  std::string failure;
  Bytes most_held = 0;  // HostedOutcome::most_held_bytes
  Numbers all;          // what must not depend on how the run was executed
};

inline TablesOf tables_by(const std::string& algorithm, const Topology& topology) {
  return [=, &topology](const HostCollective& what) {
    return tables_for(algorithm, topology, what.bytes, what.op);
  };
}

inline JobRanks ranks_of(const Topology& topology, std::vector<std::vector<RankId>> groups = {}) {
  JobRanks ranks{{}, std::move(groups)};
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) ranks.nodes.emplace_back(n);
  return ranks;
}

inline HostedRun run_hosts(const Topology& topology, const RunPoint& point,
                           const TablesOf& tables_of, const std::vector<HostCollective>& what,
                           const std::vector<PostList>& posts, const JobRanks& ranks) {
  const std::size_t count = what.size();
  const Report report = in_child([&] {
    PostingHosts hosts(what, posts);
    const HostedOutcome outcome = simulate_hosts(topology, point, ranks, hosts, tables_of, {});
    Numbers numbers = reproducible(outcome.simulation);
    for (std::size_t c = 0; c < count; ++c) {
      const HostedCollective hosted =
          c < outcome.collectives.size() ? outcome.collectives[c] : HostedCollective{};
      numbers.insert(numbers.end(), {hosted.what.bytes, hosted.first_post, hosted.last_post,
                                     hosted.first_issue, hosted.last_visible});
    }
    numbers.insert(numbers.begin(), outcome.most_held_bytes);
    for (const auto& of_rank : hosts.done()) {
      numbers.insert(numbers.end(), of_rank.begin(), of_rank.end());
    }
    return Report{numbers, outcome.simulation.failure};
  });
  HostedRun run;
  run.all = report.numbers;
  run.failure = report.text;
  run.most_held = report.numbers[0];
  run.verified = report.numbers[2] != 0;
  run.cycles = report.numbers[3];
  std::size_t at = report.numbers.size() - count * (5 + posts.size());
  const auto next = [&] { return report.numbers[at++]; };
  for (std::size_t c = 0; c < count; ++c) {
    HostedCollective hosted;
    hosted.what.bytes = next();
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

// All-reduces of all ranks.
inline HostedRun run_hosts(const Topology& topology, const RunPoint& point,
                           const TablesOf& tables_of, const std::vector<Bytes>& sizes,
                           const std::vector<PostList>& posts) {
  std::vector<HostCollective> what;
  for (const Bytes bytes : sizes) what.push_back({CollectiveOp::all_reduce, bytes});
  return run_hosts(topology, point, tables_of, what, posts, ranks_of(topology));
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
