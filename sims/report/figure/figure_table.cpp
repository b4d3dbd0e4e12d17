#include "sims/report/figure/figure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sims/experiment/result_fields.h"
#include "sims/text/nearest_name.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

void check_field(const FieldRef& field, const Panel& panel, const Json& result, bool number_only,
                 Diagnostics& diagnostics) {
  const Json* value = find_field(result, field.name);
  if (value == nullptr) {
    diagnostics.error(field.place, fmt::format("the results have no field '{}'", field.name),
                      name_hint(field.name, all_fields(result)));
  } else if (number_only && !value->is_number()) {
    diagnostics.error(
        field.place, fmt::format("the field '{}' is not a number", field.name),
        panel.kind != FigureKind::bars ? "use kind: bars, which accepts names along x" : "");
  } else if (!value->is_number() && !value->is_string()) {
    diagnostics.error(field.place,
                      fmt::format("the field '{}' is neither a number nor a text", field.name));
  }
}

void check_list(const FieldRef& field, const Json& result, Diagnostics& diagnostics) {
  const Json* value = find_field(result, field.name);
  if (value == nullptr) {
    diagnostics.error(field.place, fmt::format("the results have no field '{}'", field.name));
    return;
  }
  const bool numbers =
      value->is_array() && std::all_of(value->begin(), value->end(),
                                       [](const Json& entry) { return entry.is_number(); });
  if (!numbers) {
    diagnostics.error(field.place,
                      fmt::format("the field '{}' is not a list of numbers", field.name),
                      "x.step draws the entries of a list");
  }
}

// The file's value of x: a number, a number with a unit, or a name.
bool says(const std::string& written, const Json& x, const std::optional<Quantity>& quantity) {
  if (x.is_string()) return x.get<std::string>() == written;
  if (quantity) {
    const ParsedQuantity parsed = parse_quantity(*quantity, written);
    if (parsed.value) return x.get<double>() == static_cast<double>(*parsed.value);
  }
  const Json number = Json::parse(written, nullptr, false);
  return number.is_number() && number.get<double>() == x.get<double>();
}

Json x_of(const XAxis& axis, const RunPoint& point, const Json& result) {
  if (axis.key == nullptr) return *find_field(result, axis.field.name);
  const Value value = axis.key->get(point);
  if (is_written_as_list(axis.key->shape)) return format_value(value, axis.key->shape);
  switch (axis.key->shape.type) {
    case ValueType::name:
    case ValueType::text:
    case ValueType::boolean:
      return format_value(value, axis.key->shape);
    case ValueType::fraction:
      return value.fraction;
    default:
      return value.number;
  }
}

// The fields of a combined value; it has none of a single point's result.
const Json kNothing = Json::object();

// One point of a panel with its values from the results.
struct PanelValue {
  std::size_t series;
  Json x;
  std::vector<double> parts;
  const Json* result;

  [[nodiscard]] double total() const {
    double sum = 0;
    for (const double part : parts) sum += part;
    return sum;
  }
};

class PanelTable {
 public:
  PanelTable(const Panel& panel, std::size_t index, const ResultOf& result_of,
             Diagnostics& diagnostics)
      : panel_(panel), index_(index), diagnostics_(diagnostics) {
    for (std::size_t i = 0; i < panel.points.size(); ++i) {
      const Json* result = result_of(index, i);
      if (result == nullptr) {
        all_there_ = false;
        continue;
      }
      if (panel.x.along_list) {
        add_list(panel.points[i].series, *result);
        continue;
      }
      PanelValue value{
          panel.points[i].series, x_of(panel.x, panel.points[i].point, *result), {}, result};
      for (const Part& part : panel.y.parts) {
        const FieldRef& field = field_of(value.series, part);
        value.parts.push_back(find_field(*result, field.name)->get<double>());
      }
      values_.push_back(std::move(value));
    }
    if (panel.kind != FigureKind::bars) sort_by_x();
    if (panel.y.combine == Combination::mean) combine();
    if (panel.y.combine == Combination::min) keep_least();
    check_distinct();
  }

