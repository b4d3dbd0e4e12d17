// The iterations of a workload over time: computing, and waiting for communication (Themis, Fig.
// 12).
//
// An operation starts when it is issued and every physical dimension of its scope is free.
// Operations that share a dimension run one after the other, in the order of issue; others run at
// the same time. An iteration ends when all its operations have.
#pragma once

#include <cstdint>

#include "sims/workload/training/parallel_groups.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// Time of a communication operation on an idle network.
class CollectiveCost {
 public:
  CollectiveCost() = default;
  CollectiveCost(const CollectiveCost&) = delete;
  CollectiveCost& operator=(const CollectiveCost&) = delete;
  virtual ~CollectiveCost() = default;

  [[nodiscard]] virtual double nanoseconds(const CommunicationOp& op) = 0;
};

// Nanoseconds of all iterations together.
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

[[nodiscard]] TrainingTimeline run_timeline(const Workload& workload, const ParallelGroups& groups,
                                            CollectiveCost& cost, std::uint32_t iterations);

}  // namespace espalier
