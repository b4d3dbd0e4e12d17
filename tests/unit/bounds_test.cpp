#include "alg/bounds/bounds.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "alg/flow/max_flow.h"
#include "test_graphs.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

constexpr double kRate = 16e9;

double rate_across(const Topology& topology, std::size_t inside) {
  double rate = 0;
  for (const TopologyLink& link : topology.links()) {
    if ((inside >> link.from.index()) % 2 == 1 && (inside >> link.to.index()) % 2 == 0) {
      rate += static_cast<double>(link.spec.bytes_per_second);
    }
  }
  return rate;
}

std::size_t count_nodes(const Topology& topology, std::size_t inside) {
  std::size_t count = 0;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) count += (inside >> n) % 2;
  return count;
}

// Over all sets of vertices, as bits.
double scatter_by_all_cuts(const Topology& topology, bool gather, const std::vector<Bytes>& parts) {
  double worst = 0;
  const std::size_t all = (std::size_t{1} << topology.num_vertices()) - 1;
  for (std::size_t set = 1; set < all; ++set) {
    const std::size_t nodes = count_nodes(topology, set);
    if (nodes == 0 || nodes == topology.num_nodes()) continue;
    Bytes bytes = 0;
    for (std::size_t n = 0; n < parts.size(); ++n) bytes += (set >> n) % 2 * parts[n];
    worst = std::max(worst,
                     static_cast<double>(bytes) / rate_across(topology, gather ? set : all - set));
  }
  return worst;
}

// The least rate out of (or into) a set with exactly these nodes and any switches.
double least_border(const Topology& topology, std::size_t nodes, bool out) {
  double least = std::numeric_limits<double>::max();
  const std::size_t all = (std::size_t{1} << topology.num_vertices()) - 1;
  for (std::size_t switches = 0; switches < (std::size_t{1} << topology.num_switches());
       ++switches) {
    const std::size_t set = nodes | (switches << topology.num_nodes());
    least = std::min(least, rate_across(topology, out ? set : all - set));
  }
  return least;
}

void all_partitions(const Topology& topology, bool out, std::size_t node,
                    std::vector<std::size_t>& parts, double& worst) {
  if (node == topology.num_nodes()) {
    if (parts.size() < 2) return;
    double rate = 0;
    for (const std::size_t part : parts) rate += least_border(topology, part, out);
    worst = std::max(worst, 2.0 * static_cast<double>(parts.size() - 1) / rate);
    return;
  }
  const std::size_t bit = std::size_t{1} << node;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p] |= bit;
    all_partitions(topology, out, node + 1, parts, worst);
    parts[p] &= ~bit;
  }
  parts.push_back(bit);
  all_partitions(topology, out, node + 1, parts, worst);
  parts.pop_back();
}

double all_reduce_by_all_partitions(const Topology& topology) {
  double worst = 0;
  std::vector<std::size_t> parts;
  all_partitions(topology, true, 0, parts, worst);
  all_partitions(topology, false, 0, parts, worst);
  const std::size_t all_nodes = (std::size_t{1} << topology.num_nodes()) - 1;
  for (std::size_t set = 1; set < all_nodes; ++set) {
    worst = std::max(worst, 1.0 / least_border(topology, set, true));
  }
  return worst;
}

enum class Rates : std::uint8_t { equal_both_ways, any };

Topology random_network(std::mt19937& random, std::size_t nodes, std::size_t switches,
                        Rates rates) {
  Topology topology("random");
  for (std::size_t n = 0; n < nodes; ++n) topology.add_node(fmt::format("n{}", n));
  for (std::size_t s = 0; s < switches; ++s) topology.add_switch(fmt::format("s{}", s));
  const std::size_t vertices = nodes + switches;
  for (const auto& [a, b] :
       test::random_pairs(random, vertices, test::pick(random, 2 * vertices))) {
    const LinkSpec there{1, 1 + test::pick(random, 9)};
    const LinkSpec back{1,
                        rates == Rates::any ? 1 + test::pick(random, 9) : there.bytes_per_second};
    test::add_cable(topology, a, b, there, back);
  }
  return topology;
}

