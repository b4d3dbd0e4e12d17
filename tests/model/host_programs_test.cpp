// Collectives of hosts that run as programs of thread blocks, several at once and beside tables.
#include <catch2/catch.hpp>

#include "hosted_run.h"
#include "sims/choose/choose.h"
#include "sims/model/build_program.h"
#include "sims/system/program_simulation.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::HostedRun;
using test::link_of;
using test::PostList;
using test::ranks_of;

constexpr Bytes kData = test::kSanitized ? 80'000 : 400'000;

RunPoint point_of_program(const std::string& program, std::uint32_t contexts,
                          Fidelity fidelity = Fidelity::train) {
  RunPoint point = test::point_of(test::in_mode(FlowControlMode::packet), fidelity);
  point.system.ni.contexts = contexts;
  point.collective.emplace().algorithm = program;
  return point;
}

// All ranks of the groups post in cycle 10, in the order of `what`.
std::vector<PostList> posts_of(const JobRanks& job, const std::vector<HostCollective>& what) {
  std::vector<PostList> posts(job.nodes.size());
  for (CollectiveNumber c = 0; c < what.size(); ++c) {
    for (const RankId rank : job.groups[what[c].group]) posts[rank.index()].push_back({c, 10});
  }
  return posts;
}

HostedRun run_programs(const Topology& topology, const RunPoint& point, const JobRanks& job,
                       const std::vector<HostCollective>& what) {
  const TablesOf work_of = [&](const HostCollective& w) {
    return certified_work(topology, point, job, w);
  };
  return run_hosts(topology, point, work_of, what, posts_of(job, what), job);
}

HostedRun run_in_both(const Topology& topology, RunPoint point, const JobRanks& job,
                      const std::vector<HostCollective>& what) {
  const HostedRun train = run_programs(topology, point, job, what);
  point.simulation.fidelity = Fidelity::cycle;
  point.simulation.monitors = true;
  CHECK(train.failure == "");
  CHECK(train.verified);
  CHECK(train.all == run_programs(topology, point, job, what).all);
  return train;
}

Cycle time_of(const HostedCollective& c) { return c.last_visible - c.first_post; }

std::vector<RankId> row(std::size_t first, std::size_t count, std::size_t stride = 1) {
  std::vector<RankId> ranks;
  for (std::size_t r = 0; r < count; ++r) ranks.emplace_back(first + r * stride);
  return ranks;
}

TEST_CASE("A posted program takes as long as the same program alone, from the post on") {
  const Topology torus = make_torus({4, 2}, link_of(20));
  const JobRanks job = ranks_of(torus, {{}, row(0, 8)});
  for (const char* name : {"gc3_ring", "gc3_allpairs", "nccl_ring", "gc3_reducescatter_ring"}) {
    RunPoint point = point_of_program(name, 1);
    point.collective->op = find_builtin_program(name)->op();
    point.collective->size = kData;
    point.collective->program.channels = 3;
    const test::Report alone = test::in_child([&] {
      const Program program = build_program(torus, point);
      const SimulationOutcome outcome = simulate_program(torus, point, program, 0, {});
      return test::Report{{outcome.verified ? 1U : 0U, outcome.cycles}, outcome.failure};
    });
    CAPTURE(name, alone.text);
    CHECK(alone.numbers[0] == 1);
    const HostedRun posted = run_in_both(torus, point, job, {{point.collective->op, kData, 1}});
    CHECK(time_of(posted.collectives[0]) == alone.numbers[1]);
  }
}

TEST_CASE(
    "Programs of groups that share no link do not slow each other, and groups that look "
    "alike share one program") {
  const Topology torus = make_torus({4, 4}, link_of(20));
  std::vector<std::vector<RankId>> rows(1);
  std::vector<HostCollective> what;
  for (std::uint32_t y = 0; y < 4; ++y) {
    rows.push_back(row(4 * y, 4));
    what.push_back({CollectiveOp::all_reduce, kData, y + 1});
  }
  const JobRanks job = ranks_of(torus, rows);
  const RunPoint point = point_of_program("gc3_ring", 1);
  const HostedRun alone = run_programs(torus, point, job, {what[2]});
  const HostedRun together = run_in_both(torus, point, job, what);
  for (const HostedCollective& each : together.collectives) {
    CHECK(time_of(each) == time_of(alone.collectives[0]));
  }
  std::size_t made = 0;
  const test::Report report = test::in_child([&] {
    test::PostingHosts hosts(what, posts_of(job, what));
    const auto work_of = [&](const HostCollective& w) {
      ++made;
      return certified_work(torus, point, job, w);
    };
    const bool verified = simulate_hosts(torus, point, job, hosts, work_of, {}).simulation.verified;
    return test::Report{{verified ? 1U : 0U, made}, ""};
  });
  CHECK(report.numbers[0] == 1);
  CHECK(report.numbers[1] < what.size());
}

