// Which NPUs of a multi-dimensional system work on one model, and which on the same part of it: a
// group of the first dimensions, and one across what is left (Themis, section 5.2).
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/dimensions.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// NPUs of a group have coordinates x, x + stride, ..., x + (size - 1) * stride in `dimension`, with
// x < stride, or any multiple of size * stride more.
struct GroupDimension {
  std::uint32_t dimension = 0;
  std::uint32_t size = 2;
  std::uint32_t stride = 1;
  friend bool operator==(const GroupDimension& a, const GroupDimension& b) {
    return a.dimension == b.dimension && a.size == b.size && a.stride == b.stride;
  }
};

// Ascending in `dimension`. Empty: of one NPU, which has nothing to communicate.
using LogicalGroup = std::vector<GroupDimension>;

struct ParallelGroups {
  LogicalGroup all;
  LogicalGroup model;
  LogicalGroup data;

  [[nodiscard]] const LogicalGroup& of(CommunicationScope scope) const;
};

[[nodiscard]] std::uint64_t num_npus(const LogicalGroup& group);

// Model-parallel groups of `model_npus`, at least 1: whole dimensions from the first on, and of the
// next one neighbours next to each other, where a whole one is too much: 128 NPUs of 16 x 64 are 16
// x 8, and 8 such groups hold each part of the model. Throws std::invalid_argument where the sizes
// do not divide, and where a ring would have to be cut: what is left of it is no ring.
[[nodiscard]] ParallelGroups split_groups(const std::vector<DimensionSpec>& dimensions,
                                          std::uint64_t model_npus);

}  // namespace espalier
