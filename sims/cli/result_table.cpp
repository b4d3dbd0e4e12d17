#include "sims/cli/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "alg/schedule/algorithm_row.h"
#include "sims/cli/embedded_files.h"
#include "sims/cli/output.h"
#include "sims/experiment/describe_cost.h"
#include "sims/experiment/result_fields.h"
#include "sims/text/fitted_text.h"
#include "sims/text/text_lines.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& result, const std::string& field) {
  const Json* value = find_field(result, field);
  if (value == nullptr || value->is_null()) return "-";
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::string rank_order_text(const Json& result) {
  const std::string order = text_of(result, field::rank_order);
  const std::string seed = text_of(result, field::rank_order_seed);
  return seed == "-" ? order : order + " " + seed;
}

std::string mean_text(const Json& result) {
  const std::string mean = fixed(result, field::message_latency_mean_cycles, 1);
  const std::string half = fixed(result, field::message_latency_half_width_cycles, 1);
  return half == "-" ? mean : mean + " +- " + half;
}

std::string truth_text(const Json& result, const std::string& field) {
  const auto value = truth_in(result, {{field.c_str()}});
  return !value ? "-" : *value ? "yes" : "no";
}

// `fields`: the time, and what is the same in the first row, to which the speed is relative. "-" if
// one of the two runs failed.
ResultText speed(const std::vector<Json>& results, const std::string& fields) {
  std::istringstream words(fields);
  std::string time;
  words >> time;
  const std::vector<std::string> same{std::istream_iterator<std::string>(words), {}};
  const auto time_of = [time](const Json& result) {
    return number_in(result, {{time.c_str()}}).value_or(0);
  };
  return [&results, time_of, same](const Json& result) -> std::string {
    const auto first = std::find_if(results.begin(), results.end(), [&](const Json& other) {
      return std::all_of(same.begin(), same.end(), [&](const std::string& field) {
        return text_of(other, field) == text_of(result, field);
      });
    });
    const double mine = time_of(result);
    const double theirs = time_of(*first);
    return mine == 0 || theirs == 0 ? "-" : fmt::format("{:.2f}x", theirs / mine);
  };
}

ResultText text_in_form(const std::string& form, const std::string& field,
                        const std::vector<Json>& results) {
  if (form == "text") return [field](const Json& result) { return text_of(result, field); };
  if (form == "truth") return [field](const Json& result) { return truth_text(result, field); };
  if (form == "percent") return percent_text(field);
  if (form == "speed") return speed(results, field);
  if (form == "size") return size_text;
  if (form == "rank order") return rank_order_text;
  if (form == "mean") return mean_text;
  if (form.empty() || form.front() < '0' || form.front() > '9') {
    throw std::logic_error("columns.txt: there is no form " + form);
  }
  const std::size_t factor = form.find('x');
  return number_text(field, form.front() - '0',
                     factor == std::string::npos ? 1 : std::stod(form.substr(factor + 1)));
}

// What the energies leave out: one line, or one for each kind of run if they differ.
std::string energy_note(const std::vector<Json>& results) {
  std::map<std::string, std::size_t> runs_by_parts;
  for (const Json& result : results) {
    const Json* left_out = find_field(result, field::energy_left_out);
    if (left_out == nullptr || left_out->empty()) continue;
    ++runs_by_parts[fmt::format("{}", fmt::join(left_out->get<std::vector<std::string>>(), ", "))];
  }
  std::string text;
  for (const auto& [parts, runs] : runs_by_parts) {
    text += runs == results.size() ? fmt::format("energy uJ leaves out: {}\n", parts)
                                   : fmt::format("energy uJ of {} of {} runs leaves out: {}\n",
                                                 runs, results.size(), parts);
  }
  return text;
}

// What `algorithm: auto` took, or that a planner's budget was spent, one line for each such run.
std::string choice_note(const std::vector<Json>& results) {
  std::string text;
  for (const Json& result : results) {
    const auto choice = text_in(result, field::choice);
    if (!choice) continue;
    const bool is_own =
        choice->rfind(text_in(result, field::algorithm).value_or("auto") + ",", 0) == 0;
    const std::string name = text_in(result, field::algorithm).value_or(kAutoAlgorithm);
    text += fmt::format("{}{}\n", is_own ? "" : name + ": ", *choice);
  }
  return text;
}

