#include "sims/formats/latency_file.h"

#include <fmt/format.h>

#include <string_view>

#include "sims/text/text_lines.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

constexpr std::uint64_t kLongestLatency = 1'000'000'000'000;

class LatencyParser {
 public:
  LatencyParser(std::size_t nodes, Diagnostics& diagnostics)
      : nodes_(nodes), diagnostics_(diagnostics) {
    shape_.max = kLongestLatency;
  }

  std::optional<std::vector<std::uint64_t>> parse(const std::string& file_name,
                                                  const std::string& text) {
    const SourceIndex source = diagnostics_.add_file(file_name, text);
    const std::size_t errors_before = diagnostics_.num_errors();
    Place end{source, 1, 1};
    for_each_line(text, source, [&](std::string_view line, const Place& place) {
      end = place;
      const std::vector<ConfigNode> cells = cells_of(line.substr(0, line.find('#')), place);
      const bool blank = cells.size() == 1 && cells.front().text.empty();
      // A table of another size would only give errors after errors.
      return blank || (check_count(cells) && read_line(cells));
    });
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    if (lines_ < nodes_) {
      diagnostics_.error(
          end, fmt::format("{} lines of latencies; the network has {} nodes", lines_, nodes_),
          "a line for each node");
      return std::nullopt;
    }
    return std::move(latencies_);
  }

 private:
  bool check_count(const std::vector<ConfigNode>& cells) {
    if (lines_ == nodes_) {
      diagnostics_.error(cells.front().place,
                         fmt::format("a line more than the network has nodes, {}", nodes_));
      return false;
    }
    if (cells.size() == nodes_) return true;
    const ConfigNode& cell = cells.size() < nodes_ ? cells.back() : cells[nodes_];
    diagnostics_.error(cell.place,
                       fmt::format("{} values; the network has {} nodes", cells.size(), nodes_),
                       "the latency to each node, separated by commas");
    return false;
  }

  bool read_line(const std::vector<ConfigNode>& cells) {
    for (std::size_t to = 0; to < cells.size(); ++to) {
      if (to == lines_) {
        latencies_.push_back(0);
        continue;
      }
      const auto value =
          parse_value(cells[to], fmt::format("latency {} to {}", lines_, to), shape_, diagnostics_);
      latencies_.push_back(value ? value->number : 0);
    }
    ++lines_;
    return true;
  }

  std::size_t nodes_;
  Diagnostics& diagnostics_;
  ValueShape shape_;
  std::size_t lines_ = 0;
  std::vector<std::uint64_t> latencies_;
};

}  // namespace

std::optional<std::vector<std::uint64_t>> parse_latencies(const std::string& file_name,
                                                          const std::string& text,
                                                          std::size_t nodes,
                                                          Diagnostics& diagnostics) {
  return LatencyParser(nodes, diagnostics).parse(file_name, text);
}

}  // namespace espalier
