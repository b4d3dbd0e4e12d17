// One training iteration of one accelerator: forward, then back-propagation from the last layer to
// the first, each layer's gradient given to the all-reduce when it is complete.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "sims/workload/training/compute_model.h"
#include "sims/workload/training/layer.h"

namespace espalier {

// When gradients are all-reduced (MultiTree, section V-B).
enum class Overlap : std::uint8_t {
  none,       // all of them after back-propagation
  layerwise,  // each layer's once it has finished back-propagation
};

struct GradientPost {
  std::size_t layer = 0;
  Cycle at = 0;  // from the start of back-propagation
  std::uint64_t parameters = 0;
};

struct IterationPlan {
  Cycle forward = 0;
  Cycle backward = 0;
  // Of layers that have parameters, in the order of back-propagation. A layer computes its input
  // gradient first, which the layer before waits for, and its weight gradient last.
  std::vector<GradientPost> posts;

  [[nodiscard]] Cycle compute() const { return add_compute(forward, backward); }
};

[[nodiscard]] IterationPlan plan_iteration(const std::vector<Layer>& layers,
                                           std::uint64_t mini_batch, const ComputeSpec& spec);

[[nodiscard]] std::uint64_t count_parameters(const std::vector<Layer>& layers);

}  // namespace espalier
