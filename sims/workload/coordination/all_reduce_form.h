// All-reduces in closed form: steps that each have a latency, and bytes at a rank's bandwidth
// (Thakur et al., IJHPCA 2005; NCCL's rings, and its double binary trees from 2.4 on).
#pragma once

#include <cmath>

#include "sims/workload/coordination/closed_form.h"

namespace espalier {

class AllReduceForm : public ReductionTime {
 public:
  enum class Kind : std::uint8_t {
    ring,  // 2 (N - 1) steps, each of an N-th of the bytes
    tree,  // up and down ceil(log2 N) levels, pipelined: all bytes once each way
  };
  AllReduceForm(Kind kind, std::size_t ranks, Cycle step, double bytes_per_cycle)
      : kind_(kind), ranks_(static_cast<double>(ranks)), step_(step), rate_(bytes_per_cycle) {}

  [[nodiscard]] Cycle all_reduce(Bytes bytes) const override {
    const double steps = kind_ == Kind::ring ? ranks_ - 1 : std::ceil(std::log2(ranks_));
    const double share = kind_ == Kind::ring ? (ranks_ - 1) / ranks_ : 1;
    const double cycles =
        2 * (steps * static_cast<double>(step_) + share * static_cast<double>(bytes) / rate_);
    return cycles < 1 ? 1 : static_cast<Cycle>(std::ceil(cycles));
  }

 private:
  Kind kind_;
  double ranks_;
  Cycle step_;
  double rate_;
};

}  // namespace espalier
