#include "sims/report/figure/series_style.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sims/report/plot/palette.h"

namespace espalier {

namespace {

using report::kNumLooks;
using report::Mark;

// gnuplot's point type of a filled mark; the open one is the number before. gnuplot lacks three of
// the marks.
int point_type(Mark mark) {
  switch (mark) {
    case Mark::circle:
      return 7;
    case Mark::square:
    case Mark::bar:
      return 5;
    case Mark::triangle:
      return 9;
    case Mark::down_triangle:
    case Mark::left_triangle:
      return 11;
    case Mark::diamond:
    case Mark::cross:
      return 13;
    case Mark::pentagon:
      return 15;
  }
  return 7;
}

// What tells series apart: empty members differ within the series.
struct Identity {
  std::string label;
  std::string algorithm;
  std::optional<FlowControlMode> mode;
};

Identity identity_of(const std::string& label, const Panel& panel, std::size_t series) {
  Identity identity{label, {}, {}};
  bool first = true;
  for (const FigurePoint& point : panel.points) {
    if (point.series != series) continue;
    const RunPoint& run = point.point;
    const std::string algorithm = run.collective ? run.collective->algorithm : "";
    const FlowControlMode mode = run.system.flow_control.mode;
    if (first) {
      identity.algorithm = algorithm;
      identity.mode = mode;
    }
    if (algorithm != identity.algorithm) identity.algorithm.clear();
    if (identity.mode && *identity.mode != mode) identity.mode.reset();
    first = false;
  }
  return identity;
}

std::vector<Identity> identities(const Figure& figure) {
  std::vector<Identity> all;
  for (const Panel& panel : figure.panels) {
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      const auto same = [&](const Identity& other) { return other.label == panel.series[s]; };
      if (std::none_of(all.begin(), all.end(), same))
        all.push_back(identity_of(panel.series[s], panel, s));
    }
  }
  return all;
}

// Whether the algorithm tells series apart: every series has one, and there are two or more.
bool differ_by_algorithm(const std::vector<Identity>& all) {
  return std::all_of(all.begin(), all.end(),
                     [](const Identity& identity) { return !identity.algorithm.empty(); }) &&
         std::any_of(all.begin(), all.end(), [&](const Identity& identity) {
           return identity.algorithm != all.front().algorithm;
         });
}

std::map<std::string, std::size_t> numbers_of(const std::vector<Identity>& all) {
  std::vector<std::string> names;
  for (const Identity& identity : all) names.push_back(identity.algorithm);
  return report::numbers_of_algorithms(names);
}

SeriesStyle make_style(const std::string& label, std::size_t number, std::size_t mark,
                       bool packets) {
  constexpr double kThin = 1.5;
  constexpr double kThick = 2.2;
  const report::Look& look = report::look_of_series(number);
  const int filled = point_type(report::mark_of_series(mark));
  return {label, look.colour, packets ? filled - 1 : filled, packets ? kThin : kThick, packets};
}

}  // namespace

std::vector<SeriesStyle> series_styles(const Figure& figure) {
  const std::vector<Identity> all = identities(figure);
  const bool by_algorithm = differ_by_algorithm(all);
  const std::map<std::string, std::size_t> numbers =
      by_algorithm ? numbers_of(all) : std::map<std::string, std::size_t>();
  std::vector<SeriesStyle> styles;
  std::set<std::tuple<std::size_t, Mark, bool>> taken;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool packets =
        by_algorithm ? all[i].mode == FlowControlMode::packet : (i / kNumLooks) % 2 == 1;
    const std::size_t number = by_algorithm ? numbers.at(all[i].algorithm) : i % kNumLooks;
    // Further series of an algorithm keep its colour and take other marks.
    std::size_t mark = number;
    while (mark < number + kNumLooks &&
           !taken.emplace(number % kNumLooks, report::mark_of_series(mark), packets).second)
      ++mark;
    styles.push_back(make_style(all[i].label, number, mark, packets));
  }
  return styles;
}

}  // namespace espalier
