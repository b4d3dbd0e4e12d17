// Hosts on a simulated network: their messages, and the collectives that they post while it runs.
#include <catch2/catch.hpp>
#include <numeric>

#include "busy_hosts.h"
#include "hosted_run.h"
#include "hw/hash.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::HostedRun;
using test::in_mode;
using test::kDefaultLink;
using test::link_of;
using test::Numbers;
using test::point_of;
using test::PostingHosts;
using test::PostList;
using test::run_hosts;
using test::tables_by;
using test::tables_for;

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

TEST_CASE("A message goes to the node where its rank is") {
  const Topology line = make_mesh({3}, kDefaultLink);
  const SystemConfig system = in_mode(FlowControlMode::packet);
  const test::Report report = test::in_child([&] {
    test::AnsweringHosts hosts(32, 2);
    const auto outcome =
        simulate_hosts(line, point_of(system), {{NodeId(0), NodeId(2), NodeId(1)}, {}}, hosts,
                       tables_by("ring", line), {});
    return test::Report{hosts.times(), outcome.simulation.failure};
  });
  CHECK(report.text == "");
  REQUIRE(report.numbers.size() == 2);
  const Cycle two_hops = test::flits_of(system, 32) + 161 + 150 + 2;
  CHECK(report.numbers[0] == 1 + two_hops);
  CHECK(report.numbers[1] == report.numbers[0] + 1 + two_hops);
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

TEST_CASE("A message of 64 MiB between hosts takes the time of its flits") {
  const Topology line = make_mesh({2}, kDefaultLink);
  const SystemConfig system = in_mode(FlowControlMode::packet);
  constexpr Bytes kBytes = Bytes{64} << 20;
  const test::Report report = test::in_child([&] {
    test::AnsweringHosts hosts(kBytes, 1);
    const auto outcome = simulate_hosts(line, point_of(system), hosts, tables_by("ring", line), {});
    return test::Report{hosts.times(), outcome.simulation.failure};
  });
  CHECK(report.text == "");
  CHECK(report.numbers == Numbers{1 + test::flits_of(system, kBytes) + 161});
}

TEST_CASE("Of thousands of messages that hosts send at once, each pair's stay in order") {
  const Topology star = make_single_switch(8, link_of(50));
  const test::Report report = test::in_child([&] {
    test::ManyMessages hosts(8, 3000, 7);
    const auto outcome = simulate_hosts(star, point_of(in_mode(FlowControlMode::packet)), hosts,
                                        tables_by("ring", star), {});
    return test::Report{{hosts.out_of_order(), hosts.received_count()}, outcome.simulation.failure};
  });
  CHECK(report.text == "");
  CHECK(report.numbers == Numbers{0, 8 * 3000});
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

TEST_CASE("A collective that all hosts post together takes as long as one that NIs start with",
          "[slow]") {
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
  const std::uint64_t count = test::kSanitized ? 4 : 10;
  for (std::uint64_t c = 0; c < count; ++c) sizes.push_back(4 * (1 + mix(seed, c) % 6000));
  test::ShareOfCases share(3);
  for (const Cycle spread : {Cycle{3000}, Cycle{3}, Cycle{20'000}}) {
    if (!share.take()) continue;
    const auto posts = skewed_posts(topology.num_nodes(), count, spread, seed);
    RunPoint point = point_of(in_mode(FlowControlMode::packet));
    point.system.ni.lockstep = seed % 2 == 0 ? LockstepMode::off : LockstepMode::estimate;
    const TablesOf tables_of = tables_by(algorithm, topology);
    const HostedRun train = run_hosts(topology, point, tables_of, sizes, posts);
    point.simulation.fidelity = Fidelity::cycle;
    point.simulation.monitors = true;
    const HostedRun cycle = run_hosts(topology, point, tables_of, sizes, posts);
    CAPTURE(topology.name(), algorithm, seed, spread);
    CHECK(train.failure == "");
    CHECK(train.verified);
    CHECK(train.all == cycle.all);
    for (std::uint32_t c = 0; c < count; ++c) {
      const HostedCollective& hosted = train.collectives[c];
      CHECK(hosted.what.bytes == sizes[c]);
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

TEST_CASE(
    "Collectives that hosts post at random times take the same cycles and give right data in both "
    "fidelities") {
  const Topology torus = make_torus({2, 2}, link_of(20));
  const Topology star = make_single_switch(8, link_of(50));
  const Topology cluster = small_cluster();
  test::ShareOfCases share(2);
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}}) {
    if (!share.take()) continue;
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

TEST_CASE("A rank that posts late delays all others and is not reported as a deadlock") {
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
    std::vector<HostCollective> what;
    for (const Bytes size : busy.sizes) what.push_back({CollectiveOp::all_reduce, size});
    std::vector<CollectiveNumber> order(what.size());
    std::iota(order.begin(), order.end(), CollectiveNumber{0});
    const std::vector<std::vector<CollectiveNumber>> orders(busy.topology.num_nodes(), order);
    test::BusyHosts hosts(what, orders, busy.spread, seed);
    const auto outcome =
        simulate_hosts(busy.topology, point, hosts, tables_by(busy.algorithm, busy.topology), {});
    Numbers numbers = test::reproducible(outcome.simulation);
    for (const std::uint64_t sum : hosts.events()) numbers.push_back(sum);
    numbers.push_back(outcome.host_messages);
    return test::Report{numbers, outcome.simulation.failure};
  });
}

TEST_CASE("Hosts that post, send and answer at once see the same cycles in both fidelities") {
  test::ShareOfCases share(8);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    if (!share.take()) continue;
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

}  // namespace
}  // namespace espalier
