#include "sims/formats/layers_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "sims/point/enum_names.h"
#include "sims/text/read_file.h"
#include "sims/text/table_reader.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

struct NumberColumn {
  const char* name;
  std::uint64_t max;
  std::uint32_t Layer::*member;
};

constexpr std::uint64_t kLongestSide = std::uint64_t{1} << 16;
constexpr std::uint64_t kMostChannels = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostParameters = std::uint64_t{1} << 40;
constexpr std::size_t kMostLayers = 100'000;

constexpr std::array<NumberColumn, 7> kLayerColumns{{
    {"IFMAP Height", kLongestSide, &Layer::ifmap_height},
    {"IFMAP Width", kLongestSide, &Layer::ifmap_width},
    {"Filter Height", kLongestSide, &Layer::filter_height},
    {"Filter Width", kLongestSide, &Layer::filter_width},
    {"Channels", kMostChannels, &Layer::channels},
    {"Num Filter", kMostChannels, &Layer::filters},
    {"Strides", kLongestSide, &Layer::stride},
}};
constexpr std::size_t kWeightsColumn = kLayerColumns.size() + 1;

// The cells of a line without empty cells at the end.
TableCells split_layer(std::string_view line, const Place& line_start) {
  TableCells cells = cells_of(line, line_start);
  while (!cells.empty() && cells.back().text.empty()) cells.pop_back();
  return cells;
}

constexpr TableSpec kLayerTable{
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides",
    "layer", "for example conv1, 227, 227, 11, 11, 3, 96, 4", split_layer};

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

class LayerReader : public TableReader<Layer> {
 public:
  explicit LayerReader(Diagnostics& diagnostics) : TableReader(kLayerTable, diagnostics) {}

  std::optional<std::vector<Layer>> parse(const std::string& file_name, const std::string& text) {
    auto layers = read(file_name, text);
    const auto has_parameters = [](const Layer& layer) { return layer.parameters() != 0; };
    if (layers && std::none_of(layers->begin(), layers->end(), has_parameters)) {
      diagnostics_.error({header_.source, header_.line, 1},
                         "no layer has parameters, so there is nothing to all-reduce");
      return std::nullopt;
    }
    return layers;
  }

 private:
  // The wording of columns differs in SCALE-Sim's own files ("Num Filter", "Num Filters"), and
  // SCALE-Sim does not read it. So any eight names are accepted.
  bool read_header(const TableCells& cells) override {
    header_ = cells.front().place;
    is_gemm_ = cells.size() == 4 && in_lower_case(cells[1].text) == "m" &&
               in_lower_case(cells[2].text) == "n" && in_lower_case(cells[3].text) == "k";
    if (is_gemm_) return true;
    const auto refuse = [&](const Place& place, const std::string& what) {
      diagnostics_.error(place, what, fmt::format("the first line must be {}", spec_.header));
      return false;
    };
    for (const ConfigNode& cell : cells) {
      if (is_number(cell.text)) {
        return refuse(cell.place, "found a number in the first line, which names the columns");
      }
    }
    if (cells.size() < kWeightsColumn) {
      return refuse(end_of(cells.back()),
                    fmt::format("found {} columns; a layer has {}", cells.size(), kWeightsColumn));
    }
    if (cells.size() > kWeightsColumn + 1 ||
        (cells.size() > kWeightsColumn && in_lower_case(cells[kWeightsColumn].text) != "weights")) {
      diagnostics_.error(cells[kWeightsColumn].place,
                         fmt::format("unknown column '{}'", cells[kWeightsColumn].text),
                         "only the column Weights may follow Strides");
      return false;
    }
    return true;
  }

  // A product of M x K by K x N has M IFMAP pixels of K channels, and N filters.
  TableCells as_convolution(const TableCells& cells) {
    if (!is_gemm_ || cells.size() == 1) return cells;
    if (cells.size() != 4) {
      diagnostics_.error(cells.front().place, "a GEMM has a name, M, N and K", "fc1, 64, 32, 16");
      return {cells.front()};
    }
    ConfigNode one = cells[1];
    one.text = "1";
    return {cells[0], cells[1], one, one, one, cells[3], cells[2], one};
  }

  std::optional<Layer> read_row(const TableCells& given) override {
    const TableCells cells = as_convolution(given);
    if (cells.size() == 1 || !check_count(cells, 1)) return std::nullopt;
    Layer layer;
    bool good = true;
    layer.name = cells.front().text;
    if (layer.name.empty()) {
      diagnostics_.error(cells.front().place, "the layer has no name", spec_.example);
      good = false;
    }
    for (std::size_t c = 0; c < kLayerColumns.size(); ++c) good &= read_number(cells, c, layer);
    if (cells.size() > kWeightsColumn) good &= read_weights(cells[kWeightsColumn], layer);
    if (!good || !check_sizes(cells, layer)) return std::nullopt;
    if (num_layers_++ == kMostLayers) {
      diagnostics_.error(
          cells.front().place,
          fmt::format("the file has more than {} layers, which is the limit", kMostLayers));
    }
    return layer;
  }

  bool read_number(const TableCells& cells, std::size_t column, Layer& layer) {
    if (!check_text(cells, column + 1)) return false;
    const NumberColumn& c = kLayerColumns.at(column);
    const auto value = parse_value(cells[column + 1], c.name, range_shape(1, c.max), diagnostics_);
    if (!value) return false;
    layer.*c.member = static_cast<std::uint32_t>(value->number);
    return true;
  }

  bool read_weights(const ConfigNode& cell, Layer& layer) {
    ValueShape shape;
    shape.type = ValueType::name;
    shape.names = all_names<LayerWeights>();
    const auto value = parse_value(cell, "Weights", shape, diagnostics_);
    if (!value) return false;
    layer.weights = static_cast<LayerWeights>(value->number);
    return true;
  }

  bool check_sizes(const TableCells& cells, const Layer& layer) {
    const auto fits = [&](std::size_t column, const char* side, std::uint32_t filter,
                          std::uint32_t ifmap) {
      if (filter <= ifmap) return true;
      diagnostics_.error(
          cells[column].place,
          fmt::format("a filter of {} {} does not fit into an IFMAP of {}", filter, side, ifmap),
          "the IFMAP's size includes its zero padding");
      return false;
    };
    bool good = fits(3, "rows", layer.filter_height, layer.ifmap_height);
    good &= fits(4, "columns", layer.filter_width, layer.ifmap_width);
    __extension__ using Wide = unsigned __int128;
    if (Wide{layer.filter_volume()} * layer.filters > kMostParameters) {
      diagnostics_.error(cells.front().place, fmt::format("'{}' has more than {} parameters",
                                                          layer.name, kMostParameters));
      good = false;
    }
    return good;
  }

  Place header_;
  bool is_gemm_ = false;  // SCALE-Sim's columns Layer, M, N, K
  std::size_t num_layers_ = 0;
};

}  // namespace

std::optional<std::vector<Layer>> parse_layers(const std::string& file_name,
                                               const std::string& text, Diagnostics& diagnostics) {
  return LayerReader(diagnostics).parse(file_name, text);
}

std::optional<std::vector<Layer>> load_layers(const TrainingConfig& config, const Place& place,
                                              Diagnostics& diagnostics) {
  if (config.file.empty()) {
    return parse_layers(config.network, find_network(config.network)->table, diagnostics);
  }
  const std::string path = path_from(config.folder, config.file);
  const auto text = read_named_file(path, place, diagnostics);
  if (!text) return std::nullopt;
  return parse_layers(path, *text, diagnostics);
}

}  // namespace espalier
