#include <fmt/format.h>

#include <algorithm>

#include "sims/report/page/section.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

using State = ReportPoint::State;

// The point's values of the keys that differ between runs.
std::string settings_html(const ReportView& view, const ReportPoint& point) {
  if (point.config.is_null() || point.config.empty()) return "not known";
  std::string items;
  for (const std::string& key : view.differences().keys) {
    if (!point.config.contains(key)) continue;
    items += fmt::format("{}{}: {}", items.empty() ? "" : "\n", escape(key),
                         escape(value_text(point.config.at(key))));
  }
  if (items.empty()) return "as all runs";
  return fmt::format("<details><summary>{}{}</summary><pre>{}</pre></details>",
                     count_text(view.differences().keys.size(), "key"),
                     point.config_is_complete ? "" : ", in part", items);
}

std::string outcome_html(const ReportPoint& point) {
  if (point.state == State::verified) return "verified";
  if (point.state == State::missing) return "<strong class=\"bad\">missing</strong>";
  return fmt::format(
      "<details><summary><strong class=\"bad\">failed</strong></summary>"
      "<pre>{}</pre></details>",
      escape(point.failure));
}

std::string number_or_nothing(const std::optional<double>& value) {
  return value ? number_text(*value) : "";
}

std::vector<NamedTime> times_with_values(const ReportView& view) {
  std::vector<NamedTime> times;
  const auto& points = view.data().points;
  for (const NamedTime& time : named_times()) {
    if (std::any_of(points.begin(), points.end(),
                    [&](const ReportPoint& point) { return time.ns(point).has_value(); }))
      times.push_back(time);
  }
  return times;
}

}  // namespace

Section runs_section(const ReportView& view) {
  Section section{"runs", "All runs", {}, {}};
  HtmlTable table;
  table.add_column("run", true);
  table.add_columns({"configuration hash", "settings", "from"}, false);
  table.add_column("cycles", true);
  const std::vector<NamedTime> times = times_with_values(view);
  for (const NamedTime& time : times) table.add_column(fmt::format("{}, ns", time.name), true);
  table.add_column("GB/s", true);
  table.add_columns({"result", "command"}, false);
  for (std::size_t i = 0; i < view.data().points.size(); ++i) {
    const ReportPoint& point = view.point(i);
    const ReportSource& source = view.data().sources[point.source];
    table.begin_row(fmt::format(" id=\"run-{}\"", i + 1));
    table.add_text(fmt::format("{}", i + 1));
    table.add_cell("<code>" + escape(point.config_hash) + "</code>");
    table.add_cell(settings_html(view, point));
    table.add_text(source.path + (point.id.empty() ? "" : ", point " + point.id));
    const std::string iteration = text_of(point, "training.iteration_cycles");
    table.add_text(iteration.empty() ? text_of(point, "cycles") : iteration);
    for (const NamedTime& time : times) table.add_text(number_or_nothing(time.ns(point)));
    table.add_text(number_or_nothing(number_of(point, "bandwidth_GBps")));
    table.add_cell(outcome_html(point));
    table.add_cell("<code>" + escape(point.command) + "</code>");
  }
  section.html =
      paragraph_html(
          "Source of every number: the configuration hash is computed from the run\u2019s resolved "
          "configuration, which consists of the settings of all runs (in the summary) and the "
          "settings in this table. The hash contains the names of files with graphs, messages and "
          "layers; the name of a sweep\u2019s point also depends on the content of these files.") +
      table.str("Runs");
  return section;
}

}  // namespace espalier::report
