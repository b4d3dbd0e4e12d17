#include "sims/report/figure/gnuplot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sims/process/child_process.h"
#include "sims/report/figure/series_style.h"
#include "sims/report/plot/palette.h"
#include "sims/text/units.h"

namespace espalier {

std::string run_gnuplot(const std::filesystem::path& script) {
  const std::string program = find_program("gnuplot");
  const std::string name = script.filename().string();
  const std::string folder =
      script.has_parent_path() ? script.parent_path().string() : std::string(".");
  if (program.empty()) {
    return fmt::format(
        "no picture: gnuplot is not installed. Install it (Debian: apt-get install gnuplot-nox), "
        "then run: cd {} && gnuplot {}",
        folder, name);
  }
  const ChildOutcome gnuplot = run_child(program, {name}, folder);
  if (!gnuplot.problem.empty())
    return fmt::format("no picture: gnuplot cannot be started: {}", gnuplot.problem);
  if (gnuplot.exit_code == 0) return {};
  return fmt::format("no picture: gnuplot {} in {} ended with {}:\n{}", name, folder,
                     gnuplot.exit_code, gnuplot.err);
}

namespace {

using Json = nlohmann::ordered_json;

// In pixels; the picture scales.
constexpr int kPanelWidth = 430;  // at least
constexpr int kWidestBesideAnother = 600;
constexpr int kCharacter = 8;
constexpr int kBar = 12;  // at least
constexpr int kPanelHeight = 290;
constexpr int kLeft = 70;  // y axis with its label
constexpr int kRight = 20;
constexpr int kAbove = 34;  // panel title
constexpr int kBelow = 62;  // x axis with its label
constexpr int kTitle = 40;
constexpr int kLegendRow = 22;
constexpr int kSample = 90;  // beside a legend's label
constexpr int kBottom = 12;
constexpr std::size_t kMostTics = 7;
constexpr double kGroupWidth = 0.8;  // of the bars that belong together
constexpr double kLightestPart = 0.6;
constexpr double kDarkerBars = 0.35;
constexpr double kMargin = 0.03;  // of the x axis, beyond the data

// gnuplot takes everything in single quotes literally, except for single quotes: it reads two as
// one, but not four as two. In double quotes it replaces what stands in backquotes.
std::string quote(const std::string& text) {
  if (text.find('\'') == std::string::npos) return "'" + text + "'";
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '`') {
      quoted += "\\140";
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string x_text(const Json& x, const std::optional<Quantity>& quantity) {
  if (x.is_string()) return x.get<std::string>();
  if (!quantity || !x.is_number_unsigned()) return x.dump();
  std::string text = format_quantity(*quantity, x.get<std::uint64_t>());
  const std::size_t unit = text.find_first_not_of("0123456789");
  return unit == std::string::npos ? text : text.insert(unit, " ");
}

// The distinct x values of a panel: ascending for lines, in the order of the rows for bars.
std::vector<Json> x_values(const Panel& panel, std::size_t index,
                           const std::vector<FigureRow>& rows) {
  std::vector<Json> values;
  for (const FigureRow& row : rows) {
    if (row.panel == index && std::find(values.begin(), values.end(), row.x) == values.end())
      values.push_back(row.x);
  }
  if (panel.kind != FigureKind::bars) {
    std::sort(values.begin(), values.end(),
              [](const Json& a, const Json& b) { return a.get<double>() < b.get<double>(); });
  }
  return values;
}

// Layout of the whole picture.
struct Page {
  int panel_width;
  int columns;
  int rows;
  int legend_columns;
  int legend_rows;
  int width;
  int height;

  [[nodiscard]] double x(int pixels) const { return static_cast<double>(pixels) / width; }
  [[nodiscard]] double y(int pixels) const { return static_cast<double>(pixels) / height; }
};

class ScriptWriter {
 public:
  ScriptWriter(const Figure& figure, const std::vector<FigureRow>& rows)
      : figure_(figure), rows_(rows), styles_(series_styles(figure)), page_(make_page()) {}

  std::string write() {
    write_head();
    for (std::size_t p = 0; p < figure_.panels.size(); ++p) write_panel(p);
    write_legend();
    script_ += "unset multiplot\n";
    return std::move(script_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    script_ += fmt::format(format, std::forward<Values>(values)...) + '\n';
  }

  // The labels of stacked parts; the legend shows them in shades of grey.
  [[nodiscard]] std::vector<std::string> part_labels() const {
    std::vector<std::string> labels;
    for (const Panel& panel : figure_.panels) {
      if (panel.y.parts.size() < 2) continue;
      for (const Part& part : panel.y.parts) {
        if (std::find(labels.begin(), labels.end(), part.label) == labels.end())
          labels.push_back(part.label);
      }
    }
    return labels;
  }

  // The width that a panel's bars and the names below them need.
  [[nodiscard]] int width_of_bars(std::size_t index) const {
    const Panel& panel = figure_.panels[index];
    if (panel.kind != FigureKind::bars) return 0;
    int group = static_cast<int>(panel.series.size() + 1) * kBar;
    const std::vector<Json> values = x_values(panel, index, rows_);
    for (const Json& x : values) {
      const std::string text = x_text(x, panel.x.quantity);
      group = std::max(group, static_cast<int>(text.size() + 2) * kCharacter);
    }
    return group * static_cast<int>(values.size());
  }

  [[nodiscard]] Page make_page() const {
    const int panels = static_cast<int>(figure_.panels.size());
    Page page{};
    page.panel_width = kPanelWidth;
    for (std::size_t p = 0; p < figure_.panels.size(); ++p)
      page.panel_width = std::max(page.panel_width, width_of_bars(p));
    page.columns = page.panel_width > kWidestBesideAnother ? 1
                   : panels <= 3                           ? panels
                                 : static_cast<int>(std::ceil(std::sqrt(panels)));
    page.rows = (panels + page.columns - 1) / page.columns;
    page.width = page.columns * (kLeft + page.panel_width + kRight);
    // gnuplot gives every entry of the legend the width of the longest.
    std::size_t longest = 0;
    std::vector<std::string> labels = part_labels();
    for (const SeriesStyle& style : styles_) labels.push_back(style.label);
    for (const std::string& label : labels) longest = std::max(longest, label.size());
    page.legend_columns =
        std::max(1, page.width / (static_cast<int>(longest + 1) * kCharacter + kSample));
    page.legend_rows =
        (static_cast<int>(labels.size()) + page.legend_columns - 1) / page.legend_columns;
    page.height = kTitle + page.rows * (kAbove + kPanelHeight + kBelow) +
                  page.legend_rows * kLegendRow + kBottom;
    return page;
  }

  void write_head() {
    line("# {}", figure_.title);
    line("# gnuplot 5.4 or newer, in this folder: gnuplot {}.gp", figure_.name);
    line(
        "set terminal svg size {},{} noenhanced font 'Helvetica,13' background 'white' dashlength "
        "0.8",
        page_.width, page_.height);
    line("set output {}", quote(figure_.name + ".svg"));
    line("set encoding utf8");
    line("data = {}", quote(figure_.name + ".csv"));
    line("set datafile separator comma");
    line("set datafile columnheaders");
    line("set datafile missing NaN");
    line("place(all) = word(all, int(column(0)) + 1) + 0");
    line("set style line 100 lc rgb '#dddddd' lw 1");
    line("set border 3 lc rgb '#444444'");
    line("set tics nomirror out textcolor rgb '#222222'");
    line("unset key");
    for (std::size_t s = 0; s < styles_.size(); ++s) {
      const SeriesStyle& style = styles_[s];
      line("set style line {} lc rgb '{}' lw {} dt {} pt {} ps 0.7", s + 1, style.colour,
           style.width, style.dashed ? "(8,4)" : "1", style.mark);
    }
    line("set multiplot title {} font ',16'", quote(figure_.title));
  }

  void write_panel(std::size_t index) {
    const Panel& panel = figure_.panels[index];
    const int column = static_cast<int>(index) % page_.columns;
    const int row = static_cast<int>(index) / page_.columns;
    const int left = column * (kLeft + page_.panel_width + kRight) + kLeft;
    const int top = kTitle + row * (kAbove + kPanelHeight + kBelow) + kAbove;
    line("");
    line("set lmargin at screen {:.5f}", page_.x(left));
    line("set rmargin at screen {:.5f}", page_.x(left + page_.panel_width));
    line("set tmargin at screen {:.5f}", 1 - page_.y(top));
    line("set bmargin at screen {:.5f}", 1 - page_.y(top + kPanelHeight));
    line("set title {} font ',14' offset 0,-0.5", quote(panel.title));
    line("set xlabel {} offset 0,0.3", quote(panel.x.label));
    line("set ylabel {} offset 1,0", quote(panel.y.label));
    line("unset logscale");
    write_y_axis(panel);
    const auto is_here = [&](const FigureRow& r) { return r.panel == index; };
    if (std::none_of(rows_.begin(), rows_.end(), is_here)) {
      line("plot [0:1] [0:1] NaN");  // all points failed
      return;
    }
    if (panel.kind == FigureKind::bars) {
      write_bars(index);
    } else {
      write_lines(index);
    }
  }

  void write_y_axis(const Panel& panel) {
    const bool bars = panel.kind == FigureKind::bars;
    line("set grid {} ls 100", bars ? "noxtics ytics" : "xtics ytics");
    if (panel.y.scale == AxisScale::linear) {
      line("set yrange [0:*]");
    } else {
      line("set yrange [*:*]");
      line("set logscale y {}", panel.y.scale == AxisScale::log2 ? 2 : 10);
    }
  }

  void write_lines(std::size_t index) {
    const Panel& panel = figure_.panels[index];
    const std::vector<Json> values = x_values(panel, index, rows_);
    write_x_range(values, panel.x.scale);
    if (panel.x.scale != AxisScale::linear)
      line("set logscale x {}", panel.x.scale == AxisScale::log2 ? 2 : 10);
    const bool points = panel.kind == FigureKind::points;
    const bool marks_values = panel.x.scale != AxisScale::linear || values.size() <= kMostTics;
    if (marks_values && !points) {
      write_x_tics(values, panel.x.quantity);
    } else {
      line("set xtics autofreq norotate");
    }
    std::vector<std::string> plots;
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      const std::string rows = rows_of(index, s, 0);
      if (rows.empty()) continue;
      plots.push_back(fmt::format("data {} using (column('x')):(column('y')) with {} ls {}", rows,
                                  points ? "points" : "linespoints",
                                  style_of(panel.series[s]) + 1));
    }
    write_plot(plots);
  }

  // A little wider than the data: gnuplot drops tics at the very end, and marks have a size.
  void write_x_range(const std::vector<Json>& values, AxisScale scale) {
    const auto first = values.front().get<double>();
    const auto last = values.back().get<double>();
    if (scale == AxisScale::linear) {
      const double margin = last > first ? (last - first) * kMargin : 1.0;
      line("set xrange [{}:{}]", first - margin, last + margin);
    } else if (first > 0) {
      const double margin = last > first ? std::pow(last / first, kMargin) : 2.0;
      line("set xrange [{}:{}]", first / margin, last * margin);
    } else {
      line("set xrange [*:*]");
    }
  }

  void write_x_tics(const std::vector<Json>& values, const std::optional<Quantity>& quantity) {
    const std::size_t step = (values.size() + kMostTics - 1) / kMostTics;
    std::string tics;
    for (std::size_t v = 0; v < values.size(); ++v) {
      // Tics without labels keep the grid where the points are.
      const std::string text = v % step == 0 ? x_text(values[v], quantity) : "";
      tics += fmt::format("{}{} {} {}", v == 0 ? "" : ", ", quote(text), values[v].dump(),
                          v % step == 0 ? 0 : 1);
    }
    line("set xtics norotate ({})", tics);
  }

  // Groups of bars along x, with one bar for each series in a group.
  void write_bars(std::size_t index) {
    const Panel& panel = figure_.panels[index];
    const std::vector<Json> values = x_values(panel, index, rows_);
    std::string tics;
    for (std::size_t v = 0; v < values.size(); ++v) {
      tics +=
          fmt::format("{}{} {}", v == 0 ? "" : ", ", quote(x_text(values[v], panel.x.quantity)), v);
    }
    line("set xrange [-0.6:{}]", static_cast<double>(values.size()) - 0.4);
    line("set xtics norotate ({})", tics);
    const double width = kGroupWidth / static_cast<double>(panel.series.size());
    const std::string from = has_stacks() ? "column('y_from')" : "0";
    std::vector<std::string> plots;
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      const double begin = -kGroupWidth / 2 + width * static_cast<double>(s);
      const std::string colour = bar_colour(style_of(panel.series[s]));
      for (std::size_t part = 0; part < panel.y.parts.size(); ++part) {
        const std::string rows = rows_of(index, s, part);
        if (rows.empty()) continue;
        const std::string at = place_of_row(index, s, part, values);
        plots.push_back(fmt::format(
            "data {} using ({}):({}):({} + {:.4f}):({} + {:.4f}):({}):({} + column('y')) with "
            "boxxyerror fs solid 1 border lc rgb 'white' fc rgb '{}'",
            rows, at, from, at, begin, at, begin + width, from, from,
            report::tint(colour, tint_of(part, panel.y.parts.size()))));
      }
    }
    write_plot(plots);
  }

  // Indices into the CSV's rows.
  [[nodiscard]] std::vector<std::size_t> row_indices(std::size_t panel, std::size_t series,
                                                     std::size_t part) const {
    std::vector<std::size_t> indices;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (rows_[r].panel == panel && rows_[r].series == series && rows_[r].part == part)
        indices.push_back(r);
    }
    return indices;
  }

