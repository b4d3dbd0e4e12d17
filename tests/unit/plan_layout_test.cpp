#include "alg/plans/plan_layout.h"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "dimension_cases.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::pick;
using Kind = StageKind;

constexpr Bytes kElement = 4;

DimensionedShape shape_of(const DimensionPlan& plan) {
  DimensionedShape shape;
  for (const PlannedDimension& d : plan.dimensions) {
    DimensionSpec spec;
    spec.shape = DimensionShape::switched;
    spec.size = d.size;
    spec.links = 1;
    shape.dimensions.push_back(spec);
  }
  return shape;
}

// One chunk that visits the dimensions in this order.
DimensionPlan plan_of(const std::vector<PlannedDimension>& dimensions, CollectiveOp op, Bytes size,
                      const std::vector<std::uint32_t>& order) {
  PlanRequest request;
  request.op = op;
  request.size = size;
  request.chunks = 1;
  DimensionPlan plan = plan_baseline(dimensions, request);
  auto& stages = plan.chunks[0].stages;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    stages[s].dimension = order[s < order.size() ? s : stages.size() - 1 - s];
  }
  return plan;
}

const std::vector<PlannedDimension> kTwoByThree{{2, DimensionAlgorithm::direct, 1, 0},
                                                {3, DimensionAlgorithm::direct, 1, 0}};

std::vector<std::size_t> owners_in(const PlanLayout& layout) {
  std::vector<std::size_t> owners;
  for (const Chunk& piece : layout.pieces()) owners.push_back(piece.owner.index());
  return owners;
}
using Owners = std::vector<std::size_t>;

TEST_CASE("The dimension that is reduced in first is a piece's most significant digit") {
  // Node = x1 + 2 * x2.
  const DimensionPlan first = plan_of(kTwoByThree, CollectiveOp::reduce_scatter, 24, {0, 1});
  const DimensionPlan second = plan_of(kTwoByThree, CollectiveOp::reduce_scatter, 24, {1, 0});
  const DimensionedShape shape = shape_of(first);
  CHECK(owners_in(PlanLayout(first, shape, kElement, PartSizes::exact)) ==
        Owners{0, 2, 4, 1, 3, 5});
  CHECK(owners_in(PlanLayout(second, shape, kElement, PartSizes::exact)) ==
        Owners{0, 1, 2, 3, 4, 5});
}

TEST_CASE("An all-gather's digits are those of the reduce-scatter that it undoes") {
  // The last dimension that is gathered in has the largest blocks.
  const DimensionPlan gather = plan_of(kTwoByThree, CollectiveOp::all_gather, 24, {1, 0});
  const DimensionedShape shape = shape_of(gather);
  const PlanLayout layout(gather, shape, kElement, PartSizes::exact);
  CHECK(owners_in(layout) == Owners{0, 2, 4, 1, 3, 5});
  const auto first = layout.blocks_at({0, 0}, NodeId(3));  // x1 = 1: the second half
  CHECK(first.first == ChunkId(3));
  CHECK(first.pieces == 1);
  const auto last = layout.blocks_at({0, 1}, NodeId(3));  // both halves
  CHECK(last.first == ChunkId(0));
  CHECK(last.pieces == 3);
}

TEST_CASE("Each direction of a ring has half of every block") {
  const std::vector<PlannedDimension> dimensions{{2, DimensionAlgorithm::direct, 1, 0},
                                                 {3, DimensionAlgorithm::ring, 1, 0}};
  const DimensionPlan plan = plan_of(dimensions, CollectiveOp::reduce_scatter, 48, {1, 0});
  const DimensionedShape shape = shape_of(plan);
  const PlanLayout layout(plan, shape, kElement, PartSizes::exact);
  REQUIRE(layout.pieces_per_chunk() == 12);
  const auto blocks = layout.blocks_at({0, 0}, NodeId(0));
  CHECK(blocks.pieces == 4);
  const PieceRange there = PlanLayout::part_of(blocks, {2, 1}, 0, 2);
  const PieceRange back = PlanLayout::part_of(blocks, {2, 1}, 1, 2);
  CHECK(there.first == ChunkId(8));
  CHECK(there.count == 2);
  CHECK(back.first == ChunkId(10));
  CHECK(back.count == 2);
  CHECK(layout.bytes(there) == 8);
  // Where nothing is split, both pieces of an owner go together.
  const PieceRange whole = PlanLayout::part_of(layout.blocks_at({0, 1}, NodeId(0)), {1, 1}, 0, 1);
  CHECK(whole.first == ChunkId(2));
  CHECK(whole.count == 2);
}

