// A figure as its file describes it: panels of series of simulated points, and which fields of the
// results are drawn. docs/figures.md is for users.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sims/config/keys.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"
#include "sims/text/units.h"

namespace espalier {

enum class FigureKind : std::uint8_t { lines, bars };
enum class AxisScale : std::uint8_t { linear, log2, log10 };

// What is drawn of a series' points with the same x: they must not be, or their mean, or the least
// (which of several settings is best at this x).
enum class Combination : std::uint8_t { none, mean, min };

inline constexpr std::array kFigureKindNames{"lines", "bars"};
inline constexpr std::array kAxisScaleNames{"linear", "log2", "log10"};
inline constexpr std::array kCombinationNames{"none", "mean", "min"};

// A field of the results by its dotted name, and where the file names it.
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
  const Key* key = nullptr;  // the latter
  // `field` is what entries of a list lie apart, and y is the list: entry i is drawn at
  // (i + 1/2) times that.
  bool along_list = false;
  double factor = 1.0;  // along_list: value drawn / distance
  // What its numbers count; nullopt: nothing with a unit.
  std::optional<Quantity> quantity;
};

// What a bar is stacked from; a line has one part, and so has a plain bar.
struct Part {
  FieldRef field;
  std::string label;  // empty where there is one part
};

struct YAxis : Axis {
  std::vector<Part> parts;
  double factor = 1.0;  // value drawn / value of the field
  Combination combine = Combination::none;
};

// Values are drawn relative to one series of the same panel.
struct Normalization {
  std::string series;
  // Its point at this x, as written; nullopt: its point at the same x.
  std::optional<std::string> x;
  bool inverse = false;  // reference / value: a speed-up
  Place place;
};

struct FigurePoint {
  std::size_t series = 0;  // of its panel
  RunPoint point;          // its fidelity is decided
};

struct Panel {
  std::string title;
  FigureKind kind = FigureKind::lines;
  XAxis x;
  YAxis y;
  std::optional<Normalization> normalization;
  std::vector<std::string> series;  // labels
  // By series, as far as given: a field of its own in place of y's, which has one part then.
  std::vector<std::optional<FieldRef>> series_fields;
  std::vector<FigurePoint> points;  // series by series, each in the file's order
};

struct Figure {
  std::string path;    // as given
  std::string name;    // of the files that are written: the path's stem
  std::string folder;  // where paths in its points start
  std::string title;
  std::vector<Panel> panels;
};

}  // namespace espalier
