// Hosts on a simulated network: their messages, and the collectives that they post while it runs.
#include <catch2/catch.hpp>
#include <memory>

#include "busy_hosts.h"
#include "hw/hash.h"
#include "model_test_support.h"
#include "posting_hosts.h"
#include "sims/system/host_simulation.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::in_mode;
using test::kDefaultLink;
using test::link_of;
using test::Numbers;
using test::Post;
using test::PostingHosts;
using test::PostList;
using test::tables_for;

struct HostedRun {
  bool verified = false;
  Cycle cycles = 0;
  std::vector<HostedCollective> collectives;
  std::vector<std::vector<Cycle>> done;  // by rank and collective
  std::string failure;
  Numbers all;  // what must not depend on how the run was executed
};

TablesOfSize tables_by(const std::string& algorithm, const Topology& topology) {
  return [=, &topology](Bytes bytes) { return tables_for(algorithm, topology, bytes); };
}

HostedRun run_hosts(const Topology& topology, const RunPoint& point, const TablesOfSize& tables_of,
                    const std::vector<Bytes>& sizes, const std::vector<PostList>& posts) {
  const std::size_t count = sizes.size();
  const test::Report report = test::in_child([&] {
    PostingHosts hosts(sizes, posts);
    const HostedOutcome outcome = simulate_hosts(topology, point, hosts, tables_of, {});
    Numbers numbers = test::reproducible(outcome.simulation);
    for (std::size_t c = 0; c < count; ++c) {
      const HostedCollective hosted =
          c < outcome.collectives.size() ? outcome.collectives[c] : HostedCollective{};
      numbers.insert(numbers.end(), {hosted.bytes, hosted.first_post, hosted.last_post,
                                     hosted.first_issue, hosted.last_visible});
    }
    for (const auto& of_rank : hosts.done()) {
      numbers.insert(numbers.end(), of_rank.begin(), of_rank.end());
    }
    return test::Report{numbers, outcome.simulation.failure};
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

RunPoint point_of(const SystemConfig& system, Fidelity fidelity = Fidelity::train) {
  RunPoint point;
  point.system = system;
  point.simulation.fidelity = fidelity;
  point.simulation.monitors = fidelity == Fidelity::cycle;
  return point;
}

Topology small_cluster() {
  return make_gpu_cluster({3, 4, 2, 1}, link_of(30), link_of(200, test::kFlitPerCycle / 2));
}

// Messages ----------------------------------------------------------------------------------------

TEST_CASE("Hosts that answer each other take the zero-load latency of each message") {
  const Topology line = make_mesh({2}, kDefaultLink);
  for (const FlowControlMode mode : {FlowControlMode::message, FlowControlMode::packet}) {
    for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
      for (const Bytes bytes : {Bytes{1}, Bytes{32}, Bytes{700}}) {
        const SystemConfig system = in_mode(mode);
        const test::Report report = test::in_child([&] {
          test::AnsweringHosts hosts(bytes, 6);
          const auto outcome =
              simulate_hosts(line, point_of(system, fidelity), hosts, tables_by("ring", line), {});
          Numbers numbers = hosts.times();
          numbers.push_back(outcome.simulation.verified ? 1 : 0);
          numbers.push_back(outcome.host_messages);
          return test::Report{numbers, outcome.simulation.failure};
        });
        CAPTURE(static_cast<int>(mode), static_cast<int>(fidelity), bytes);
        CHECK(report.text == "");
        REQUIRE(report.numbers.size() == 8);
        Cycle sent = 1;
        for (std::size_t k = 0; k < 6; ++k) {
          // docs/timing.md: F + d + i + 2P + L + e + v - 1, with the defaults.
          CHECK(report.numbers[k] == sent + test::flits_of(system, bytes) + 161);
          sent = report.numbers[k] + 1;
        }
        CHECK(report.numbers[6] == 1);
        CHECK(report.numbers[7] == 6);
      }
    }
  }
}

TEST_CASE("A short message of a host that follows a long one is received after it") {
  // On a torus of several VCs packets of two messages may overtake each other.
  const Topology torus = make_torus({4, 4}, link_of(20));
  for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
    const test::Report report = test::in_child([&] {
      test::ManyMessages hosts(16, 40, 7);
      const auto outcome =
          simulate_hosts(torus, point_of(in_mode(FlowControlMode::packet), fidelity), hosts,
                         tables_by("ring", torus), {});
      return test::Report{
          {hosts.out_of_order(), hosts.received_count(), outcome.simulation.verified ? 1U : 0U},
          outcome.simulation.failure};
    });
    CHECK(report.text == "");
    CHECK(report.numbers == Numbers{0, 16 * 40, 1});
  }
}

// Collectives -------------------------------------------------------------------------------------

void check_as_alone(const Topology& topology, const std::string& algorithm, RunPoint point) {
  const std::vector<Bytes> sizes = {4096, 1000 * 4, 64 * 1024, 4096};
  std::vector<PostList> posts(topology.num_nodes());
  for (auto& of_rank : posts) {
    for (std::uint32_t c = 0; c < 4; ++c) of_rank.push_back({c, 17 + 100'000 * c});
  }
  for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
    point.simulation.fidelity = fidelity;
    point.simulation.monitors = fidelity == Fidelity::cycle;
    const HostedRun run = run_hosts(topology, point, tables_by(algorithm, topology), sizes, posts);
    CAPTURE(algorithm, topology.name(), static_cast<int>(fidelity),
            static_cast<int>(point.system.ni.lockstep));
    CHECK(run.failure == "");
    CHECK(run.verified);
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      const auto alone =
          test::run_collective(algorithm, topology, sizes[c], point.system, point.simulation);
      CHECK(run.collectives[c].first_issue == posts[0][c].at);
      CHECK(run.collectives[c].last_visible - run.collectives[c].first_issue == alone.cycles);
    }
  }
}

TEST_CASE("A collective that all hosts post together takes as long as one that NIs start with") {
  const Topology torus = make_torus({2, 2}, link_of(20));
  const Topology larger = make_torus({4, 4}, link_of(20));
  const Topology star = make_single_switch(8, link_of(50));
  const Topology cluster = small_cluster();
  for (const FlowControlMode mode : {FlowControlMode::message, FlowControlMode::packet}) {
    for (const LockstepMode lockstep :
         {LockstepMode::off, LockstepMode::estimate, LockstepMode::drain, LockstepMode::full}) {
      RunPoint point = point_of(in_mode(mode));
      point.system.ni.lockstep = lockstep;
      check_as_alone(torus, "ring", point);
      check_as_alone(torus, "multitree", point);
      check_as_alone(larger, "2d_ring", point);
      check_as_alone(larger, "multitree_translated", point);
      check_as_alone(star, "halving_doubling", point);
      check_as_alone(cluster, "ring", point);
    }
  }
}

// Every rank posts the same collectives in the same order, each when it likes.
std::vector<PostList> skewed_posts(std::size_t ranks, std::uint32_t count, Cycle spread,
                                   std::uint64_t seed) {
  std::vector<PostList> posts(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    Cycle at = 2;
    for (std::uint32_t c = 0; c < count; ++c) {
      at += mix(mix(seed, r), c) % spread;
      posts[r].push_back({c, at});
    }
  }
  return posts;
}

void check_skewed(const Topology& topology, const std::string& algorithm, std::uint64_t seed) {
  std::vector<Bytes> sizes;
  for (std::uint64_t c = 0; c < 10; ++c) sizes.push_back(4 * (1 + mix(seed, c) % 6000));
  for (const Cycle spread : {Cycle{3}, Cycle{3000}, Cycle{20'000}}) {
    const auto posts = skewed_posts(topology.num_nodes(), 10, spread, seed);
    RunPoint point = point_of(in_mode(FlowControlMode::packet));
    point.system.ni.lockstep = seed % 2 == 0 ? LockstepMode::off : LockstepMode::estimate;
    const TablesOfSize tables_of = tables_by(algorithm, topology);
    const HostedRun train = run_hosts(topology, point, tables_of, sizes, posts);
    point.simulation.fidelity = Fidelity::cycle;
    point.simulation.monitors = true;
    const HostedRun cycle = run_hosts(topology, point, tables_of, sizes, posts);
    CAPTURE(topology.name(), algorithm, seed, spread);
    CHECK(train.failure == "");
    CHECK(train.verified);
    CHECK(train.all == cycle.all);
    for (std::uint32_t c = 0; c < 10; ++c) {
      const HostedCollective& hosted = train.collectives[c];
      CHECK(hosted.bytes == sizes[c]);
      CHECK(hosted.first_issue >= hosted.first_post);
      for (std::size_t r = 0; r < posts.size(); ++r) {
        // Nobody has the sum before the last rank's part can be in it, or before the last
        // collective's.
        CHECK(train.done[r][c] > hosted.last_post);
        if (c != 0) CHECK(train.done[r][c] > train.done[r][c - 1]);
      }
    }
  }
}

TEST_CASE("Collectives that hosts post when they like end alike in both fidelities, and right") {
  const Topology torus = make_torus({2, 2}, link_of(20));
  const Topology star = make_single_switch(8, link_of(50));
  const Topology cluster = small_cluster();
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}}) {
    check_skewed(torus, "ring", seed);
    check_skewed(torus, "multitree", seed);
    check_skewed(star, "halving_doubling", seed);
    check_skewed(star, "direct", seed);
    check_skewed(cluster, "ring", seed);
  }
}

