#include "alg/plans/stage_arbiter.h"

#include <catch2/catch.hpp>

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
  const double keys[] = {4, 1, 4, 1, 2};
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
  const double mb = 1 << 20;
  const StageRef scatter{0, 1};  // 16 MB to 4 MB
  const StageRef gather{0, 2};   // and back
  CHECK(arbitration_key(plan, scatter, ChunkKey::before) == 16 * mb);
  CHECK(arbitration_key(plan, scatter, ChunkKey::after) == 4 * mb);
  CHECK(arbitration_key(plan, scatter, ChunkKey::larger) == 16 * mb);
  CHECK(arbitration_key(plan, gather, ChunkKey::before) == 4 * mb);
  CHECK(arbitration_key(plan, gather, ChunkKey::after) == 16 * mb);
  CHECK(arbitration_key(plan, gather, ChunkKey::larger) == 16 * mb);
}
