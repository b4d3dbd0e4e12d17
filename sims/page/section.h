// The sections of a page: text and tables as HTML, which need no script, and the data of pictures,
// which the script draws.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sims/page/view.h"

namespace espalier::report {

inline constexpr std::size_t kMostPictures = 24;  // in one section

struct Section {
  std::string id;            // the anchor
  std::string title;         // plain text
  std::string html = {};     // empty if there is nothing to show
  std::string why_not = {};  // set if `html` is empty: the reason as a clause in plain text
};

// What the script draws. Its `kind` chooses how: xy, bars, activity, links, tree, occupancy
// (sims/page/*.js say what each reads).
class Pictures {
 public:
  // Returns the place of the picture as HTML. Title and caption are plain text.
  [[nodiscard]] std::string add(const std::string& title, nlohmann::ordered_json picture,
                                const std::string& caption = {});
  // The index of a map of the network: places, names and switches. Equal maps are stored once.
  [[nodiscard]] std::size_t add_map(nlohmann::ordered_json map);

  [[nodiscard]] const nlohmann::ordered_json& pictures() const { return pictures_; }
  [[nodiscard]] const nlohmann::ordered_json& maps() const { return maps_; }

 private:
  nlohmann::ordered_json pictures_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json maps_ = nlohmann::ordered_json::array();
};

[[nodiscard]] std::string paragraph_html(const std::string& plain_text);
// Places the figures side by side if there is room.
[[nodiscard]] std::string figures_html(const std::string& figures);
// A sentence if a section has more pictures than kMostPictures; it ends with `rest`.
[[nodiscard]] std::string first_pictures_html(std::size_t count, const std::string& rest);

enum class MetricForm { number, percent, bytes };

// A number of a run by which a page tells designs apart: a column of tables, and an axis that a
// reader may choose.
struct Metric {
  std::string id;
  std::string title;  // with its unit
  MetricForm form = MetricForm::number;
  bool in_summary = false;
  std::function<std::optional<double>(const ReportPoint&)> value;

  // Empty if the point has no value.
  [[nodiscard]] std::string text(const ReportPoint& point) const;
};

// The metrics that some point has, in the order of columns. "compared" is the time by which designs
// are compared (time_ns_of).
[[nodiscard]] std::vector<Metric> metrics_of(const ReportView& view);

struct TableColumn {
  std::string title;       // plain text
  bool is_number = false;  // the cells are aligned to the right
};
struct TableRow {
  std::vector<std::string> cells;  // HTML
  std::string attributes = {};     // HTML attributes, with a leading space
};
// A table that scrolls separately if it is wider than the page.
[[nodiscard]] std::string table_html(const std::string& plain_caption,
                                     const std::vector<TableColumn>& columns,
                                     const std::vector<TableRow>& rows);

// A column of a table whose rows are runs; plain text unless `is_html`.
struct Column : TableColumn {
  Column(std::string the_title, bool number, std::function<std::string(std::size_t run)> of_run,
         bool html = false, bool any = false)
      : TableColumn{std::move(the_title), number},
        text(std::move(of_run)),
        is_html(html),
        if_any(any) {}
  std::function<std::string(std::size_t run)> text;
  bool is_html;
  bool if_any;  // left out if it is empty in all rows
};
[[nodiscard]] Column run_column();
[[nodiscard]] Column settings_column(const ReportView& view);
// A number of the results.
[[nodiscard]] Column field_column(const ReportView& view, const std::string& title,
                                  NumberField field);

// The attribute by which the page's filter finds the rows of a run.
[[nodiscard]] std::string row_of_run(std::size_t run);
[[nodiscard]] std::string run_table(
    const std::string& plain_caption, std::vector<Column> columns,
    const std::vector<std::size_t>& runs,
    const std::function<std::string(std::size_t)>& attributes = row_of_run);

struct Group {
  std::string title;
  std::vector<std::size_t> runs;
};
// The runs by their titles, in order of appearance.
[[nodiscard]] std::vector<Group> split(const std::vector<std::size_t>& runs,
                                       const std::function<std::string(std::size_t)>& title);

struct Shown {
  std::vector<std::size_t> runs;  // in the report's order
  std::string what_is_left_out;   // a sentence with a leading space; empty if nothing is
};
// One run for each of `most` groups, the fastest run of the group's largest size. Groups with the
// best run of a workload come first.
[[nodiscard]] Shown chosen_by(const ReportView& view, const std::vector<std::size_t>& runs,
                              std::size_t most,
                              const std::function<std::string(std::size_t)>& group);

// "run 3, ring, size 1MiB": a run by the settings in which these runs differ.
[[nodiscard]] std::function<std::string(std::size_t run)> labels_of(
    const ReportView& view, const std::vector<std::size_t>& runs);

// Algorithm, topology, size; `named`: with the run's name before it.
[[nodiscard]] std::string title_of_run(const ReportView& view, std::size_t index, bool named);

// The sections, in the order of the page (page.cpp).
[[nodiscard]] Section latency_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section summary_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section bandwidth_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section training_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section step_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section pareto_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section energy_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section area_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section links_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section schedule_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section activity_section(const ReportView& view, Pictures& pictures);
[[nodiscard]] Section runs_section(const ReportView& view, Pictures& pictures);

}  // namespace espalier::report