  void add_rows(std::vector<FigureRow>& rows) {
    bool off_the_axis = false;
    for (const PanelValue& value : values_) {
      const std::optional<double> reference = reference_of(value);
      if (reference && *reference == 0) warn_of_zero(value);
      if (!reference) continue;
      double from = 0.0;
      for (std::size_t part = 0; part < value.parts.size(); ++part) {
        FigureRow row{index_, value.series, part, value.x, 0.0, from, value.result};
        row.y = drawn(value.parts[part], *reference);
        if (std::isfinite(row.y)) from += row.y;
        off_the_axis = off_the_axis || (panel_.y.scale != AxisScale::linear && row.y <= 0);
        rows.push_back(std::move(row));
      }
    }
    if (!off_the_axis) return;
    diagnostics_.warning(
        panel_.y.parts.front().field.place,
        fmt::format("panel '{}': a log axis cannot show values of 0", panel_.title));
  }

 private:
  [[nodiscard]] const FieldRef& field_of(std::size_t series, const Part& part) const {
    const auto& own = panel_.series_fields;
    return series < own.size() && own[series] ? *own[series] : part.field;
  }

  void add_list(std::size_t series, const Json& result) {
    const double step = find_field(result, panel_.x.field.name)->get<double>() * panel_.x.factor;
    const Json& list = *find_field(result, field_of(series, panel_.y.parts.front()).name);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double x = (static_cast<double>(i) + 0.5) * step;
      values_.push_back({series, Json(x), {list[i].get<double>()}, &kNothing});
    }
  }

  void sort_by_x() {
    std::stable_sort(values_.begin(), values_.end(), [](const PanelValue& a, const PanelValue& b) {
      if (a.series != b.series) return a.series < b.series;
      return a.x.get<double>() < b.x.get<double>();
    });
  }

  // One value for all points with the same series and x; it has no other fields of the results. If
  // a point failed, a mean of the remaining points would pass for the mean of all, so values of
  // fewer points than the others have are left out.
  void combine() {
    std::vector<PanelValue> combined;
    std::vector<std::size_t> counts;
    for (const PanelValue& value : values_) {
      const auto same = [&](const PanelValue& other) {
        return other.series == value.series && other.x == value.x;
      };
      const auto found = std::find_if(combined.begin(), combined.end(), same);
      if (found == combined.end()) {
        combined.push_back(value);
        combined.back().result = &kNothing;
        counts.push_back(1);
        continue;
      }
      for (std::size_t p = 0; p < value.parts.size(); ++p) found->parts[p] += value.parts[p];
      ++counts[static_cast<std::size_t>(found - combined.begin())];
    }
    values_.clear();
    const std::size_t most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
    for (std::size_t v = 0; v < combined.size(); ++v) {
      if (!all_there_ && counts[v] != most) continue;
      for (double& part : combined[v].parts) part /= static_cast<double>(counts[v]);
      values_.push_back(std::move(combined[v]));
    }
  }

  // One of all points with the same series and x. A failed point does not count: a setting that a
  // system cannot run is no choice there.
  void keep_least() {
    std::vector<PanelValue> least;
    for (PanelValue& value : values_) {
      const auto same = [&](const PanelValue& other) {
        return other.series == value.series && other.x == value.x;
      };
      const auto found = std::find_if(least.begin(), least.end(), same);
      if (found == least.end()) {
        least.push_back(std::move(value));
      } else if (value.total() < found->total()) {
        *found = std::move(value);
      }
    }
    values_ = std::move(least);
  }

  void check_distinct() const {
    if (panel_.kind == FigureKind::points) return;  // several results may cost the same
    for (std::size_t i = 0; i < values_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (values_[i].series != values_[j].series || values_[i].x != values_[j].x) continue;
        diagnostics_.error(
            panel_.x.field.place,
            fmt::format("panel '{}', series '{}': two points at {} = {}", panel_.title,
                        panel_.series[values_[i].series], panel_.x.field.name, values_[i].x.dump()),
            "a series needs one value for every x; split the points into several series");
        return;
      }
    }
  }

  [[nodiscard]] double drawn(double value, double reference) const {
    const bool inverse = panel_.normalization && panel_.normalization->inverse;
    return (inverse ? reference / value : value / reference) * panel_.y.factor;
  }

  // nullopt if the value has no reference and cannot be drawn.
  [[nodiscard]] std::optional<double> reference_of(const PanelValue& value) const {
    const auto& normalization = panel_.normalization;
    if (!normalization) return 1.0;
    for (const PanelValue& other : values_) {
      if (panel_.series[other.series] != normalization->series) continue;
      const bool here = normalization->x ? says(*normalization->x, other.x, panel_.x.quantity)
                                         : other.x == value.x;
      if (here) return other.total();
    }
    if (all_there_) {
      diagnostics_.error(normalization->place,
                         fmt::format("panel '{}': series '{}' has no point at {} = {}",
                                     panel_.title, normalization->series, panel_.x.field.name,
                                     normalization->x ? *normalization->x : value.x.dump()));
    }
    return std::nullopt;
  }

  // Reported once for each panel.
  void warn_of_zero(const PanelValue& value) {
    if (warned_of_zero_ || panel_.normalization->inverse) return;
    warned_of_zero_ = true;
    diagnostics_.warning(
        panel_.normalization->place,
        fmt::format(
            "panel '{}': series '{}' is 0 where {} = {}, so other series cannot be divided by it",
            panel_.title, panel_.normalization->series, panel_.x.field.name, value.x.dump()));
  }

  const Panel& panel_;
  std::size_t index_;
  Diagnostics& diagnostics_;
  bool warned_of_zero_ = false;
  std::vector<PanelValue> values_;
  bool all_there_ = true;
};

