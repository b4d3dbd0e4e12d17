#include "sims/formats/messages_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "alg/routes/routing.h"
#include "sims/formats/named_node.h"
#include "sims/point/limits.h"
#include "sims/text/read_file.h"
#include "sims/text/table_reader.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

// A comment may also follow a row.
TableCells cells_before_comment(std::string_view line, const Place& line_start) {
  return cells_of(line.substr(0, line.find('#')), line_start);
}

constexpr TableSpec kMessageTable{"ready,from,to,bytes", "message", "for example 0,0,1,4096",
                                  cells_before_comment};

class MessageReader : public TableReader<TrafficMessage> {
 public:
  MessageReader(const Topology& topology, Diagnostics& diagnostics)
      : TableReader(kMessageTable, diagnostics),
        topology_(topology),
        may_lack_routes_(may_lack_routes(topology)),
        ready_shape_(range_shape(0, kLongestRunCycles)),
        bytes_shape_(range_shape(1, kLargestMessage)) {}

 private:
  std::optional<TrafficMessage> read_row(const TableCells& cells) override {
    if (!check_count(cells)) return std::nullopt;
    const auto ready = parse_value(cells[0], "ready", ready_shape_, diagnostics_);
    const auto from = find_node(cells[1], "from");
    const auto to = find_node(cells[2], "to");
    const auto bytes = parse_value(cells[3], "bytes", bytes_shape_, diagnostics_);
    if (from && to && *from == *to) {
      diagnostics_.error(cells[2].place,
                         fmt::format("to: '{}' sends to itself", topology_.vertex_name(*from)),
                         "name another node as destination");
      return std::nullopt;
    }
    if (!ready || !from || !to || !bytes) return std::nullopt;
    if (may_lack_routes_) {
      const std::string problem = problem_of_route(topology_, *from, *to);
      if (!problem.empty()) {
        diagnostics_.error(cells[2].place, "to: " + problem, "give the links back, too");
        return std::nullopt;
      }
    }
    return TrafficMessage{ready->number, *from, *to, bytes->number};
  }

  std::optional<NodeId> find_node(const ConfigNode& cell, const char* column) {
    return named_node(topology_, column, cell.text, cell.place, diagnostics_);
  }

  const Topology& topology_;
  const bool may_lack_routes_;
  const ValueShape ready_shape_;
  const ValueShape bytes_shape_;
};

}  // namespace

std::optional<std::vector<TrafficMessage>> parse_messages(const std::string& file_name,
                                                          const std::string& text,
                                                          const Topology& topology,
                                                          Diagnostics& diagnostics) {
  auto messages = MessageReader(topology, diagnostics).read(file_name, text);
  if (!messages) return std::nullopt;
  std::stable_sort(messages->begin(), messages->end(),
                   [](const TrafficMessage& a, const TrafficMessage& b) {
                     return std::make_pair(a.from, a.ready) < std::make_pair(b.from, b.ready);
                   });
  return messages;
}

std::optional<std::vector<TrafficMessage>> load_messages(const TrafficConfig& config,
                                                         const Topology& topology,
                                                         const Place& place,
                                                         Diagnostics& diagnostics) {
  const std::string path = path_from(config.folder, config.file);
  const auto text = read_named_file(path, place, diagnostics);
  if (!text) return std::nullopt;
  return parse_messages(path, *text, topology, diagnostics);
}

}  // namespace espalier