TEST_CASE("Hosts on an always clocked system post and receive in the same cycles") {
  const Topology star = make_single_switch(8, link_of(50));
  const auto posts = skewed_posts(8, 4, 3000, 5);
  RunPoint point = point_of(in_mode(FlowControlMode::packet), Fidelity::cycle);
  const std::vector<Bytes> sizes = {4000, 64, 20'000, 4};
  const HostedRun sleeping = run_hosts(star, point, tables_by("ring", star), sizes, posts);
  point.simulation.always_clocked = true;
  const HostedRun clocked = run_hosts(star, point, tables_by("ring", star), sizes, posts);
  CHECK(sleeping.failure == "");
  CHECK(sleeping.all == clocked.all);
}

TEST_CASE("A rank that posts late delays all others, and nobody takes that for a deadlock") {
  const Topology star = make_single_switch(8, link_of(50));
  std::vector<PostList> posts(8, PostList{{0, 10}, {1, 10}});
  posts[3] = {{0, 5'000'000}, {1, 5'000'000}};
  for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
    RunPoint point = point_of(in_mode(FlowControlMode::packet), fidelity);
    point.simulation.watchdog_cycles = 500;
    const HostedRun run = run_hosts(star, point, tables_by("ring", star), {8000, 80}, posts);
    CHECK(run.failure == "");
    CHECK(run.verified);
    CHECK(run.collectives[0].first_issue == 10);
    for (const auto& of_rank : run.done) CHECK(of_rank[0] > 5'000'000);
    const Cycle alone =
        test::run_collective("ring", star, 8000, point.system, point.simulation).cycles;
    // The others have done what they could.
    CHECK(run.collectives[0].last_visible <= 5'000'000 + alone);
    CHECK(run.collectives[1].first_issue > 5'000'000);
  }
}

