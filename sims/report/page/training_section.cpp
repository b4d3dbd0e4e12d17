#include <fmt/format.h>

#include <algorithm>

#include "sims/report/page/section.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

constexpr double kIterationBar = 20;
constexpr double kIterationRow = 46;
constexpr std::size_t kMostTrainings = 24;

struct Iteration {
  std::size_t run;
  double compute_us;
  double exposed_us;
};

std::string bytes_of(const ReportPoint& point, const char* field) {
  const auto bytes = number_of(point, field);
  return bytes ? bytes_text(static_cast<std::uint64_t>(*bytes)) : std::string();
}

// Communication that is hidden behind computation costs no time and is no part of a bar.
std::vector<Iteration> iterations_of(const ReportView& view) {
  std::vector<Iteration> iterations;
  for (std::size_t i = 0; i < view.data().points.size(); ++i) {
    const auto iteration = number_of(view.point(i), "training.iteration_ns");
    const auto exposed = number_of(view.point(i), "training.exposed_ns");
    if (!iteration || !exposed || *iteration <= 0) continue;
    iterations.push_back({i, (*iteration - *exposed) * 1e-3, *exposed * 1e-3});
  }
  return iterations;
}

std::string draw_iterations(const ReportView& view, const std::vector<Iteration>& iterations) {
  double longest = 0;
  for (const Iteration& one : iterations)
    longest = std::max(longest, one.compute_us + one.exposed_us);
  const std::vector<LegendEntry> legend{{"computing", {1, false}, false},
                                        {"exposed communication", {0, false}, false}};
  const double rows = kIterationRow * static_cast<double>(iterations.size());
  const double below = legend_height(legend, kPictureWidth);
  Svg svg(kPictureWidth, 12 + rows + 44 + below, "An iteration of each training",
          "bars of computing and of communication that no computing hides");
  const Axis x{"time of an iteration, \u00b5s", ScaleKind::linear,
               round_range(ScaleKind::linear, 0, longest, 4)};
  const Plot plot(svg, x, {"", ScaleKind::linear, {0, 1, {}}}, below);
  double top = plot.top() + 20;
  for (const Iteration& one : iterations) {
    const double all = one.compute_us + one.exposed_us;
    std::string words = name_of_run(one.run);
    add_word(words, text_of(view.point(one.run), "network"));
    add_word(words, view.describe(one.run));
    svg.text(plot.left() + 4, top - 4, words, "note");
    const double middle = plot.x(one.compute_us);
    svg.rect(plot.left(), top, middle - plot.left(), kIterationBar, "segment c1",
             fmt::format("{}: computing {} \u00b5s, {}", name_of_run(one.run),
                         number_text(one.compute_us), percent_text(one.compute_us / all)));
    svg.rect(middle, top, plot.x(all) - middle, kIterationBar, "segment c0",
             fmt::format("{}: exposed communication {} \u00b5s, {}", name_of_run(one.run),
                         number_text(one.exposed_us), percent_text(one.exposed_us / all)));
    top += kIterationRow;
  }
  draw_legend(svg, legend, svg.height() - below + 4);
  return figure_html("An iteration of each run", svg);
}

std::string iterations_table(const ReportView& view, const std::vector<Iteration>& iterations) {
  HtmlTable table;
  table.add_columns({"run", "network", "settings"}, false);
  table.add_columns(
      {"gradients", "together, \u00b5s", "computing, \u00b5s", "exposed, \u00b5s", "exposed, part"},
      true);
  for (const Iteration& one : iterations) {
    const double all = one.compute_us + one.exposed_us;
    table.begin_row();
    table.add_cell(link_to_run(one.run));
    table.add_text(text_of(view.point(one.run), "network"));
    table.add_text(view.describe(one.run));
    table.add_text(bytes_of(view.point(one.run), "size_bytes"));
    table.add_text(number_text(all));
    table.add_text(number_text(one.compute_us));
    table.add_text(number_text(one.exposed_us));
    table.add_text(percent_text(one.exposed_us / all));
  }
  return table.str("Iterations");
}

}  // namespace

Section training_section(const ReportView& view) {
  Section section{"training", "Training: computing and communication", {}, {}};
  const std::vector<Iteration> all = iterations_of(view);
  if (all.empty()) {
    section.why_not = "no run is a training whose iteration has ended";
    return section;
  }
  std::vector<Iteration> drawn(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostTrainings)));
  section.html = paragraph_html(
      "A bar is an iteration: computing, then the communication that no computing hides.");
  if (drawn.size() < all.size()) {
    section.html += paragraph_html(
        fmt::format("{} of {} runs; all runs are in the table.", drawn.size(), all.size()));
  }
  section.html +=
      beside_html(figures_html({draw_iterations(view, drawn)}), iterations_table(view, all), true);
  return section;
}

}  // namespace espalier::report
