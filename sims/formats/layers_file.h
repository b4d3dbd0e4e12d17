// The layers of a network in a SCALE-Sim topology file (Samajdar et al., arXiv 1811.02883).
//
//   Layer name, IFMAP Height, ..., Channels, Num Filter, Strides,
//   AlexNet,
//   conv1, 227, 227, 11, 11, 3, 96, 4,
//
// The first line names the eight columns. A line with a name only is a title. A line that starts
// with '#' is a comment. Ignored are empty cells at the end of a line, blank lines, lines of
// commas, and blanks around a value. Espalier adds a ninth column, Weights: own (or empty), shared,
// none or lookup, see sims/workload/training/layer.h. SCALE-Sim's tables of matrix products are
// read, too: "Layer, M, N, K," for M x K by K x N.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sims/point/training_config.h"
#include "sims/text/diagnostics.h"
#include "sims/workload/training/layer.h"

namespace espalier {

// The layers in a file's text, in forward order; at least one of them has parameters. `file_name`
// is for diagnostics.
[[nodiscard]] std::optional<std::vector<Layer>> parse_layers(const std::string& file_name,
                                                             const std::string& text,
                                                             Diagnostics& diagnostics);

// The layers of the configuration's network or file, which it names at `place`.
[[nodiscard]] std::optional<std::vector<Layer>> load_layers(const TrainingConfig& config,
                                                            const Place& place,
                                                            Diagnostics& diagnostics);

}  // namespace espalier
