// Certificates of bounds: every bound has one that proves it, and wrong ones are refused.
#include "alg/bounds/certificate.h"

#include <catch2/catch.hpp>

#include "alg/bounds/bounds.h"
#include "test_graphs.h"
#include "test_networks.h"
#include "tests/support/networks.h"

using namespace espalier;
using test::kPlainLink;

namespace {

constexpr CollectiveOp kBoundOps[] = {CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                                      CollectiveOp::all_reduce, CollectiveOp::all_to_all};
constexpr Bytes kBoundSize = 1 << 20;

// A network whose links differ, some of them one-way.
Topology uneven_network(std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::size_t nodes = 3 + test::pick(random, 6);
  const std::size_t switches = test::pick(random, 3);
  Topology topology("uneven");
  for (std::size_t n = 0; n < nodes; ++n) topology.add_node(fmt::format("n{}", n));
  for (std::size_t s = 0; s < switches; ++s) topology.add_switch(fmt::format("s{}", s));
  const auto link = [&] {
    return LinkSpec{1000 * (1 + test::pick(random, 300)),
                    1'000'000'000 * (1 + test::pick(random, 16))};
  };
  for (const auto& [a, b] : test::random_pairs(random, nodes + switches, 4)) {
    const LinkSpec there = link();
    const LinkSpec back = link();
    test::add_cable(topology, a, b, there, back);
  }
  for (int i = 0; i < 3; ++i) {
    const std::size_t from = test::pick(random, nodes);
    const LinkSpec spec = link();
    topology.add_link(NodeId(from), NodeId((from + 1) % nodes), spec, fmt::format("w{}", i),
                      fmt::format("w{}", i));
  }
  return topology;
}

constexpr CollectiveOp kScopedOps[] = {CollectiveOp::broadcast, CollectiveOp::reduce,
                                       CollectiveOp::all_to_allv, CollectiveOp::all_reduce};

// A root, counts, and for an all_reduce all nodes but the last one.
Scope random_scope(const Topology& topology, CollectiveOp op, std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::size_t nodes = topology.num_nodes();
  Scope scope;
  if (op == CollectiveOp::all_to_allv) {
    for (std::size_t pair = 0; pair < nodes * nodes; ++pair) {
      const bool itself = pair / nodes == pair % nodes;
      scope.counts.push_back(itself ? 0 : test::pick(random, 3) * kBoundSize / 7);
    }
  } else if (op == CollectiveOp::all_reduce) {
    scope.groups.emplace_back();
    for (std::size_t n = 0; n + 1 < nodes; ++n) scope.groups.front().members.emplace_back(n);
  } else {
    scope.root = NodeId(test::pick(random, nodes));
  }
  return scope;
}

// The seconds that one certificate proves for a demand.
struct Question {
  Topology topology;
  Demand demand;
  [[nodiscard]] std::string problem_of(const BoundCertificate& certificate) const {
    return prove(topology, demand, certificate).problem;
  }
};

// Four nodes in a line, data from its left half to its right half.
const CrossingCertificate kRightHalf{
    {false, false, true, true}, {NodeId(0), NodeId(1)}, {NodeId(2), NodeId(3)}};

Question line_question(CollectiveOp op) { return {make_mesh({4}, kPlainLink), {op, 4000, {}, {}}}; }

}  // namespace

TEST_CASE("Every bound has a certificate that proves it") {
  std::vector<Topology> networks = test::small_networks();
  for (std::uint32_t seed = 1; seed <= 40; ++seed) networks.push_back(uneven_network(seed));
  for (const Topology& topology : networks) {
    for (const CollectiveOp op : kBoundOps) {
      CAPTURE(topology.name(), to_string(op));
      const CollectiveBound bound = collective_bound(topology, op, kBoundSize);
      const ProvenBound proven = prove(topology, {op, kBoundSize, {}, {}}, *bound.certificate);
      CHECK(proven.problem == "");
      CHECK(proven.seconds == bound.seconds);
      CHECK(bound.seconds > bound.bandwidth_seconds * (1 - 1e-9));
    }
  }
}

TEST_CASE(
    "Every bound of a root, of counts and of a group with relays has a certificate that proves "
    "it") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const Topology topology = uneven_network(seed);
    for (const CollectiveOp op : kScopedOps) {
      CAPTURE(seed, to_string(op));
      const Scope scope = random_scope(topology, op, seed);
      const CollectiveBound bound = scoped_bound(topology, op, kBoundSize, scope);
      REQUIRE(bound.certificate);
      const ProvenBound proven = prove(topology, {op, kBoundSize, {}, scope}, *bound.certificate);
      CHECK(proven.problem == "");
      CHECK(proven.seconds == bound.seconds);
      CHECK(bound.seconds > bound.bandwidth_seconds * (1 - 1e-9));
    }
  }
}

