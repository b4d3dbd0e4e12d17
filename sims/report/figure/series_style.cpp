#include "sims/report/figure/series_style.h"

#include <algorithm>
#include <set>
#include <utility>

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

// kLooks.size() where the algorithm has none of its own.
// Every series has a look of its own by what it runs.
bool are_told_apart(const std::vector<Identity>& all) {
  std::set<std::pair<std::size_t, bool>> seen;
  for (const Identity& identity : all) {
    const std::size_t look = report::look_of_algorithm(identity.algorithm);
    const bool packets = identity.mode == FlowControlMode::packet;
    if (look == kNumLooks || !seen.insert({look, packets}).second) return false;
  }
  return true;
}

SeriesStyle make_style(const std::string& label, std::size_t number, bool packets) {
  constexpr double kThin = 1.5;
  constexpr double kThick = 2.2;
  const report::Look& look = report::look_of_series(number);
  const int filled = point_type(look.mark);
  return {label, look.colour, packets ? filled - 1 : filled, packets ? kThin : kThick, packets};
}

}  // namespace

std::vector<SeriesStyle> series_styles(const Figure& figure) {
  const std::vector<Identity> all = identities(figure);
  const bool by_algorithm = are_told_apart(all);
  std::vector<SeriesStyle> styles;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool packets =
        by_algorithm ? all[i].mode == FlowControlMode::packet : (i / kNumLooks) % 2 == 1;
    const std::size_t look = by_algorithm ? report::look_of_algorithm(all[i].algorithm) : i;
    styles.push_back(make_style(all[i].label, look, packets));
  }
  return styles;
}

}  // namespace espalier
