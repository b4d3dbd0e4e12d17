// The gradients of a training job as its hosts see them: tensors with names, submitted one by one
// or in groups (Romero et al., NSDI 2022, section 3.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "sims/workload/training/compute_model.h"

namespace espalier {

using TensorId = Id<struct TensorTag>;
// A group of tensors that is submitted at once, or a single tensor.
using UnitId = Id<struct UnitTag>;

struct Tensor {
  std::string name;
  Bytes bytes = 0;
  Cycle ready = 0;  // when its gradient is complete, from the start of the iteration
};

// The parameters of a layer. Each kind is a separate tensor.
enum class LayerTensors : std::uint8_t {
  weights,
  bias,        // weights, and one element per filter
  batch_norm,  // weights, scale and shift per filter; the last layer has a bias instead
};

struct TensorSpec {
  LayerTensors tensors = LayerTensors::weights;
  Bytes element_bytes = 4;
  Cycle compute = 0;  // forward and back-propagation are scaled to this time; 0: not scaled
};

struct TensorSet {
  std::vector<Tensor> tensors;  // in the order in which back-propagation completes them
  Cycle compute = 0;            // forward and back-propagation

  [[nodiscard]] Bytes bytes() const;
};

// Tensors of one layer complete at the same time, weights first.
[[nodiscard]] TensorSet make_tensor_set(const std::vector<Layer>& layers, const IterationPlan& plan,
                                        const TensorSpec& spec);

struct TensorUnit {
  std::vector<TensorId> tensors;
  Bytes bytes = 0;
  bool is_group = false;
};

// Cuts the tensors into `num_groups` groups of equal size, the first ones larger by the remainder
// (section 3.2). With 0, or with more groups than tensors, each tensor is a unit.
[[nodiscard]] std::vector<TensorUnit> make_units(const TensorSet& set, std::uint32_t num_groups);

// One all-reduce of tensor fusion (Romero et al., sections 2.2.2 and 3.2).
struct Response {
  std::vector<TensorId> tensors;
  Bytes bytes = 0;
};

struct FusionSpec {
  Bytes threshold = 0;      // size of the fusion buffer; 0: no fusion
  bool fuse_groups = true;  // groups may share a buffer with each other and with other tensors
};

// `ready` is in the global order. A buffer takes the first remaining unit, then every later unit
// that still fits. A unit larger than the threshold fills buffers of its own, tensor by tensor. A
// single tensor larger than the threshold is reduced alone.
[[nodiscard]] std::vector<Response> fuse(const std::vector<UnitId>& ready,
                                         const std::vector<TensorUnit>& units, const TensorSet& set,
                                         const FusionSpec& spec);

}  // namespace espalier
