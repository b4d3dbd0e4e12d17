#include "sims/formats/rank_order_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "alg/rank_order/permutation.h"
#include "sims/formats/named_node.h"
#include "sims/text/read_file.h"
#include "sims/text/strict_map.h"
#include "sims/text/text_lines.h"
#include "sims/text/values.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

constexpr const char* kKey = "rank_order";
constexpr const char* kRankOrderExample = "rank_order: [1, 0, 2, 3]";

std::optional<std::vector<NodeId>> read_entries(const ConfigNode& list, const Place& place,
                                                const Topology& topology,
                                                Diagnostics& diagnostics) {
  const std::size_t nodes = topology.num_nodes();
  if (list.kind != ConfigNode::Kind::list) {
    diagnostics.error(place, "rank_order: expected a list with the node of each rank",
                      kRankOrderExample);
    return std::nullopt;
  }
  const std::size_t errors_before = diagnostics.num_errors();
  if (list.items.size() != nodes) {
    diagnostics.error(place, fmt::format("rank_order: has {} entries, but the network has {} nodes",
                                         list.items.size(), nodes));
  }
  ValueShape shape = range_shape(0, nodes - 1);
  shape.is_node = true;
  std::vector<NodeId> order;
  std::vector<std::size_t> rank_of(nodes, list.items.size());
  for (std::size_t rank = 0; rank < list.items.size(); ++rank) {
    const auto value = parse_value(list.items[rank], kKey, shape, diagnostics);
    if (!value) continue;
    const Place& entry = list.items[rank].place;
    const auto node = value->text.empty()
                          ? NodeId(value->number)
                          : named_node(topology, kKey, value->text, entry, diagnostics);
    if (!node) continue;
    std::size_t& taken_by = rank_of[node->index()];
    if (taken_by != list.items.size()) {
      diagnostics.error(
          entry, fmt::format("rank_order: node {} is already rank {}", node->value(), taken_by),
          "name every node once");
    }
    taken_by = rank;
    order.push_back(*node);
  }
  if (diagnostics.num_errors() != errors_before) return std::nullopt;
  return order;
}

}  // namespace

std::optional<std::vector<NodeId>> parse_rank_order(const std::string& file_name,
                                                    const std::string& text,
                                                    const Topology& topology,
                                                    Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.num_errors();
  const SourceIndex source = diagnostics.add_file(file_name, text);
  const auto root = load_yaml(text, source, diagnostics);
  if (!root) return std::nullopt;
  if (root->kind != ConfigNode::Kind::map) {
    diagnostics.error({source, 1, 1}, "expected a mapping with the key rank_order",
                      kRankOrderExample);
    return std::nullopt;
  }
  const StrictMap map(*root, "", {kKey, "metadata"}, diagnostics);
  if (!map.require(kKey, kRankOrderExample) || diagnostics.num_errors() != errors_before) {
    return std::nullopt;
  }
  return read_entries(*map.find(kKey), map.place_of(kKey), topology, diagnostics);
}

std::optional<std::vector<NodeId>> load_rank_order(const RankOrderConfig& config,
                                                   const Topology& topology, const Place& place,
                                                   Diagnostics& diagnostics) {
  if (config.is_identity()) return std::vector<NodeId>{};
  if (config.is_random()) return to_nodes(random_permutation(topology.num_nodes(), config.seed));
  const std::string path = path_from(config.folder, config.source);
  const auto text =
      read_named_file(path, place, diagnostics,
                      "identity, random, or a path relative to the configuration's folder");
  if (!text) return std::nullopt;
  return parse_rank_order(path, *text, topology, diagnostics);
}

namespace {

constexpr std::uint64_t kLongestLatency = 1'000'000'000'000;
constexpr std::uint64_t kMostWeight = 1'000'000;

// A table with a line and a column for each node or rank, or with one line.
class PairTableParser {
 public:
  struct Words {
    const char* value;   // "latency"
    const char* values;  // "latencies"
    const char* side;    // "node"
  };
  PairTableParser(const Words& words, std::uint64_t most, std::size_t nodes, std::size_t lines,
                  Diagnostics& diagnostics)
      : words_(words),
        nodes_(nodes),
        most_lines_(lines),
        diagnostics_(diagnostics),
        shape_(range_shape(0, most)) {}

