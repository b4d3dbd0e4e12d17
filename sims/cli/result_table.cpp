#include "sims/cli/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "sims/experiment/result_fields.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& result, const std::string& field) {
  const Json* value = find_field(result, field);
  if (value == nullptr || value->is_null()) return "-";
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::string rank_order_text(const Json& result) {
  const std::string order = text_of(result, "rank_order");
  return result.contains("rank_order_seed") ? order + " " + text_of(result, "rank_order_seed")
                                            : order;
}

using Column = ResultColumn;

ResultText plain(const char* field) {
  return [field](const Json& result) { return text_of(result, field); };
}

// The speed relative to the first row whose `fields` are the same; "-" if one of the runs failed.
ResultText speed(const std::vector<Json>& results, const char* time,
                 const std::vector<const char*>& fields) {
  const auto time_of = [time](const Json& result) {
    const Json* value = find_field(result, time);
    return value == nullptr || !value->is_number() ? 0.0 : value->get<double>();
  };
  return [&results, time_of, fields](const Json& result) -> std::string {
    const auto first = std::find_if(results.begin(), results.end(), [&](const Json& other) {
      return std::all_of(fields.begin(), fields.end(), [&](const char* field) {
        return text_of(other, field) == text_of(result, field);
      });
    });
    const double mine = time_of(result);
    const double theirs = time_of(*first);
    return mine == 0 || theirs == 0 ? "-" : fmt::format("{:.2f}x", theirs / mine);
  };
}

// Speed is relative to the first row of the same network.
std::vector<Column> training_columns(const std::vector<Json>& results) {
  return {{"network", true, plain("network")},
          {"topology", false, plain("topology")},
          {"overlap", true, plain("overlap")},
          {"coordination", false, plain("coordination.mode")},
          {"groups", false, plain("coordination.groups")},
          {"seed", false, plain("coordination.seed")},
          {"algorithm", true, plain("algorithm")},
          {"flow control", true, plain("flow_control")},
          {"lockstep", false, plain("lockstep")},
          {"compute us", true, number_text("training.compute_ns", 1, 1e-3)},
          {"all-reduce us", true, number_text("training.all_reduce_ns", 1, 1e-3)},
          {"exposed us", true, number_text("training.exposed_ns", 1, 1e-3)},
          {"iteration us", true, number_text("training.iteration_ns", 1, 1e-3)},
          {"exposed", true, percent_text("training.exposed_share")},
          {"speed", true, speed(results, "training.iteration_ns", {"network", "topology"})},
          {"energy uJ", true, energy_text},
          {"verified", true, plain("verified")}};
}

// What the energies leave out: one line, or one for each kind of run if they differ.
std::string energy_note(const std::vector<Json>& results) {
  std::map<std::string, std::size_t> runs_by_parts;
  for (const Json& result : results) {
    const auto energy = result.find("energy");
    if (energy == result.end() || !energy->is_object()) continue;
    std::vector<std::string> parts;
    for (const Json& part : energy->at("left_out")) parts.push_back(part.get<std::string>());
    ++runs_by_parts[parts.empty() ? std::string("all of routers, NIs and links")
                                  : fmt::format("without {}", fmt::join(parts, "; "))];
  }
  std::string text;
  for (const auto& [parts, runs] : runs_by_parts) {
    text += runs_by_parts.size() == 1
                ? fmt::format("energy uJ: {}\n", parts)
                : fmt::format("energy uJ of {} of {} runs: {}\n", runs, results.size(), parts);
  }
  return text;
}

// What `algorithm: auto` took, one line for each such run.
std::string choice_note(const std::vector<Json>& results) {
  std::string text;
  for (const Json& result : results) {
    const auto choice = result.find("choice");
    if (choice == result.end() || !choice->is_string()) continue;
    text += fmt::format("auto: {}\n", choice->get<std::string>());
  }
  return text;
}

