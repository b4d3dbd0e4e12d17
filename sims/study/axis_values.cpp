#include "sims/study/axis_values.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "sims/config/config_layers.h"

namespace espalier {

namespace {

__extension__ using Wide = unsigned __int128;

// Decimal numbers are counted in units of 1e-9, so that 0.1 + 0.2 is 0.3.
constexpr double kDecimalParts = 1e9;
constexpr std::uint64_t kOne = 1'000'000'000;
constexpr double kLargestFactor = 1e9;

std::uint64_t in_parts(double value) {
  return static_cast<std::uint64_t>(value * kDecimalParts + 0.5);
}

class RangeReader {
 public:
  RangeReader(const StrictMap& map, std::string name, const Key& key, Diagnostics& diagnostics)
      : map_(map), name_(std::move(name)), key_(key), diagnostics_(diagnostics) {}

  std::vector<ConfigNode> read() {
    const ValueType type = key_.shape.type;
    is_fraction_ = type == ValueType::fraction;
    if (is_written_as_list(key_.shape) ||
        (!is_fraction_ && type != ValueType::integer && !quantity_of(type))) {
      fail(map_.place_of("from"),
           fmt::format("a range needs numbers, but the values of '{}' are not numbers", key_.name),
           "list the values: values: [...]");
      return {};
    }
    const auto from = bound("from");
    const auto to = bound("to");
    const bool has_step = map_.find("step") != nullptr;
    const bool has_factor = map_.find("factor") != nullptr;
    if (has_step == has_factor) {
      fail(map_.place_of(has_step ? "factor" : "from"),
           has_step ? "both 'step' and 'factor' are given" : "neither 'step' nor 'factor' is given",
           "give one of them: step: 8 adds 8, factor: 2 multiplies by 2");
      return {};
    }
    if (!from || !to) return {};
    if (*from > *to) {
      fail(map_.place_of("to"), "'to' is less than 'from'", "a range must ascend");
      return {};
    }
    return has_step ? stepped(*from, *to) : multiplied(*from, *to);
  }

 private:
  void fail(const Place& place, const std::string& message, const std::string& hint) const {
    diagnostics_.error(place, fmt::format("{}: {}", name_, message), hint);
  }

  std::optional<std::uint64_t> bound(const std::string& end) const {
    if (!map_.require(end, "from: 64KiB, to: 16MiB, factor: 4")) return std::nullopt;
    ConfigNode node = *map_.find(end);
    node.place = map_.place_of(end);
    const std::string what = fmt::format("{}.{}", name_, end);
    if (!key_.shape.zero_word.empty() && node.text == key_.shape.zero_word) {
      diagnostics_.error(node.place, fmt::format("{}: '{}' is not a number", what, node.text),
                         "list words and numbers: values: [...]");
      return std::nullopt;
    }
    const auto value = parse_value(node, what, key_.shape, diagnostics_);
    if (!value) return std::nullopt;
    return is_fraction_ ? in_parts(value->fraction) : value->number;
  }

  // In the key's unit. A step need not lie in the key's range.
  std::optional<std::uint64_t> step() const {
    ConfigNode node = *map_.find("step");
    node.place = map_.place_of("step");
    ValueShape shape;
    shape.type = key_.shape.type;
    shape.min = 1;
    shape.max = std::numeric_limits<std::uint64_t>::max();
    shape.max_fraction = 1e9;
    shape.min_excluded = true;
    const auto value = parse_value(node, name_ + ".step", shape, diagnostics_);
    if (!value) return std::nullopt;
    const std::uint64_t number = is_fraction_ ? in_parts(value->fraction) : value->number;
    if (number != 0) return number;
    fail(node.place, "the step is too small", "at least 0.000000001");
    return std::nullopt;
  }

  std::vector<ConfigNode> stepped(std::uint64_t from, std::uint64_t to) const {
    const auto step_size = step();
    if (!step_size) return {};
    std::vector<ConfigNode> values;
    for (Wide value = from; value <= to && values.size() <= kMostValues; value += *step_size)
      values.push_back(node_of(static_cast<std::uint64_t>(value)));
    return limited(std::move(values));
  }

  // In units of 1 / kDecimalParts.
  std::optional<std::uint64_t> factor() const {
    ConfigNode node = *map_.find("factor");
    node.place = map_.place_of("factor");
    ValueShape shape;
    shape.type = ValueType::fraction;
    shape.min_fraction = 1;
    shape.min_excluded = true;
    shape.max_fraction = kLargestFactor;
    const auto value = parse_value(node, name_ + ".factor", shape, diagnostics_);
    if (!value) return std::nullopt;
    const std::uint64_t parts = in_parts(value->fraction);
    if (parts > kOne) return parts;
    fail(node.place, "the factor is too close to 1", "at least 1.000000001");
    return std::nullopt;
  }