void compare_with_brute_force(const Topology& topology) {
  const auto bound = [&](CollectiveOp op) {
    return bandwidth_bound(topology, op).seconds_per_byte;
  };
  const std::size_t nodes = topology.num_nodes();
  const std::vector<Bytes> equal(nodes, 1);
  std::vector<Bytes> unequal;  // some 0
  for (Bytes n = 0; n < nodes; ++n) unequal.push_back((7 * n + 3) % 5 * (n + 1));
  const Bytes size = std::accumulate(unequal.begin(), unequal.end(), Bytes{0});
  for (const bool gather : {true, false}) {
    const CollectiveOp op = gather ? CollectiveOp::all_gather : CollectiveOp::reduce_scatter;
    CHECK(bound(op) * static_cast<double>(nodes) ==
          Approx(scatter_by_all_cuts(topology, gather, equal)).epsilon(1e-12));
    const CollectiveOp own = gather ? CollectiveOp::all_gatherv : CollectiveOp::reduce_scatterv;
    CHECK(collective_bound(topology, own, size, unequal).bandwidth_seconds ==
          Approx(scatter_by_all_cuts(topology, gather, unequal)).epsilon(1e-12));
  }
  CHECK(bound(CollectiveOp::all_reduce) ==
        Approx(all_reduce_by_all_partitions(topology)).epsilon(1e-12));
}

// size / (the least rate of a cut between the root and a node), by all cuts.
double rooted_by_all_cuts(const Topology& topology, std::size_t root, bool gathers) {
  double worst = 0;
  const std::size_t all = (std::size_t{1} << topology.num_vertices()) - 1;
  for (std::size_t set = 1; set < all; ++set) {
    if ((set >> root) % 2 == 0 || count_nodes(topology, set) == topology.num_nodes()) continue;
    worst = std::max(worst, 1 / rate_across(topology, gathers ? set : all - set));
  }
  return worst;
}

}  // namespace

TEST_CASE("A minimum cut is found with its source side") {
  WideFlow network(4);
  network.add_arc(0, 1, 3);
  network.add_arc(0, 2, 5);
  network.add_arc(1, 3, 7);
  network.add_arc(2, 3, 2);
  network.add_arc(2, 1, 1);
  CHECK(static_cast<int>(network.max_flow(0, 3)) == 6);
  CHECK(network.on_source_side(0));
  CHECK(network.on_source_side(2));
  CHECK_FALSE(network.on_source_side(1));
  CHECK_FALSE(network.on_source_side(3));
  // Again after a change: capacities are not used up.
  network.set_capacity(0, 1);
  CHECK(static_cast<int>(network.max_flow(0, 3)) == 4);
}

TEST_CASE("Bounds equal brute force over all cuts and partitions where rates are symmetric") {
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    compare_with_brute_force(
        random_network(random, 2 + test::pick(random, 6), 0, Rates::equal_both_ways));
  }
}

TEST_CASE("Bounds equal brute force where the two directions of a cable differ") {
  for (std::uint32_t seed = 1001; seed <= 1150; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    compare_with_brute_force(random_network(random, 2 + test::pick(random, 6), 0, Rates::any));
  }
}

TEST_CASE("Bounds equal brute force on networks with switches") {
  for (std::uint32_t seed = 2001; seed <= 2080; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::size_t nodes = 2 + test::pick(random, 4);
    compare_with_brute_force(random_network(random, nodes, 1 + test::pick(random, 3),
                                            seed % 2 == 0 ? Rates::any : Rates::equal_both_ways));
  }
}