TEST_CASE("Pieces are whole elements and differ by at most one where nothing divides evenly") {
  const DimensionPlan plan = plan_of(kTwoByThree, CollectiveOp::all_reduce, 4 * 8, {0, 1});
  const DimensionedShape shape = shape_of(plan);
  const PlanLayout layout(plan, shape, kElement, PartSizes::exact);
  std::multiset<Bytes> sizes;
  for (const Chunk& piece : layout.pieces()) sizes.insert(piece.size);
  CHECK(sizes == std::multiset<Bytes>{4, 4, 4, 4, 8, 8});
  // Fewer elements than owners: some have nothing.
  const DimensionPlan tiny = plan_of(kTwoByThree, CollectiveOp::all_reduce, 4, {0, 1});
  const PlanLayout little(tiny, shape, kElement, PartSizes::exact);
  Bytes bytes = 0;
  for (const Chunk& piece : little.pieces()) bytes += piece.size;
  CHECK(bytes == 4);
}

TEST_CASE("Equal parts are padded where a chunk does not divide, and never by an element more") {
  const DimensionPlan plan = plan_of(kTwoByThree, CollectiveOp::all_reduce, 4 * 8, {0, 1});
  const DimensionedShape shape = shape_of(plan);
  const PlanLayout equal(plan, shape, kElement, PartSizes::equal);
  for (const Chunk& piece : equal.pieces()) CHECK(piece.size == 8);
  CHECK(equal.equal_parts());
  CHECK(equal.padded_size() == 6 * 8);
  const PlanLayout exact(plan, shape, kElement, PartSizes::exact);
  CHECK_FALSE(exact.equal_parts());
  CHECK(exact.padded_size() == plan.size);
}

TEST_CASE("Left to the layout, parts are padded by one in a hundred at most") {
  // 1200 elements and a few more for 6 nodes.
  for (const Bytes more : {0U, 1U, 5U}) {
    CAPTURE(more);
    const DimensionPlan plan =
        plan_of(kTwoByThree, CollectiveOp::all_reduce, 4 * (1200 + more), {0, 1});
    const DimensionedShape shape = shape_of(plan);
    const PlanLayout layout(plan, shape, kElement, PartSizes::automatic);
    CHECK(layout.equal_parts());
    CHECK(layout.padded_size() == 4 * (more == 0 ? 1200 : 1206));
  }
  const DimensionPlan small = plan_of(kTwoByThree, CollectiveOp::all_reduce, 4 * 61, {0, 1});
  const DimensionedShape shape = shape_of(small);
  const PlanLayout layout(small, shape, kElement, PartSizes::automatic);
  CHECK_FALSE(layout.equal_parts());
  CHECK(layout.padded_size() == small.size);
}

// Numbers of pieces, as what a node holds.
using Held = std::set<std::size_t>;

void add(Held& held, PieceRange range) {
  for (std::uint32_t p = 0; p < range.count; ++p) held.insert(range.first.index() + p);
}

Held owned_by(const PlanLayout& layout, std::uint32_t chunk, NodeId node) {
  Held owned;
  const std::size_t begin = std::size_t{chunk} * layout.pieces_per_chunk();
  for (std::size_t p = begin; p < begin + layout.pieces_per_chunk(); ++p) {
    if (layout.pieces()[p].owner == node) owned.insert(p);
  }
  return owned;
}

// What a node keeps of a stage's blocks (before an all_gather: has of them), all lanes together.
Held own_block(const PlanLayout& layout, StageRef stage, NodeId node, std::uint32_t coordinate) {
  Held held;
  add(held, PlanLayout::part_of(layout.blocks_at(stage, node), {coordinate, 1}, 0, 1));
  return held;
}
Held all_blocks(const PlanLayout& layout, StageRef stage, NodeId node, std::uint32_t size) {
  Held held;
  add(held, PlanLayout::part_of(layout.blocks_at(stage, node), {0, size}, 0, 1));
  return held;
}

