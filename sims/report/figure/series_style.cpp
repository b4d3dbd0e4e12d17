#include "sims/report/figure/series_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "alg/algorithm.h"

namespace espalier {

namespace {

struct Look {
  const char* colour;
  int filled;  // gnuplot's point types
  int open;
};

// Colours that stay apart for colour-blind readers (Okabe and Ito, and two more); an algorithm's
// row names its place (AlgorithmRow::look).
constexpr std::array kLooks{
    Look{"#d55e00", 7, 6},   Look{"#0072b2", 9, 8},   Look{"#009e73", 5, 4},
    Look{"#7b3294", 13, 12}, Look{"#56b4e9", 11, 10}, Look{"#cc79a7", 15, 14},
    Look{"#e69f00", 13, 12}, Look{"#666666", 5, 4},   Look{"#8c6d31", 11, 10},
};

// What tells series apart. Empty where a series has several of it.
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
std::size_t look_of(const std::string& name) {
  const Algorithm* algorithm = find_algorithm(name);
  return algorithm == nullptr ? kLooks.size() : std::min(algorithm->look, kLooks.size());
}

// Every series has a look of its own by what it runs.
bool are_told_apart(const std::vector<Identity>& all) {
  std::set<std::pair<std::size_t, bool>> seen;
  for (const Identity& identity : all) {
    const std::size_t look = look_of(identity.algorithm);
    const bool packets = identity.mode == FlowControlMode::packet;
    if (look == kLooks.size() || !seen.insert({look, packets}).second) return false;
  }
  return true;
}

SeriesStyle make_style(const std::string& label, const Look& look, bool packets) {
  constexpr double kThin = 1.5;
  constexpr double kThick = 2.2;
  return {label, look.colour, packets ? look.open : look.filled, packets ? kThin : kThick, packets};
}

// With `part` of grey of that level, 0 to 255.
std::string mix(const std::string& colour, double level, double part) {
  std::string mixed = "#";
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const auto value = std::stoul(colour.substr(1 + 2 * channel, 2), nullptr, 16);
    mixed +=
        fmt::format("{:02x}", std::lround(static_cast<double>(value) * (1 - part) + level * part));
  }
  return mixed;
}

}  // namespace

std::vector<SeriesStyle> series_styles(const Figure& figure) {
  const std::vector<Identity> all = identities(figure);
  const bool by_algorithm = are_told_apart(all);
  std::vector<SeriesStyle> styles;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool packets =
        by_algorithm ? all[i].mode == FlowControlMode::packet : (i / kLooks.size()) % 2 == 1;
    const Look& look = kLooks.at(by_algorithm ? look_of(all[i].algorithm) : i % kLooks.size());
    styles.push_back(make_style(all[i].label, look, packets));
  }
  return styles;
}

std::string tint(const std::string& colour, double white) { return mix(colour, 255, white); }

std::string shade(const std::string& colour, double black) { return mix(colour, 0, black); }

}  // namespace espalier
