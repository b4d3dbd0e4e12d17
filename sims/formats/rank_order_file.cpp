#include "sims/formats/rank_order_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "alg/rank_order/permutation.h"
#include "sims/text/strict_map.h"
#include "sims/text/values.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

constexpr const char* kKey = "rank_order";
constexpr const char* kRankOrderExample = "rank_order: [1, 0, 2, 3]";

std::optional<std::vector<NodeId>> read_entries(const ConfigNode& list, const Place& place,
                                                std::size_t nodes, Diagnostics& diagnostics) {
  if (list.kind != ConfigNode::Kind::list) {
    diagnostics.error(place, "rank_order: is a list with the node of each rank", kRankOrderExample);
    return std::nullopt;
  }
  const std::size_t errors_before = diagnostics.num_errors();
  if (list.items.size() != nodes) {
    diagnostics.error(place, fmt::format("rank_order: has {} entries; the network has {} nodes",
                                         list.items.size(), nodes));
  }
  ValueShape shape;
  shape.max = nodes - 1;
  std::vector<NodeId> order;
  std::vector<std::size_t> rank_of(nodes, list.items.size());
  for (std::size_t rank = 0; rank < list.items.size(); ++rank) {
    const auto value = parse_value(list.items[rank], kKey, shape, diagnostics);
    if (!value) continue;
    std::size_t& taken_by = rank_of[value->number];
    if (taken_by != list.items.size()) {
      diagnostics.error(
          list.items[rank].place,
          fmt::format("rank_order: node {} is rank {} already", value->number, taken_by),
          "every node is one rank");
    }
    taken_by = rank;
    order.emplace_back(value->number);
  }
  if (diagnostics.num_errors() != errors_before) return std::nullopt;
  return order;
}

}  // namespace

std::optional<std::vector<NodeId>> parse_rank_order(const std::string& file_name,
                                                    const std::string& text, std::size_t nodes,
                                                    Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.num_errors();
  const SourceIndex source = diagnostics.add_file(file_name, text);
  const auto root = load_yaml(text, source, diagnostics);
  if (!root) return std::nullopt;
  if (root->kind != ConfigNode::Kind::map) {
    diagnostics.error({source, 1, 1}, "the file is no mapping with a rank_order",
                      kRankOrderExample);
    return std::nullopt;
  }
  const StrictMap map(*root, "", {kKey, "metadata"}, diagnostics);
  if (!map.require(kKey, kRankOrderExample) || diagnostics.num_errors() != errors_before) {
    return std::nullopt;
  }
  return read_entries(*map.find(kKey), map.place_of(kKey), nodes, diagnostics);
}

std::optional<std::vector<NodeId>> load_rank_order(const RankOrderConfig& config, std::size_t nodes,
                                                   const Place& place, Diagnostics& diagnostics) {
  if (config.is_identity()) return std::vector<NodeId>{};
  if (config.is_random()) return to_nodes(random_permutation(nodes, config.seed));
  const std::string path = (std::filesystem::path(config.folder) / config.source).string();
  const FileText file = read_file_text(path);
  if (!file.text) {
    diagnostics.error(place, fmt::format("'{}' {}", path, file.problem),
                      "identity, random, or a path relative to the configuration's folder");
    return std::nullopt;
  }
  return parse_rank_order(path, *file.text, nodes, diagnostics);
}

}  // namespace espalier
