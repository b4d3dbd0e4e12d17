// Collects the gradients of a workload that is being written, and issues their exchange.
#pragma once

#include "sims/workload/training/workloads.h"

namespace espalier {

class GradientCollector {
 public:
  GradientCollector(Workload& workload, const WorkloadSpec& spec, CollectiveOp op,
                    CommunicationScope scope)
      : workload_(workload), spec_(spec), op_(op), scope_(scope) {}

  // The step before has completed the gradients of so many weights.
  void complete(Bytes weights) {
    pending_ += weights * spec_.element_bytes;
    if (spec_.exchange == GradientExchange::per_layer) flush();
  }
  // After back-propagation.
  void flush() {
    if (pending_ != 0) workload_.issue({op_, pending_, scope_}, Parallelism::data);
    pending_ = 0;
  }

 private:
  Workload& workload_;
  const WorkloadSpec& spec_;
  CollectiveOp op_;
  CommunicationScope scope_;
  Bytes pending_ = 0;
};

}  // namespace espalier