TEST_CASE(
    "A crossing of a broadcast or reduce counts all data of the root, of an all_to_allv its "
    "pairs") {
  const auto seconds = [](const Demand& demand, const CrossingCertificate& crossing) {
    const Question question{make_mesh({4}, kPlainLink), demand};
    CHECK(question.problem_of(crossing) == "");
    return prove(question.topology, demand, crossing).seconds;
  };
  CrossingCertificate crossing = kRightHalf;
  crossing.from = {NodeId(0)};
  Scope scope;
  scope.root = NodeId(0);
  // 16 GB/s; the nearer node of the right half is two links of 150 ns away.
  CHECK(seconds({CollectiveOp::broadcast, 4000, {}, scope}, crossing) ==
        Approx(4000 / 16e9 + 300e-9));
  crossing = kRightHalf;
  crossing.to = {NodeId(3)};
  scope.root = NodeId(3);
  CHECK(seconds({CollectiveOp::reduce, 4000, {}, scope}, crossing) == Approx(4000 / 16e9 + 300e-9));
  Scope counts;
  counts.counts.assign(16, 0);
  counts.counts[1 * 4 + 2] = 600;
  counts.counts[0 * 4 + 3] = 1000;
  counts.counts[2 * 4 + 1] = 9000;  // the other way
  const Demand exchange{CollectiveOp::all_to_allv, 9000, {}, counts};
  CHECK(seconds(exchange, kRightHalf) == Approx(1600 / 16e9 + 150e-9));
  const Topology line = make_mesh({4}, kPlainLink);
  const ProvenBound paid = prove(line, exchange, PriceCertificate{std::vector<double>(6, 1.0)});
  CHECK(paid.seconds == Approx((600 + 3 * 1000 + 9000) / (6 * 16e9) + 150e-9));
}

TEST_CASE("The checker refuses crossings of data that nobody sends or awaits") {
  Scope scope;
  scope.root = NodeId(1);
  CHECK(Question{make_mesh({4}, kPlainLink), {CollectiveOp::broadcast, 4000, {}, scope}}.problem_of(
            kRightHalf) == "a broadcast's data come from its root");
  CHECK(Question{make_mesh({4}, kPlainLink), {CollectiveOp::reduce, 4000, {}, scope}}.problem_of(
            kRightHalf) == "only the root of a reduce waits for data");
  scope.groups = {RankGroup{{NodeId(0), NodeId(1), NodeId(3)}}};
  CHECK(
      Question{make_mesh({4}, kPlainLink), {CollectiveOp::all_reduce, 4000, {}, scope}}.problem_of(
          kRightHalf) == "r_2 receives and takes no part");
  const PartitionCertificate without_member{{{NodeId(0), NodeId(1), NodeId(3)}, {NodeId(2)}}, true};
  CHECK(
      Question{make_mesh({4}, kPlainLink), {CollectiveOp::all_reduce, 4000, {}, scope}}.problem_of(
          without_member) == "part 2 has no node that takes part");
  CHECK(line_question(CollectiveOp::all_to_allv).problem_of(kRightHalf) ==
        "the counts are of another network");
}

