// Several process groups in the schedule IR: what the certifier finds, and what bounds prove.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "alg/bounds/bounds.h"
#include "alg/generators/process_group.h"
#include "tests/support/certify_schedule.h"
#include "tests/support/networks.h"

using namespace espalier;

namespace {

constexpr LinkSpec kUnitLink{100, 1'000'000'000};

CollectiveRequest quads_request(CollectiveOp op, bool relays) {
  CollectiveRequest request;
  request.op = op;
  request.size = 12000;
  request.timing.slot_counter = true;
  request.groups = {{{NodeId(2), NodeId(0), NodeId(1), NodeId(3)}, 8000},
                    {{NodeId(4), NodeId(5), NodeId(3)}, 4000}};
  if (relays) request.relays.assign(6, false);
  return request;
}

// Each group then has up*/down* routes from its own rank 0.
Topology without_its_routes(const Topology& grid) {
  Topology graph(grid.name());
  for (std::size_t n = 0; n < grid.num_nodes(); ++n) graph.add_node(grid.vertex_name(NodeId(n)));
  for (const TopologyLink& link : grid.links()) {
    graph.add_link(link.from, link.to, link.spec, link.out_name, link.in_name);
  }
  return graph;
}

Schedule quads(const Topology& topology, CollectiveOp op) {
  return generate(*find_generator(op == CollectiveOp::all_to_all ? "a2a_paths" : "forest"),
                  topology, quads_request(op, true));
}

bool finds(const Topology& topology, const Schedule& schedule, ViolationKind kind) {
  const Certificate certificate = certify(topology, schedule);
  return std::any_of(certificate.violations.begin(), certificate.violations.end(),
                     [&](const Violation& violation) { return violation.kind == kind; });
}

constexpr CollectiveOp kGroupOps[] = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                      CollectiveOp::all_gather, CollectiveOp::all_to_all};

}  // namespace

TEST_CASE("A dropped message of any group is found") {
  const Topology full = make_fully_connected(6, kUnitLink);
  for (const CollectiveOp op : kGroupOps) {
    CAPTURE(to_string(op));
    const Schedule whole = quads(full, op);
    CHECK(certify(full, whole).ok());
    for (std::uint32_t group = 0; group < 2; ++group) {
      Schedule without(full);
      without = whole;
      without.transfers.clear();
      without.dependencies.clear();
      without.dependency_begin = {0};
      bool dropped = false;
      std::vector<TransferId> renamed;
      for (std::size_t t = 0; t < whole.transfers.size(); ++t) {
        const Transfer& transfer = whole.transfers[t];
        renamed.emplace_back(without.transfers.size());
        // A message that nobody waits for, so that the rest stays as it is.
        const TransferId id(t);
        const bool awaited = std::find(whole.dependencies.begin(), whole.dependencies.end(), id) !=
                             whole.dependencies.end();
        if (!dropped && !awaited && whole.chunks[transfer.first_chunk.index()].group == group) {
          dropped = true;
          continue;
        }
        std::vector<TransferId> after;
        for (const TransferId d : whole.dependencies_of(id)) after.push_back(renamed[d.index()]);
        without.add(transfer, after);
      }
      REQUIRE(dropped);
      CHECK(finds(full, without, ViolationKind::postcondition));
    }
  }
}

TEST_CASE("Chunks of a wrong group, and groups of wrong sizes, are found") {
  const Topology full = make_fully_connected(6, kUnitLink);
  for (const CollectiveOp op : kGroupOps) {
    CAPTURE(to_string(op));
    Schedule moved = quads(full, op);
    moved.chunks.back().group = 0;
    CHECK(finds(full, moved, ViolationKind::malformed));
    moved.chunks.back().group = 2;
    CHECK(finds(full, moved, ViolationKind::malformed));
    Schedule larger = quads(full, op);
    larger.scope.groups[0].size -= 4;
    larger.scope.groups[1].size += 4;
    CHECK(finds(full, larger, ViolationKind::malformed));
    Schedule foreign = quads(full, op);
    foreign.scope.groups[1].members = {NodeId(0), NodeId(4), NodeId(5)};
    CHECK_FALSE(certify(full, foreign).ok());
  }
}

TEST_CASE("Groups without links of their own need relays, or an algorithm over ranks") {
  const Topology mesh = make_mesh({3, 3}, kUnitLink);
  CollectiveRequest request;
  request.op = CollectiveOp::all_gather;
  request.size = 8000;
  request.timing.slot_counter = true;
  request.groups = {{{NodeId(0), NodeId(8)}, 4000}, {{NodeId(2), NodeId(6)}, 4000}};
  CHECK_THROWS_AS(generate(*find_generator("forest"), mesh, request), std::invalid_argument);
  CHECK(certify(mesh, generate(*find_generator("ring"), mesh, request)).ok());
  request.relays.assign(9, false);
  CHECK(certify(mesh, generate(*find_generator("forest"), mesh, request)).ok());
}

