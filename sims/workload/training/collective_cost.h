// How long a communication operation of a training iteration takes with the network to itself.
#pragma once

#include "sims/workload/training/workload.h"

namespace espalier {

class CollectiveCost {
 public:
  CollectiveCost() = default;
  CollectiveCost(const CollectiveCost&) = delete;
  CollectiveCost& operator=(const CollectiveCost&) = delete;
  virtual ~CollectiveCost() = default;

  [[nodiscard]] virtual double nanoseconds(const CommunicationOp& op) = 0;
};

}  // namespace espalier
