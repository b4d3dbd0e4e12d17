// Blocks of ranks that look alike: one runs for all until ranks of several blocks meet.
#include <catch2/catch.hpp>

#include <numeric>
#include <random>

#include "model_test_support.h"
#include "sims/choose/choose.h"
#include "sims/point/config.h"
#include "sims/system/host_simulation.h"
#include "tests/support/graph_machine.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::GraphBuilder;
using test::Numbers;
using Sets = std::vector<std::vector<std::uint32_t>>;

struct Step {
  Topology topology;
  WorkGraph graph;
  RunPoint point;
};

// Of a run: the last quiet cycle, whether blocks have been unfolded, evaluations; then what must
// not differ.
constexpr std::size_t kHead = 3;

Numbers simulate(const Step& step, Fidelity fidelity, const AlikeWork& alike, Cycle until) {
  return test::in_child([&] {
           JobRanks ranks;
           for (std::size_t n = 0; n < step.graph.ranks.size(); ++n) ranks.nodes.emplace_back(n);
           for (const WorkSet& set : sets_of(step.graph)) {
             const auto& of_set = step.graph.groups[set.group].sets[set.set];
             ranks.groups.emplace_back(of_set.begin(), of_set.end());
           }
           RunPoint point = step.point;
           point.simulation.fidelity = fidelity;
           constexpr Cycle kSettling = 1000;
           GraphHosts hosts(step.graph, IssueOrder::streams, point.system.clock, 1, false,
                            {alike.blocks.empty() ? nullptr : &alike, kSettling, until});
           const HostedOutcome outcome = simulate_hosts(
               step.topology, point, ranks, hosts,
               [&](const HostCollective& what) {
                 return certified_work(step.topology, point, ranks, what);
               },
               {}, alike.blocks);
           Numbers numbers{hosts.last_quiet(),
                           hosts.is_folded() ? 0U : 1U,
                           outcome.simulation.evaluations,
                           outcome.simulation.verified ? 1U : 0U,
                           outcome.simulation.flit_hops,
                           outcome.simulation.latency.messages};
           for (const RankTimes& times : hosts.rank_times()) {
             numbers.insert(numbers.end(), {times.end, times.compute, times.exposed});
           }
           const auto& flits = outcome.simulation.link_flits;
           numbers.insert(numbers.end(), flits.begin(), flits.end());
           return test::Report{numbers, hosts.failure() + outcome.simulation.failure};
         })
      .numbers;
}

// Whether blocks of the step could be unfolded. All of its ranks do the same.
bool check_step(const Step& step) {
  const auto result = [](const Numbers& run) { return Numbers(run.begin() + kHead, run.end()); };
  std::vector<NodeId> nodes;
  for (std::size_t n = 0; n < step.graph.ranks.size(); ++n) nodes.emplace_back(n);
  const AlikeWork alike = find_alike_blocks(step.graph, step.topology, nodes, true);
  REQUIRE(alike.blocks.size() > 1);
  const Numbers all = simulate(step, Fidelity::train, {}, kNever);
  REQUIRE(all[kHead] == 1);
  CHECK(result(all) == result(simulate(step, Fidelity::cycle, {}, kNever)));
  const Cycle until = simulate(step, Fidelity::train, alike, kNever).front();
  if (until == 0) return false;
  const Numbers unfolded = simulate(step, Fidelity::train, alike, until);
  CHECK(unfolded[1] == 1);
  CHECK(unfolded[2] < all[2]);
  CHECK(result(unfolded) == result(all));
  return true;
}

Step step_of(Topology topology, const GraphBuilder& rank, std::uint32_t ranks) {
  Step step{std::move(topology), rank.graph, {}};
  step.point.system = test::in_mode(FlowControlMode::message);
  step.point.collective.emplace().algorithm = "direct";
  step.graph.ranks.assign(ranks, std::make_shared<const RankWork>(rank.works.front()));
  return step;
}

Sets blocks_of(std::uint32_t ranks, std::uint32_t size) {
  Sets sets(ranks / size);
  for (std::uint32_t r = 0; r < ranks; ++r) sets[r / size].push_back(r);
  return sets;
}

