// A coordinated training job in closed form, for more ranks than a network can be simulated for.
// Decisions (coordination.h) and message patterns are the same as in the simulated job. The times
// of messages and collectives are computed for an idle network.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>

#include "hw/ids.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

class MessageTime {
 public:
  // The number of a path. Two paths on which every message takes the same time have the same
  // number.
  using Path = std::uint32_t;

  MessageTime() = default;
  virtual ~MessageTime() = default;
  MessageTime(const MessageTime&) = delete;
  MessageTime& operator=(const MessageTime&) = delete;

  // Precondition: from != to.
  [[nodiscard]] virtual Path path(RankId from, RankId to) const = 0;
  // From the sender's NI to the receiver's memory; at least 1.
  [[nodiscard]] virtual Cycle flight(Path path, Bytes bytes) const = 0;
};

class ReductionTime {
 public:
  ReductionTime() = default;
  virtual ~ReductionTime() = default;
  ReductionTime(const ReductionTime&) = delete;
  ReductionTime& operator=(const ReductionTime&) = delete;

  // Time of an all-reduce that all ranks begin at the same time; at least 1.
  [[nodiscard]] virtual Cycle all_reduce(Bytes bytes) const = 0;
};

// Steps with a fixed latency each, and bytes at a rank's bandwidth (Thakur et al., IJHPCA 2005;
// NCCL's rings, and its double binary trees from version 2.4 on).
class AllReduceForm : public ReductionTime {
 public:
  enum class Kind : std::uint8_t {
    ring,  // 2 (N - 1) steps, each with an N-th of the bytes
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

// Called with the finished share of all iterations, 0 to 1.
using JobProgress = std::function<void(double)>;

// Ranks go through each operation of the control plane together, round by round.
[[nodiscard]] TrainingRecord run_in_closed_form(const TrainingJob& job, const MessageTime& messages,
                                                const ReductionTime& reductions,
                                                const JobProgress& progress);

}  // namespace espalier
