#include "sims/formats/messages_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "sims/point/limits.h"
#include "sims/text/nearest_name.h"
#include "sims/text/read_file.h"
#include "sims/text/text_lines.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

constexpr std::array<const char*, 4> kMessageColumns{"ready", "from", "to", "bytes"};
constexpr const char* kMessageHeader = "ready,from,to,bytes";

ValueShape integer_shape(std::uint64_t min, std::uint64_t max) {
  ValueShape shape;
  shape.min = min;
  shape.max = max;
  return shape;
}

class MessagesParser {
 public:
  MessagesParser(const Topology& topology, Diagnostics& diagnostics)
      : topology_(topology),
        diagnostics_(diagnostics),
        ready_shape_(integer_shape(0, kLongestRunCycles)),
        bytes_shape_(integer_shape(1, kLargestMessage)) {}

  std::optional<std::vector<TrafficMessage>> parse(const std::string& file_name,
                                                   const std::string& text) {
    const SourceIndex source = diagnostics_.add_file(file_name, text);
    const std::size_t errors_before = diagnostics_.num_errors();
    for_each_line(text, source, diagnostics_, [&](std::string_view line, const Place& place) {
      const std::vector<ConfigNode> cells = cells_of(line.substr(0, line.find('#')), place);
      const bool blank = cells.size() == 1 && cells.front().text.empty();
      // Without its header the file may be anything, and its lines would only give more errors.
      return blank || read_line(cells);
    });
    if (diagnostics_.num_errors() == errors_before) check_any(source);
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    std::stable_sort(messages_.begin(), messages_.end(),
                     [](const TrafficMessage& a, const TrafficMessage& b) {
                       return std::make_pair(a.from, a.ready) < std::make_pair(b.from, b.ready);
                     });
    return std::move(messages_);
  }

 private:
  // Returns false if the file is not a table of messages.
  bool read_line(const std::vector<ConfigNode>& cells) {
    if (header_line_ != 0) {
      read_message(cells);
      return true;
    }
    header_line_ = cells.front().place.line;
    return check_header(cells);
  }

  bool check_header(const std::vector<ConfigNode>& cells) {
    for (std::size_t c = 0; c < kMessageColumns.size(); ++c) {
      if (c < cells.size() && cells[c].text == kMessageColumns[c]) continue;
      const ConfigNode& cell = cells[std::min(c, cells.size() - 1)];
      diagnostics_.error(cell.place, fmt::format("expected column '{}' here", kMessageColumns[c]),
                         fmt::format("the first line must be {}", kMessageHeader));
      return false;
    }
    return check_count(cells);
  }

  bool check_count(const std::vector<ConfigNode>& cells) {
    if (cells.size() == kMessageColumns.size()) return true;
    if (cells.size() > kMessageColumns.size()) {
      diagnostics_.error(
          cells[kMessageColumns.size()].place,
          fmt::format("found {} values for {} columns", cells.size(), kMessageColumns.size()),
          kMessageHeader);
    } else {
      diagnostics_.error(end_of(cells.back()),
                         fmt::format("no value for '{}'", kMessageColumns[cells.size()]),
                         kMessageHeader);
    }
    return false;
  }

  void read_message(const std::vector<ConfigNode>& cells) {
    if (!check_count(cells)) return;
    const auto ready = parse_value(cells[0], kMessageColumns[0], ready_shape_, diagnostics_);
    const auto from = find_node(cells[1], kMessageColumns[1]);
    const auto to = find_node(cells[2], kMessageColumns[2]);
    const auto bytes = parse_value(cells[3], kMessageColumns[3], bytes_shape_, diagnostics_);
    if (from && to && *from == *to) {
      diagnostics_.error(cells[2].place,
                         fmt::format("to: '{}' sends to itself", topology_.vertex_name(*from)),
                         "name another node as destination");
      return;
    }
    if (!ready || !from || !to || !bytes) return;
    messages_.push_back({ready->number, *from, *to, bytes->number});
  }

  std::optional<NodeId> find_node(const ConfigNode& cell, const char* column) {
    const NodeId vertex = topology_.find_vertex(cell.text);
    if (vertex.valid() && topology_.is_switch(vertex)) {
      diagnostics_.error(cell.place,
                         fmt::format("{}: '{}' is a switch, not a node", column, cell.text),
                         "messages go from node to node");
      return std::nullopt;
    }
    if (vertex.valid()) return vertex;
    const bool is_number =
        !cell.text.empty() && std::all_of(cell.text.begin(), cell.text.end(),
                                          [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) {
      const auto number =
          parse_value(cell, column, integer_shape(0, topology_.num_nodes() - 1), diagnostics_);
      return number ? std::make_optional(NodeId(number->number)) : std::nullopt;
    }
    diagnostics_.error(cell.place, fmt::format("{}: there is no node '{}'", column, cell.text),
                       hint_for(cell.text));
    return std::nullopt;
  }

  std::string hint_for(const std::string& name) {
    if (node_names_.empty()) {
      for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
        node_names_.push_back(topology_.vertex_name(NodeId(n)));
      }
    }
    const std::string nearest = nearest_name(name, node_names_);
    return nearest.empty() ? fmt::format("write a name such as '{}', or a number from 0 to {}",
                                         node_names_.front(), node_names_.size() - 1)
                           : fmt::format("did you mean '{}'?", nearest);
  }

  void check_any(SourceIndex source) {
    if (header_line_ == 0) {
      diagnostics_.error(
          {source, 1, 1}, "the file is empty",
          fmt::format("write the line {}, then one line for each message", kMessageHeader));
    } else if (messages_.empty()) {
      diagnostics_.error({source, header_line_, 1}, "the file has no messages after the header",
                         "for example 0,0,1,4096");
    }
  }

  const Topology& topology_;
  Diagnostics& diagnostics_;
  const ValueShape ready_shape_;
  const ValueShape bytes_shape_;
  std::uint32_t header_line_ = 0;  // 0: not yet seen
  std::vector<std::string> node_names_;
  std::vector<TrafficMessage> messages_;
};

}  // namespace

std::string messages_file_path(const TrafficConfig& config) {
  return (std::filesystem::path(config.folder) / config.file).string();
}

std::optional<std::vector<TrafficMessage>> parse_messages(const std::string& file_name,
                                                          const std::string& text,
                                                          const Topology& topology,
                                                          Diagnostics& diagnostics) {
  return MessagesParser(topology, diagnostics).parse(file_name, text);
}

std::optional<std::vector<TrafficMessage>> load_messages(const TrafficConfig& config,
                                                         const Topology& topology,
                                                         const Place& place,
                                                         Diagnostics& diagnostics) {
  const std::string path = messages_file_path(config);
  const auto text = read_named_file(path, place, diagnostics);
  if (!text) return std::nullopt;
  return parse_messages(path, *text, topology, diagnostics);
}

}  // namespace espalier
