// Hierarchical collectives on multi-dimensional systems: the order in which each chunk visits the
// dimensions. It is planned offline and is the same for all NPUs (Themis, sections 2.3 and 4.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/plans/dimension_stage.h"
#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

// A dimension as the planner sees it; dimension 0 is the paper's dim1.
struct PlannedDimension {
  std::uint32_t size = 2;  // P_K
  DimensionAlgorithm algorithm = DimensionAlgorithm::ring;
  std::uint64_t bytes_per_second = 0;  // aggregate of an NPU, one direction: 1 / B_K
  // NPU to NPU, for a minimal message; A_K is the number of steps times this latency.
  std::uint64_t step_latency_ps = 0;
};

// The dimensions in the order in which a chunk visits them.
using DimensionOrder = std::vector<std::uint32_t>;

struct PlannedStage {
  StageKind kind = StageKind::reduce_scatter;
  std::uint32_t dimension = 0;
  friend bool operator==(const PlannedStage& a, const PlannedStage& b) {
    return a.kind == b.kind && a.dimension == b.dimension;
  }
};

struct PlannedChunk {
  Bytes offset = 0;
  Bytes size = 0;
  // Bytes that the plan's largest chunk has more, because elements cannot be divided. Arbiters
  // compare chunks as if they were cut evenly: a difference of an element is a tie.
  Bytes rounding = 0;
  // all_reduce: the reduce_scatter of every dimension, then every all_gather in reverse order.
  // reduce_scatter and all_gather: only these stages.
  std::vector<PlannedStage> stages;
};

// A stage of a plan: stages[stage] of chunk `chunk`.
struct StageRef {
  std::uint32_t chunk = 0;
  std::uint32_t stage = 0;
  friend bool operator==(StageRef a, StageRef b) {
    return a.chunk == b.chunk && a.stage == b.stage;
  }
};

struct DimensionPlan {
  std::string algorithm;  // Planner::name
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes size = 0;  // of the collective; chunks cover it in order; all_gather: of the result
  std::vector<PlannedDimension> dimensions;
  std::vector<PlannedChunk> chunks;
  // By dimension: the order in which its stages start, which is the same at every NPU (section
  // 4.6.2); empty if NPUs choose by themselves.
  std::vector<std::vector<StageRef>> start_order;
  // Predicted load of each dimension after all chunks were planned, in femtoseconds. For an
  // all_reduce, the load of the reduce_scatter half, which equals the load of the all_gather half.
  std::vector<std::uint64_t> loads_fs;

  [[nodiscard]] std::size_t num_nodes() const;
  // Bytes that an NPU holds of a chunk before each of its stages, and after the last one.
  [[nodiscard]] std::vector<double> residents(std::uint32_t chunk) const;
  // The sizes that arbiters compare: residents() of a chunk of size + rounding, exactly, in units
  // of a byte / num_nodes(). Throws std::invalid_argument if a number needs more than 64 bits, or
  // if the chunk passes a dimension twice.
  [[nodiscard]] std::vector<std::uint64_t> compared_residents(std::uint32_t chunk) const;
  // Bytes that an NPU holds of a chunk before a stage starts.
  [[nodiscard]] double resident_before(StageRef stage) const;
};

struct PlanRequest {
  CollectiveOp op = CollectiveOp::all_reduce;  // all_to_all is not planned
  Bytes size = 0;                              // multiple of element_bytes
  Bytes element_bytes = kDefaultElementBytes;
  // Chunks are whole elements; their sizes differ by at most one element. There are never more
  // chunks than elements.
  std::uint32_t chunks = 64;
  // For themis only. Threshold: time of a stage of chunk size / this (section 5.3).
  std::uint32_t threshold_divisor = 16;
  // For themis only. Loads start at A_K instead of 0 (section 4.4; see docs/themis.md).
  bool loads_start_at_fixed_delay = false;
};

// Multi-rail hierarchical, dim1 to dimD and back: the paper's baseline. An all_gather consists only
// of the way back, dimD to dim1. `start_order` is empty.
//
// Both planners throw std::invalid_argument for an all_to_all, no dimensions, no chunks, a
// dimension without bandwidth, or a dimension whose algorithm does not suit its size.
[[nodiscard]] DimensionPlan plan_baseline(const std::vector<PlannedDimension>& dimensions,
                                          const PlanRequest& request);
// Algorithm 1. `start_order` is empty. Dimensions with equal loads keep the order of the baseline.
// "Chunk size", also in the Threshold, is what an NPU has of a chunk before its first stage: the
// whole chunk, or in an all_gather one part of num_nodes() parts.
[[nodiscard]] DimensionPlan plan_themis(const std::vector<PlannedDimension>& dimensions,
                                        const PlanRequest& request);

// `loads_fs` of the plan's stages, from 0 on.
[[nodiscard]] std::vector<std::uint64_t> planned_loads_fs(const DimensionPlan& plan);

// The paper's Ideal: seconds that the plan's bytes take at the summed bandwidth of all dimensions.
// It assumes that the load can be balanced, so it is not a bound.
[[nodiscard]] double ideal_seconds(const DimensionPlan& plan);
// N_K: the bytes that an NPU sends on `dimension` in the whole collective.
[[nodiscard]] double bytes_sent_on(const DimensionPlan& plan, std::uint32_t dimension);

}  // namespace espalier
