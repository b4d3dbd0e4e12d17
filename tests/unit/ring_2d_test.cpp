#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "alg/generators/generator.h"
#include "alg/schedule/schedule_table.h"
#include "schedule_oracle.h"
#include "test_graphs.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

const std::vector<std::vector<std::uint32_t>> kShapes{{2, 2}, {3, 3}, {4, 4}, {2, 5},    {5, 2},
                                                      {4, 3}, {3, 6}, {6, 4}, {3, 1, 4}, {1, 2, 3}};

std::vector<Topology> grids() {
  std::vector<Topology> result;
  for (const auto& dims : kShapes) {
    result.push_back(make_torus(dims, kPlainLink));
    result.push_back(make_mesh(dims, kPlainLink));
  }
  result.push_back(make_grid(
      {{"dims", {4, 3}}, {"wrap", {1, 0}}, {"bandwidth", {0, 6'000'000'000}}}, kPlainLink));
  result.push_back(make_grid(
      {{"dims", {3, 4}}, {"wrap", {1, 1}}, {"bandwidth", {7'000'000'000, 0}}}, kPlainLink));
  result.push_back(make_grid({{"dims", {4, 6}}, {"wrap", {1, 1}}, {"twist", {3}}}, kPlainLink));
  return result;
}

CollectiveRequest request_of(CollectiveOp op, Bytes size) {
  CollectiveRequest request;
  request.op = op;
  request.size = size;
  return request;
}

}  // namespace

TEST_CASE("2D ring collectives are right on tori and meshes of any shape and for any size") {
  std::uint32_t seed = 0;
  test::ShareOfCases share(5);
  for (const Topology& topology : grids()) {
    REQUIRE(find_generator("2d_ring")->unsuited(topology).empty());
    const Bytes nodes = topology.num_nodes();
    for (const CollectiveOp op : test::kAllOps) {
      for (const Bytes elements : {Bytes{0}, Bytes{1}, Bytes{7}, nodes, 4 * nodes, 9 * nodes + 5}) {
        if (!share.take()) continue;
        CAPTURE(topology.name(), to_string(op), elements, ++seed);
        const Schedule schedule =
            find_generator("2d_ring")->generate(topology, request_of(op, 4 * elements));
        test::require_well_formed(topology, schedule);
        test::require_fits_tables(schedule);
        CHECK(schedule.contention_free);
        CHECK(test::ScheduleOracle(schedule, test::Arrival::held, seed).runs_and_is_right());
        // The hierarchical forms never overwrite what they add to.
        if (op != CollectiveOp::all_reduce) {
          CHECK(test::ScheduleOracle(schedule, test::Arrival::added, seed).runs_and_is_right());
        }
      }
    }
  }
}

TEST_CASE("A 2D ring all-reduce of N x N nodes has 4 (N-1) steps and moves 4 (N-1)/N of the data") {
  for (const std::uint32_t n : {2U, 3U, 4U, 8U}) {
    for (const bool wraps : {true, false}) {
      const Topology topology =
          wraps ? make_torus({n, n}, kPlainLink) : make_mesh({n, n}, kPlainLink);
      const Bytes size = Bytes{n} * 4 * 256;
      const Schedule schedule =
          find_generator("2d_ring")->generate(topology, request_of(CollectiveOp::all_reduce, size));
      CAPTURE(topology.name());
      CHECK(schedule.algorithm == "2d_ring");
      CHECK(schedule.num_steps == 4 * (n - 1));
      CHECK(schedule.ni_ports == (wraps ? 4 : 2));
      std::vector<Bytes> sent(topology.num_nodes(), 0);
      for (const Transfer& t : schedule.transfers) sent[t.from.index()] += schedule.bytes_of(t);
      for (const Bytes bytes : sent) CHECK(bytes == 4 * (n - 1) * size / n);
    }
  }
}

TEST_CASE("On a square torus and mesh a 2D ring all-reduce uses every link in every step") {
  for (const std::uint32_t n : {2U, 3U, 4U, 5U}) {
    for (const bool wraps : {true, false}) {
      const Topology topology =
          wraps ? make_torus({n, n}, kPlainLink) : make_mesh({n, n}, kPlainLink);
      CAPTURE(topology.name());
      const Schedule schedule = find_generator("2d_ring")->generate(
          topology, request_of(CollectiveOp::all_reduce, 64 * 1024));
      std::map<Timestep, std::set<LinkId>> used;
      for (const Transfer& t : schedule.transfers) {
        for (std::size_t hop = 0; hop < schedule.routes.hops(t.route); ++hop) {
          used[t.step].insert(schedule.routes.link(t.route, hop));
        }
      }
      CHECK(used.size() == schedule.num_steps);
      for (const auto& [step, links] : used) CHECK(links.size() == topology.num_links());
    }
  }
}

TEST_CASE("A 2D ring on a mesh is folded, so that no transfer goes farther than two links") {
  const Topology topology = make_mesh({7, 6}, kPlainLink);
  for (const CollectiveOp op : test::kAllOps) {
    const Schedule schedule =
        find_generator("2d_ring")->generate(topology, request_of(op, 64 * 1024));
    std::size_t most_hops = 0;
    for (const Transfer& t : schedule.transfers) {
      most_hops = std::max(most_hops, schedule.routes.hops(t.route));
    }
    CHECK(most_hops == 2);
  }
}

TEST_CASE("Halves of a 2D ring with unequal dimensions change over together") {
  const Topology topology = make_torus({6, 3}, kPlainLink);
  const Schedule all_reduce = find_generator("2d_ring")->generate(
      topology, request_of(CollectiveOp::all_reduce, 64 * 1024));
  CHECK(all_reduce.num_steps == 20);
  const Schedule gather = find_generator("2d_ring")->generate(
      topology, request_of(CollectiveOp::all_gather, 64 * 1024));
  CHECK(gather.num_steps == 10);
}

TEST_CASE("A hierarchical 2D ring reduce-scatter moves no more data than a ring") {
  const Topology topology = make_torus({4, 8}, kPlainLink);
  const Bytes size = 32 * 4 * 64;
  for (const CollectiveOp op : {CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
    const Schedule schedule = find_generator("2d_ring")->generate(topology, request_of(op, size));
    Bytes moved = 0;
    for (const Transfer& t : schedule.transfers) moved += schedule.bytes_of(t);
    CHECK(moved == 31 * size);
  }
}

TEST_CASE("Of dimensions with unequal links, the faster one begins with more of the data") {
  const Topology torus = make_grid(
      {{"dims", {4, 4}}, {"wrap", {1, 1}}, {"bandwidth", {0, 8'000'000'000}}}, kPlainLink);
  for (const CollectiveOp op : {CollectiveOp::reduce_scatter, CollectiveOp::all_reduce}) {
    const Schedule schedule =
        find_generator("2d_ring")->generate(torus, request_of(op, 4 * 9 * 16 * 64));
    std::array<Bytes, 2> first_step{};  // by dimension
    for (const Transfer& t : schedule.transfers) {
      if (t.step != 1) continue;
      first_step.at(grid_hop(torus, schedule.routes.link(t.route, 0)).dim) += schedule.bytes_of(t);
    }
    CAPTURE(to_string(op));
    // In all_reduce all data pass the slower links in either order.
    CHECK(static_cast<double>(first_step[0]) / static_cast<double>(first_step[1]) ==
          Approx(op == CollectiveOp::all_reduce ? 1 : 2).epsilon(0.01));
  }
}

TEST_CASE("2D-RING says why a network does not suit it") {
  CHECK(find_generator("2d_ring")->unsuited(make_torus({8}, kPlainLink)) ==
        "2D-RING needs a torus or mesh with two dimensions of at least 2 nodes; 8 has 1");
  CHECK(find_generator("2d_ring")->unsuited(make_mesh({4, 4, 4}, kPlainLink)) ==
        "2D-RING needs a torus or mesh with two dimensions of at least 2 nodes; 4x4x4 has 3");
  CHECK(find_generator("2d_ring")->unsuited(make_mesh({4, 1}, kPlainLink)) ==
        "2D-RING needs a torus or mesh with two dimensions of at least 2 nodes; 4x1 has 1");
  CHECK(find_generator("2d_ring")->unsuited(test::cables(2, {{0, 1}})) ==
        "2D-RING needs a 2D torus or mesh; this network is not a grid");
}

TEST_CASE("The second half of 2D-RING's steps is the second dimension, which hosts may post") {
  const Generator& ring = *find_generator("2d_ring");
  CHECK(ring.posts_halves);
  for (const auto& dims : kShapes) {
    for (const CollectiveOp op : ring.ops) {
      const Topology mesh = make_mesh(dims, kPlainLink);
      const ScheduleTables tables =
          lower_to_tables(ring.generate(mesh, request_of(op, 4096 * mesh.num_nodes())));
      Timestep first = tables.num_steps;
      for (const auto& table : tables.nodes) {
        for (const TableEntry& entry : table) {
          if (!entry.after.empty()) first = std::min(first, entry.step);
        }
      }
      CAPTURE(mesh.name(), static_cast<int>(op));
      CHECK(first == tables.num_steps / 2 + 1);
    }
  }
}

TEST_CASE("Rings in natural order go both ways along the lines of a mesh, and back over them") {
  for (const auto& dims : kShapes) {
    const Topology mesh = make_mesh(dims, kPlainLink);
    CollectiveRequest request = request_of(CollectiveOp::all_reduce, 4096 * mesh.num_nodes());
    request.line_order = LineOrder::natural;
    const Schedule schedule = find_generator("2d_ring")->generate(mesh, request);
    CAPTURE(mesh.name());
    test::require_well_formed(mesh, schedule);
    test::require_fits_tables(schedule);
    CHECK(schedule.ni_ports == 4);
    CHECK(test::ScheduleOracle(schedule, test::Arrival::held, 1).runs_and_is_right());
  }
  const Topology mesh = make_mesh({4, 4}, kPlainLink);
  CollectiveRequest request = request_of(CollectiveOp::all_reduce, 65536);
  request.line_order = LineOrder::natural;
  const Schedule schedule = find_generator("2d_ring")->generate(mesh, request);
  std::size_t longest = 0;
  for (const Transfer& t : schedule.transfers) {
    longest = std::max(longest, schedule.routes.hops(t.route));
  }
  CHECK(longest == 3);
  CHECK_FALSE(schedule.contention_free);  // the way back meets the other direction's ring
}

namespace {

DimensionSpec dimension_of(DimensionShape shape, std::uint32_t size) {
  DimensionSpec spec;
  spec.shape = shape;
  spec.size = size;
  spec.links = fewest_links(shape, size);
  spec.link = kPlainLink;
  return spec;
}

}  // namespace

TEST_CASE("A hierarchical ring moves in each dimension what the ones before it have left") {
  const Topology topology = make_joined(
      {dimension_of(DimensionShape::ring, 4), dimension_of(DimensionShape::switched, 3)});
  const Schedule schedule =
      find_generator("hierarchical_ring")
          ->generate(topology, request_of(CollectiveOp::all_reduce, 4 * 1200));
  test::require_well_formed(topology, schedule);
  CHECK(test::ScheduleOracle(schedule, test::Arrival::held, 1).runs_and_is_right());
  CHECK(schedule.num_steps == 2 * (3 + 2));
  // Of node 0: in the ring three quarters of the data each way, in the switch two thirds of a
  // quarter.
  std::map<std::size_t, Bytes> sent;  // by hops
  for (const Transfer& t : schedule.transfers) {
    if (t.from != NodeId(0)) continue;
    for (std::uint32_t c = 0; c < t.num_chunks; ++c) {
      sent[schedule.routes.hops(t.route)] += schedule.chunks[t.first_chunk.index() + c].size;
    }
  }
  CHECK(sent == std::map<std::size_t, Bytes>{{1, 2 * 3600}, {2, 2 * 800}});
}

TEST_CASE("A hierarchical ring passes over dimensions of one node") {
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_to_all}) {
    const Topology topology = make_torus({1, 4}, kPlainLink);
    const Schedule schedule =
        find_generator("hierarchical_ring")->generate(topology, request_of(op, 4800));
    test::require_well_formed(topology, schedule);
    CHECK(test::ScheduleOracle(schedule, test::Arrival::held, 1).runs_and_is_right());
  }
}

// ASTRA-sim's ring sends one message at a time, and data for the node s places on take s hops.
TEST_CASE("An all_to_all in rings passes one message at a time round each dimension") {
  const Topology topology = make_joined(
      {dimension_of(DimensionShape::ring, 4), dimension_of(DimensionShape::switched, 3)});
  const Schedule schedule =
      find_generator("hierarchical_ring")
          ->generate(topology, request_of(CollectiveOp::all_to_all, 4 * 1200));
  test::require_well_formed(topology, schedule);
  CHECK(test::ScheduleOracle(schedule, test::Arrival::held, 1).runs_and_is_right());
  CHECK(schedule.num_steps == 6 + 3);
  std::map<Timestep, Bytes> sent;  // by node 0, which sends an N-th of its data in each step
  for (std::size_t id = 0; id < schedule.transfers.size(); ++id) {
    const Transfer& t = schedule.transfers[id];
    if (t.from == NodeId(0)) sent[t.step] += schedule.bytes_of(t);
    const auto waits = schedule.dependencies_of(TransferId(id));
    if (t.step != 1 && t.step != 7) CHECK(waits.begin() != waits.end());
  }
  for (const auto& [step, bytes] : sent) CHECK(bytes == (step <= 6 ? 1200 : 1600));
  CHECK(sent.size() == 9);
}
