#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "sims/report/page/section.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

using State = ReportPoint::State;

constexpr std::size_t kMostRows = 200;

std::size_t count(const ReportView& view, State state) {
  const auto& points = view.data().points;
  return static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [&](const ReportPoint& p) { return p.state == state; }));
}

std::string sources_html(const ReportView& view) {
  HtmlTable table;
  table.add_columns({"from", "what", "written by"}, false);
  table.add_column("runs", true);
  for (std::size_t s = 0; s < view.data().sources.size(); ++s) {
    const ReportSource& source = view.data().sources[s];
    const char* kinds[] = {"results", "sweep", "list of results"};
    const auto& points = view.data().points;
    const auto runs = std::count_if(points.begin(), points.end(),
                                    [&](const ReportPoint& p) { return p.source == s; });
    table.begin_row();
    table.add_text(source.path);
    table.add_text(kinds[static_cast<std::size_t>(source.kind)] +
                   (source.name.empty() ? "" : " " + source.name));
    table.add_text(source.version.empty() ? "not given" : "espalier " + source.version);
    table.add_text(fmt::format("{}", runs));
  }
  return table.str("Files");
}

struct Column {
  std::string title;
  std::function<std::string(const ReportPoint&)> text;  // empty if the point has no value
};

Column column_of(const std::string& title, const std::string& field,
                 std::string (*text_of_value)(double) = number_text) {
  return {title, [=](const ReportPoint& point) {
            const auto value = number_of(point, field);
            return value ? text_of_value(*value) : std::string();
          }};
}

std::vector<Column> time_columns() {
  std::vector<Column> columns;
  for (const NamedTime& time : named_times()) {
    const auto text = [&time](const ReportPoint& point) {
      const auto ns = time.ns(point);
      return ns ? number_text(*ns * 1e-3) : std::string();
    };
    columns.push_back({fmt::format("{}, \u00b5s", time.name), text});
  }
  return columns;
}

std::vector<Column> columns_with_values(const ReportView& view) {
  std::vector<Column> columns = time_columns();
  for (const Column& column :
       {column_of("GB/s", "bandwidth_GBps"), column_of("of bound", "bound_ratio", percent_text),
        column_of("links busy", "link_utilization_mean", percent_text),
        column_of("utilization", "utilization", percent_text),
        column_of("area, mm\u00b2", "area.system_mm2"),
        column_of("priced energy, \u00b5J", "energy.priced_uJ"),
        column_of("pJ/B", "energy.priced_pJ_per_byte"),
        column_of("clock up to, GHz", "area.max_clock_GHz"),
        column_of("accepted, flits/node/cycle", "accepted_flits_per_node_cycle"),
        column_of("p99 latency, cycles", "message_latency_p99_cycles")})
    columns.push_back(column);
  const auto is_empty = [&](const Column& column) {
    const auto& points = view.data().points;
    return std::all_of(points.begin(), points.end(),
                       [&](const ReportPoint& point) { return column.text(point).empty(); });
  };
  columns.erase(std::remove_if(columns.begin(), columns.end(), is_empty), columns.end());
  return columns;
}

std::string clock_html(const ReportPoint& point) {
  const std::string problem = clock_problem(point);
  return problem.empty()
             ? problem
             : ", <strong class=\"bad\" title=\"" + escape(problem) + "\">clock not met</strong>";
}

std::string state_html(const ReportView& view, std::size_t index) {
  switch (view.point(index).state) {
    case State::verified:
      return "verified" +
             std::string(view.is_best(index) ? " <strong class=\"best\">fastest</strong>" : "") +
             clock_html(view.point(index));
    case State::failed:
      return "<strong class=\"bad\">failed</strong>";
    case State::missing:
      break;
  }
  return "<strong class=\"bad\">missing</strong>";
}

bool is_number_like(const ReportView& view, const std::string& key) {
  const auto& points = view.data().points;
  return std::all_of(points.begin(), points.end(), [&](const ReportPoint& point) {
    if (point.config.is_null() || !point.config.contains(key)) return true;
    const std::string text = value_text(point.config.at(key));
    return !text.empty() && text.find_first_of("0123456789") == 0;
  });
}

