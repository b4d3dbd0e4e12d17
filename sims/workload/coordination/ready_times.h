// When the gradients of one rank are complete: computing that is a little different on every rank
// and in every iteration, and an order that the framework's task graph leaves open (Romero et al.,
// section 2.2.1).
#pragma once

#include <cstdint>
#include <vector>

#include "sims/workload/coordination/tensor_set.h"

namespace espalier {

struct JitterSpec {
  double rank_skew = 0;            // a rank is slower in all iterations, by up to this share
  double jitter = 0;               // in one iteration, by up to this share
  std::uint32_t order_window = 1;  // a tensor is complete at most so many places from where it was
                                   // to be, less one; 1: the same order everywhere
  std::uint64_t seed = 1;
};

struct ReadyUnit {
  Cycle at = 0;     // from the start of the iteration
  Cycle first = 0;  // its first tensor
  UnitId unit;
};

class ReadyTimes {
 public:
  // All arguments must outlive it.
  ReadyTimes(const TensorSet& set, const std::vector<TensorUnit>& units, const JitterSpec& jitter);

  // Ascending in time, equal times in the order of units: a group is complete with its last tensor.
  [[nodiscard]] std::vector<ReadyUnit> of(RankId rank, std::uint32_t iteration) const;
  // Of the whole iteration, on that rank.
  [[nodiscard]] Cycle compute(RankId rank, std::uint32_t iteration) const;

 private:
  [[nodiscard]] double slowness(RankId rank, std::uint32_t iteration) const;
  // The tensor that is complete k-th.
  [[nodiscard]] std::vector<std::size_t> order(RankId rank, std::uint32_t iteration) const;

  const TensorSet& set_;
  const std::vector<TensorUnit>& units_;
  JitterSpec jitter_;
  std::vector<std::size_t> unit_of_;  // by tensor
};

}  // namespace espalier