TEST_CASE("Programs of crossing groups share an NI's contexts and links, each with its own data") {
  const Topology torus = make_torus({4, 4}, link_of(5));
  const JobRanks job = ranks_of(torus, {{}, row(0, 4), row(0, 4, 4), row(0, 8, 2)});
  const std::vector<HostCollective> what = {{CollectiveOp::all_reduce, kData, 1},
                                            {CollectiveOp::all_reduce, kData, 2},
                                            {CollectiveOp::all_reduce, kData, 3}};
  const HostedRun alone = run_programs(torus, point_of_program("gc3_ring", 3), job, {what[2]});
  const HostedRun at_once = run_in_both(torus, point_of_program("gc3_ring", 3), job, what);
  CHECK(time_of(at_once.collectives[2]) > time_of(alone.collectives[0]));
  // With one context, node 0 runs its three collectives one after the other.
  const HostedRun in_turn = run_in_both(torus, point_of_program("gc3_ring", 1), job, what);
  CHECK(in_turn.done[0][0] < in_turn.done[0][1]);
  CHECK(in_turn.cycles > at_once.cycles);
}

TEST_CASE("A program runs beside tables of the operations that it does not compute") {
  for (const Topology& network :
       {make_torus({3, 2}, link_of(20)), make_single_switch(6, link_of(50)),
        make_gpu_cluster({3, 2, 2, 1}, link_of(30), link_of(200))}) {
    const JobRanks job = ranks_of(network, {row(0, 6), row(0, 6), {RankId(4), RankId(1)}});
    std::vector<HostCollective> what;
    for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::all_reduce,
                                  CollectiveOp::all_to_all, CollectiveOp::broadcast}) {
      for (std::uint32_t g = 0; g < 3; ++g) what.push_back({op, 1200, g});
    }
    for (const char* name : {"gc3_ring", "gc3_direct_alltoall"}) {
      for (const std::uint32_t contexts : {1U, 3U}) {
        CAPTURE(network.name(), name, contexts);
        run_in_both(network, point_of_program(name, contexts), job, what);
      }
    }
  }
}

