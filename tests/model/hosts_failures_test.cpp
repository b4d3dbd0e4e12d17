// What goes wrong with hosts on a simulated network, and what is said about it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "hosted_run.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::HostedRun;
using test::in_mode;
using test::kDefaultLink;
using test::link_of;
using test::Numbers;
using test::point_of;
using test::PostList;
using test::run_hosts;
using test::tables_by;
using test::tables_for;

TEST_CASE("Ranks that post in different orders end the run with both collectives' names") {
  const Topology star = make_single_switch(4, link_of(50));
  std::vector<PostList> posts(4, PostList{{0, 10}, {1, 20}});
  posts[2] = {{1, 10}, {0, 20}};
  for (const char* algorithm : {"ring", "direct"}) {
    for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
      RunPoint point = point_of(in_mode(FlowControlMode::packet), fidelity);
      point.simulation.watchdog_cycles = 2000;
      const HostedRun run = run_hosts(star, point, tables_by(algorithm, star), {4000, 80}, posts);
      INFO(run.failure);
      CHECK_FALSE(run.verified);
      CHECK_THAT(run.failure, Contains("no progress at cycle"));
      CHECK_THAT(run.failure, Contains("these modules wait for each other"));
      CHECK_THAT(run.failure, Contains("runs <tensor 0>, "));
      CHECK_THAT(run.failure, Contains("runs <tensor 1>, "));
      CHECK_THAT(run.failure, Contains("net.ni_n_2 waits for net.ni_n_"));
      CHECK_THAT(run.failure, Contains(" waits for net.ni_n_2: runs <tensor 0>"));
    }
  }
}

TEST_CASE("A rank that never posts is reported as the rank that the others wait for") {
  const Topology star = make_single_switch(4, link_of(50));
  std::vector<PostList> posts(4, PostList{{0, 10}});
  posts[1].clear();
  const HostedRun run = run_hosts(star, point_of(in_mode(FlowControlMode::packet)),
                                  tables_by("ring", star), {4000}, posts);
  INFO(run.failure);
  CHECK_FALSE(run.verified);
  CHECK_THAT(run.failure, Contains("net.ni_n_2 waits for net.ni_n_1: runs <tensor 0>"));
  CHECK_THAT(run.failure, Contains("net.ni_n_1 waits for host_1: "));
}

std::string failure_of(const TablesOf& tables_of, const std::vector<Bytes>& sizes,
                       const std::vector<PostList>& posts) {
  const Topology line = make_mesh({2}, kDefaultLink);
  const HostedRun run =
      run_hosts(line, point_of(in_mode(FlowControlMode::packet)), tables_of, sizes, posts);
  CHECK_FALSE(run.verified);
  return run.failure;
}

TEST_CASE("Wrong data are reported when the collective completes, with the collective's name") {
  const Topology line = make_mesh({2}, kDefaultLink);
  // Node 1 never gets the sum of node 0's half.
  const auto without_a_gather = [&](const HostCollective& what) {
    ScheduleTables tables = tables_for("ring", line, what.bytes);
    auto& table = tables.nodes[0];
    table.erase(std::remove_if(table.begin(), table.end(),
                               [](const TableEntry& e) { return e.op == TableOp::gather; }),
                table.end());
    return tables;
  };
  CHECK_THAT(failure_of(without_a_gather, {800}, {{{0, 5}}, {{0, 50}}}),
             Contains("<tensor 0>: wrong data at rank 1: chunk"));
}

TEST_CASE("A copy that comes before its collective has begun waits for it") {
  const Topology line = make_mesh({2}, kDefaultLink);
  // Node 0 gathers without having reduced.
  const auto without_reduces = [&](const HostCollective& what) {
    ScheduleTables tables = tables_for("ring", line, what.bytes);
    for (auto& table : tables.nodes) {
      table.erase(std::remove_if(table.begin(), table.end(),
                                 [](const TableEntry& e) { return e.op == TableOp::reduce; }),
                  table.end());
    }
    return tables;
  };
  // It does not overwrite what the rank begins with, so the data are wrong only at the end.
  CHECK_THAT(failure_of(without_reduces, {800}, {{{0, 5}}, {{0, 5000}}}),
             Contains("<tensor 0>: wrong data at rank 0"));
}

