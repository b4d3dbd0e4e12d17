// The first and the last section: all runs, their differences, their results, their commands.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sims/experiment/describe_cost.h"
#include "sims/page/section.h"
#include "sims/page/text.h"

namespace espalier::report {

namespace {

using State = ReportPoint::State;

std::string sources_html(const ReportView& view) {
  std::vector<TableRow> rows;
  for (std::size_t s = 0; s < view.data().sources.size(); ++s) {
    const ReportSource& source = view.data().sources[s];
    const char* kinds[] = {"results", "sweep"};
    const auto runs = view.points_where([&](const ReportPoint& p) { return p.source == s; });
    rows.push_back({{escape(source.path),
                     escape(kinds[static_cast<std::size_t>(source.kind)] +
                            (source.name.empty() ? "" : " " + source.name)),
                     source.version.empty() ? "not given" : "espalier " + escape(source.version),
                     fmt::format("{}", runs.size())}});
  }
  return table_html("Files", {{"from"}, {"what"}, {"written by"}, {"runs", true}}, rows);
}

// Said once, whatever the number of runs.
std::string clocks_html(const ReportView& view) {
  std::vector<const nlohmann::ordered_json*> results;
  for (const ReportPoint& point : view.data().points) results.push_back(&point.result);
  std::string html;
  for (const std::string& limit : clock_limits(results))
    html += paragraph_html("Clock not met: " + limit + ".");
  return html;
}

const char* state_name(State state) {
  constexpr const char* kNames[] = {"verified", "stopped", "failed", "missing"};
  return kNames[static_cast<std::size_t>(state)];
}

// A run that `compare` stopped is not a mistake.
std::string unverified_html(State state) {
  return fmt::format("<strong{}>{}</strong>", state == State::stopped ? "" : " class=\"bad\"",
                     state_name(state));
}

// Runs of a curve of latency against load do not compete.
bool is_fastest(const ReportView& view, std::size_t index) {
  const auto& keys = view.columns();
  return view.is_best(index) &&
         std::find(keys.begin(), keys.end(), "traffic.injection_rate") == keys.end();
}

std::string state_html(const ReportView& view, std::size_t index) {
  const ReportPoint& point = view.point(index);
  if (point.state != State::verified) return unverified_html(point.state);
  return "verified" +
         std::string(is_fastest(view, index) ? " <strong class=\"best\">fastest</strong>" : "");
}

std::string setting(const ReportView& view, std::size_t run, const std::string& key) {
  const ReportPoint& point = view.point(run);
  return point.config.is_null() ? std::string() : value_text(point.config, key);
}

std::string results_html(const ReportView& view) {
  std::vector<Column> columns{run_column()};
  if (view.columns().empty())
    columns.push_back({"algorithm", false,
                       [&](std::size_t i) { return text_of(view.point(i), field::algorithm); }});
  for (const std::string& key : view.columns()) {
    const auto is_number_like = [&](const ReportPoint& point) {
      if (point.config.is_null() || !point.config.contains(key)) return true;
      return value_text(point.config.at(key)).find_first_of("0123456789") == 0;
    };
    columns.push_back({view.short_name(key),
                       view.points_where(is_number_like).size() == view.data().points.size(),
                       [&](std::size_t i) { return setting(view, i, key); }});
  }
  bool is_first = true;
  for (const Metric& metric : metrics_of(view)) {
    if (!metric.in_summary) continue;
    // The first metric, a time, stands before the settings, so that narrow screens show it.
    const auto place = std::exchange(is_first, false) ? columns.begin() + 1 : columns.end();
    columns.insert(place, {metric.title, true,
                           [=, &view](std::size_t i) { return metric.text(view.point(i)); }});
  }
  columns.push_back({"result", false, [&](std::size_t i) { return state_html(view, i); }, true});
  return run_table(view.columns().empty() ? "Results" : "Results by settings that differ", columns,
                   view.points_where([](const ReportPoint&) { return true; }), [&](std::size_t i) {
                     return row_of_run(i) + (is_fastest(view, i) ? " class=\"best\"" : "");
                   });
}

std::string common_html(const ReportView& view) {
  const auto& common = view.differences().common;
  if (common.empty()) return {};
  std::vector<TableRow> rows;
  for (const auto& [key, value] : common.items())
    rows.push_back({{escape(key), escape(value_text(value))}});
  return fmt::format("<details><summary>Settings of all runs: {}</summary>{}</details>\n",
                     count_text(common.size(), "key"),
                     table_html("Configuration of all runs", {{"key"}, {"value"}}, rows));
}

// The smallest of the fastest runs of a workload stands for all of them.
std::string fastest_html(const ReportView& view, const Group& workload, bool clocks_differ) {
  const auto area = [&](std::size_t i) {
    return number_of(view.point(i), field::area_system_mm2).value_or(0);
  };
  const auto time = [&](std::size_t i) { return *time_ns_of(view.point(i)) * 1e-3; };
  const auto& runs = workload.runs;
  const std::size_t best =
      *std::min_element(runs.begin(), runs.end(), [&](std::size_t a, std::size_t b) {
        return area(a) != area(b) ? area(a) < area(b) : time(a) < time(b);
      });
  const auto [least, most] = std::minmax_element(
      runs.begin(), runs.end(), [&](std::size_t a, std::size_t b) { return time(a) < time(b); });
  const std::string ties =
      runs.size() == 1 ? ""
                       : fmt::format(" ({} designs within {}{})", runs.size(),
                                     spread_text(time(*most) / time(*least) - 1),
                                     area(best) > 0 ? ", this is the smallest in area" : "");
  const ReportPoint& point = view.point(best);
  // The bound covers only the collective, not the computation.
  const auto ratio =
      has(point, field::training) ? std::nullopt : number_of(point, field::bound_ratio);
  const std::string settings = view.describe(best);
  return fmt::format(
      "<li>{}: run {}{}{}: {} \u00b5s{}{}{}</li>\n", escape(workload.title), link_to_run(best),
      settings.empty() ? "" : ", ", escape(settings), number_text(time(best)),
      ratio ? ", " + percent_text(*ratio) + " of the bound" : "", ties,
      clocks_differ && misses_clock(point) ? ", <strong class=\"bad\">clock not met</strong>" : "");
}

std::string best_html(const ReportView& view) {
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < view.data().points.size(); ++i) {
    if (is_fastest(view, i)) best.push_back(i);
  }
  if (best.empty()) return {};
  std::stable_sort(best.begin(), best.end(), [&](std::size_t a, std::size_t b) {
    const auto size = [&](std::size_t i) {
      return number_of(view.point(i), field::size_bytes).value_or(0);
    };
    return size(a) < size(b);
  });
  const std::size_t slow = view.points_where(misses_clock).size();
  std::string items;
  for (const Group& workload : split(best, [&](std::size_t i) { return view.workload(i); }))
    items += fastest_html(view, workload, slow != 0 && slow != view.data().points.size());
  return fmt::format("<p>Fastest, where differences up to {} count as none:</p>\n<ul>\n{}</ul>\n",
                     number_text(100 * view.options().tolerance) + " %", items);
}

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
  if (point.state == State::missing) return unverified_html(point.state);
  return fmt::format("<details><summary>{}</summary><pre>{}</pre></details>",
                     unverified_html(point.state), escape(point.failure));
}

}  // namespace

