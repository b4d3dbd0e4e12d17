// Steps of training: where the time of ranks, groups and links went.
#include <fmt/format.h>

#include <algorithm>

#include "sims/page/section.h"
#include "sims/page/text.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostStepRuns = 4;

// A cell of a table: a number that is `factor` times the member, or its text.
std::string step_cell(const Json& row, const char* member, double factor) {
  const auto found = row.find(member);  // a file of others may hold anything
  if (found == row.end() || found->is_null()) return {};
  return found->is_number() ? number_text(factor * found->get<double>())
                            : escape(found->is_string() ? found->get<std::string>() : "");
}

struct StepColumn {
  const char* title;
  const char* member;
  double factor = 1;
};

std::string step_table(const std::string& caption, const Json& rows,
                       const std::vector<StepColumn>& columns) {
  std::vector<TableColumn> titles;
  for (const StepColumn& column : columns) titles.push_back({column.title, column.factor != 0});
  std::vector<TableRow> lines;
  for (const Json& row : rows) {
    std::vector<std::string>& cells = lines.emplace_back().cells;
    for (const StepColumn& column : columns) {
      cells.push_back(step_cell(row, column.member, column.factor));
    }
  }
  return table_html(caption, titles, lines);
}

// The longest parts of the critical path, in the order of time.
Json longest_parts(const Json& path) {
  constexpr std::size_t kMost = 20;
  const auto at = [](const Json& part, const char* member) {
    const auto found = part.find(member);
    return found != part.end() && found->is_number() ? found->get<double>() : 0;
  };
  const auto ns = [&](const Json& part) { return at(part, "to_ns") - at(part, "from_ns"); };
  std::vector<double> sizes;
  for (const Json& part : path) sizes.push_back(ns(part));
  std::sort(sizes.rbegin(), sizes.rend());
  Json parts = Json::array();
  for (Json part : path) {
    if (!part.is_object()) continue;
    if (sizes.size() > kMost && ns(part) <= sizes[kMost]) continue;
    part["ns"] = ns(part);
    if (part.contains("group")) part["kind"] = part["group"];
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

Section step_section(const ReportView& view, Pictures& pictures) {
  Section section{"step", "Steps of training"};
  const auto runs = view.points_where([](const ReportPoint& point) {
    return number_of(point, field::step_compute_ns) && number_of(point, field::time_ns);
  });
  if (runs.empty()) {
    section.why_not = "no run is a step from execution traces that has ended";
    return section;
  }
  const auto label = labels_of(view, runs);
  Json bars = Json::array();
  for (const std::size_t i : runs) {
    Json values = Json::array();
    for (const auto& field : {field::step_compute_ns, field::step_exposed_ns, field::step_idle_ns})
      values.push_back(number_of(view.point(i), field).value_or(0) * 1e-3);
    bars.push_back({{"runs", Json::array({i})}, {"label", label(i)}, {"values", values}});
  }
  const Json picture{{"kind", "bars"},
                     {"unit", "time of a step, \u00b5s"},
                     {"most", 24},
                     {"parts", {"computing", "exposed communication", "idle"}},
                     {"bars", bars}};
  section.html = paragraph_html("A bar is a step of a rank, mean over all ranks.") +
                 figures_html(pictures.add("A step of each run", picture));
  std::vector<Column> columns{run_column(), settings_column(view)};
  for (const auto& [title, field] : {std::pair{"step, ns", field::time_ns},
                                     {"least idle, ns", field::step_idle_min_ns},
                                     {"most idle, ns", field::step_idle_max_ns},
                                     {"bytes on the slowest dimension", field::step_slowest_bytes}})
    columns.push_back(field_column(view, title, field));
  section.html += run_table("Steps", columns, runs);
  const Shown shown = chosen_by(view, runs, kMostStepRuns, label);
  for (const std::size_t i : shown.runs) {
    const auto table = [&](const char* of, const auto& name, const Json* rows,
                           const std::vector<StepColumn>& of_table) {
      if (rows == nullptr || !rows->is_array()) return;
      section.html += step_table(fmt::format("{}, {}", of, name), *rows, of_table);
    };
    const Json& result = view.point(i).result;
    table("Collectives", label(i), find_field(result, field::step_collectives),
          {{"operation", "op", 0},
           {"phase", "phase", 0},
           {"ranks", "ranks"},
           {"apart", "stride"},
           {"number", "count"},
           {"bytes", "bytes"},
           {"exposed, \u00b5s", "exposed_ns", 1e-3},
           {"on the critical path, \u00b5s", "path_ns", 1e-3}});
    table("Dimensions of the network", label(i), find_field(result, field::step_dimensions),
          {{"dimension", "name", 0},
           {"links", "links"},
           {"bytes", "bytes"},
           {"busy, %", "busy", 100}});
    const Json* path = find_field(result, field::step_path);
    const Json parts = path == nullptr || !path->is_array() ? Json() : longest_parts(*path);
    table("Longest parts of the critical path", label(i), &parts,
          {{"from, \u00b5s", "from_ns", 1e-3},
           {"\u00b5s", "ns", 1e-3},
           {"rank", "rank"},
           {"node", "node"},
           {"name", "name", 0},
           {"work", "kind", 0},
           {"busiest link", "link", 0},
           {"dimension", "dimension", 0},
           {"busy, %", "busy", 100},
           {"others on it", "others", 0}});
  }
  if (!shown.what_is_left_out.empty()) section.html += paragraph_html(shown.what_is_left_out);
  return section;
}

}  // namespace espalier::report