  std::vector<ConfigNode> multiplied(std::uint64_t from, std::uint64_t to) const {
    const auto parts = factor();
    if (!parts) return {};
    if (from == 0) {
      fail(map_.place_of("from"), "a range that starts at 0 cannot use a factor", "");
      return {};
    }
    return is_fraction_ ? multiplied_fractions(from, to, *parts)
                        : multiplied_numbers(from, to, *parts);
  }

  // Exact: each value must be a whole number of the key's unit.
  std::vector<ConfigNode> multiplied_numbers(std::uint64_t from, std::uint64_t to,
                                             std::uint64_t factor_parts) const {
    std::vector<ConfigNode> values;
    // The loop ends before an overflow: `parts` is at most `to`, and the factor has at most 60
    // bits.
    for (Wide parts = Wide{from} * kOne; parts <= Wide{to} * kOne && values.size() <= kMostValues;
         parts = parts / kOne * factor_parts) {
      const auto whole = static_cast<std::uint64_t>(parts / kOne);
      const auto rest = static_cast<std::uint64_t>(parts % kOne);
      if (rest != 0) {
        std::string decimals = fmt::format("{:09}", rest);
        decimals.erase(decimals.find_last_not_of('0') + 1);
        fail(map_.place_of("factor"),
             fmt::format("{}.{} is not a whole number of the key's units", whole, decimals),
             "list the values instead");
        return {};
      }
      values.push_back(node_of(whole));
    }
    return limited(std::move(values));
  }

  // Each value is rounded to the nearest unit of 1 / kDecimalParts; rounding errors do not add up.
  std::vector<ConfigNode> multiplied_fractions(std::uint64_t from, std::uint64_t to,
                                               std::uint64_t factor_parts) const {
    const long double factor = static_cast<long double>(factor_parts) / kOne;
    std::vector<ConfigNode> values;
    long double value = static_cast<long double>(from);
    // The loop bound is tested before the conversion, so the value fits into an integer.
    while (value < static_cast<long double>(to) + 0.5L && values.size() <= kMostValues) {
      values.push_back(node_of(static_cast<std::uint64_t>(value + 0.5L)));
      value *= factor;
    }
    return limited(std::move(values));
  }

  std::vector<ConfigNode> limited(std::vector<ConfigNode> values) const {
    if (values.size() <= kMostValues) return values;
    fail(map_.place_of("from"),
         fmt::format("the axis has more than {} values, which is the limit", kMostValues), "");
    return {};
  }

  ConfigNode node_of(std::uint64_t number) const {
    Value value;
    value.number = number;
    value.fraction = static_cast<double>(number) / kDecimalParts;
    ConfigNode node;
    node.kind = ConfigNode::Kind::scalar;
    node.place = map_.place_of("from");
    node.text = format_value(value, key_.shape);
    return node;
  }

  const StrictMap& map_;
  std::string name_;
  const Key& key_;
  Diagnostics& diagnostics_;
  bool is_fraction_ = false;
};

bool is_whole_number(const ConfigNode& node) {
  return !node.quoted && !node.text.empty() && node.text.size() < 19 &&
         node.text.find_first_not_of("0123456789") == std::string::npos;
}

bool is_decimal_number(const ConfigNode& node) {
  const std::size_t dot = node.text.find('.');
  return !node.quoted && dot != std::string::npos && dot != 0 && dot + 1 != node.text.size() &&
         node.text.find_first_not_of("0123456789.") == std::string::npos &&
         node.text.find('.', dot + 1) == std::string::npos;
}

}  // namespace

std::vector<ConfigNode> check_axis_values(std::vector<ConfigNode> values, const Key& key,
                                          bool may_repeat, Diagnostics& diagnostics) {
  std::set<std::string> seen;  // values in their one canonical notation
  bool good = true;
  for (const ConfigNode& node : values) {
    const auto value = parse_value(node, key.name, key.shape, diagnostics);
    good = good && value;
    if (!value) continue;
    if (!may_repeat && !seen.insert(format_value(*value, key.shape)).second) {
      diagnostics.error(
          node.place, fmt::format("{}: {} is in the list twice", key.name, text_of(json_of(node))));
      good = false;
    }
  }
  return good ? std::move(values) : std::vector<ConfigNode>{};
}

std::vector<ConfigNode> read_axis_values(const StrictMap& map, const std::string& name,
                                         const Key& key, bool may_repeat,
                                         Diagnostics& diagnostics) {
  const bool is_list = map.find("values") != nullptr;
  if (is_list) {
    for (const char* word : {"from", "to", "step", "factor"}) {
      if (map.find(word) == nullptr) continue;
      diagnostics.error(map.place_of(word),
                        fmt::format("{}: both 'values' and '{}' are given", name, word),
                        "give either a list or a range");
    }
    return check_axis_values(map.list("values", "write one value as a list, too: values: [2]"), key,
                             may_repeat, diagnostics);
  }
  for (const char* word : {"from", "to", "step", "factor"}) {
    if (map.find(word) != nullptr) return RangeReader(map, name, key, diagnostics).read();
  }
  static_cast<void>(map.require("values", "values: [...], or a range: from: 2, to: 8, step: 2"));
  return {};
}

nlohmann::ordered_json json_of(const ConfigNode& value) {
  if (value.kind == ConfigNode::Kind::list) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ConfigNode& item : value.items) list.push_back(json_of(item));
    return list;
  }
  if (value.kind == ConfigNode::Kind::map) {
    nlohmann::ordered_json fields = nlohmann::ordered_json::object();
    for (const ConfigEntry& entry : value.entries) fields[entry.key] = json_of(entry.value);
    return fields;
  }
  if (is_whole_number(value)) return std::stoull(value.text);
  if (is_decimal_number(value)) return std::stod(value.text);
  if (!value.quoted && (value.text == "true" || value.text == "false")) return value.text == "true";
  return value.text;
}