TEST_CASE("Groups whose routes would wait for each other are refused, and auto takes others") {
  std::mt19937 random(3);
  std::size_t refused = 0;
  for (int draw = 0; draw < 60; ++draw) {
    const Topology network = without_its_routes(draw % 2 == 0 ? make_torus({3, 3}, kUnitLink)
                                                              : make_mesh({5, 2}, kUnitLink));
    CollectiveRequest request;
    request.op = draw % 3 == 0 ? CollectiveOp::all_to_all : CollectiveOp::all_gather;
    for (int g = 0; g < 3; ++g) {
      std::vector<NodeId> members;
      for (std::size_t n = 0; n < network.num_nodes(); ++n) members.emplace_back(n);
      std::shuffle(members.begin(), members.end(), random);
      members.resize(2 + random() % 3);
      request.groups.push_back({members, 4 * 24});
      request.size += 4 * 24;
    }
    request.relays.assign(network.num_nodes(), false);
    CAPTURE(draw);
    for (const char* name : {"multitree", "direct", "auto"}) {
      try {
        const Schedule schedule = generate(*find_generator(name), network, request);
        CHECK(certify(network, schedule).ok());
      } catch (const std::invalid_argument& error) {
        CHECK_THAT(error.what(), Catch::Matchers::Contains("wait for each other in a circle"));
        CHECK(std::string("auto") != name);
        ++refused;
      }
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("The bound of several groups adds up what they pass over a partition") {
  // Two quads of eight connected nodes: trees with a relay have four hops, others three, so links
  // in a quad cost 1 and those between quads 3/4: 6 S / (24 + 32 x 3/4) in link rates.
  const Topology full = make_fully_connected(8, kUnitLink);
  Scope scope;
  scope.groups = {{{NodeId(0), NodeId(1), NodeId(2), NodeId(3)}, 1 << 30},
                  {{NodeId(4), NodeId(5), NodeId(6), NodeId(7)}, 1 << 30}};
  const std::vector<Bytes> parts(2, 1 << 28);
  const double transfer = static_cast<double>(1 << 30) / 1e9;
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    const CollectiveBound bound = groups_bound(full, op, scope, parts);
    CHECK(bound.seconds == Approx(transfer / 8).epsilon(0.03));
    CHECK(bound.seconds <= transfer / 8 * 1.0001);
    CHECK(std::holds_alternative<PriceCertificate>(*bound.certificate));
  }
  // Every node alone: 2 x 3 crossings of two groups over 56 links.
  CHECK(groups_bound(full, CollectiveOp::all_reduce, scope, parts).seconds ==
        Approx(12 * transfer / 56).epsilon(1e-3));
}

TEST_CASE("Rows that fill a torus are bound by their own links") {
  const Topology torus = make_torus({8, 8}, kUnitLink);
  Scope scope;
  for (std::size_t row = 0; row < 8; ++row) {
    RankGroup& group = scope.groups.emplace_back();
    group.size = 1 << 30;
    for (std::size_t column = 0; column < 8; ++column) group.members.emplace_back(8 * row + column);
  }
  const std::vector<Bytes> parts(8, 1 << 27);
  const double transfer = static_cast<double>(1 << 30) / 1e9;
  CHECK(groups_bound(torus, CollectiveOp::all_gather, scope, parts).seconds ==
        Approx(transfer * 7 / 16).epsilon(0.01));
  CHECK(groups_bound(torus, CollectiveOp::all_reduce, scope, parts).seconds ==
        Approx(transfer * 7 / 8).epsilon(0.01));
}

TEST_CASE("Certificates of several groups prove nothing beyond what they say") {
  const Topology full = make_fully_connected(4, kUnitLink);
  Demand demand{CollectiveOp::all_gather, 0, {1000, 1000}, {}};
  demand.scope.groups = {{{NodeId(0), NodeId(1)}, 2000}, {{NodeId(2), NodeId(3)}, 2000}};
  PartitionCertificate alone{{{NodeId(0)}, {NodeId(1)}, {NodeId(2)}, {NodeId(3)}}};
  CHECK(prove(full, demand, alone).seconds == Approx(4000.0 / 12e9).epsilon(0.01));
  const PartitionCertificate pairs{{{NodeId(0), NodeId(1)}, {NodeId(2), NodeId(3)}}};
  CHECK(prove(full, demand, pairs).seconds == Approx(0).margin(1e-9));
  CHECK(prove(full, demand, PriceCertificate{std::vector<double>(12, 1)}).seconds ==
        Approx(4000.0 / 12e9).epsilon(0.01));
  demand.op = CollectiveOp::all_reduce;
  CHECK(prove(full, demand, alone).seconds == Approx(8000.0 / 12e9).epsilon(0.01));
  CHECK_FALSE(prove(full, demand, PriceCertificate{std::vector<double>(12, 1)}).problem.empty());
  demand.op = CollectiveOp::all_to_all;
  CHECK_FALSE(prove(full, demand, alone).problem.empty());
}