TEST_CASE("Bounds of small grids equal brute force, so the short cut for tori is right") {
  const std::vector<std::vector<std::uint32_t>> shapes{{2}, {5}, {2, 2}, {2, 3}, {3, 3}, {2, 2, 2}};
  for (const auto& dims : shapes) {
    for (const bool wraps : {true, false}) {
      const Topology topology = wraps ? make_torus(dims, kPlainLink) : make_mesh(dims, kPlainLink);
      CAPTURE(topology.name());
      compare_with_brute_force(topology);
    }
  }
}

TEST_CASE("An 8x8 torus all-reduces at most 32.5 GB/s over 16 GB/s links") {
  const Topology topology = make_torus({8, 8}, kPlainLink);
  const BandwidthBound bound = bandwidth_bound(topology, CollectiveOp::all_reduce);
  CHECK(1 / bound.seconds_per_byte == Approx(256.0 * kRate / 126).epsilon(1e-12));
  CHECK(1e-9 / bound.seconds_per_byte == Approx(32.5).epsilon(1e-3));
  CHECK(bound.cut == "partition into 64 single nodes");
  const BandwidthBound gather = bandwidth_bound(topology, CollectiveOp::all_gather);
  CHECK(gather.seconds_per_byte == Approx(63.0 / 64 / 4 / kRate).epsilon(1e-12));
  CHECK(gather.cut == "each node alone: 4 links in, 64 GB/s");
  CHECK(bandwidth_bound(topology, CollectiveOp::reduce_scatter).cut ==
        "each node alone: 4 links out, 64 GB/s");
}

TEST_CASE("On an 8x8 mesh all single nodes bind an all-reduce and a corner the others") {
  const Topology topology = make_mesh({8, 8}, kPlainLink);
  const BandwidthBound all_reduce = bandwidth_bound(topology, CollectiveOp::all_reduce);
  CHECK(all_reduce.seconds_per_byte == Approx(63.0 / 112 / kRate).epsilon(1e-12));
  CHECK(all_reduce.cut == "partition into 64 single nodes");
  const BandwidthBound scatter = bandwidth_bound(topology, CollectiveOp::reduce_scatter);
  CHECK(scatter.seconds_per_byte == Approx(63.0 / 64 / 2 / kRate).epsilon(1e-12));
  CHECK(scatter.cut == "cut {r_0_0} | rest: 2 links out, 32 GB/s");
}

TEST_CASE("A narrow bridge is named as the cut that limits the bandwidth") {
  // Two squares with diagonals, joined by one cable.
  std::vector<std::pair<std::size_t, std::size_t>> pairs{{3, 4}};
  for (const std::size_t base : {0U, 4U}) {
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = a + 1; b < 4; ++b) pairs.emplace_back(base + a, base + b);
    }
  }
  const BandwidthBound bound = bandwidth_bound(test::cables(8, pairs), CollectiveOp::all_reduce);
  CHECK(bound.seconds_per_byte == Approx(1 / kRate).epsilon(1e-12));
  CHECK(bound.cut == "cut {n0, n1, n2, n3} | rest: 1 link out, 16 GB/s");
}

TEST_CASE("Single links of nodes bind: 2(N-1)/N of the data at a link's rate") {
  for (const Topology& topology :
       {make_single_switch(4, kPlainLink), make_switch_pair(4, kPlainLink),
        make_fat_tree(8, 8, 8, kPlainLink), make_fat_tree(2, 4, 3, kPlainLink),
        make_bigraph(4, 8, kPlainLink), make_bigraph(4, 16, kPlainLink),
        make_fat_tree(4, 2, 1, kPlainLink), make_dragonfly(2, 4, 9, kPlainLink)}) {
    CAPTURE(topology.name());
    const auto nodes = static_cast<double>(topology.num_nodes());
    const BandwidthBound all_reduce = bandwidth_bound(topology, CollectiveOp::all_reduce);
    CHECK(all_reduce.seconds_per_byte == Approx(2 * (nodes - 1) / nodes / kRate).epsilon(1e-12));
    for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
      CHECK(bandwidth_bound(topology, op).seconds_per_byte ==
            Approx((nodes - 1) / nodes / kRate).epsilon(1e-12));
    }
  }
}

