// Model-parallel and data-parallel groups of a multi-dimensional system (Themis, section 5.2): NPUs
// of the first dimensions share a model, NPUs across the others hold the same part of it.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/dimensions.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// A group has `size` NPUs in the dimension.
struct GroupDimension {
  std::uint32_t dimension = 0;
  std::uint32_t size = 2;
  friend bool operator==(const GroupDimension& a, const GroupDimension& b) {
    return a.dimension == b.dimension && a.size == b.size;
  }
};

// Ascending in `dimension`. Empty: a group of one NPU, which does not communicate.
using LogicalGroup = std::vector<GroupDimension>;

struct ParallelGroups {
  LogicalGroup all;
  LogicalGroup model;
  LogicalGroup data;

  [[nodiscard]] const LogicalGroup& of(CommunicationScope scope) const;
};

[[nodiscard]] std::uint64_t num_npus(const LogicalGroup& group);

// Model-parallel groups of `model_npus` >= 1 NPUs: whole dimensions from the first on, then
// adjacent neighbours in the next one. 128 NPUs of 16 x 64 form groups of 16 x 8, and 8 groups hold
// each part of the model. Throws std::invalid_argument if the sizes do not divide, or if a ring
// would be cut, because part of a ring is not a ring.
[[nodiscard]] ParallelGroups split_groups(const std::vector<DimensionSpec>& dimensions,
                                          std::uint64_t model_npus);

}  // namespace espalier
