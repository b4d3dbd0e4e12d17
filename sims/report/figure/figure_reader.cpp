#include "sims/report/figure/figure_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "sims/config/config_layers.h"
#include "sims/config/reader.h"
#include "sims/point/fidelity.h"
#include "sims/text/nearest_name.h"
#include "sims/text/read_file.h"
#include "sims/text/strict_map.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr const char* kXExample = "x: {field: size_bytes, label: data size, scale: log2}";
constexpr const char* kYExample = "y: {field: bandwidth_GBps, label: GB/s}";
constexpr const char* kSeriesExample =
    "series: [{label: RING, config: {collective: {algorithm: ring}}}]";

// The keys of a figure that a panel may override.
const std::vector<std::string> kPanelKeys{"title",     "kind",   "x",      "y",
                                          "normalize", "config", "series", "points"};

std::vector<std::string> figure_keys() {
  std::vector<std::string> names = kPanelKeys;
  names.emplace_back("panels");
  return names;
}

template <std::size_t N>
std::vector<std::string> names_in(const std::array<const char*, N>& names) {
  return {names.begin(), names.end()};
}

bool ends_in_bytes(const std::string& name) {
  const std::string ending = "_bytes";
  return name.size() > ending.size() &&
         name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

// Numbers are placed along the axis in base units; other values are names.
bool is_number(const Key& key) {
  if (is_written_as_list(key.shape)) return false;
  switch (key.shape.type) {
    case ValueType::name:
    case ValueType::text:
    case ValueType::boolean:
      return false;
    default:
      return true;
  }
}

struct SeriesDraft {
  std::string label;
  std::optional<FieldRef> field;
  ConfigNode config;
};

struct PanelDraft {
  std::string title;
  FigureKind kind = FigureKind::lines;
  std::optional<XAxis> x;
  std::optional<YAxis> y;
  std::optional<Normalization> normalization;
  std::vector<SeriesDraft> series;
  std::vector<ConfigNode> points;
  ConfigNode config;
};

ConfigNode empty_map(const Place& place) {
  ConfigNode node;
  node.kind = ConfigNode::Kind::map;
  node.place = place;
  return node;
}

class FigureReader {
 public:
  FigureReader(Figure& figure, const std::vector<std::string>& overrides, Diagnostics& diagnostics)
      : figure_(figure), overrides_(overrides), diagnostics_(diagnostics) {}

  void read(const ConfigNode& root) {
    const StrictMap map(root, "", figure_keys(), diagnostics_);
    map.require("title", "title: All-reduce bandwidth");
    PanelDraft shared;
    shared.config = empty_map(root.place);
    read_panel_keys(map, shared);
    figure_.title = shared.title;
    if (map.find("panels") == nullptr) {
      shared.title.clear();
      add_panel(map, shared);
      return;
    }
    std::set<std::string> titles;
    for (const ConfigNode& node : map.list("panels")) {
      const StrictMap panel(node, "panel", kPanelKeys, diagnostics_);
      panel.require("title", "the rows of a panel in the CSV carry its title");
      PanelDraft draft = shared;
      draft.title.clear();
      read_panel_keys(panel, draft);
      if (!draft.title.empty() && !titles.insert(draft.title).second) {
        diagnostics_.error(panel.place_of("title"),
                           fmt::format("two panels are called '{}'", draft.title));
      }
      add_panel(panel, draft);
    }
  }

 private:
  void read_panel_keys(const StrictMap& map, PanelDraft& draft) {
    if (const auto title = map.text("title")) draft.title = *title;
    if (const auto kind = map.choice("kind", names_in(kFigureKindNames)))
      draft.kind = static_cast<FigureKind>(*kind);
    if (const ConfigNode* x = map.find("x")) draft.x = read_x(*x);
    if (const ConfigNode* y = map.find("y")) draft.y = read_y(*y);
    if (const ConfigNode* node = map.find("normalize")) draft.normalization = read_normalize(*node);
    if (map.find("series") != nullptr) draft.series = read_series(map);
    if (map.find("points") != nullptr) draft.points = read_points(map);
    draft.config = layer_of(map, draft.config);
  }

  // The map's `config` laid over `below`.
  ConfigNode layer_of(const StrictMap& map, const ConfigNode& below) {
    const ConfigNode* node = map.find("config");
    if (node == nullptr) return below;
    ConfigNode placed = *node;
    placed.place = map.place_of("config");
    const auto layer = load_layer(placed, figure_.folder, diagnostics_);
    return layer ? lay_over(below, *layer) : below;
  }

  void read_axis(const StrictMap& map, Axis& axis) {
    if (const auto label = map.text("label")) axis.label = *label;
    if (const auto scale = map.choice("scale", names_in(kAxisScaleNames)))
      axis.scale = static_cast<AxisScale>(*scale);
  }

  std::optional<FieldRef> read_field(const StrictMap& map) {
    const auto name = map.text("field");
    if (!name) return std::nullopt;
    return FieldRef{*name, map.place_of("field")};
  }

  std::optional<XAxis> read_x(const ConfigNode& node) {
    const StrictMap map(node, "x", {"field", "key", "step", "label", "scale", "factor"},
                        diagnostics_);
    XAxis axis;
    if (map.find("factor") != nullptr && map.find("step") == nullptr) {
      diagnostics_.error(map.place_of("factor"), "x.factor: is used only with 'step'");
    }
    if (map.find("key") != nullptr) {
      read_x_key(map, axis);
    } else if (const auto step = map.text("step")) {
      axis.field = {*step, map.place_of("step")};
      axis.along_list = true;
    } else {
      map.require("field", kXExample);
      axis.field = read_field(map).value_or(FieldRef{});
      if (ends_in_bytes(axis.field.name)) axis.quantity = Quantity::size;
    }
    axis.label = axis.field.name;
    read_axis(map, axis);
    if (const auto factor = map.positive_number("factor")) axis.factor = *factor;
    return axis;
  }

  void read_x_key(const StrictMap& map, XAxis& axis) {
    const Place place = map.place_of("key");
    if (map.find("field") != nullptr) {
      diagnostics_.error(place, "x: both 'field' and 'key' are given",
                         "give a field of the results, or a key of the configuration");
    }
    const std::string name = map.text("key").value_or("");
    axis.field = {name, place};
    axis.key = find_key(name);
    if (axis.key != nullptr) {
      axis.quantity = quantity_of(axis.key->shape.type);
    } else if (!name.empty()) {
      std::vector<std::string> names;
      for (const Key& key : keys()) names.push_back(key.name);
      const std::string nearest = nearest_name(name, names);
      diagnostics_.error(place, fmt::format("x.key: unknown key '{}'", name),
                         nearest.empty() ? "espalier schema lists all keys"
                                         : fmt::format("did you mean '{}'?", nearest));
    }
  }

  std::optional<YAxis> read_y(const ConfigNode& node) {
    const StrictMap map(node, "y", {"field", "parts", "label", "scale", "factor", "combine"},
                        diagnostics_);
    YAxis axis;
    if (map.find("parts") != nullptr) {
      for (const ConfigNode& part : map.list("parts")) axis.parts.push_back(read_part(part));
      if (map.find("field") != nullptr) {
        diagnostics_.error(map.place_of("field"), "y: both 'field' and 'parts' are given",
                           "give 'parts' for stacked bars, or one 'field'");
      }
      map.require("label", "label: time");
    } else {
      map.require("field", kYExample);
      if (const auto field = read_field(map)) {
        axis.parts.push_back({*field, ""});
        axis.label = field->name;
      }
    }
    read_axis(map, axis);
    if (const auto factor = map.positive_number("factor")) axis.factor = *factor;
    if (const auto combine = map.choice("combine", names_in(kCombinationNames)))
      axis.combine = static_cast<Combination>(*combine);
    return axis;
  }

  Part read_part(const ConfigNode& node) {
    const StrictMap map(node, "y.parts", {"field", "label"}, diagnostics_);
    map.require("field", "parts: [{field: time_ns, label: all-reduce}]");
    Part part;
    if (const auto field = read_field(map)) part.field = *field;
    part.label = part.field.name;
    if (const auto label = map.text("label")) part.label = *label;
    return part;
  }

  std::optional<Normalization> read_normalize(const ConfigNode& node) {
    if (node.kind == ConfigNode::Kind::scalar && node.text == "none") return std::nullopt;
    const StrictMap map(node, "normalize", {"series", "x", "inverse"}, diagnostics_);
    map.require("series", "normalize: {series: RING}");
    Normalization normalization;
    normalization.place = map.place_of("series");
    normalization.series = map.text("series").value_or("");
    normalization.x = map.text("x");
    normalization.inverse = map.boolean("inverse").value_or(false);
    return normalization;
  }

  std::vector<SeriesDraft> read_series(const StrictMap& map) {
    std::vector<SeriesDraft> all;
    std::set<std::string> labels;
    for (const ConfigNode& node : map.list("series")) {
      const StrictMap entry(node, "series", {"label", "config", "field"}, diagnostics_);
      entry.require("label", kSeriesExample);
      SeriesDraft series;
      series.label = entry.text("label").value_or("");
      if (!series.label.empty() && !labels.insert(series.label).second) {
        diagnostics_.error(entry.place_of("label"),
                           fmt::format("two series are called '{}'", series.label));
      }
      series.field = read_field(entry);
      series.config = layer_of(entry, empty_map(node.place));
      all.push_back(std::move(series));
    }
    return all;
  }

  std::vector<ConfigNode> read_points(const StrictMap& map) {
    std::vector<ConfigNode> layers;
    for (const ConfigNode& node : map.list("points")) {
      if (const auto layer = load_layer(node, figure_.folder, diagnostics_))
        layers.push_back(*layer);
    }
    return layers;
  }

  void check_complete(const StrictMap& map, const PanelDraft& draft) {
    if (!draft.x) map.require("x", kXExample);
    if (!draft.y) map.require("y", kYExample);
    if (draft.series.empty()) map.require("series", kSeriesExample);
    if (draft.y && draft.y->parts.size() > 1 && draft.kind != FigureKind::bars) {
      diagnostics_.error(draft.y->parts[1].field.place, "y.parts: only bars can be stacked",
                         "kind: bars");
    }
    if (draft.kind == FigureKind::bars && draft.x && draft.x->along_list) {
      diagnostics_.error(draft.x->field.place,
                         "x.step: the entries of a list can be drawn only as lines");
    }
    for (const SeriesDraft& series : draft.series) {
      if (series.field && draft.y && draft.y->parts.size() > 1) {
        diagnostics_.error(
            series.field->place,
            "series.field: has no effect with y.parts, where each part has its field");
      }
    }
    if (draft.kind == FigureKind::bars && draft.x && draft.x->scale != AxisScale::linear) {
      diagnostics_.error(draft.x->field.place, "x.scale: bars have no scale along x");
    }
    if (draft.kind != FigureKind::bars && draft.x && draft.x->key && !is_number(*draft.x->key)) {
      diagnostics_.error(
          draft.x->field.place,
          fmt::format("x.key: lines need numbers along x, but the values of '{}' are not numbers",
                      draft.x->field.name),
          "use kind: bars, which accepts names along x");
    }
    const auto& normalization = draft.normalization;
    if (!normalization || normalization->series.empty() || draft.series.empty()) return;
    std::vector<std::string> labels;
    for (const SeriesDraft& series : draft.series) labels.push_back(series.label);
    if (std::find(labels.begin(), labels.end(), normalization->series) == labels.end()) {
      diagnostics_.error(
          normalization->place,
          fmt::format("normalize.series: there is no series '{}'", normalization->series),
          name_hint(normalization->series, labels));
    }
    if (normalization->inverse && draft.y && draft.y->parts.size() > 1) {
      diagnostics_.error(normalization->place,
                         "normalize.inverse: cannot be used with y.parts, because inverses of "
                         "parts do not add up");
    }
  }

  void add_panel(const StrictMap& map, const PanelDraft& draft) {
    check_complete(map, draft);
    Panel panel;
    panel.title = draft.title;
    panel.kind = draft.kind;
    if (draft.x) panel.x = *draft.x;
    if (draft.y) panel.y = *draft.y;
    panel.normalization = draft.normalization;
    for (std::size_t s = 0; s < draft.series.size(); ++s) {
      panel.series.push_back(draft.series[s].label);
      panel.series_fields.push_back(draft.series[s].field);
      const ConfigNode config = lay_over(draft.config, draft.series[s].config);
      if (draft.points.empty()) {
        add_points(panel, s, config);
      } else {
        for (const ConfigNode& point : draft.points) add_points(panel, s, lay_over(config, point));
      }
    }
    figure_.panels.push_back(std::move(panel));
  }

  void add_points(Panel& panel, std::size_t series, const ConfigNode& config) {
    for (RunPoint& point : read_run_config_tree(config, figure_.folder, overrides_, diagnostics_)) {
      point.simulation.fidelity = chosen_fidelity(point);
      const Key* key = panel.x.key;
      if (key != nullptr && !(has_section_of(point, *key) && key->applies_at(point))) {
        diagnostics_.error(panel.x.field.place,
                           fmt::format("x.key: '{}' has no effect in panel '{}', series '{}'",
                                       key->name, panel.title, panel.series[series]));
      }
      panel.points.push_back({series, std::move(point)});
    }
  }

  Figure& figure_;
  const std::vector<std::string>& overrides_;
  Diagnostics& diagnostics_;
};

}  // namespace

FigureResult read_figure(const std::string& path, const std::vector<std::string>& overrides) {
  FigureResult result;
  result.figure.path = path;
  result.figure.name = fs::path(path).stem().string();
  result.figure.folder = fs::path(path).parent_path().string();
  const FileText file = read_file_text(path);
  const SourceIndex source = result.diagnostics.add_file(path, file.text.value_or(""));
  if (!file.text) {
    result.diagnostics.error({source, 0, 0}, fmt::format("the file {}", file.problem));
    return result;
  }
  if (const auto root = load_yaml(*file.text, source, result.diagnostics))
    FigureReader(result.figure, overrides, result.diagnostics).read(*root);
  result.ok = result.diagnostics.num_errors() == 0;
  return result;
}

}  // namespace espalier
