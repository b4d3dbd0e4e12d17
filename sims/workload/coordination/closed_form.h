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
#include "sims/workload/graph/modelled_machine.h"

namespace espalier {

// Steps with a fixed latency each, and bytes at a rank's bandwidth (Thakur et al., IJHPCA 2005;
// NCCL's rings, and its double binary trees from version 2.4 on).
struct AllReduceForm {
  enum class Kind : std::uint8_t {
    ring,  // 2 (N - 1) steps, each with an N-th of the bytes
    tree,  // up and down ceil(log2 N) levels, pipelined: all bytes once each way
  };
  Kind kind;
  double ranks;
  Cycle step;
  double bytes_per_cycle;

  [[nodiscard]] Cycle operator()(const HostCollective& what) const {
    const double steps = kind == Kind::ring ? ranks - 1 : std::ceil(std::log2(ranks));
    const double share = kind == Kind::ring ? (ranks - 1) / ranks : 1;
    const double cycles = 2 * (steps * static_cast<double>(step) +
                               share * static_cast<double>(what.bytes) / bytes_per_cycle);
    return cycles < 1 ? 1 : static_cast<Cycle>(std::ceil(cycles));
  }
};

// Called with the finished share of all iterations, 0 to 1.
using JobProgress = std::function<void(double)>;

// Ranks go through each operation of the control plane together, round by round.
[[nodiscard]] TrainingRecord run_in_closed_form(const TrainingJob& job, const MessageTime& messages,
                                                const CollectiveTime& reductions,
                                                const JobProgress& progress);

}  // namespace espalier
