// The iterations of a workload over time: computing, and waiting for communication (Themis, Fig.
// 12).
//
// All NPUs do the same, so two ranks that execute the workload's graph stand for all. An operation
// starts when it is issued and every physical dimension of its scope is free. Operations that share
// a dimension run one after the other, in the order of issue; others run at the same time. An
// iteration ends when all its operations have.
#pragma once

#include <cstdint>
#include <functional>

#include "sims/workload/training/parallel_groups.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// Nanoseconds of an operation on an idle network.
using CollectiveCost = std::function<double(const CommunicationOp&)>;

// Nanoseconds of all iterations together. Computing, operations and the two steps in which a host
// posts an operation are rounded to picoseconds.
struct TrainingTimeline {
  double forward = 0;   // computing, including forward_again
  double backward = 0;  // computing
  double exposed_data = 0;
  double exposed_model = 0;
  double communication = 0;  // while an operation is in flight

  [[nodiscard]] double compute() const { return forward + backward; }
  // A wait for several operations is charged to the one that ends first, then to the next one.
  [[nodiscard]] double exposed() const { return exposed_data + exposed_model; }
  [[nodiscard]] double total() const { return compute() + exposed(); }
};

// Throws std::invalid_argument if computing and communication of an iteration, one after the other,
// take longer than kLongestIteration.
[[nodiscard]] TrainingTimeline run_timeline(const Workload& workload, const ParallelGroups& groups,
                                            const CollectiveCost& cost, std::uint32_t iterations);

}  // namespace espalier