std::string results_html(const ReportView& view, const std::vector<std::size_t>& indices) {
  const std::vector<std::string>& keys = view.columns();
  const std::vector<Column> columns = columns_with_values(view);
  HtmlTable table;
  table.add_column("run", true);
  if (keys.empty()) table.add_column("algorithm", false);
  for (const std::string& key : keys)
    table.add_column(view.short_name(key), is_number_like(view, key));
  for (const Column& column : columns) table.add_column(column.title, true);
  table.add_column("result", false);
  for (const std::size_t i : indices) {
    const ReportPoint& point = view.point(i);
    table.begin_row(view.is_best(i) ? " class=\"best\"" : "");
    table.add_cell(link_to_run(i));
    if (keys.empty()) table.add_text(text_of(point, "algorithm"));
    for (const std::string& key : keys)
      table.add_text(point.config.is_null() ? "" : value_text(point.config, key));
    for (const Column& column : columns) table.add_text(column.text(point));
    table.add_cell(state_html(view, i));
  }
  return table.str(keys.empty() ? "Results" : "Results by settings that differ");
}

std::string common_html(const ReportView& view) {
  const auto& common = view.differences().common;
  if (common.empty()) return {};
  HtmlTable table;
  table.add_columns({"key", "value"}, false);
  for (const auto& [key, value] : common.items()) {
    table.begin_row();
    table.add_text(key);
    table.add_text(value_text(value));
  }
  return fmt::format("<details><summary>Settings of all runs: {}</summary>{}</details>\n",
                     count_text(common.size(), "key"), table.str("Configuration of all runs"));
}

// The smallest of the fastest runs of each workload stands for all of them.
std::string best_html(const ReportView& view) {
  std::vector<std::string> workloads;
  std::map<std::string, std::vector<std::size_t>> fastest;
  for (std::size_t i = 0; i < view.data().points.size(); ++i) {
    if (!view.is_best(i)) continue;
    std::vector<std::size_t>& runs = fastest[view.workload(i)];
    if (runs.empty()) workloads.push_back(view.workload(i));
    runs.push_back(i);
  }
  std::string items;
  for (const std::string& workload : workloads) {
    const std::vector<std::size_t>& runs = fastest.at(workload);
    const auto area = [&](std::size_t i) {
      return number_of(view.point(i), "area.system_mm2").value_or(0);
    };
    const auto time = [&](std::size_t i) { return *time_ns_of(view.point(i)) * 1e-3; };
    const std::size_t best =
        *std::min_element(runs.begin(), runs.end(), [&](std::size_t a, std::size_t b) {
          return area(a) != area(b) ? area(a) < area(b) : time(a) < time(b);
        });
    double least = time(best);
    double most = least;
    for (const std::size_t i : runs) {
      least = std::min(least, time(i));
      most = std::max(most, time(i));
    }
    const std::string ties =
        runs.size() == 1
            ? ""
            : fmt::format(" ({} designs within {}{})", runs.size(), spread_text(most / least - 1),
                          area(best) > 0 ? ", this is the smallest in area" : "");
    const ReportPoint& point = view.point(best);
    // The bound covers only the collective, not the computation.
    const auto ratio =
        point.result.contains("training") ? std::nullopt : number_of(point, "bound_ratio");
    const std::string settings = view.describe(best);
    items += fmt::format(
        "<li>{}: run {}{}{}: {} \u00b5s{}{}{}</li>\n", escape(workload), link_to_run(best),
        settings.empty() ? "" : ", ", escape(settings), number_text(time(best)),
        ratio ? ", " + percent_text(*ratio) + " of the bound" : "", ties, clock_html(point));
  }
  if (items.empty()) return items;
  return fmt::format("<p>Fastest, where differences up to {} count as none:</p>\n<ul>\n{}</ul>\n",
                     number_text(100 * view.options().tolerance) + " %", items);
}

}  // namespace

Section summary_section(const ReportView& view) {
  Section section{"summary", "Summary", {}, {}};
  const std::size_t all = view.data().points.size();
  const std::size_t failed = count(view, State::failed);
  const std::size_t missing = count(view, State::missing);
  section.html = fmt::format("<p><strong>{}</strong>: {} verified, {} failed, {} missing.</p>\n",
                             count_text(all, "run"), count(view, State::verified), failed, missing);
  section.html += sources_html(view) + best_html(view);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < all; ++i) {
    const bool matters = view.is_best(i) || view.point(i).state != State::verified;
    if ((all <= kMostRows || matters) && shown.size() < kMostRows) shown.push_back(i);
  }
  if (shown.size() < all) {
    section.html += paragraph_html(
        fmt::format("This table shows {} of {} runs: the fastest, the failed and the missing runs. "
                    "The table at the end of the page shows all runs.",
                    shown.size(), all));
  }
  section.html += results_html(view, shown) + common_html(view);
  return section;
}

}  // namespace espalier::report