TEST_CASE("A certificate of a network with slower links proves less on the real one") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Topology topology = uneven_network(seed);
    for (const CollectiveOp op : kBoundOps) {
      CAPTURE(seed, to_string(op));
      const CollectiveBound bound = collective_bound(topology, op, kBoundSize);
      Topology faster("faster");
      for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
        const std::string& name = topology.vertex_name(NodeId(v));
        (topology.is_switch(NodeId(v)) ? faster.add_switch(name) : faster.add_node(name));
      }
      for (const TopologyLink& link : topology.links()) {
        LinkSpec spec = link.spec;
        spec.bytes_per_second += spec.bytes_per_second / 50;
        faster.add_link(link.from, link.to, spec, link.out_name, link.in_name);
      }
      const ProvenBound proven = prove(faster, {op, kBoundSize, {}, {}}, *bound.certificate);
      CHECK(proven.problem == "");
      CHECK(proven.seconds < bound.seconds);
    }
  }
}

TEST_CASE("A crossing counts the bytes of its operation, the rate of its border and the way") {
  // Each part has 1000 bytes; one link of 16 GB/s crosses, 150 ns.
  const auto seconds = [](CollectiveOp op, const CrossingCertificate& crossing) {
    const Question question = line_question(op);
    const ProvenBound proven = prove(question.topology, question.demand, crossing);
    CHECK(proven.problem == "");
    return proven.seconds;
  };
  const auto expected = [](double bytes, int hops) { return Approx(bytes / 16e9 + hops * 150e-9); };
  CHECK(seconds(CollectiveOp::all_gather, kRightHalf) == expected(2000, 1));
  CHECK(seconds(CollectiveOp::reduce_scatter, kRightHalf) == expected(2000, 1));
  CHECK(seconds(CollectiveOp::all_to_all, kRightHalf) == expected(4000, 1));
  CHECK(seconds(CollectiveOp::all_reduce, kRightHalf) == expected(4000, 1));
  CrossingCertificate ends = kRightHalf;
  ends.from = {NodeId(0)};
  ends.to = {NodeId(3)};
  CHECK(seconds(CollectiveOp::all_gather, ends) == expected(1000, 3));
  CHECK(seconds(CollectiveOp::reduce_scatter, ends) == expected(1000, 3));
  CHECK(seconds(CollectiveOp::all_to_all, ends) == expected(1000, 3));
  CHECK(seconds(CollectiveOp::all_reduce, ends) == expected(4000, 3));
}

