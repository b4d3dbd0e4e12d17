// A workload's iterations in time: computing, and waiting for communication (Themis, Fig. 12).
//
// An operation starts when it is issued and every physical dimension of its scope is free: those
// that share a dimension run one after the other in the order of issue, those that do not run at
// the same time. Nothing of one iteration is left over for the next.
#pragma once

#include <cstdint>

#include "sims/workload/training/collective_cost.h"
#include "sims/workload/training/parallel_groups.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// In nanoseconds, of all iterations together.
struct TrainingTimeline {
  double forward = 0;   // computing, that of forward_again included
  double backward = 0;  // computing
  double exposed_data = 0;
  double exposed_model = 0;
  double communication = 0;  // in which some operation is under way

  [[nodiscard]] double compute() const { return forward + backward; }
  // A step or the iteration's end that waits for several operations waits for the one that ends
  // first, then for the next one.
  [[nodiscard]] double exposed() const { return exposed_data + exposed_model; }
  [[nodiscard]] double total() const { return compute() + exposed(); }
};

[[nodiscard]] TrainingTimeline run_timeline(const Workload& workload, const ParallelGroups& groups,
                                            CollectiveCost& cost, std::uint32_t iterations);

}  // namespace espalier
