// Keys of the section `training`.
#include <algorithm>

#include "sims/config/key_builders.h"
#include "sims/point/enum_names.h"
#include "sims/workload/training/layer.h"

namespace espalier {

using namespace key_builders;

namespace {

constexpr std::uint64_t kMostSamples = 1ULL << 20;
constexpr std::uint64_t kMostArrays = 1ULL << 16;

Key layers_file_key() {
  Key key;
  key.name = "training.file";
  key.shape.type = ValueType::text;
  key.description = "layers in a SCALE-Sim topology file, relative to this file's folder";
  key.set = [](RunPoint& point, const Value& value) { point.training->file = value.text; };
  key.get = [](const RunPoint& point) {
    Value value;
    value.text = point.training->file;
    return value;
  };
  return key;
}

Key network_key() {
  std::vector<std::string> names;
  for (const BuiltInNetwork& network : built_in_networks()) names.emplace_back(network.name);
  Key key;
  key.name = "training.network";
  key.shape.type = ValueType::name;
  key.shape.names = names;
  key.description = "a built-in network (espalier list networks)";
  key.set = [names](RunPoint& point, const Value& value) {
    point.training->network = names.at(value.number);
  };
  key.get = [names](const RunPoint& point) {
    const auto found = std::find(names.begin(), names.end(), point.training->network);
    Value value;
    value.number = static_cast<std::uint64_t>(found - names.begin());
    return value;
  };
  return key;
}

}  // namespace

void add_training_keys(std::vector<Key>& table) {
  table.push_back(layers_file_key());
  table.push_back(
      required(listable(only_when(network_key(), "training.file", "not given",
                                  [](const RunPoint& p) { return p.training->file.empty(); }))));
  table.push_back(listable(choice_key<Overlap>(
      "training.overlap",
      "none: one all-reduce after back-propagation; layerwise: each layer's gradient as soon as "
      "it is complete",
      [](auto& p) -> auto& { return p.training->overlap; })));
  table.push_back(integer_key(
      "training.mini_batch", 1, kMostSamples, "samples per accelerator and iteration",
      [](auto& p) -> auto& { return p.training->mini_batch; }));
  table.push_back(integer_key(
      "training.compute.pes", 1, kMostArrays, "processing elements, a systolic array each",
      [](auto& p) -> auto& { return p.training->compute.pes; }));
  table.push_back(integer_key(
      "training.compute.rows", 1, kMostArrays, "of an array",
      [](auto& p) -> auto& { return p.training->compute.rows; }));
  table.push_back(integer_key(
      "training.compute.columns", 1, kMostArrays, "of an array",
      [](auto& p) -> auto& { return p.training->compute.columns; }));
  table.push_back(choice_key<PeSharing>(
      "training.compute.sharing",
      "of activations: whole samples per processing element, or folds of the mini-batch",
      [](auto& p) -> auto& { return p.training->compute.sharing; }));
}

}  // namespace espalier