TEST_CASE(
    "Bounds of small fully connected networks equal brute force, so their short cut is right") {
  for (const std::uint32_t nodes : {2U, 3U, 4U, 5U, 6U}) {
    const Topology topology = make_fully_connected(nodes, kPlainLink);
    CAPTURE(topology.name());
    compare_with_brute_force(topology);
  }
  const BandwidthBound bound =
      bandwidth_bound(make_fully_connected(64, kPlainLink), CollectiveOp::all_reduce);
  CHECK(bound.seconds_per_byte == Approx(2.0 / 64 / kRate).epsilon(1e-12));
}

TEST_CASE("Rate and latency count together: the last link's, or the way from the farthest node") {
  const Topology topology = make_torus({8, 8}, kPlainLink);
  const CollectiveBound small = collective_bound(topology, CollectiveOp::all_reduce, 64);
  CHECK(small.seconds == Approx(8 * 150e-9 + 64 / (4 * kRate)).epsilon(1e-12));
  CHECK(small.binding == "r_0_0: 4 links in, 64 GB/s, and 1200 ns from r_4_4");
  const CollectiveBound large = collective_bound(topology, CollectiveOp::all_reduce, 1 << 24);
  CHECK(large.bandwidth_seconds == Approx((1 << 24) * 126.0 / 256 / kRate).epsilon(1e-12));
  // A message is of use if it arrives before the end.
  CHECK(large.seconds == Approx(large.bandwidth_seconds + 150e-9).epsilon(1e-12));
  CHECK(large.binding == "partition into 64 single nodes");
  CHECK(large.schedules == ScheduleClass::any);
  CHECK(collective_bound(topology, CollectiveOp::all_reduce, 0).seconds == 0);
}

TEST_CASE("What comes from afar passes a node's links only after its distance") {
  // Four nodes in a line, 150 ns a hop: from node 0, 1 is one hop away, 2 two and 3 three.
  const Topology line = make_mesh({4}, kPlainLink);
  const double hop = 150e-9;
  const auto seconds = [&](CollectiveOp op, Bytes part) {
    return collective_bound(line, op, 4 * part).seconds;
  };
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    CAPTURE(to_string(op));
    // Little data: one part from three hops away. Much data: all three parts from one hop on.
    CHECK(seconds(op, 16) == Approx(3 * hop + 16 / kRate).epsilon(1e-12));
    CHECK(seconds(op, 1 << 20) == Approx(hop + 3 * (1 << 20) / kRate).epsilon(1e-12));
  }
  // Much data: the link in the middle carries four parts, little data: one from three hops away.
  CHECK(seconds(CollectiveOp::all_to_all, 16) == Approx(3 * hop + 16 / kRate).epsilon(1e-12));
  CHECK(seconds(CollectiveOp::all_to_all, 1 << 20) ==
        Approx(hop + 4 * (1 << 20) / kRate).epsilon(1e-12));
  CHECK(seconds(CollectiveOp::all_reduce, 16) == Approx(3 * hop + 4 * 16 / kRate).epsilon(1e-12));
}

TEST_CASE("A ball counts where the links of a node are wide and those around it narrow") {
  // A box of three nodes, a to c, with wide links; a narrow cable from c to d, e and f.
  Topology boxes("boxes");
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) boxes.add_node(name);
  const LinkSpec wide{100'000, 16'000'000'000};
  const LinkSpec narrow{500'000, 1'000'000'000};
  for (const std::size_t base : {0U, 3U}) {
    test::add_cable(boxes, base, base + 1, wide, wide);
    test::add_cable(boxes, base + 1, base + 2, wide, wide);
  }
  test::add_cable(boxes, 2, 3, narrow, narrow);
  // Three parts of 1000 bytes over the cable, 1 us each, 500 ns of it, and 200 ns to node a, which
  // the last of them has still to cross.
  const CollectiveBound bound = collective_bound(boxes, CollectiveOp::all_gather, 6000);
  CHECK(bound.seconds == Approx(3e-6 + 500e-9 + 200e-9).epsilon(1e-12));
  CHECK(collective_bound(boxes, CollectiveOp::reduce_scatter, 6000).seconds ==
        Approx(bound.seconds).epsilon(1e-12));
  // All 6000 bytes wait for node f and go to node a, 900 ns.
  const CollectiveBound reduce = collective_bound(boxes, CollectiveOp::all_reduce, 6000);
  CHECK(reduce.seconds == Approx(6e-6 + 900e-9).epsilon(1e-12));
  CHECK(reduce.binding == "the 3 nodes within 200 ns of a: 1 link in, 1 GB/s, and 900 ns from f");
}

