// Collectives of several groups of ranks at the same time.
#include <catch2/catch.hpp>

#include "hosted_run.h"
#include "hw/hash.h"
#include "sims/choose/choose.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::HostedRun;
using test::in_mode;
using test::link_of;
using test::PostList;
using test::ranks_of;
using test::run_hosts;

constexpr Fidelity kBothFidelities[] = {Fidelity::train, Fidelity::cycle};

RunPoint point_of_job(std::uint32_t contexts, const std::string& algorithm = "ring",
                      Fidelity fidelity = Fidelity::train) {
  RunPoint point = test::point_of(in_mode(FlowControlMode::packet), fidelity);
  point.system.ni.contexts = contexts;
  point.collective.emplace().algorithm = algorithm;
  return point;
}

HostedRun run_job(const Topology& topology, const RunPoint& point, const JobRanks& ranks,
                  const std::vector<HostCollective>& what, const std::vector<PostList>& posts) {
  const TablesOf tables_of = [&](const HostCollective& w) {
    return certified_work(topology, point, ranks, w);
  };
  return run_hosts(topology, point, tables_of, what, posts, ranks);
}

std::vector<RankId> members(const std::vector<std::size_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// Each collective is posted by all members of its group in cycle 10.
std::vector<PostList> posts_at_once(const JobRanks& job, const std::vector<HostCollective>& what) {
  std::vector<PostList> posts(job.nodes.size());
  for (std::size_t c = 0; c < what.size(); ++c) {
    for (std::size_t r = 0; r < posts.size(); ++r) {
      const auto& group = job.groups[what[c].group];
      const bool is_member =
          what[c].group == 0 || std::count(group.begin(), group.end(), RankId(r));
      if (is_member) posts[r].push_back({static_cast<CollectiveNumber>(c), 10});
    }
  }
  return posts;
}

Cycle posted_time(const HostedCollective& c) { return c.last_visible - c.first_post; }

TEST_CASE("Each operation of a group gives its members the right data, on every network") {
  struct Case {
    Topology topology;
    std::string algorithm;
  };
  const Case cases[] = {{make_torus({3, 2}, link_of(20)), "ring"},
                        {make_torus({3, 2}, link_of(20)), "auto"},
                        {make_mesh({6}, link_of(20)), "multitree"},
                        {make_single_switch(6, link_of(50)), "auto"},
                        {make_gpu_cluster({3, 2, 2, 1}, link_of(30), link_of(200)), "auto"}};
  for (const Case& c : cases) {
    const JobRanks job = ranks_of(c.topology, {{}, members({0, 2, 5}), members({4, 1})});
    std::vector<HostCollective> what;
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
          CollectiveOp::all_to_all, CollectiveOp::broadcast, CollectiveOp::reduce}) {
      if (c.algorithm != "auto" && !find_generator(c.algorithm)->computes(op)) continue;
      for (std::uint32_t g = 0; g < 3; ++g) what.push_back({op, 1200, g});
    }
    for (const std::uint32_t contexts : {1U, 3U}) {
      CAPTURE(c.topology.name(), c.algorithm, contexts);
      const auto posts = posts_at_once(job, what);
      const HostedRun train =
          run_job(c.topology, point_of_job(contexts, c.algorithm), job, what, posts);
      CHECK(train.failure == "");
      CHECK(train.verified);
      const HostedRun cycle = run_job(
          c.topology, point_of_job(contexts, c.algorithm, Fidelity::cycle), job, what, posts);
      CHECK(train.all == cycle.all);
    }
  }
}

