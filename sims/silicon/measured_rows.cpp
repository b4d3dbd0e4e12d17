#include "sims/silicon/measured_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "sims/text/table_reader.h"

namespace espalier {

namespace {

constexpr TableSpec kMeasuredTable{"machine,nodes,gpus_per_node,op,size_bytes,time_us",
                                   "measured time",
                                   "for example example-cluster01,1,8,all_gather,33554432,123.4"};

struct OpName {
  const char* name;
  MeasuredOp op;
};
// The first name of an operation is ours, others are those of measuring programs.
constexpr std::array kOpNames{OpName{"all_reduce", MeasuredOp::all_reduce},
                              OpName{"all_gather", MeasuredOp::all_gather},
                              OpName{"reduce_scatter", MeasuredOp::reduce_scatter},
                              OpName{"all_to_all", MeasuredOp::all_to_all},
                              OpName{"sendrecv", MeasuredOp::sendrecv},
                              OpName{"allreduce", MeasuredOp::all_reduce},
                              OpName{"allgather", MeasuredOp::all_gather},
                              OpName{"alltoall", MeasuredOp::all_to_all}};

class MeasuredRowReader : public TableReader<MeasuredRow> {
 public:
  explicit MeasuredRowReader(Diagnostics& diagnostics) : TableReader(kMeasuredTable, diagnostics) {}

 private:
  bool read_header(const TableCells& cells) override {
    for (std::size_t c = 0; c < cells.size(); ++c) column_.emplace(cells[c].text, c);
    const std::vector<std::vector<const char*>> needed{{"machine", "cluster", "gpu"},
                                                       {"op"},
                                                       {"gpus_per_node"},
                                                       {"nodes", "gpus"},
                                                       {"size_bytes"},
                                                       {"time_us"}};
    for (const auto& names : needed) {
      const bool found = std::any_of(names.begin(), names.end(),
                                     [&](const char* name) { return column_.count(name) != 0; });
      if (found) continue;
      diagnostics_.error(cells.front().place, fmt::format("no column '{}'", names.front()),
                         fmt::format("the first line names the columns: {}", spec_.header));
      return false;
    }
    return true;
  }

  // nullptr if the table has no such column or the line ends before it.
  [[nodiscard]] const ConfigNode* cell(const TableCells& cells, const std::string& name) const {
    const auto found = column_.find(name);
    return found == column_.end() || found->second >= cells.size() ? nullptr
                                                                   : &cells[found->second];
  }
  [[nodiscard]] std::string text_of(const TableCells& cells, const std::string& name) const {
    const ConfigNode* const found = cell(cells, name);
    return found == nullptr ? std::string() : found->text;
  }

  template <class Number>
  std::optional<Number> number(const TableCells& cells, const std::string& name, const char* what) {
    const ConfigNode* const found = cell(cells, name);
    Number value{};
    const std::string text = found == nullptr ? std::string() : found->text;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && end.ec == std::errc() && end.ptr == text.data() + text.size() &&
        value >= Number{}) {
      return value;
    }
    diagnostics_.error(found == nullptr ? end_of(cells.back()) : found->place,
                       fmt::format("'{}' is not {}", text, what),
                       fmt::format("for example {}", what[0] == 'a' ? "8" : "123.4"));
    return std::nullopt;
  }

  std::optional<MeasuredRow> read_row(const TableCells& cells) override {
    MeasuredRow row;
    for (const char* name : {"machine", "cluster", "gpu"}) {
      if (column_.count(name) == 0) continue;
      row.machine = text_of(cells, name);
      break;
    }
    row.setting = text_of(cells, "env");
    row.nccl = text_of(cells, "nccl_dir");
    row.kernel = text_of(cells, "kernel");
    row.kind = text_of(cells, "kind");
    const std::string op = text_of(cells, "op");
    const auto named = std::find_if(kOpNames.begin(), kOpNames.end(),
                                    [&](const OpName& name) { return name.name == op; });
    if (named == kOpNames.end()) {
      const ConfigNode* const place = cell(cells, "op");
      diagnostics_.error(place == nullptr ? end_of(cells.back()) : place->place,
                         fmt::format("'{}' is not an operation", op),
                         "write all_reduce, all_gather, reduce_scatter, all_to_all or sendrecv");
      return std::nullopt;
    }
    row.op = named->op;
    const auto per_server = number<std::uint32_t>(cells, "gpus_per_node", "a whole number");
    const bool has_nodes = column_.count("nodes") != 0;
    const auto count = number<std::uint32_t>(cells, has_nodes ? "nodes" : "gpus", "a whole number");
    const auto size = number<Bytes>(cells, "size_bytes", "a whole number of bytes");
    const auto time = number<double>(cells, "time_us", "microseconds");
    if (!per_server || !count || !size || !time) return std::nullopt;
    row.gpus_per_server = std::max(*per_server, 1U);
    row.servers = has_nodes ? *count : *count / row.gpus_per_server;
    row.size = *size;
    row.microseconds = *time;
    if (row.size == 0 || row.microseconds <= 0 || row.servers == 0) return std::nullopt;
    return row;
  }

  std::map<std::string, std::size_t> column_;
};

}  // namespace

const char* to_string(MeasuredOp op) {
  for (const OpName& name : kOpNames) {
    if (name.op == op) return name.name;
  }
  return "";
}

std::optional<std::vector<MeasuredRow>> parse_measured_rows(const std::string& file_name,
                                                            const std::string& text,
                                                            Diagnostics& diagnostics) {
  return MeasuredRowReader(diagnostics).read(file_name, text);
}

}  // namespace espalier