// One line for each clock that systems of the table cannot reach.
std::string clock_note(const std::vector<Json>& results) {
  std::map<std::string, std::size_t> runs_by_limit;
  for (const Json& result : results) {
    const auto area = result.find("area");
    if (area == result.end() || !area->is_object() || area->value("clock_met", true)) continue;
    ++runs_by_limit[fmt::format("{} GHz ({} at {} nm)", fixed(*area, "max_clock_GHz", 2),
                                text_of(*area, "clock_limited_by"), text_of(*area, "node_nm"))];
  }
  std::string text;
  for (const auto& [limit, runs] : runs_by_limit) {
    text += fmt::format(
        "clock: {} of {} {} configured for a faster clock than the {} that the cost model allows; "
        "docs/cost.md says what would do\n",
        runs, results.size(), results.size() == 1 ? "run is" : "runs are", limit);
  }
  return text;
}

// Latencies in cycles.
const std::vector<Column>& control_columns() {
  static const std::vector<Column> columns{
      {"control VCs", false, plain("control.vcs")},
      {"control messages", true, plain("control.messages")},
      {"mean", true, number_text("control.latency_mean_cycles", 1)},
      {"p99", true, plain("control.latency_p99_cycles")},
      {"max", true, plain("control.latency_max_cycles")}};
  return columns;
}

// Speed is relative to the first row of the same workload and system.
std::vector<Column> workload_columns(const std::vector<Json>& results) {
  return {{"workload", true, plain("workload")},
          {"topology", false, plain("topology")},
          {"algorithm", true, plain("algorithm")},
          {"forward ms", true, number_text("iteration.forward_ns", 3, 1e-6)},
          {"backward ms", true, number_text("iteration.backward_ns", 3, 1e-6)},
          {"exposed data ms", true, number_text("iteration.exposed_data_ns", 3, 1e-6)},
          {"exposed model ms", true, number_text("iteration.exposed_model_ns", 3, 1e-6)},
          {"total ms", true, number_text("time_ns", 3, 1e-6)},
          {"ideal ms", true, number_text("iteration.ideal_total_ns", 3, 1e-6)},
          {"speed", true, speed(results, "time_ns", {"workload", "topology"})}};
}

std::vector<Column> columns(const std::vector<Json>& results) {
  const auto is_workload = [](const Json& r) { return r.contains("workload"); };
  if (std::all_of(results.begin(), results.end(), is_workload)) return workload_columns(results);
  const auto is_training = [](const Json& r) { return r.contains("network"); };
  if (std::all_of(results.begin(), results.end(), is_training)) return training_columns(results);
  if (results.front().contains("traffic")) {
    return {{"traffic", true, plain("traffic")},
            {"topology", false, plain("topology")},
            {"flow control", true, plain("flow_control")},
            {"offered", true, number_text("offered_flits_per_node_cycle", 3)},
            {"accepted", true, number_text("accepted_flits_per_node_cycle", 3)},
            {"messages", true, plain("messages")},
            {"mean latency", true, number_text("message_latency_mean_cycles", 1)},
            {"p99", true, plain("message_latency_p99_cycles")},
            {"max latency", true, plain("message_latency_max_cycles")},
            {"saturated", false, plain("saturated")},
            {"cycles", true, plain("cycles")},
            {"energy uJ", true, energy_text},
            {"verified", true, plain("verified")}};
  }
  // Only some algorithms have these fields.
  const auto has = [&results](const char* key) {
    return std::any_of(results.begin(), results.end(),
                       [key](const Json& r) { return r.contains(key); });
  };
  std::vector<Column> table{{"algorithm", true, plain("algorithm")},
                            {"op", false, plain("op")},
                            {"topology", false, plain("topology")},
                            {"size", false, size_text}};
  for (Column column : variant_columns()) {
    column.always =
        column.title == "flow control" || (column.title == "protocol" && has("protocol"));
    table.push_back(std::move(column));
  }
  const std::vector<Column> figures{
      {"steps", has("timesteps"), plain("timesteps")},
      {"cycles", true, plain("cycles")},
      {"time us", true, number_text("time_ns", 1, 1e-3)},
      {"GB/s", true, number_text("bandwidth_GBps", 2)},
      {"bound us", true, number_text("bound_ns", 1, 1e-3)},
      {"of bound", true, percent_text("bound_ratio")},
      {"speed", true, speed(results, "time_ns", {"size_bytes", "topology", "op"})},
      {"util", has("utilization"), percent_text("utilization")},
      {"links busy", true, percent_text("link_utilization_mean")},
      {"energy uJ", has("energy"), energy_text}};
  table.insert(table.end(), figures.begin(), figures.end());
  if (has("control")) {
    table.insert(table.end(), control_columns().begin(), control_columns().end());
  }
  table.push_back({"verified", true, plain("verified")});
  return table;
}

}  // namespace

