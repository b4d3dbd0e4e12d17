// One layer of a network, with the columns of a SCALE-Sim topology file.
#pragma once

#include <cstdint>
#include <string>

#include "hw/ids.h"

namespace espalier {

// Whose the layer's weights are, and so whose gradient it is.
enum class LayerWeights : std::uint8_t {
  own,     // its gradient is all-reduced
  shared,  // another layer's row has them: computed with, counted and all-reduced there
  none,    // the product of two activations (attention): computed, never all-reduced
  lookup,  // an embedding table: rows are read and added to, nothing is multiplied; its gradient is
           // all-reduced whole
};

// A convolution; a matrix layer is one of 1 x 1 filters, whose rows are IFMAP pixels (SCALE-Sim).
struct Layer {
  std::string name;
  std::uint32_t ifmap_height = 1;  // zero padding included: the columns have none of their own
  std::uint32_t ifmap_width = 1;
  std::uint32_t filter_height = 1;  // no larger than the IFMAP
  std::uint32_t filter_width = 1;
  std::uint32_t channels = 1;
  std::uint32_t filters = 1;
  std::uint32_t stride = 1;  // in both directions
  LayerWeights weights = LayerWeights::own;

  // Of one sample. A stride that does not end at the border leaves the rest out.
  [[nodiscard]] std::uint64_t output_pixels() const {
    return (std::uint64_t{(ifmap_height - filter_height) / stride} + 1) *
           ((ifmap_width - filter_width) / stride + 1);
  }
  // Weights of one filter.
  [[nodiscard]] std::uint64_t filter_volume() const {
    return std::uint64_t{filter_height} * filter_width * channels;
  }
  // Weights whose gradient this layer gives.
  [[nodiscard]] std::uint64_t parameters() const {
    const bool counted = weights == LayerWeights::own || weights == LayerWeights::lookup;
    return counted ? filter_volume() * filters : 0;
  }
};

}  // namespace espalier