TEST_CASE(
    "A schedule that cannot be generated ends the run with the reason and the collective's name") {
  const auto none = [](const HostCollective& what) -> ScheduleTables {
    throw std::runtime_error(fmt::format("no tables of {} bytes", what.bytes));
  };
  CHECK(failure_of(none, {800}, {{{0, 5}}, {{0, 50}}}) == "<tensor 0>: no tables of 800 bytes");
}

TEST_CASE("A rank that posts a collective twice is named") {
  const Topology line = make_mesh({2}, kDefaultLink);
  CHECK(failure_of(tables_by("ring", line), {800}, {{{0, 5}}, {{0, 50}, {0, 60}}}) ==
        "<tensor 0>: host_1 posts this collective twice");
}

TEST_CASE("A rank that posts another size than the others is named") {
  const Topology line = make_mesh({2}, kDefaultLink);
  CHECK(failure_of(tables_by("ring", line), {800}, {{{0, 5}}, {{0, 50, 400}}}) ==
        "<tensor 0>: host_1 posts this collective with 400 bytes, but other hosts posted it with "
        "800");
}

TEST_CASE("A schedule whose size differs from the posted size is refused") {
  const Topology line = make_mesh({2}, kDefaultLink);
  const auto half = [&](const HostCollective& what) {
    return tables_for("ring", line, what.bytes / 2);
  };
  CHECK(failure_of(half, {800}, {{{0, 5}}, {{0, 50}}}) ==
        "<tensor 0>: the tables are not of an all_reduce of 800 bytes over 2 ranks");
}

TEST_CASE("A host that sends a message to itself ends the run") {
  const Topology line = make_mesh({2}, kDefaultLink);
  const test::Report report = test::in_child([&] {
    test::LonelyHost hosts;
    const auto outcome = simulate_hosts(line, point_of(in_mode(FlowControlMode::packet)), hosts,
                                        tables_by("ring", line), {});
    return test::Report{{outcome.simulation.complete ? 1U : 0U}, outcome.simulation.failure};
  });
  CHECK(report.numbers == Numbers{0});
  CHECK_THAT(report.text, Contains("host_1 to host_1") && Contains("to itself"));
}

TEST_CASE(
    "Messages that may wait for each other around a ring are refused at the one that closes it") {
  const Topology ring = make_torus({5}, kDefaultLink);
  RunPoint point = point_of(in_mode(FlowControlMode::packet));
  JobRanks job = test::ranks_of(ring);
  const auto failure = [&] {
    return test::in_child([&] {
             test::ManyMessages hosts(5, 3, 7);  // each rank to the second one before it
             return test::Report{
                 {},
                 simulate_hosts(ring, point, job, hosts, tables_by("ring", ring), {})
                     .simulation.failure};
           })
        .text;
  };
  const auto circle = Contains("virtual channels wait for each other in a cycle");
  CHECK(failure().empty());  // a dateline keeps two classes of VCs apart
  point.system.router.vcs = 1;
  CHECK_THAT(failure(), StartsWith("a message from host_4 to host_2: beside other") && circle);
  for (std::size_t r = 0; r < 5; ++r) job.messages.emplace_back(r, (r + 3) % 5);
  CHECK_THAT(failure(), StartsWith("messages between ranks (more system.router.vcs") && circle);
  point.simulation.check = false;
  CHECK(failure().empty());
}

TEST_CASE("Hosts are refused together with control messages, late NIs or skewed clocks") {
  const Topology line = make_mesh({2}, kDefaultLink);
  test::LonelyHost hosts;
  RunPoint point = point_of(in_mode(FlowControlMode::packet));
  point.control.emplace();
  CHECK_THROWS_AS(simulate_hosts(line, point, hosts, tables_by("ring", line), {}),
                  std::invalid_argument);
  point.control.reset();
  point.faults.late_nis = {{0, 5}};
  CHECK_THROWS_AS(simulate_hosts(line, point, hosts, tables_by("ring", line), {}),
                  std::invalid_argument);
}

}  // namespace
}  // namespace espalier