// Random systems under hosts that post, send and answer at once.
struct BusyCase {
  Topology topology;
  std::string algorithm;
  RunPoint point;
  std::vector<Bytes> sizes;
  Cycle spread = 1;
};

BusyCase draw_case(std::uint64_t seed) {
  const auto draw = [&](std::uint64_t what, std::uint64_t below) {
    return mix(mix(seed, 77), what) % below;
  };
  const LinkSpec link = link_of(1 + draw(0, 60), test::kFlitPerCycle >> draw(1, 3));
  struct Choice {
    Topology topology;
    const char* algorithm;
  };
  const std::vector<Choice> choices = {
      {make_torus({2, 2}, link), "ring"},      {make_torus({4, 2}, link), "multitree"},
      {make_torus({4, 4}, link), "2d_ring"},   {make_torus({4, 4}, link), "multitree_translated"},
      {make_mesh({3, 3}, link), "multitree"},  {make_single_switch(8, link), "halving_doubling"},
      {make_single_switch(5, link), "direct"}, {small_cluster(), "ring"}};
  const Choice& choice = choices[draw(2, choices.size())];
  BusyCase busy{choice.topology, choice.algorithm, point_of(in_mode(FlowControlMode::packet)), {}};
  SystemConfig& system = busy.point.system;
  if (draw(3, 2) == 0) system.flow_control.mode = FlowControlMode::message;
  constexpr LockstepMode kModes[] = {LockstepMode::off, LockstepMode::estimate, LockstepMode::drain,
                                     LockstepMode::full};
  system.ni.lockstep = kModes[draw(4, 4)];
  system.ni.ports = static_cast<std::uint32_t>(draw(5, 3));
  system.ni.send_queue = 1 + static_cast<std::uint32_t>(draw(6, 4));
  system.router.vcs = 2 + static_cast<std::uint32_t>(draw(7, 3));
  system.router.vc_depth_flits = 17 + static_cast<std::uint32_t>(draw(8, 200));
  if (draw(9, 3) == 0) system.ni.dma_bytes_per_cycle = 8 + draw(10, 40);
  if (draw(11, 2) == 0) system.ni.reduction = {ReductionMode::after_message, 3, 16, 64};
  for (std::uint64_t c = 0; c < 6; ++c) busy.sizes.push_back(4 * (1 + draw(20 + c, 4000)));
  busy.spread = 1 + draw(12, 2000);
  return busy;
}

test::Report run_busy(const BusyCase& busy, const RunPoint& point, std::uint64_t seed) {
  return test::in_child([&] {
    test::BusyHosts hosts(busy.topology.num_nodes(), busy.sizes, busy.spread, seed);
    const auto outcome =
        simulate_hosts(busy.topology, point, hosts, tables_by(busy.algorithm, busy.topology), {});
    Numbers numbers = test::reproducible(outcome.simulation);
    for (const std::uint64_t sum : hosts.events()) numbers.push_back(sum);
    numbers.push_back(outcome.host_messages);
    return test::Report{numbers, outcome.simulation.failure};
  });
}