TEST_CASE("Ports of ranks that meet arbitrate as if every block had run for itself") {
  // Before, each port to a rank has granted the one before it last. In the same cycle then 1, of
  // another block, and 7 send to 6: the port goes on with 7, so that what 6 computes with its data
  // begins before the data of 1 is there.
  GraphBuilder rank(8);
  const auto block = rank.group("block", blocks_of(8, 4));
  const auto far = rank.group("far", {{1, 6}, {0}, {2}, {3}, {4}, {5}, {7}});
  const auto near = rank.group("near", {{6, 7}, {0}, {1}, {2}, {3}, {4}, {5}});
  rank.reduce(0, block, 40'000);
  const auto gap = rank.compute(0, 10'000, {0});
  WorkNode gather;
  gather.kind = WorkKind::collective;
  gather.op = CollectiveOp::all_gather;
  gather.group = near;
  gather.bytes = 512;
  rank.compute(0, 10'000, {rank.add(0, gather, {gap})});
  rank.reduce(0, far, 30'000, {gap});
  Step step = step_of(make_single_switch(8, test::link_of(5)), rank, 8);
  step.point.collective->algorithm = "ring";
  CHECK(check_step(step));
}

TEST_CASE(
    "Blocks run for each other until ranks of several blocks meet, on any network of blocks") {
  const std::uint32_t seed = 20'261'129;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&random](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
  };
  constexpr CollectiveOp kOps[] = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                   CollectiveOp::all_gather, CollectiveOp::all_to_all};
  std::size_t met = 0;
  const std::size_t cases = test::kSanitized ? 8 : 60;
  for (std::size_t i = 0; i < cases; ++i) {
    CAPTURE(i);
    const std::uint32_t size = pick(2, 4);
    const std::uint32_t ranks = size * pick(2, 4);
    GraphBuilder rank(ranks);
    const auto post = [&](std::uint32_t group, const GraphBuilder::After& after) {
      WorkNode node;
      node.kind = WorkKind::collective;
      node.op = kOps[pick(0, 3)];
      node.group = group;
      node.bytes = Bytes{4} * pick(1, 4000);
      return rank.add(0, node, after);
    };
    const auto block = rank.group("block", blocks_of(ranks, size));
    GraphBuilder::After last;
    for (std::uint32_t n = pick(1, 4); n > 0; --n) {
      last = {post(block, last)};
      if (pick(0, 1) == 0) last = {rank.compute(0, pick(1, 4000), last)};
    }
    last = {rank.compute(0, pick(1, 3000), last)};
    // Any sets of any ranks, in any order; ranks alone begin what comes next.
    std::vector<std::uint32_t> order(ranks);
    std::iota(order.begin(), order.end(), 0U);
    for (std::uint32_t g = pick(1, 4); g > 0; --g) {
      std::shuffle(order.begin(), order.end(), random);
      Sets sets;
      for (std::size_t r = 0; r < order.size(); r += sets.back().size()) {
        const std::size_t end = std::min<std::size_t>(order.size(), r + pick(1, 4));
        sets.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(r),
                          order.begin() + static_cast<std::ptrdiff_t>(end));
      }
      const auto posted = post(rank.group("met" + std::to_string(g), sets), last);
      if (pick(0, 1) == 0) last = {posted};
      if (pick(0, 2) == 0) last = {post(block, last)};
    }
    const LinkSpec link = test::link_of(pick(1, 60));
    const bool is_switch = pick(0, 1) == 0;
    Step step = step_of(is_switch ? make_single_switch(ranks, link)
                                  : make_gpu_cluster({ranks / size, size}, link, link),
                        rank, ranks);
    SystemConfig& system = step.point.system;
    system.flow_control.mode = static_cast<FlowControlMode>(pick(0, 1));
    system.router.crossbar_inputs = static_cast<CrossbarInputs>(pick(0, 1));
    system.ni.contexts = pick(1, 4);
    if (check_step(step)) ++met;
  }
  CHECK(met * 4 > cases);
}

}  // namespace
}  // namespace espalier
