// Small multi-dimensional systems and plans for tests of their NIs' engines.
#pragma once

#include <cstdint>
#include <vector>

#include "ni/engines/dimension_queue_engine.h"

namespace espalier::test {

using Shape = DimensionShape;

inline constexpr LinkSpec kLink{100'000, 25'000'000'000, 25};
inline constexpr Bytes kElement = 4;

using Dimensions = std::vector<DimensionSpec>;

inline DimensionSpec ring(std::uint32_t size) { return {Shape::ring, size, 2, kLink}; }
inline DimensionSpec direct(std::uint32_t size) {
  return {Shape::fully_connected, size, size - 1, kLink};
}
inline DimensionSpec halving(std::uint32_t size, std::uint32_t planes = 1) {
  return {Shape::switched, size, planes, kLink};
}

inline std::vector<PlannedDimension> planned(const Dimensions& specs) {
  std::vector<PlannedDimension> result;
  for (const DimensionSpec& spec : specs) {
    const DimensionAlgorithm algorithm = spec.shape == Shape::ring ? DimensionAlgorithm::ring
                                         : spec.shape == Shape::fully_connected
                                             ? DimensionAlgorithm::direct
                                             : DimensionAlgorithm::halving_doubling;
    result.push_back({spec.size, algorithm, spec.bytes_per_second(), 1});
  }
  return result;
}

// Chunks of so many elements, all through the dimensions in the baseline's order.
inline DimensionPlan plan_of(const Dimensions& specs, CollectiveOp op,
                             const std::vector<Bytes>& chunk_elements) {
  PlanRequest request;
  request.op = op;
  request.size = 1024 * kElement;
  request.chunks = 1;
  DimensionPlan plan = plan_baseline(planned(specs), request);
  const PlannedChunk pattern = plan.chunks.front();
  plan.chunks.clear();
  plan.size = 0;
  for (const Bytes elements : chunk_elements) {
    plan.chunks.push_back(pattern);
    plan.chunks.back().offset = plan.size;
    plan.chunks.back().size = elements * kElement;
    plan.size += elements * kElement;
  }
  return plan;
}

inline DimensionQueueEngine::Spec spec_of(QueueOrder order, std::uint32_t in_flight = 1,
                                          Cycle arbitration = 1) {
  return {{order, ChunkKey::larger, TieRule::newest}, {in_flight, false}, arbitration};
}

}  // namespace espalier::test