std::string text_of(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::vector<std::string> items;
  if (value.is_object()) {
    for (const auto& [name, field] : value.items()) {
      items.push_back(fmt::format("{}: {}", name, text_of(field)));
    }
    return fmt::format("{{{}}}", fmt::join(items, ", "));
  }
  if (!value.is_array()) return value.dump();
  for (const auto& item : value) items.push_back(text_of(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

bool lists_values(const Key& key, const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::list || node.items.empty()) return false;
  return !is_written_as_list(key.shape) || node.items.front().kind == ConfigNode::Kind::list;
}

namespace {

constexpr const char* kCasesExample =
    "{name: network, cases: {small: {system: {topology: {dims: [4, 4]}}}, large: big.yaml}}";

std::vector<SweepCase> expand_case(const std::string& name, const std::string& label,
                                   const ConfigNode& config) {
  std::vector<SweepCase> cases{{config, {{name, label}}}};
  for (const Key& key : keys()) {
    const ConfigNode* list = find_setting(config, key.name);
    if (list == nullptr || !lists_values(key, *list)) continue;
    std::vector<SweepCase> expanded;
    for (const SweepCase& each : cases) {
      for (const ConfigNode& value : list->items) {
        SweepCase& one = expanded.emplace_back(each);
        set_key(one.config, key.name, value);
        one.set[key.name] = json_of(value);
      }
    }
    cases = std::move(expanded);
  }
  return cases;
}

}  // namespace

std::vector<SweepCase> read_cases(const StrictMap& axis, const std::string& folder,
                                  Diagnostics& diagnostics,
                                  const std::function<void(ConfigNode&)>& override_keys) {
  for (const char* other : {"key", "values", "from", "to", "step", "factor", "zip"}) {
    if (axis.find(other) == nullptr) continue;
    diagnostics.error(axis.place_of(other),
                      fmt::format("axis: both 'cases' and '{}' are given", other), kCasesExample);
  }
  if (!axis.require("name", kCasesExample) || !axis.require("cases", kCasesExample)) return {};
  const std::string name = axis.text("name").value_or("");
  if (is_section(name) || name.find('.') != std::string::npos) {
    diagnostics.error(
        axis.place_of("name"),
        fmt::format("axis: expected a name that is no key and no section, found '{}'", name),
        kCasesExample);
  }
  const ConfigNode& cases = *axis.find("cases");
  if (cases.kind != ConfigNode::Kind::map || cases.entries.empty()) {
    diagnostics.error(axis.place_of("cases"),
                      "cases: expected a mapping of names to configurations", kCasesExample);
    return {};
  }
  std::vector<SweepCase> all;
  for (const ConfigEntry& entry : cases.entries) {
    ConfigNode node = entry.value;
    node.place = entry.place;
    if (node.kind == ConfigNode::Kind::null) node.kind = ConfigNode::Kind::map;
    auto config = load_layer(node, folder, diagnostics);
    if (!config) return {};
    override_keys(*config);
    for (SweepCase& each : expand_case(name, entry.key, *config)) all.push_back(std::move(each));
  }
  return all;
}

}  // namespace espalier
