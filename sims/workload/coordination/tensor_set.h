// The gradients of a training job as its hosts see them: tensors with names, submitted one by one
// or in groups (Romero et al., NSDI 2022, section 3.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "sims/workload/training/iteration.h"

namespace espalier {

using TensorId = Id<struct TensorTag>;
// What is submitted at once: a group of tensors, or a tensor of no group.
using UnitId = Id<struct UnitTag>;

struct Tensor {
  std::string name;
  Bytes bytes = 0;
  // Its gradient is complete, counted from the start of the iteration.
  Cycle ready = 0;
};

// Which parameters a layer has beside its weights; each is a tensor of its own.
enum class LayerTensors : std::uint8_t {
  weights,
  bias,        // one element per filter
  batch_norm,  // scale and shift, one element per filter each; the last layer has a bias
};

struct TensorSpec {
  LayerTensors tensors = LayerTensors::weights;
  Bytes element_bytes = 4;
  Cycle compute = 0;  // forward and back-propagation are scaled to take as long; 0: as computed
};

// In the order in which back-propagation completes them.
struct TensorSet {
  std::vector<Tensor> tensors;
  Cycle compute = 0;  // forward and back-propagation

  [[nodiscard]] Bytes bytes() const;
};

// Tensors of one layer are complete at the same time, weights first.
[[nodiscard]] TensorSet make_tensor_set(const std::vector<Layer>& layers, const IterationPlan& plan,
                                        const TensorSpec& spec);

struct TensorUnit {
  std::vector<TensorId> tensors;
  Bytes bytes = 0;
  bool is_group = false;
};

// `num_groups` groups of as many tensors each, remainder to the first ones (section 3.2); 0: every
// tensor by itself. More groups than tensors: a group for each.
[[nodiscard]] std::vector<TensorUnit> make_units(const TensorSet& set, std::uint32_t num_groups);

}  // namespace espalier