// The collectives of a step, and the dimensions of the network.
std::string step_note(const std::vector<Json>& results) {
  const Json* step = results.size() == 1 ? find_field(results.front(), field::step) : nullptr;
  if (step == nullptr || step->is_null()) return {};
  std::vector<std::vector<std::string>> lines{{"collectives", "phase", "ranks", "apart", "number",
                                               "bytes", "exposed ms", "on critical path ms"}};
  for (const Json& kind : step->at("collectives")) {
    lines.push_back({kind.at("op"), text_of(kind, "phase"), text_of(kind, "ranks"),
                     text_of(kind, "stride"), text_of(kind, "count"), text_of(kind, "bytes"),
                     fixed(kind, "exposed_ns", 3, 1e-6), fixed(kind, "path_ns", 3, 1e-6)});
  }
  if (step->at("sends") != 0) {
    lines.push_back({"send", "-", "2", "-", text_of(*step, "sends"), text_of(*step, "send_bytes"),
                     fixed(*step, "exposed_sends_ns", 3, 1e-6), "-"});
  }
  std::vector<std::vector<std::string>> dimensions{{"dimension", "links", "MB", "busy"}};
  for (const Json& each : step->at("dimensions")) {
    dimensions.push_back({each.at("name"), text_of(each, "links"), fixed(each, "bytes", 3, 1e-6),
                          percent_text("busy")(each)});
  }
  return "\n" + fitted_table(lines, terminal_width()) + "\n" +
         fitted_table(dimensions, terminal_width());
}

std::string clock_note(const std::vector<Json>& results) {
  std::vector<const Json*> all;
  for (const Json& result : results) all.push_back(&result);
  std::string text;
  for (const std::string& limit : clock_limits(all)) text += "clock not met: " + limit + "\n";
  return text;
}

std::string table_of(const std::vector<Json>& results) {
  const auto all_have = [&results](TextField field) {
    return std::all_of(results.begin(), results.end(),
                       [&](const Json& result) { return find_field(result, field) != nullptr; });
  };
  if (all_have(field::workload)) {
    return find_field(results.front(), field::step) != nullptr ? "step" : "workload";
  }
  if (all_have(field::network)) return "training";
  return find_field(results.front(), field::traffic) != nullptr ? "traffic" : "collective";
}

}  // namespace

std::string fixed(const Json& result, const std::string& field, int digits, double factor) {
  const auto value = number_in(result, {{field.c_str()}});
  return value ? fmt::format("{:.{}f}", *value * factor, digits) : "-";
}

ResultText number_text(const std::string& field, int digits, double factor) {
  return [=](const Json& result) { return fixed(result, field, digits, factor); };
}

ResultText percent_text(const std::string& field) {
  return [field](const Json& result) {
    const std::string text = fixed(result, field, 1, 100);
    return text == "-" ? text : text + " %";
  };
}

std::string size_text(const Json& result) {
  const Json* value = find_field(result, field::size_bytes);
  if (value == nullptr) return text_of(result, field::message_bytes);
  return format_quantity(Quantity::size, value->get<std::uint64_t>(), " ");
}

std::vector<ResultColumn> columns_of(const std::string& table, const std::vector<Json>& results) {
  const auto is_given = [&results](const std::string& field) {
    const std::string owner = field.substr(0, field.find('.'));
    return std::any_of(results.begin(), results.end(),
                       [&owner](const Json& result) { return result.contains(owner); });
  };
  const bool has_nccl = std::any_of(results.begin(), results.end(), [](const Json& result) {
    return text_in(result, field::algorithm).value_or("").rfind("nccl", 0) == 0;
  });
  std::vector<ResultColumn> columns;
  for (const std::vector<std::string>& row : table_rows(columns_file(), "columns.txt", 5)) {
    // A flaw in any row shows with the first table.
    const ResultText text = text_in_form(row[3], row[4], results);
    if (row[2] != "always" && row[2] != "varies" && row[2] != "given" && row[2] != "nccl") {
      throw std::logic_error("columns.txt: a column is not shown " + row[2]);
    }
    if (row[0].rfind(table, 0) != 0 || (row[2] == "nccl" && !has_nccl)) continue;
    const bool is_given_here = row[2] == "given" && is_given(row[4]);
    columns.push_back({row[1], row[2] == "always" || row[2] == "nccl" || is_given_here, text});
  }
  return columns;
}

std::vector<ResultColumn> variant_columns() {
  std::vector<ResultColumn> columns = columns_of("collective setting", {});
  for (ResultColumn& column : columns_of("step setting", {})) columns.push_back(std::move(column));
  for (ResultColumn& column : columns) column.always = false;
  return columns;
}

std::string result_table(const std::vector<Json>& results) {
  if (results.empty()) return {};
  return table_text(columns_of(table_of(results), results), results);
}

std::string table_notes(const std::vector<Json>& results) {
  return choice_note(results) + step_note(results) + energy_note(results) + clock_note(results);
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
  return fitted_table(lines, terminal_width());
}

}  // namespace espalier
