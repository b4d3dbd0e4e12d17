// What happened in a coordinated training job, as both executors tell it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "hw/ids.h"

namespace espalier {

struct IterationRecord {
  Cycle begin = kNever;              // of the first rank
  Cycle end = 0;                     // of the last rank: gradients reduced, computing over
  Cycle control = 0;                 // rank 0's background thread was in the control plane
  std::uint64_t control_cycles = 0;  // in which rank 0 began a cycle
};

// One all-reduce.
struct CollectiveRecord {
  std::uint32_t iteration = 0;
  std::uint32_t tensors = 0;
  Bytes bytes = 0;
  Cycle first_complete = kNever;  // its first tensor, on rank 0
  Cycle last_complete = 0;        // its last tensor, on rank 0
  Cycle first_posted = kNever;    // by a rank
  Cycle last_posted = 0;
  Cycle end = 0;  // on the last rank
};

struct TrainingRecord {
  std::vector<IterationRecord> iterations;
  std::vector<CollectiveRecord> collectives;  // in the global order
  std::uint64_t control_messages = 0;
  Bytes control_bytes = 0;
  Cycle end = 0;
  std::string failure;  // hosts that did not agree; empty as it should be
};

}  // namespace espalier
