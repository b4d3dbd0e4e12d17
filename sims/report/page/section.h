// The sections of a report, and the HTML pieces for them.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "sims/report/page/view.h"
#include "sims/report/plot/svg.h"

namespace espalier::report {

inline constexpr double kPictureWidth = 460;
inline constexpr std::size_t kMostPictures = 24;  // in one section

struct Section {
  std::string id;       // the anchor
  std::string title;    // plain text
  std::string html;     // empty if there is nothing to show
  std::string why_not;  // set if `html` is empty: the reason as a clause in plain text
};

// A picture with its heading, and with a line below unless `caption` is empty. Both are plain text.
[[nodiscard]] std::string figure_html(const std::string& title, const Svg& svg,
                                      const std::string& caption = {});
// Places the figures side by side if there is room.
[[nodiscard]] std::string figures_html(const std::vector<std::string>& figures);
// The first kMostPictures of `count` figures. A sentence says if there are more; it ends with
// `rest`.
[[nodiscard]] std::string first_figures_html(std::size_t count, const std::string& rest,
                                             const std::function<std::string(std::size_t)>& draw);
// On wide screens the table stands beside the figures if `beside`, else below.
[[nodiscard]] std::string beside_html(const std::string& figures, const std::string& table,
                                      bool beside);
// A difference as a part of a value: "0.07 %", "less than 0.01 %".
[[nodiscard]] std::string spread_text(double part);
[[nodiscard]] std::string paragraph_html(const std::string& plain_text);

// A table that scrolls separately if it is wider than the page.
class HtmlTable {
 public:
  // `numbers`: the cells of the column are aligned to the right.
  void add_column(const std::string& plain_title, bool numbers);
  void add_columns(std::initializer_list<const char*> plain_titles, bool numbers) {
    for (const char* title : plain_titles) add_column(title, numbers);
  }
  // `attributes`: HTML attributes of the row, with a leading space.
  void begin_row(const std::string& attributes = {});
  void add_cell(const std::string& html);
  void add_text(const std::string& plain_text);
  [[nodiscard]] std::string str(const std::string& plain_caption) const;

 private:
  std::vector<bool> numbers_;
  std::size_t column_ = 0;
  std::string head_;
  std::string body_;
};

// One entry for each value of the axes of colours and marks that these runs have; grey marks if
// marks stand for an axis of their own.
[[nodiscard]] std::vector<LegendEntry> legend_of(const ReportView& view,
                                                 const std::vector<std::size_t>& runs);

struct Shown {
  std::vector<std::size_t> runs;  // in the report's order
  bool are_groups = false;        // some runs represent a group
};

// Groups the runs by the name that `group` returns. For each of the first `most` groups, chooses
// the fastest run of the largest size.
[[nodiscard]] Shown chosen_by(const ReportView& view, const std::vector<std::size_t>& runs,
                              std::size_t most,
                              const std::function<std::string(std::size_t)>& group);

// A sentence, with a leading space, that states how many runs are left out; empty if none is left
// out.
[[nodiscard]] std::string what_is_left_out(const Shown& shown, std::size_t all);

// The title of a run's picture: algorithm, topology, size; `named`: with the run's name before it.
[[nodiscard]] std::string title_of_run(const ReportView& view, std::size_t index, bool named);

// All runs, their differences and their results.
[[nodiscard]] Section summary_section(const ReportView& view);
// Bandwidth against size, with the proven bound.
[[nodiscard]] Section bandwidth_section(const ReportView& view);
// Latency of traffic against its load.
[[nodiscard]] Section latency_section(const ReportView& view);
// Area against time, with the Pareto front.
[[nodiscard]] Section pareto_section(const ReportView& view);
// The area of routers and NIs by blocks.
[[nodiscard]] Section energy_section(const ReportView& view);
[[nodiscard]] Section training_section(const ReportView& view);
[[nodiscard]] Section area_section(const ReportView& view);
// Link utilization on a map of the topology, or by dimension of a multi-dimensional system.
[[nodiscard]] Section links_section(const ReportView& view);
// A flow's tree, and the nodes that send in each timestep.
[[nodiscard]] Section schedule_section(const ReportView& view);
// The activity of each dimension over time.
[[nodiscard]] Section activity_section(const ReportView& view);
// Every run with its configuration and its command.
[[nodiscard]] Section runs_section(const ReportView& view);

}  // namespace espalier::report
