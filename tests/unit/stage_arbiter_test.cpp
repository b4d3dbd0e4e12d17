#include "alg/plans/stage_arbiter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "dimension_cases.h"

using namespace espalier;
using espalier::test::WorkedExample;

namespace {

std::vector<std::uint32_t> emptied(StageQueue& queue) {
  std::vector<std::uint32_t> chunks;
  while (!queue.empty()) chunks.push_back(queue.pop().chunk);
  return chunks;
}

StageQueue filled(const ArbiterSpec& spec) {
  StageQueue queue(spec);
  const std::uint64_t keys[] = {4, 1, 4, 1, 2};
  for (std::uint32_t c = 0; c < 5; ++c) queue.push({c, 0}, keys[c]);
  return queue;
}

using Chunks = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("A FIFO queue starts stages as they came, whatever their size") {
  for (const TieRule ties : {TieRule::newest, TieRule::oldest}) {
    StageQueue queue = filled({QueueOrder::fifo, ChunkKey::larger, ties});
    CHECK(emptied(queue) == Chunks{0, 1, 2, 3, 4});
  }
}

TEST_CASE("Smallest chunk first breaks ties by arrival, one way or the other") {
  StageQueue newest = filled({QueueOrder::scf, ChunkKey::larger, TieRule::newest});
  CHECK(emptied(newest) == Chunks{3, 1, 4, 2, 0});
  StageQueue oldest = filled({QueueOrder::scf, ChunkKey::larger, TieRule::oldest});
  CHECK(emptied(oldest) == Chunks{1, 3, 4, 0, 2});
}

TEST_CASE("A stage whose turn it is can be taken out of the middle of a queue") {
  StageQueue queue = filled({});
  CHECK(queue.size() == 5);
  CHECK(queue.holds({2, 0}));
  CHECK_FALSE(queue.holds({2, 1}));
  CHECK(queue.take({2, 0}));
  CHECK_FALSE(queue.take({2, 0}));
  CHECK_FALSE(queue.holds({2, 0}));
  CHECK(emptied(queue) == Chunks{3, 1, 4, 0});
}

TEST_CASE("A stage counts as large as its chunk is before or after it") {
  const DimensionPlan plan = plan_baseline(WorkedExample::dimensions(), WorkedExample::request());
  const std::uint64_t mb = std::uint64_t{16} << 20U;  // of 16 NPUs
  const StageRef scatter{0, 1};                       // 16 MB to 4 MB
  const StageRef gather{0, 2};                        // and back
  CHECK(arbitration_key(plan, scatter, ChunkKey::before) == 16 * mb);
  CHECK(arbitration_key(plan, scatter, ChunkKey::after) == 4 * mb);
  CHECK(arbitration_key(plan, scatter, ChunkKey::larger) == 16 * mb);
  CHECK(arbitration_key(plan, gather, ChunkKey::before) == 4 * mb);
  CHECK(arbitration_key(plan, gather, ChunkKey::after) == 16 * mb);
  CHECK(arbitration_key(plan, gather, ChunkKey::larger) == 16 * mb);
}

TEST_CASE("Chunks that differ by an element that cannot be divided are a tie") {
  PlanRequest request;
  request.element_bytes = 4;
  request.size = 4 * 1000;
  request.chunks = 7;  // of 142 and 143 elements
  const std::vector<PlannedDimension> dimensions{{4, DimensionAlgorithm::ring, 1, 0},
                                                 {2, DimensionAlgorithm::ring, 1, 0}};
  const DimensionPlan plan = plan_baseline(dimensions, request);
  std::vector<Bytes> sizes;
  for (const PlannedChunk& chunk : plan.chunks) sizes.push_back(chunk.size);
  CHECK(std::count(sizes.begin(), sizes.end(), 4 * 143) == 6);
  CHECK(std::count(sizes.begin(), sizes.end(), 4 * 142) == 1);
  for (std::uint32_t c = 0; c < 7; ++c) {
    CHECK(plan.compared_residents(c) == plan.compared_residents(0));
    CHECK(plan.compared_residents(c).front() == 8 * 4 * 143);
  }
}

TEST_CASE("Sizes of chunks are compared without rounding, and those beyond 64 bits are refused") {
  // 3 x 7 NPUs and a chunk of 2^53 + 1 bytes: a double knows neither it nor its parts.
  const std::vector<PlannedDimension> dimensions{{3, DimensionAlgorithm::direct, 1, 0},
                                                 {7, DimensionAlgorithm::direct, 1, 0}};
  PlanRequest request;
  request.element_bytes = 1;
  request.chunks = 1;
  request.size = (Bytes{1} << 53U) + 1;
  const DimensionPlan plan = plan_baseline(dimensions, request);
  CHECK(plan.compared_residents(0) ==
        std::vector<std::uint64_t>{21 * request.size, 7 * request.size, request.size,
                                   7 * request.size, 21 * request.size});
  request.op = CollectiveOp::all_gather;
  CHECK(plan_baseline(dimensions, request).compared_residents(0) ==
        std::vector<std::uint64_t>{request.size, 7 * request.size, 21 * request.size});
  request.size = Bytes{1} << 60U;
  CHECK_THROWS_AS(plan_baseline(dimensions, request).compared_residents(0), std::invalid_argument);
}