TEST_CASE("One way's rates count: into a node for a gather, out of it for a scatter") {
  Topology pair("pair");
  for (const char* name : {"a", "b"}) pair.add_node(name);
  test::add_cable(pair, 0, 1, {100, 4'000'000'000}, {300, 1'000'000'000});
  const auto seconds = [&](CollectiveOp op) { return collective_bound(pair, op, 2000).seconds; };
  // 1000 bytes at 1 GB/s take 1 us, and the link 300 ps.
  CHECK(seconds(CollectiveOp::all_gather) == Approx(1e-6 + 300e-12).epsilon(1e-12));
  CHECK(seconds(CollectiveOp::reduce_scatter) == Approx(1e-6 + 300e-12).epsilon(1e-12));
  CHECK(seconds(CollectiveOp::all_reduce) == Approx(2e-6 + 300e-12).epsilon(1e-12));
}

TEST_CASE("Nodes without a part of a small collective do not limit the bound") {
  const Topology line = make_mesh({4}, kPlainLink);
  const double hop = 150e-9;
  const auto seconds = [&](CollectiveOp op, const std::vector<Bytes>& parts) {
    const CollectiveBound bound = collective_bound(line, op, 4, parts);
    CHECK(bound.bandwidth_seconds == 0);
    return bound.seconds;
  };
  for (const CollectiveOp op :
       {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_to_all}) {
    CAPTURE(to_string(op));
    CHECK(seconds(op, {4, 0, 0, 0}) == Approx(3 * hop + 4 / kRate).epsilon(1e-12));
  }
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    CAPTURE(to_string(op));
    CHECK(seconds(op, {0, 4, 0, 0}) == Approx(2 * hop + 4 / kRate).epsilon(1e-12));
  }
  // Two nodes send to node 1 from the right.
  CHECK(seconds(CollectiveOp::all_to_all, {0, 4, 0, 0}) ==
        Approx(2 * hop + 4 / kRate).epsilon(1e-12));
  CHECK(collective_bound(line, CollectiveOp::all_reduce, 4, {0, 4, 0, 0}).seconds ==
        Approx(3 * hop + 4 / kRate).epsilon(1e-12));
}

TEST_CASE("The bound counts uneven parts as they are") {
  const Topology ring = make_torus({4}, kPlainLink);
  const Bytes quarter = 1 << 22;
  const CollectiveBound even = collective_bound(ring, CollectiveOp::all_gather, 4 * quarter);
  const CollectiveBound uneven = collective_bound(ring, CollectiveOp::all_gather, 4 * quarter + 8,
                                                  {quarter + 4, quarter + 4, quarter, quarter});
  CHECK(uneven.bandwidth_seconds == even.bandwidth_seconds);
  // Node 0 has to receive 4 bytes more over its two links.
  CHECK(uneven.seconds - even.seconds == Approx(4 / (2 * kRate)).epsilon(1e-3));
}

TEST_CASE("Distance is measured in latency and not in links") {
  Topology topology("triangle");
  for (const char* name : {"a", "b", "c"}) topology.add_node(name);
  const std::uint64_t rate = 1'000'000'000'000'000;
  test::add_cable(topology, 0, 1, {900, rate}, {900, rate});
  test::add_cable(topology, 0, 2, {100, rate}, {100, rate});
  test::add_cable(topology, 2, 1, {200, rate}, {200, rate});
  CHECK(collective_bound(topology, CollectiveOp::all_gather, 3).seconds == Approx(300e-12 + 1e-15));
}