TEST_CASE("Hosts that post and send and answer at once see the same cycles in both fidelities") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const BusyCase busy = draw_case(seed);
    RunPoint point = busy.point;
    const test::Report train = run_busy(busy, point, seed);
    point.simulation.fidelity = Fidelity::cycle;
    point.simulation.monitors = true;
    const test::Report cycle = run_busy(busy, point, seed);
    CAPTURE(seed, busy.topology.name(), busy.algorithm);
    CHECK(train.text == "");
    CHECK(train.numbers[1] == 1);
    CHECK(train.numbers == cycle.numbers);
  }
}

TEST_CASE("A host's message passes gradients that wait at its injection port") {
  // All messages of the first step of DIRECT wait there, one behind the other.
  const Topology star = make_single_switch(8, link_of(50));
  RunPoint point = point_of(in_mode(FlowControlMode::packet));
  point.system.ni.lockstep = LockstepMode::off;
  const test::Report report = test::in_child([&] {
    test::PostThenSend hosts(8, 8 * 16'000, 100);
    const auto outcome = simulate_hosts(star, point, hosts, tables_by("direct", star), {});
    return test::Report{{hosts.received_at(), hosts.done_at()}, outcome.simulation.failure};
  });
  CHECK(report.text == "");
  // Posted at 110, it leaves right behind the message that is on its way by then.
  const Cycle flits = test::flits_of(point.system, 16'000);
  CHECK(report.numbers[0] > 100 + flits);
  CHECK(report.numbers[0] < 100 + flits + 150);
  CHECK(report.numbers[1] > 100 + 7 * flits);
}

// What goes wrong ---------------------------------------------------------------------------------

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
      CHECK_THAT(run.failure, Contains("these wait for each other"));
      CHECK_THAT(run.failure, Contains("runs <tensor 0>, "));
      CHECK_THAT(run.failure, Contains("runs <tensor 1>, "));
      CHECK_THAT(run.failure, Contains("net.ni_n_2 waits for net.ni_n_"));
      CHECK_THAT(run.failure, Contains(" waits for net.ni_n_2: runs <tensor 0>"));
    }
  }
}

TEST_CASE("A rank that never posts is found as what the others wait for") {
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

std::string failure_of(const TablesOfSize& tables_of, const std::vector<Bytes>& sizes,
                       const std::vector<PostList>& posts) {
  const Topology line = make_mesh({2}, kDefaultLink);
  const HostedRun run =
      run_hosts(line, point_of(in_mode(FlowControlMode::packet)), tables_of, sizes, posts);
  CHECK_FALSE(run.verified);
  return run.failure;
}

TEST_CASE("Wrong data are found when the collective is complete, under its name") {
  const Topology line = make_mesh({2}, kDefaultLink);
  // Node 1 never gets the sum of node 0's half.
  const auto without_a_gather = [&](Bytes bytes) {
    ScheduleTables tables = tables_for("ring", line, bytes);
    auto& table = tables.nodes[0];
    table.erase(std::remove_if(table.begin(), table.end(),
                               [](const TableEntry& e) { return e.op == TableOp::gather; }),
                table.end());
    return tables;
  };
  CHECK_THAT(failure_of(without_a_gather, {800}, {{{0, 5}}, {{0, 50}}}),
             Contains("<tensor 0>: wrong data at rank 1: chunk"));
}

TEST_CASE("A copy that comes before its collective has begun ends the run") {
  const Topology line = make_mesh({2}, kDefaultLink);
  // Node 0 gathers without having reduced.
  const auto without_reduces = [&](Bytes bytes) {
    ScheduleTables tables = tables_for("ring", line, bytes);
    for (auto& table : tables.nodes) {
      table.erase(std::remove_if(table.begin(), table.end(),
                                 [](const TableEntry& e) { return e.op == TableOp::reduce; }),
                  table.end());
    }
    return tables;
  };
  CHECK_THAT(failure_of(without_reduces, {800}, {{{0, 5}}, {{0, 5000}}}),
             Contains("a copy from node 0 reached node 1 before that had begun"));
}

TEST_CASE("Tables that cannot be made end the run with the reason and the collective's name") {
  const auto none = [](Bytes bytes) -> ScheduleTables {
    throw std::runtime_error(fmt::format("no tables of {} bytes", bytes));
  };
  CHECK(failure_of(none, {800}, {{{0, 5}}, {{0, 50}}}) == "<tensor 0>: no tables of 800 bytes");
}

TEST_CASE("A rank that posts a collective twice is named") {
  const Topology line = make_mesh({2}, kDefaultLink);
  CHECK(failure_of(tables_by("ring", line), {800}, {{{0, 5}}, {{0, 50}, {0, 60}}}) ==
        "<tensor 0>: host_1 posts it twice");
}

}  // namespace
}  // namespace espalier