void check_chunk(const DimensionPlan& plan, const DimensionedShape& shape, const PlanLayout& layout,
                 std::uint32_t chunk) {
  const auto& stages = plan.chunks[chunk].stages;
  for (std::size_t n = 0; n < plan.num_nodes(); ++n) {
    const NodeId node(n);
    const Held owned = owned_by(layout, chunk, node);
    Held all;
    add(all, {ChunkId(std::size_t{chunk} * layout.pieces_per_chunk()), layout.pieces_per_chunk()});
    Held resident = stages.front().kind == Kind::reduce_scatter ? all : owned;
    for (std::uint32_t s = 0; s < stages.size(); ++s) {
      const StageRef ref{chunk, s};
      const std::uint32_t d = stages[s].dimension;
      const std::uint32_t self = shape.coordinate(node, d);
      const Held blocks = all_blocks(layout, ref, node, plan.dimensions[d].size);
      const Held own = own_block(layout, ref, node, self);
      if (stages[s].kind == Kind::reduce_scatter) {
        CHECK(resident == blocks);
        resident = own;
        if (s + 1 == stages.size() || stages[s + 1].kind == Kind::all_gather) {
          CHECK(resident == owned);
        }
      } else {
        CHECK(resident == own);
        resident = blocks;
      }
      // The NPUs of a group speak of the same blocks.
      for (std::uint32_t x = 0; x < plan.dimensions[d].size; ++x) {
        CHECK(all_blocks(layout, ref, shape.peer(node, d, x), plan.dimensions[d].size) == blocks);
      }
    }
    CHECK(resident == (stages.back().kind == Kind::reduce_scatter ? owned : all));
  }
}

void check_lanes(const DimensionPlan& plan, const PlanLayout& layout, StageRef stage, NodeId node) {
  const PlannedDimension& d =
      plan.dimensions[plan.chunks[stage.chunk].stages[stage.stage].dimension];
  const std::uint32_t lanes = StageSteps(d.algorithm, d.size).lanes();
  const auto blocks = layout.blocks_at(stage, node);
  for (std::uint32_t b = 0; b < d.size; ++b) {
    const PieceRange whole = PlanLayout::part_of(blocks, {b, 1}, 0, 1);
    Bytes bytes = 0;
    std::uint32_t next = whole.first.value();
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const PieceRange part = PlanLayout::part_of(blocks, {b, 1}, lane, lanes);
      CHECK(part.first.value() == next);
      next += part.count;
      bytes += layout.bytes(part);
    }
    CHECK(next == whole.first.value() + whole.count);
    CHECK(bytes == layout.bytes(whole));
  }
}

// Lays out random plans whose chunks take orders of their own.
template <class Check>
void with_random_plans(int cases, std::uint32_t seed, Check check) {
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < cases; ++i) {
    CAPTURE(i);
    DimensionPlan plan = test::random_plan(random);
    const std::size_t chunks = std::min<std::size_t>(plan.chunks.size(), 3);
    plan.size = plan.chunks[chunks - 1].offset + plan.chunks[chunks - 1].size;
    plan.chunks.resize(chunks);
    if (plan.num_nodes() > 150) continue;
    const DimensionedShape shape = shape_of(plan);
    const auto parts = static_cast<PartSizes>(pick(random, 3));
    const PlanLayout layout(plan, shape, kElement, parts);
    check(plan, shape, layout);
  }
}

TEST_CASE("Every stage finds its data where the stage before left them, and an owner its own") {
  with_random_plans(
      test::kSanitized ? 17 : 60, 20'231,
      [](const DimensionPlan& plan, const DimensionedShape& shape, const PlanLayout& layout) {
        for (std::uint32_t c = 0; c < plan.chunks.size(); ++c) check_chunk(plan, shape, layout, c);
      });
}

TEST_CASE("Lanes split every block without gap or overlap") {
  with_random_plans(
      60, 20'232,
      [](const DimensionPlan& plan, const DimensionedShape& /*shape*/, const PlanLayout& layout) {
        for (std::uint32_t c = 0; c < plan.chunks.size(); ++c) {
          for (std::uint32_t s = 0; s < plan.chunks[c].stages.size(); ++s) {
            check_lanes(plan, layout, {c, s}, NodeId(0));
            check_lanes(plan, layout, {c, s}, NodeId(plan.num_nodes() - 1));
          }
        }
      });
}

TEST_CASE("The pieces cover the collective in order, and every node has as many as any other") {
  with_random_plans(
      200, 20'233,
      [](const DimensionPlan& plan, const DimensionedShape& /*shape*/, const PlanLayout& layout) {
        Bytes next = 0;
        std::map<std::size_t, std::size_t> owned;
        for (const Chunk& piece : layout.pieces()) {
          CHECK(piece.offset == next);
          CHECK(piece.size % kElement == 0);
          next += piece.size;
          ++owned[piece.owner.index()];
        }
        CHECK(next == layout.padded_size());
        CHECK(next >= plan.size);
        CHECK(owned.size() == plan.num_nodes());
        for (const auto& [node, pieces] : owned) {
          CHECK(pieces == layout.pieces().size() / plan.num_nodes());
        }
      });
}

}  // namespace
}  // namespace espalier
