// A figure as its file describes it (docs/figures.md): panels, their series, the simulated points
// of a series, and the fields of the results that are drawn.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sims/config/keys.h"
#include "sims/point/config.h"
#include "sims/report/plot/scale.h"
#include "sims/text/diagnostics.h"
#include "sims/text/units.h"

namespace espalier {

enum class FigureKind : std::uint8_t { lines, bars, points };
using AxisScale = report::ScaleKind;

// How points of a series with the same x become one value. `none`: they are an error.
enum class Combination : std::uint8_t { none, mean, min };

inline constexpr std::array kFigureKindNames{"lines", "bars", "points"};
inline constexpr std::array kAxisScaleNames{"linear", "log2", "log10"};
inline constexpr std::array kCombinationNames{"none", "mean", "min"};

// A field of the results by its dotted name, with its place in the figure file.
struct FieldRef {
  std::string name;
  Place place;
};

struct Axis {
  std::string label;
  AxisScale scale = AxisScale::linear;
};

struct XAxis : Axis {
  FieldRef field;            // of the results, or a key of the configuration
  const Key* key = nullptr;  // set if `field` is a key
  // y is a list, and `field` the distance of its entries: entry i is drawn at (i + 1/2) times it.
  bool along_list = false;
  double factor = 1.0;  // along_list: value drawn / distance
  // The quantity that its numbers count; nullopt without a unit.
  std::optional<Quantity> quantity;
};

// A part of a stacked bar. A line and a plain bar have one part.
struct Part {
  FieldRef field;
  std::string label;  // empty if there is one part
};

struct YAxis : Axis {
  std::vector<Part> parts;
  double factor = 1.0;  // value drawn / value of the field
  Combination combine = Combination::none;
};

// Values are drawn relative to a series of the same panel.
struct Normalization {
  std::string series;
  // The reference is its point at this x, as written; nullopt: its point at the same x.
  std::optional<std::string> x;
  bool inverse = false;  // reference / value: a speed-up
  Place place;
};

struct FigurePoint {
  std::size_t series = 0;  // of its panel
  RunPoint point;          // its fidelity is chosen
};

struct Panel {
  std::string title;
  FigureKind kind = FigureKind::lines;
  XAxis x;
  YAxis y;
  std::optional<Normalization> normalization;
  std::vector<std::string> series;  // labels
  // For each series, a field of its own instead of y's; y then has one part.
  std::vector<std::optional<FieldRef>> series_fields;
  std::vector<FigurePoint> points;  // series by series, each in the file's order
};

struct Figure {
  std::string path;    // as given
  std::string name;    // name of the output files: the path's stem
  std::string folder;  // base of the relative paths in its points
  std::string title;
  std::vector<Panel> panels;
};

}  // namespace espalier