std::string fixed(const Json& result, const std::string& field, int digits, double factor) {
  const Json* value = find_field(result, field);
  if (value == nullptr || !value->is_number()) return "-";
  return fmt::format("{:.{}f}", value->get<double>() * factor, digits);
}

ResultText number_text(const char* field, int digits, double factor) {
  return [=](const Json& result) { return fixed(result, field, digits, factor); };
}

ResultText percent_text(const char* field) {
  return [field](const Json& result) {
    const std::string text = fixed(result, field, 1, 100);
    return text == "-" ? text : text + " %";
  };
}

std::string energy_text(const Json& result) { return fixed(result, "energy.priced_uJ", 1); }

std::string size_text(const Json& result) {
  const auto value = result.find("size_bytes");
  if (value == result.end()) return text_of(result, "message_bytes");
  const auto bytes = value->get<std::uint64_t>();
  for (const auto& [shift, unit] : {std::pair{30, "GiB"}, {20, "MiB"}, {10, "KiB"}}) {
    if (bytes != 0 && bytes % (std::uint64_t{1} << shift) == 0) {
      return fmt::format("{} {}", bytes >> shift, unit);
    }
  }
  return fmt::format("{} B", bytes);
}

std::vector<ResultColumn> variant_columns() {
  return {{"rank order", false, rank_order_text},  {"flow control", false, plain("flow_control")},
          {"lockstep", false, plain("lockstep")},  {"chunks", false, plain("chunks")},
          {"queue", false, plain("queue_order")},  {"in flight", false, plain("in_flight")},
          {"protocol", false, plain("protocol")},  {"channels", false, plain("channels")},
          {"instances", false, plain("instances")}};
}

std::string result_table(const std::vector<Json>& results) {
  if (results.empty()) return {};
  return table_text(columns(results), results) + table_notes(results);
}

std::string table_notes(const std::vector<Json>& results) {
  return choice_note(results) + energy_note(results) + clock_note(results);
}

std::string table_text(const std::vector<ResultColumn>& columns, const std::vector<Json>& results) {
  std::vector<std::vector<std::string>> lines(results.size() + 1);
  for (const ResultColumn& column : columns) {
    std::vector<std::string> cells;
    cells.reserve(results.size());
    for (const Json& result : results) cells.push_back(column.text(result));
    // Rows without a value are ignored when testing whether a column varies.
    std::vector<std::string> said;
    std::copy_if(cells.begin(), cells.end(), std::back_inserter(said),
                 [](const std::string& cell) { return cell != "-"; });
    const bool varies = std::any_of(said.begin(), said.end(),
                                    [&](const std::string& cell) { return cell != said.front(); });
    if (!column.always && !varies) continue;
    lines[0].push_back(column.title);
    for (std::size_t r = 0; r < cells.size(); ++r) lines[r + 1].push_back(cells[r]);
  }
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) {
      std::size_t width = 0;
      for (const auto& other : lines) width = std::max(width, other[c].size());
      // Names are aligned to the left, numbers to the right.
      const bool number = lines[1][c].find_first_of("0123456789-") == 0 && c != 0;
      text +=
          number ? fmt::format("{:>{}}", line[c], width) : fmt::format("{:<{}}", line[c], width);
      text += c + 1 == line.size() ? "\n" : "  ";
    }
  }
  return text;
}

}  // namespace espalier