  // Selects rows by position, because gnuplot misreads text cells with commas. Empty if there are
  // no rows.
  [[nodiscard]] std::string rows_of(std::size_t panel, std::size_t series, std::size_t part) const {
    const auto indices = row_indices(panel, series, part);
    if (indices.empty()) return {};
    return fmt::format("every {}::{}::{}", figure_.panels[panel].y.parts.size(), indices.front(),
                       indices.back());
  }

  // The places of the selected rows along x, as an expression of the row's number.
  [[nodiscard]] std::string place_of_row(std::size_t panel, std::size_t series, std::size_t part,
                                         const std::vector<Json>& values) const {
    std::vector<std::size_t> places;
    for (const std::size_t r : row_indices(panel, series, part)) {
      const auto found = std::find(values.begin(), values.end(), rows_[r].x);
      places.push_back(static_cast<std::size_t>(found - values.begin()));
    }
    return fmt::format("place('{}')", fmt::join(places, " "));
  }

  [[nodiscard]] bool has_stacks() const {
    return std::any_of(figure_.panels.begin(), figure_.panels.end(),
                       [](const Panel& panel) { return panel.y.parts.size() > 1; });
  }

  // Bars have neither marks nor dashes: an algorithm with messages is darker than with packets.
  [[nodiscard]] std::string bar_colour(std::size_t index) const {
    const SeriesStyle& style = styles_[index];
    const bool is_shared =
        std::count_if(styles_.begin(), styles_.end(),
                      [&](const SeriesStyle& other) { return other.colour == style.colour; }) > 1;
    return is_shared && !style.dashed ? report::shade(style.colour, kDarkerBars) : style.colour;
  }