// Three program contexts: the collectives need two, three and one of them.
struct FewContexts {
  const Topology ring = make_torus({4}, link_of(5));
  const JobRanks job = ranks_of(ring, {{}, row(0, 4), row(0, 4)});
  const std::vector<HostCollective> what = {{CollectiveOp::all_reduce, 48'000, 1},
                                            {CollectiveOp::all_reduce, 96'000, 1},
                                            {CollectiveOp::all_reduce, 24'000, 2}};

  [[nodiscard]] HostedRun run(const std::vector<PostList>& posts, Fidelity fidelity) const {
    RunPoint point = point_of_program("gc3_ring", 2, fidelity);
    point.system.ni.program.contexts = 3;
    point.simulation.watchdog_cycles = 20'000;
    const TablesOf work_of = [&](const HostCollective& w) {
      RunPoint of_this = point;
      of_this.collective->program.channels = w.bytes == 48'000 ? 2 : w.bytes == 96'000 ? 3 : 1;
      return certified_work(ring, of_this, job, w);
    };
    return run_hosts(ring, point, work_of, what, posts, job);
  }
};

TEST_CASE("Program contexts stay free for a collective that was posted before and has not begun") {
  const FewContexts few;
  // Behind collective 0, rank 0 has one context left when it posts 2. The others post 2 later: when
  // 0 is over they run 1, which needs all contexts of rank 0.
  std::vector<PostList> posts(4, PostList{{0, 10}, {1, 10}, {2, 200'000}});
  posts[0] = {{0, 10}, {1, 10}, {2, 10}};
  const HostedRun run = few.run(posts, Fidelity::train);
  CHECK(run.failure == "");
  CHECK(run.verified);
  CHECK(run.collectives[2].first_issue > run.collectives[1].first_issue);
  CHECK(run.all == few.run(posts, Fidelity::cycle).all);
}

TEST_CASE("Ranks that run out of program contexts in different orders are named as a circle") {
  const FewContexts few;
  std::vector<PostList> posts(4, PostList{{1, 10}, {2, 10}});
  posts[2] = {{2, 10}, {1, 10}};
  const HostedRun run = few.run(posts, Fidelity::train);
  CAPTURE(run.failure);
  CHECK_THAT(run.failure, Contains("these modules wait for each other in a cycle"));
  CHECK_THAT(run.failure, Contains("net.ni_2 in <tensor 1>.ctx") &&
                              Contains(" waits for net.ni_2 in <tensor 1>: waits for the "
                                       "collective to begin"));
  CHECK_THAT(run.failure, Contains("net.ni_2 in <tensor 1> waits for net.ni_2 in <tensor 2>: "
                                   "waits for one of the NI's contexts"));
}

TEST_CASE("A program begins when as many program contexts are free as it has thread blocks") {
  const Topology ring = make_torus({4}, link_of(5));
  const JobRanks job = ranks_of(ring, {{}, row(0, 4), row(0, 4)});
  const std::vector<HostCollective> what = {{CollectiveOp::all_reduce, kData, 1},
                                            {CollectiveOp::all_reduce, kData, 2}};
  RunPoint point = point_of_program("gc3_ring", 2);
  point.collective->program.channels = 2;
  const HostedRun at_once = run_in_both(ring, point, job, what);
  CHECK(at_once.collectives[1].first_issue < at_once.collectives[0].last_visible / 2);
  point.system.ni.program.contexts = 4;
  CHECK(run_in_both(ring, point, job, what).all == at_once.all);
  point.system.ni.program.contexts = 3;
  const HostedRun in_turn = run_in_both(ring, point, job, what);
  CHECK(in_turn.collectives[1].first_issue > in_turn.collectives[0].last_visible / 2);
  point.system.ni.program.contexts = 1;
  CHECK_THAT(run_programs(ring, point, job, what).failure,
             Contains("<tensor 0>: an all_reduce of " + std::to_string(kData) +
                      " bytes is not certified: "));
}

TEST_CASE("Wrong data of a posted program are found, and a program that stands still is named") {
  const Topology ring = make_torus({4}, link_of(20));
  const JobRanks job = ranks_of(ring, {{}, row(0, 4), row(0, 4)});
  RunPoint point = point_of_program("gc3_ring", 2);
  point.simulation.watchdog_cycles = 20'000;
  const auto failure_with = [&](void (*change)(Program&)) {
    const std::vector<HostCollective> what = {{CollectiveOp::all_reduce, 800, 1},
                                              {CollectiveOp::all_reduce, 600, 2}};
    const TablesOf work_of = [&](const HostCollective& w) {
      StreamWork work = certified_work(ring, point, job, w);
      if (w.bytes == 800) return work;
      Program changed = *work.program;
      change(changed);
      work.program = std::make_shared<const Program>(changed);
      return work;
    };
    const HostedRun run = run_hosts(ring, point, work_of, what, posts_of(job, what), job);
    CHECK_FALSE(run.verified);
    return run.failure;
  };
  CHECK_THAT(failure_with([](Program& program) {
               for (ThreadBlock& block : program.ranks[2].blocks) {
                 for (ProgramStep& step : block.steps) {
                   if (step.op == ProgramOp::recv_reduce_send) step.op = ProgramOp::recv_copy_send;
                 }
               }
             }),
             Contains("<tensor 1>: wrong data at rank"));
  const std::string stuck = failure_with([](Program& program) {
    for (ThreadBlock& block : program.ranks[2].blocks) block.steps.clear();
  });
  CHECK_THAT(stuck, Contains("no progress") && Contains("in <tensor 1>.ctx0 waits for ") &&
                        Contains("waits for its message"));
}

}  // namespace
}  // namespace espalier