// Empty if there is nothing to draw: 0 of 0, or a speed-up without a time.
std::string number_cell(double value) {
  const Json number = value;
  return std::isfinite(value) ? csv_cell(&number) : "";
}

bool has_stacks(const Figure& figure) {
  return std::any_of(figure.panels.begin(), figure.panels.end(),
                     [](const Panel& panel) { return panel.y.parts.size() > 1; });
}

}  // namespace

void check_fields(const Panel& panel, const Json& result, Diagnostics& diagnostics) {
  if (panel.x.key == nullptr)
    check_field(panel.x.field, panel, result, panel.kind != FigureKind::bars, diagnostics);
  std::vector<FieldRef> fields;
  for (const auto& own : panel.series_fields) {
    if (own) fields.push_back(*own);
  }
  // Every series may have a field of its own.
  if (fields.size() < panel.series.size()) {
    for (const Part& part : panel.y.parts) fields.push_back(part.field);
  }
  for (const FieldRef& field : fields) {
    if (panel.x.along_list) {
      check_list(field, result, diagnostics);
    } else {
      check_field(field, panel, result, true, diagnostics);
    }
  }
}

std::vector<FigureRow> figure_rows(const Figure& figure, const ResultOf& result_of,
                                   Diagnostics& diagnostics) {
  std::vector<FigureRow> rows;
  for (std::size_t p = 0; p < figure.panels.size(); ++p)
    PanelTable(figure.panels[p], p, result_of, diagnostics).add_rows(rows);
  return rows;
}

std::string figure_csv(const Figure& figure, const std::vector<FigureRow>& rows) {
  const bool stacks = has_stacks(figure);
  std::vector<const Json*> results;
  results.reserve(rows.size());
  for (const FigureRow& row : rows) results.push_back(row.result);
  const std::vector<std::string> fields = table_fields(results);
  std::string text = stacks ? "panel,series,part,x,y,y_from" : "panel,series,x,y";
  for (const std::string& field : fields) text += "," + csv_cell(field);
  text += '\n';
  for (const FigureRow& row : rows) {
    const Panel& panel = figure.panels[row.panel];
    text += csv_cell(panel.title) + ',' + csv_cell(panel.series[row.series]) + ',';
    if (stacks) text += csv_cell(panel.y.parts[row.part].label) + ',';
    text += csv_cell(&row.x) + ',' + number_cell(row.y);
    if (stacks) text += ',' + number_cell(row.y_from);
    for (const std::string& field : fields) text += ',' + csv_cell(find_field(*row.result, field));
    text += '\n';
  }
  return text;
}

}  // namespace espalier