  [[nodiscard]] static double tint_of(std::size_t part, std::size_t parts) {
    return parts < 2 ? 0.0
                     : kLightestPart * static_cast<double>(part) / static_cast<double>(parts - 1);
  }

  [[nodiscard]] std::size_t style_of(const std::string& label) const {
    const auto found = std::find_if(styles_.begin(), styles_.end(),
                                    [&](const SeriesStyle& style) { return style.label == label; });
    return static_cast<std::size_t>(found - styles_.begin());
  }

  void write_plot(const std::vector<std::string>& plots) {
    line("plot {}", fmt::format("{}", fmt::join(plots, ", \\\n     ")));
  }

  // One legend below all panels: the key of an empty plot.
  void write_legend() {
    const bool lines = std::any_of(figure_.panels.begin(), figure_.panels.end(),
                                   [](const Panel& p) { return p.kind != FigureKind::bars; });
    line("");
    line("set lmargin at screen 0");
    line("set rmargin at screen 1");
    line("set bmargin at screen {:.5f}", page_.y(kBottom));
    line("set tmargin at screen {:.5f}", page_.y(kBottom + page_.legend_rows * kLegendRow));
    line("unset title");
    line("unset xlabel");
    line("unset ylabel");
    line("unset tics");
    line("unset grid");
    line("unset border");
    line("unset logscale");
    line("set xrange [0:1]");
    line("set yrange [0:1]");
    line("set key center center horizontal maxcols {} Left reverse samplen 2.5 spacing 1.1",
         page_.legend_columns);
    std::vector<std::string> entries{"NaN notitle"};  // keyentry alone is no plot
    for (std::size_t s = 0; s < styles_.size(); ++s) {
      const std::string look = lines ? fmt::format("linespoints ls {}", s + 1)
                                     : fmt::format("boxes fs solid 1 lc rgb '{}'", bar_colour(s));
      entries.push_back(fmt::format("keyentry with {} title {}", look, quote(styles_[s].label)));
    }
    const std::vector<std::string> parts = part_labels();
    for (std::size_t p = 0; p < parts.size(); ++p) {
      entries.push_back(fmt::format("keyentry with boxes fs solid 1 lc rgb '{}' title {}",
                                    report::tint("#555555", tint_of(p, parts.size())),
                                    quote(parts[p])));
    }
    write_plot(entries);
  }

  const Figure& figure_;
  const std::vector<FigureRow>& rows_;
  std::vector<SeriesStyle> styles_;
  Page page_;
  std::string script_;
};

}  // namespace

std::string gnuplot_script(const Figure& figure, const std::vector<FigureRow>& rows) {
  return ScriptWriter(figure, rows).write();
}

}  // namespace espalier
