// How long each dimension is busy with what has been planned (Themis, section 4.4: Latency Model
// and Dim Load Tracker).
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <vector>

#include "alg/plans/dimension_stage.h"
#include "hw/ids.h"

namespace espalier {

struct PlannedDimension;

// Exact: what a stage takes is a fraction of bytes, nodes and rates, and equal loads have to be
// equal whatever way a chunk took. All times count one unit, which divides every stage's.
class DimensionLoads {
 public:
  // Preconditions: no size, rate or divisor is 0.
  DimensionLoads(const std::vector<PlannedDimension>& dimensions, std::uint32_t threshold_divisor);

  // From A_K on, instead of 0.
  void start_at_fixed_delays();

  // A stage of `kind` on dimension `d` of a chunk of `bytes`, of which an NPU has `parts` of
  // num_nodes() when it starts.
  void add(StageKind kind, std::size_t d, Bytes bytes, std::uint64_t parts);

  // The loads differ by less than the Threshold: a stage that starts with `parts` of
  // bytes / threshold_divisor on the least loaded dimension.
  [[nodiscard]] bool balanced(StageKind kind, Bytes bytes, std::uint64_t parts) const;
  [[nodiscard]] bool less(std::size_t a, std::size_t b) const { return loads_[a] < loads_[b]; }

  // Rounded.
  [[nodiscard]] std::vector<std::uint64_t> femtoseconds() const;
  [[nodiscard]] std::uint64_t num_nodes() const { return nodes_; }

 private:
  using Time = boost::multiprecision::cpp_int;

  [[nodiscard]] Time stage_without_divisor(StageKind kind, std::size_t d, Bytes bytes,
                                           std::uint64_t parts) const;

  const std::vector<PlannedDimension>& dimensions_;
  std::uint32_t threshold_divisor_;
  std::uint64_t nodes_ = 1;
  Time units_per_second_ = 1;
  std::vector<Time> units_per_part_;  // by dimension: of a byte / nodes / threshold_divisor
  std::vector<Time> loads_;
};

}  // namespace espalier