TEST_CASE("An all_reduce in two phases takes the corner's links twice") {
  const Topology mesh = make_mesh({8, 8}, kPlainLink);
  const Bytes size = 1 << 24;
  const double corner = 63.0 / 64 * size / (2 * kRate);
  // Two of the corner's phases; the packed trees' bound is 1.75 times shorter.
  CHECK(two_phase_seconds(mesh, size) == Approx(2 * (corner + 150e-9)).epsilon(1e-12));
  CHECK(two_phase_seconds(mesh, size) /
            collective_bound(mesh, CollectiveOp::all_reduce, size).seconds ==
        Approx(112.0 / 64).epsilon(1e-3));
  // On a torus both are the same but for one more latency.
  const Topology torus = make_torus({4, 4}, kPlainLink);
  CHECK(two_phase_seconds(torus, size) ==
        Approx(collective_bound(torus, CollectiveOp::all_reduce, size).seconds + 150e-9)
            .epsilon(1e-12));
}

TEST_CASE("Rates that share no large divisor stay exact") {
  // The ratio of both cuts differs in the tenth digit only.
  Topology topology("pair of paths");
  for (const char* name : {"a", "b", "c"}) topology.add_node(name);
  const LinkSpec odd{1, 99'999'999'977};
  const LinkSpec even{1, 100'000'000'003};
  test::add_cable(topology, 0, 1, odd, odd);
  test::add_cable(topology, 1, 2, even, even);
  const BandwidthBound bound = bandwidth_bound(topology, CollectiveOp::all_gather);
  CHECK(bound.seconds_per_byte == 2.0 / 99'999'999'977.0 / 3.0);
  CHECK(bound.cut == "cut {a} | rest: 1 link in, 100 GB/s");
}

TEST_CASE("A bound of a network in pieces or without bandwidth is refused") {
  CHECK_THROWS_AS(bandwidth_bound(test::cables(3, {{0, 1}}), CollectiveOp::all_gather),
                  std::invalid_argument);
  Topology dead("dead");
  for (const char* name : {"a", "b"}) dead.add_node(name);
  test::add_cable(dead, 0, 1, {1, 0}, {1, 1});
  CHECK_THROWS_AS(bandwidth_bound(dead, CollectiveOp::all_reduce), std::invalid_argument);
}

TEST_CASE("A broadcast or reduce is bound by the least cut between its root and a node") {
  std::mt19937 random(5);
  for (int i = 0; i < 30; ++i) {
    const std::size_t switches = test::pick(random, 3);
    const Topology topology =
        random_network(random, 3 + test::pick(random, 4), switches, Rates::any);
    Scope scope;
    scope.root = NodeId(test::pick(random, topology.num_nodes()));
    constexpr Bytes kSize = 1000;
    const auto bound = [&](CollectiveOp op) { return scoped_bound(topology, op, kSize, scope); };
    const CollectiveBound out = bound(CollectiveOp::broadcast);
    const CollectiveBound in = bound(CollectiveOp::reduce);
    CAPTURE(i, scope.root.value(), out.binding, in.binding);
    CHECK(out.bandwidth_seconds ==
          Approx(1000 * rooted_by_all_cuts(topology, scope.root.index(), true)));
    CHECK(in.bandwidth_seconds ==
          Approx(1000 * rooted_by_all_cuts(topology, scope.root.index(), false)));
    CHECK(out.seconds >= out.bandwidth_seconds);
  }
}

TEST_CASE("A broadcast along a line needs its latency and then the data") {
  const Topology line = make_mesh({4}, LinkSpec{100'000, 1'000'000'000});
  Scope scope;
  scope.root = NodeId(0);
  const CollectiveBound bound = scoped_bound(line, CollectiveOp::broadcast, 1000, scope);
  CHECK(bound.bandwidth_seconds == Approx(1e-6));
  CHECK(bound.seconds == Approx(1.3e-6));
  scope.groups = {RankGroup{{NodeId(0), NodeId(1)}}};
  CHECK(scoped_bound(line, CollectiveOp::broadcast, 1000, scope).seconds == Approx(1.1e-6));
}

TEST_CASE("An all_to_allv with equal counts is an all_to_all") {
  for (const Topology& topology :
       {make_mesh({3, 3}, kPlainLink), make_torus({4, 4}, kPlainLink),
        make_gpu_cluster({2, 4, 2, 2}, kPlainLink, {300'000, 5'000'000'000})}) {
    const std::size_t nodes = topology.num_nodes();
    Scope scope;
    scope.counts.assign(nodes * nodes, 1000);
    for (std::size_t n = 0; n < nodes; ++n) scope.counts[n * nodes + n] = 0;
    const CollectiveBound uneven =
        scoped_bound(topology, CollectiveOp::all_to_allv, 1000 * nodes, scope);
    const CollectiveBound even = collective_bound(topology, CollectiveOp::all_to_all, 1000 * nodes);
    CAPTURE(topology.name(), uneven.binding, even.binding);
    CHECK(uneven.bandwidth_seconds == Approx(even.bandwidth_seconds).epsilon(2e-3));
  }
}

TEST_CASE("The bound of an all_to_allv in a group names no node outside of it") {
  constexpr std::uint64_t kSeed = 4711;
  std::mt19937_64 random(kSeed);
  CAPTURE(kSeed);
  for (const Topology& topology :
       {make_torus({4, 4}, kPlainLink), make_single_switch(5, kPlainLink),
        make_mesh({3, 2}, kPlainLink)}) {
    const std::size_t nodes = topology.num_nodes();
    for (int i = 0; i < (test::kSanitized ? 7 : 30); ++i) {
      Scope scope;
      scope.groups.emplace_back();
      for (std::size_t n = 0; n < nodes; ++n) {
        if (random() % 2 == 0) scope.groups.front().members.emplace_back(n);
      }
      if (scope.groups.front().members.size() < 2) continue;
      scope.counts.assign(nodes * nodes, 0);
      for (const NodeId from : scope.groups.front().members) {
        for (const NodeId to : scope.groups.front().members) {
          if (from != to) scope.counts[from.index() * nodes + to.index()] = random() % 5000;
        }
      }
      const Bytes most = *std::max_element(scope.counts.begin(), scope.counts.end());
      const CollectiveBound bound =
          scoped_bound(topology, CollectiveOp::all_to_allv, scope.all_counts(), scope);
      CAPTURE(topology.name(), bound.binding);
      CHECK(bound.seconds > 0);
      // No node has more than four links.
      CHECK(bound.bandwidth_seconds * 4 * static_cast<double>(kPlainLink.bytes_per_second) >=
            static_cast<double>(most) * (1 - 1e-9));
      REQUIRE(bound.certificate);
      if (const auto* cut = std::get_if<CrossingCertificate>(&*bound.certificate)) {
        for (const NodeId node : cut->from) CHECK(scope.has(node));
        for (const NodeId node : cut->to) CHECK(scope.has(node));
      }
    }
  }
}

TEST_CASE("One pair of an all_to_allv is bound by all disjoint paths between the two") {
  // From corner to corner of a mesh there are two.
  const Topology mesh = make_mesh({3, 3}, LinkSpec{100'000, 1'000'000'000});
  Scope scope;
  scope.counts.assign(81, 0);
  scope.counts[8] = 4000;  // from 0 to 8
  const CollectiveBound bound = scoped_bound(mesh, CollectiveOp::all_to_allv, 4000, scope);
  CHECK(bound.bandwidth_seconds == Approx(2e-6));
  CHECK(bound.seconds == Approx(2.4e-6));
}