TEST_CASE("Links that open later take less of the data") {
  // From a to b directly, 1 GB/s and 100 ns, or over c, 1 GB/s and 1100 ns.
  Topology topology("two ways");
  for (const char* name : {"a", "b", "c"}) topology.add_node(name);
  const auto one_way = [&](std::size_t from, std::size_t to, std::uint64_t picoseconds) {
    test::add_one_way(topology, from, to, {picoseconds, 1'000'000'000});
  };
  one_way(0, 1, 100'000);
  one_way(0, 2, 100'000);
  one_way(2, 1, 1'000'000);
  one_way(1, 0, 100'000);
  const CrossingCertificate into_b{{false, true, false}, {NodeId(0)}, {NodeId(1)}};
  const auto seconds = [&](Bytes size) {
    return prove(topology, {CollectiveOp::all_reduce, size, {}, {}}, into_b).seconds;
  };
  CHECK(seconds(900) == Approx(100e-9 + 900e-9));           // the direct link alone
  CHECK(seconds(3000) == Approx((3000e-9 + 1200e-9) / 2));  // both, the second one for 1 us less
}

TEST_CASE("The checker refuses crossings that prove nothing") {
  const Question question = line_question(CollectiveOp::all_gather);
  CHECK(question.problem_of(kRightHalf) == "");
  CrossingCertificate wrong = kRightHalf;
  wrong.into[1] = true;
  CHECK(question.problem_of(wrong) == "r_1 sends and is in the set");
  wrong = kRightHalf;
  wrong.into[3] = false;
  CHECK(question.problem_of(wrong) == "r_3 receives and is not in the set");
  wrong = kRightHalf;
  wrong.into.push_back(true);
  CHECK(question.problem_of(wrong) == "the set is of another network");
  wrong = kRightHalf;
  wrong.from.push_back(NodeId(0));
  CHECK(question.problem_of(wrong) == "r_0 sends twice");
  wrong = kRightHalf;
  wrong.to.push_back(NodeId(9));
  CHECK(question.problem_of(wrong) == "a vertex that receives is no node");
  wrong = kRightHalf;
  wrong.from.clear();
  CHECK(question.problem_of(wrong) == "no node sends or none receives");
  CHECK(line_question(CollectiveOp::custom).problem_of(kRightHalf) ==
        "data of custom need not cross");
}

TEST_CASE("The checker refuses partitions that prove nothing") {
  const Question question{make_single_switch(3, kPlainLink),
                          {CollectiveOp::all_reduce, 3000, {}, {}}};
  const PartitionCertificate right{{{NodeId(0)}, {NodeId(1)}, {NodeId(2)}}, true};
  const ProvenBound proven = prove(question.topology, question.demand, right);
  CHECK(proven.problem == "");
  // Twice two crossings over three links, and both links to the next node.
  CHECK(proven.seconds == Approx(4 * 3000 / 48e9 + 300e-9));
  PartitionCertificate wrong = right;
  wrong.parts[1].push_back(NodeId(2));
  CHECK(question.problem_of(wrong) == "n_2 is in two parts");
  wrong = right;
  wrong.parts.pop_back();
  CHECK(question.problem_of(wrong) == "n_2 is in no part");
  wrong.parts.pop_back();
  CHECK(question.problem_of(wrong) == "a partition has at least two parts");
  wrong = right;
  wrong.parts.push_back({NodeId(3)});
  CHECK(question.problem_of(wrong) == "part 4 has no node that takes part");
  wrong = right;
  wrong.parts[0].push_back(NodeId(0));
  CHECK(question.problem_of(wrong) == "n_0 is in a part twice");
  wrong = right;
  wrong.parts[0].push_back(NodeId(7));
  CHECK(question.problem_of(wrong) == "a part has a vertex of another network");
  const Question gather{question.topology, {CollectiveOp::all_gather, 3000, {}, {}}};
  CHECK(gather.problem_of(right) == "partitions bind an all_reduce, or several groups");
}

TEST_CASE("The checker refuses prices that prove nothing") {
  const Question question = line_question(CollectiveOp::all_to_all);
  const PriceCertificate right{std::vector<double>(6, 1.0)};
  const ProvenBound proven = prove(question.topology, question.demand, right);
  CHECK(proven.problem == "");
  // 20 hops of 1000 bytes over six links, and one of them at the end.
  CHECK(proven.seconds == Approx(20 * 1000 / (6 * 16e9) + 150e-9));
  CHECK(question.problem_of(PriceCertificate{std::vector<double>(5, 1.0)}) ==
        "the prices are of another network");
  CHECK(question.problem_of(PriceCertificate{{1, 1, 1, -1, 1, 1}}) ==
        "a price is not a number from 0 on");
  CHECK(question.problem_of(PriceCertificate{{1, 1, 1, 0.0 / 0.0, 1, 1}}) ==
        "a price is not a number from 0 on");
  CHECK(question.problem_of(PriceCertificate{std::vector<double>(6, 0.0)}) ==
        "no link has a price");
  CHECK(line_question(CollectiveOp::all_gather).problem_of(right) ==
        "prices bind exchanges, or an all_gather or reduce_scatter of several groups");
}

namespace {

// Two leaves of four nodes with links of 4 GB/s, joined by one of 16 GB/s both ways. A byte that
// leaves a leaf to a node holds its crossbar input for 1/4 ns, one that leaves to the other leaf
// for 1/16 ns. Links take 100 ns.
struct TwoLeaves {
  TwoLeaves() {
    for (int n = 0; n < 8; ++n) topology.add_node(fmt::format("n{}", n));
    topology.add_switch("l0");
    topology.add_switch("l1");
    const LinkSpec slow{100'000, 4'000'000'000};
    const LinkSpec fast{100'000, 16'000'000'000};
    for (std::size_t n = 0; n < 8; ++n) test::add_cable(topology, n, 8 + n / 4, slow, slow);
    test::add_cable(topology, 8, 9, fast, fast);
    for (const TopologyLink& link : topology.links()) {
      demand.held.push_back(1 / static_cast<double>(link.spec.bytes_per_second));
      uplinks.input.push_back(topology.is_switch(link.from) && topology.is_switch(link.to));
    }
    uplinks.price.assign(topology.num_links(), 0);
  }
  Topology topology{"two leaves"};
  Demand demand{CollectiveOp::all_to_all, 8000, {}, {}};
  PriceCertificate uplinks;  // asks for the inputs behind the fast links alone
};

}  // namespace

TEST_CASE("A slow output holds a switch's crossbar input, and data that cross pay for the time") {
  TwoLeaves two;
  // 16 pairs of 1000 bytes cross each fast link, which is 100 ns behind a node; at the end data
  // need 100 ns to a node.
  const double held = 16'000 * 0.25e-9;
  const ProvenBound proven = prove(two.topology, two.demand, two.uplinks);
  CHECK(proven.problem == "");
  CHECK(proven.seconds == Approx(held + 300e-9));
  // The links alone: seven parts into every node, 16 over a link that is four times as fast.
  const CollectiveBound links = collective_bound(two.topology, two.demand.op, 8000);
  CHECK(links.seconds == Approx(7000 * 0.25e-9 + 200e-9));
  const CollectiveBound both =
      collective_bound(two.topology, two.demand.op, 8000, {}, two.demand.held);
  CHECK(both.seconds == Approx(held + 300e-9).epsilon(2e-3));
  CHECK(both.seconds <= (held + 300e-9) * (1 + 1e-9));
  CHECK(
      both.binding ==
      "slower outputs hold the crossbar inputs of l0 and 1 more: with system.router.hold: flit or "
      "crossbar_inputs: vc the bound is 2.29 times lower");
  // The same as counts, one way only.
  Scope scope;
  scope.counts.assign(64, 0);
  for (std::size_t from = 0; from < 4; ++from) {
    for (std::size_t to = 4; to < 8; ++to) scope.counts[8 * from + to] = 1000;
  }
  const CollectiveBound counts =
      scoped_bound(two.topology, CollectiveOp::all_to_allv, 16'000, scope, two.demand.held);
  CHECK(counts.seconds == Approx(held + 300e-9).epsilon(2e-3));
  CHECK(counts.binding.rfind("slower outputs hold the crossbar inputs of l1:", 0) == 0);
  // Outputs that hold the inputs for half as long let a certificate prove half of the time.
  for (double& seconds : two.demand.held) seconds /= 2;
  CHECK(prove(two.topology, two.demand, *both.certificate).seconds ==
        Approx(held / 2 + 300e-9).epsilon(1e-2));
}

TEST_CASE("The checker refuses prices of crossbar inputs that nothing holds, or of nodes") {
  const TwoLeaves two;
  const auto problem = [&](const Demand& demand, const PriceCertificate& prices) {
    return prove(two.topology, demand, prices).problem;
  };
  CHECK(problem(two.demand, two.uplinks) == "");
  PriceCertificate wrong = two.uplinks;
  wrong.input[1] = 1;  // the link from l0 to n0
  CHECK(problem(two.demand, wrong) == "n0 is a node, where data may leave and enter again");
  wrong.input.pop_back();
  CHECK(problem(two.demand, wrong) == "the crossbar inputs are of another network");
  wrong = two.uplinks;
  wrong.input.back() = -1;
  CHECK(problem(two.demand, wrong) == "a price is not a number from 0 on");
  Demand demand = two.demand;
  demand.held[3] = -1;
  CHECK(problem(demand, two.uplinks) == "a byte holds a crossbar input for a negative time");
  demand.held.clear();
  CHECK(problem(demand, two.uplinks) == "slow outputs do not hold crossbar inputs");
}

TEST_CASE("The checker refuses dimensions that prove nothing") {
  const LinkSpec link{100'000, 10'000'000'000};
  DimensionSpec ring{DimensionShape::ring, 4, 2, link};
  DimensionSpec switched{DimensionShape::switched, 2, 1, link};
  switched.one_switch = true;
  const Question question{make_dimensions({ring, switched}),
                          {CollectiveOp::all_reduce, 8000, {}, {}}};
  // Twice 3 / 8 of the data over 20 GB/s; one of 2 parts each way over the switch, two links.
  CHECK(prove(question.topology, question.demand, DimensionCertificate{{0}}).seconds ==
        Approx(6000 / 20e9 + 100e-9));
  CHECK(prove(question.topology, question.demand, DimensionCertificate{{1}, true}).seconds ==
        Approx(2000 / 10e9 + 200e-9));
  CHECK(question.problem_of(DimensionCertificate{{1}}) == "the switches of dim2 add");
  CHECK(question.problem_of(DimensionCertificate{{0, 1}}) == "the switches of dim2 add");
  CHECK(question.problem_of(DimensionCertificate{{}}) == "no dimension is cut");
  CHECK(question.problem_of(DimensionCertificate{{2}}) == "there is no such dimension");
  CHECK(question.problem_of(DimensionCertificate{{0, 0}}) == "dimensions do not ascend");
  const Question exchange{question.topology, {CollectiveOp::all_to_all, 8000, {}, {}}};
  CHECK(exchange.problem_of(DimensionCertificate{{0}}) == "dimensions bind no all_to_all");
  CHECK(line_question(CollectiveOp::all_reduce).problem_of(DimensionCertificate{{0}}) ==
        "the network has no dimensions");
}

TEST_CASE("A certificate of dimensions says the same as its partition of the graph") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::vector<DimensionSpec> specs;
    for (std::size_t d = 0; d < 2 + test::pick(random, 2); ++d) {
      const auto size = static_cast<std::uint32_t>(2 + test::pick(random, 3));
      const auto shape = static_cast<DimensionShape>(test::pick(random, 3));
      const LinkSpec link{1000 * (1 + test::pick(random, 900)),
                          1'000'000'000 * (1 + test::pick(random, 50))};
      specs.push_back({shape, size, 2 * fewest_links(shape, size), link});
    }
    const Topology topology = make_dimensions(specs);
    const Demand demand{CollectiveOp::all_reduce, kBoundSize, {}, {}};
    DimensionCertificate cut;
    for (std::uint32_t d = 0; d < specs.size(); ++d) {
      if (d == 0 || test::pick(random, 2) == 0) cut.dimensions.push_back(d);
    }
    // Nodes are in one part if they have the same places in the dimensions that are cut, and so are
    // the switches of the other dimensions.
    const DimensionedShape& shape = *topology.dimensions();
    PartitionCertificate partition;
    std::vector<std::vector<std::uint32_t>> places;
    const auto part_of = [&](NodeId node) {
      std::vector<std::uint32_t> place;
      for (const std::uint32_t d : cut.dimensions) place.push_back(shape.coordinate(node, d));
      for (std::size_t part = 0; part < places.size(); ++part) {
        if (places[part] == place) return part;
      }
      places.push_back(place);
      partition.parts.emplace_back();
      return places.size() - 1;
    };
    for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
      const NodeId vertex(v);
      if (!topology.is_switch(vertex)) {
        partition.parts[part_of(vertex)].push_back(vertex);
        continue;
      }
      const LinkId first = topology.out_links(vertex).front();
      const auto d = static_cast<std::uint32_t>(topology.dimension_of(first));
      if (std::find(cut.dimensions.begin(), cut.dimensions.end(), d) == cut.dimensions.end()) {
        partition.parts[part_of(topology.link(first).to)].push_back(vertex);
      }
    }
    CAPTURE(seed, topology.name());
    const ProvenBound by_graph = prove(topology, demand, partition);
    CHECK(by_graph.problem == "");
    CHECK(prove(topology, demand, cut).seconds == Approx(by_graph.seconds).epsilon(1e-9));
  }
}