TEST_CASE("Two collectives at once on one ring take the sum of their times") {
  const Topology ring = make_torus({8}, link_of(5));
  const JobRanks job =
      ranks_of(ring, {{}, members({0, 1, 2, 3, 4, 5, 6, 7}), members({0, 1, 2, 3, 4, 5, 6, 7})});
  const std::vector<HostCollective> both = {{CollectiveOp::all_reduce, 800'000, 1},
                                            {CollectiveOp::all_reduce, 800'000, 2}};
  const HostedRun alone =
      run_job(ring, point_of_job(2), job, {both[0]}, posts_at_once(job, {both[0]}));
  const HostedRun together = run_job(ring, point_of_job(2), job, both, posts_at_once(job, both));
  CHECK(together.verified);
  // They take turns on each link, message by message, so one ends a message before the other.
  const Cycle sum = 2 * posted_time(alone.collectives[0]);
  const auto [first, last] =
      std::minmax({posted_time(together.collectives[0]), posted_time(together.collectives[1])});
  CHECK(last == Approx(sum).epsilon(0.01));
  CHECK(last - first == Approx(sum / 28).epsilon(0.1));
  // One context runs them one after the other.
  const HostedRun in_turn = run_job(ring, point_of_job(1), job, both, posts_at_once(job, both));
  CHECK(posted_time(in_turn.collectives[0]) == posted_time(alone.collectives[0]));
  CHECK(in_turn.collectives[1].first_issue >
        in_turn.collectives[0].first_issue + posted_time(alone.collectives[0]) / 2);
}

TEST_CASE("Collectives of groups that share no link do not slow each other") {
  const Topology torus = make_torus({4, 4}, link_of(20));
  std::vector<std::vector<RankId>> rows(1);
  for (std::size_t y = 0; y < 4; ++y)
    rows.push_back(members({4 * y, 4 * y + 1, 4 * y + 2, 4 * y + 3}));
  const JobRanks job = ranks_of(torus, rows);
  std::vector<HostCollective> what;
  for (std::uint32_t g = 1; g <= 4; ++g) what.push_back({CollectiveOp::all_gather, 8000 * g, g});
  const HostedRun together = run_job(torus, point_of_job(1), job, what, posts_at_once(job, what));
  CHECK(together.verified);
  for (std::size_t c = 0; c < 4; ++c) {
    const HostedRun alone =
        run_job(torus, point_of_job(1), job, {what[c]}, posts_at_once(job, {what[c]}));
    CHECK(posted_time(together.collectives[c]) == posted_time(alone.collectives[0]));
  }
}

TEST_CASE("An NI holds the copies of ranks that are ahead, and counts their bytes") {
  const Topology line = make_mesh({2}, link_of(20));
  const JobRanks job = ranks_of(line);
  const std::vector<HostCollective> what = {{CollectiveOp::all_gather, 4000}};
  for (const Fidelity fidelity : kBothFidelities) {
    const HostedRun late =
        run_job(line, point_of_job(1, "ring", fidelity), job, what, {{{0, 10}}, {{0, 50'000}}});
    CHECK(late.failure == "");
    CHECK(late.verified);
    CHECK(late.most_held == 2000);
    // The copy enters in the cycle in which the collective begins.
    CHECK(late.done[0][0] > 50'000);
    const HostedRun timely =
        run_job(line, point_of_job(1, "ring", fidelity), job, what, {{{0, 10}}, {{0, 10}}});
    CHECK(timely.most_held == 0);
    CHECK(late.done[1][0] < 50'000 + posted_time(timely.collectives[0]));
  }
}

TEST_CASE("Ranks that post two groups' collectives in opposite orders need two contexts") {
  const Topology line = make_mesh({2}, link_of(20));
  const JobRanks job = ranks_of(line, {{}, members({0, 1}), members({1, 0})});
  const std::vector<HostCollective> what = {{CollectiveOp::all_reduce, 800, 1},
                                            {CollectiveOp::all_reduce, 800, 2}};
  const std::vector<PostList> crossed = {{{0, 10}, {1, 20}}, {{1, 10}, {0, 20}}};
  const HostedRun stuck = run_job(line, point_of_job(1), job, what, crossed);
  CHECK_FALSE(stuck.verified);
  CHECK_THAT(stuck.failure, Contains("net.ni_0 waits for net.ni_1: runs <tensor 0>") &&
                                Contains("net.ni_1 waits for net.ni_0: runs <tensor 1>"));
  const HostedRun runs = run_job(line, point_of_job(2), job, what, crossed);
  CHECK(runs.failure == "");
  CHECK(runs.verified);
}

TEST_CASE("A member that never posts is named, with the collective and who waits for it") {
  const Topology line = make_mesh({3}, link_of(20));
  const JobRanks job = ranks_of(line, {{}, members({0, 2})});
  const std::vector<HostCollective> what = {{CollectiveOp::all_reduce, 800, 1},
                                            {CollectiveOp::all_reduce, 600, 0}};
  RunPoint point = point_of_job(4);
  point.simulation.watchdog_cycles = 2000;
  const HostedRun stuck =
      run_job(line, point, job, what, {{{0, 10}, {1, 10}}, {{1, 10}}, {{1, 10}}});
  CHECK_FALSE(stuck.verified);
  CHECK_THAT(stuck.failure, Contains("net.ni_0 in <tensor 0> waits for net.ni_2 in <tensor 0>"));
  CHECK_THAT(stuck.failure,
             Contains("net.ni_2 in <tensor 0> waits for host_2: waits for the host to post it"));
}

TEST_CASE("A collective of a single rank is over in the cycle in which it is posted") {
  const Topology line = make_mesh({2}, link_of(20));
  const JobRanks job = ranks_of(line, {{}, members({1})});
  const HostedRun run_alone =
      run_job(line, point_of_job(1), job, {{CollectiveOp::all_reduce, 800, 1}}, {{}, {{0, 70}}});
  CHECK(run_alone.failure == "");
  CHECK(run_alone.verified);
  CHECK(run_alone.done[1][0] == 70);
}

TEST_CASE("A host that posts for a group that it is not in, or as another operation, is named") {
  const Topology line = make_mesh({3}, link_of(20));
  const JobRanks job = ranks_of(line, {{}, members({0, 2})});
  const auto failure = [&](const HostCollective& what, const std::vector<PostList>& posts) {
    return run_job(line, point_of_job(1), job, {what}, posts).failure;
  };
  CHECK(failure({CollectiveOp::all_reduce, 800, 1}, {{{0, 10}}, {{0, 10}}, {{0, 10}}}) ==
        "<tensor 0>: host_1 posts this collective of group 1, and is no member of the group");
  CHECK(failure({CollectiveOp::all_reduce, 800, 2}, {{{0, 10}}, {}, {}}) ==
        "<tensor 0>: group 2 is posted, but the job has 2 groups");
  CHECK(failure({CollectiveOp::all_gather, 801, 1}, {{{0, 10}}, {}, {{0, 10}}}) ==
        "<tensor 0>: 801 bytes are not whole elements of 4 bytes each");
  CHECK(
      failure({CollectiveOp::all_reduce, 800, 1}, {{{0, 10}}, {}, {{0, 20, 80}}}) ==
      "<tensor 0>: host_2 posts this collective with 80 bytes, but other hosts posted it with 800");
}

TEST_CASE("Wrong data of a group's collective are found") {
  const Topology line = make_mesh({3}, link_of(20));
  const JobRanks job = ranks_of(line, {{}, members({0, 2})});
  const RunPoint point = point_of_job(2);
  // The first member sends its part twice to the wrong place: its own chunk is never sent.
  const TablesOf wrong = [&](const HostCollective& w) {
    ScheduleTables tables = certified_work(line, point, job, w).tables;
    if (w.group == 1) tables.nodes[0].clear();
    return tables;
  };
  const std::vector<HostCollective> what = {{CollectiveOp::all_gather, 800, 1},
                                            {CollectiveOp::all_gather, 600, 0}};
  const HostedRun found = run_hosts(line, point, wrong, what, posts_at_once(job, what), job);
  CHECK_FALSE(found.verified);
  CHECK_THAT(found.failure, Contains("<tensor 0>: wrong data at rank 1: chunk"));
}

TEST_CASE("The lowest priority number gets the next context and leaves its port first") {
  const Topology ring = make_torus({4}, link_of(5));
  const JobRanks job =
      ranks_of(ring, {{}, members({0, 1, 2, 3}), members({0, 1, 2, 3}), members({0, 1, 2, 3})});
  std::vector<HostCollective> what = {{CollectiveOp::all_reduce, 400'000, 1, 2},
                                      {CollectiveOp::all_reduce, 400'000, 2, 1},
                                      {CollectiveOp::all_reduce, 400'000, 3, 0}};
  for (const std::uint32_t contexts : {1U, 3U}) {
    const HostedRun in_order =
        run_job(ring, point_of_job(contexts), job, what, posts_at_once(job, what));
    CHECK(in_order.verified);
    const auto& c = in_order.collectives;
    CHECK(c[2].last_visible < c[1].last_visible);
    CHECK(c[1].last_visible < c[0].last_visible);
  }
}

}  // namespace
}  // namespace espalier
