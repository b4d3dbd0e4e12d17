// One layer of a network, with the columns of a SCALE-Sim topology file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// The origin of the layer's weights, and whether the layer has their gradient.
enum class LayerWeights : std::uint8_t {
  own,     // the layer's gradient is all-reduced
  shared,  // weights of another layer, which counts and all-reduces them
  none,    // a product of two activations (attention), without weights
  lookup,  // an embedding table: rows are read and added to; its whole gradient is all-reduced
};

// A convolution. A matrix layer has 1 x 1 filters, and its rows are IFMAP pixels (SCALE-Sim).
struct Layer {
  std::string name;
  std::uint32_t ifmap_height = 1;  // including zero padding
  std::uint32_t ifmap_width = 1;
  std::uint32_t filter_height = 1;  // no larger than the IFMAP
  std::uint32_t filter_width = 1;
  std::uint32_t channels = 1;
  std::uint32_t filters = 1;
  std::uint32_t stride = 1;  // in both directions
  LayerWeights weights = LayerWeights::own;

  // For one sample. If the stride does not end at the border, the rest is left out.
  [[nodiscard]] std::uint64_t output_pixels() const {
    return (std::uint64_t{(ifmap_height - filter_height) / stride} + 1) *
           ((ifmap_width - filter_width) / stride + 1);
  }
  // Weights of one filter.
  [[nodiscard]] std::uint64_t filter_volume() const {
    return std::uint64_t{filter_height} * filter_width * channels;
  }
  // Weights whose gradient the layer computes.
  [[nodiscard]] std::uint64_t parameters() const {
    const bool counted = weights == LayerWeights::own || weights == LayerWeights::lookup;
    return counted ? filter_volume() * filters : 0;
  }
};

// A network of MultiTree's evaluation (section V-B), built in as a layer table. docs/training.md
// names the sources.
struct BuiltInNetwork {
  const char* name;
  const char* summary;
  const char* table;  // the text of configs/networks/<name>.csv
};

[[nodiscard]] const std::vector<BuiltInNetwork>& built_in_networks();
// Returns nullptr if no network has that name.
[[nodiscard]] const BuiltInNetwork* find_network(const std::string& name);

}  // namespace espalier