Section summary_section(const ReportView& view, Pictures&) {
  Section section{"summary", "Summary"};
  const auto count = [&](State state) {
    return view.points_where([&](const ReportPoint& p) { return p.state == state; }).size();
  };
  const std::size_t all = view.data().points.size();
  const std::size_t stopped = count(State::stopped);
  section.html = fmt::format("<p><strong>{}</strong>: {} verified, {}{} failed, {} missing.</p>\n",
                             count_text(all, "run"), count(State::verified),
                             stopped == 0 ? "" : fmt::format("{} stopped, ", stopped),
                             count(State::failed), count(State::missing));
  section.html += clocks_html(view) + sources_html(view) + best_html(view);
  section.html += results_html(view) + common_html(view);
  return section;
}

Section runs_section(const ReportView& view, Pictures&) {
  const auto point = [&](std::size_t i) -> const ReportPoint& { return view.point(i); };
  const auto code = [](const std::string& words) { return "<code>" + escape(words) + "</code>"; };
  const std::vector<Column> columns{
      {"run", true, [](std::size_t i) { return fmt::format("{}", i + 1); }},
      {"configuration hash", false, [&](std::size_t i) { return code(point(i).config_hash); },
       true},
      {"settings", false, [&](std::size_t i) { return settings_html(view, point(i)); }, true},
      {"from", false,
       [&](std::size_t i) {
         return view.data().sources[point(i).source].path +
                (point(i).id.empty() ? "" : ", point " + point(i).id);
       }},
      {"cycles", true,
       [&](std::size_t i) {
         const std::string iteration = text_of(point(i), field::training_iteration_cycles);
         return iteration.empty() ? text_of(point(i), field::cycles) : iteration;
       }},
      {"result", false, [&](std::size_t i) { return outcome_html(point(i)); }, true},
      {"command", false, [&](std::size_t i) { return code(point(i).command); }, true}};
  Section section{"runs", "All runs"};
  section.html =
      paragraph_html(
          "Source of every number: the configuration hash is computed from the run\u2019s resolved "
          "configuration, which consists of the settings of all runs (in the summary) and the "
          "settings in this table. The hash contains the names of files with graphs, messages and "
          "layers; the name of a sweep\u2019s point also depends on the content of these files.") +
      run_table("Runs", columns, view.points_where([](const ReportPoint&) { return true; }),
                [](std::size_t i) { return fmt::format(" id=\"run-{}\"", i + 1) + row_of_run(i); });
  return section;
}

}  // namespace espalier::report