  std::optional<std::vector<std::uint64_t>> parse(const std::string& file_name,
                                                  const std::string& text) {
    const SourceIndex source = diagnostics_.add_file(file_name, text);
    const std::size_t errors_before = diagnostics_.num_errors();
    Place end{source, 1, 1};
    for_each_line(text, source, diagnostics_, [&](std::string_view line, const Place& place) {
      end = place;
      const std::vector<ConfigNode> cells = cells_of(line.substr(0, line.find('#')), place);
      const bool blank = cells.size() == 1 && cells.front().text.empty();
      // The lines of a table of the wrong size would only give more errors.
      return blank || (check_count(cells) && read_line(cells));
    });
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    if (lines_ < most_lines_) {
      diagnostics_.error(end,
                         fmt::format("found {} lines of {}, but the network has {} {}s", lines_,
                                     words_.values, nodes_, words_.side),
                         most_lines_ == 1 ? "write one line"
                                          : fmt::format("write one line for each {}", words_.side));
      return std::nullopt;
    }
    return std::move(values_);
  }

 private:
  bool check_count(const std::vector<ConfigNode>& cells) {
    if (lines_ == most_lines_) {
      diagnostics_.error(cells.front().place,
                         most_lines_ == 1
                             ? fmt::format("found a second line of {}; every {} has one {}",
                                           words_.values, words_.side, words_.value)
                             : fmt::format("found more lines of {} than the network has {}s, {}",
                                           words_.values, words_.side, nodes_));
      return false;
    }
    if (cells.size() == nodes_) return true;
    const ConfigNode& cell = cells.size() < nodes_ ? cells.back() : cells[nodes_];
    diagnostics_.error(
        cell.place,
        fmt::format("found {} values, but the network has {} {}s", cells.size(), nodes_,
                    words_.side),
        fmt::format("write the {} to each {}, separated by commas", words_.value, words_.side));
    return false;
  }

  bool read_line(const std::vector<ConfigNode>& cells) {
    for (std::size_t to = 0; to < cells.size(); ++to) {
      if (to == lines_ && most_lines_ != 1) {
        values_.push_back(0);
        continue;
      }
      const std::string name = most_lines_ == 1
                                   ? fmt::format("{} of {} {}", words_.value, words_.side, to)
                                   : fmt::format("{} {} to {}", words_.value, lines_, to);
      const auto value = parse_value(cells[to], name, shape_, diagnostics_);
      values_.push_back(value ? value->number : 0);
    }
    ++lines_;
    return true;
  }

  Words words_;
  std::size_t nodes_;
  std::size_t most_lines_;
  Diagnostics& diagnostics_;
  ValueShape shape_;
  std::size_t lines_ = 0;
  std::vector<std::uint64_t> values_;
};

}  // namespace

std::optional<std::vector<std::uint64_t>> parse_latencies(const std::string& file_name,
                                                          const std::string& text,
                                                          std::size_t nodes,
                                                          Diagnostics& diagnostics) {
  return PairTableParser({"latency", "latencies", "node"}, kLongestLatency, nodes, nodes,
                         diagnostics)
      .parse(file_name, text);
}

std::optional<std::vector<std::uint64_t>> parse_weights(const std::string& file_name,
                                                        const std::string& text, std::size_t ranks,
                                                        std::size_t lines,
                                                        Diagnostics& diagnostics) {
  return PairTableParser({"weight", "weights", "rank"}, kMostWeight, ranks, lines, diagnostics)
      .parse(file_name, text);
}

std::optional<std::vector<std::uint64_t>> load_weights(const CountsConfig& config,
                                                       std::size_t ranks, std::size_t lines,
                                                       const Place& place,
                                                       Diagnostics& diagnostics) {
  if (!config.is_file()) {
    std::vector<std::uint64_t> weights;
    for (std::size_t pair = 0; pair < lines * ranks; ++pair) {
      const bool is_own = lines != 1 && pair / ranks == pair % ranks;
      weights.push_back(is_own ? 0 : kMostWeight / (pair % ranks + 1));
    }
    return weights;
  }
  const std::string path = path_from(config.folder, config.source);
  const auto text = read_named_file(path, place, diagnostics,
                                    "zipf, or a path relative to the configuration's folder");
  if (!text) return std::nullopt;
  auto weights = parse_weights(path, *text, ranks, lines, diagnostics);
  const auto is_zero = [](std::uint64_t weight) { return weight == 0; };
  if (weights && std::all_of(weights->begin(), weights->end(), is_zero)) {
    diagnostics.error(place, fmt::format("all weights in {} are 0", path),
                      "give some weight of at least 1");
    return std::nullopt;
  }
  return weights;
}

}  // namespace espalier
