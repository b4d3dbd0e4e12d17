#include "sims/study/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include "sims/config/config_layers.h"
#include "sims/config/given_keys.h"
#include "sims/study/axis_values.h"
#include "sims/text/read_file.h"
#include "sims/text/strict_map.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFileKeys{"title",  "config",     "axes",         "seeds", "only",
                                         "except", "time_limit", "memory_limit", "draw"};
const std::vector<std::string> kAxisKeys{"key", "values", "from", "to",   "step", "factor",
                                         "zip", "when",   "kind", "name", "cases"};
const std::vector<std::string> kZippedKeys{"key", "values", "from", "to", "step", "factor"};

constexpr const char* kAxesExample =
    "axes: [{key: system.router.vc_depth_flits, values: [64, 318]}]";

constexpr const char* kZipExample = "zip: [{key: ..., values: [...]}, {key: ..., values: [...]}]";
constexpr const char* kMinimalFile =
    "a minimal file: 'title: VC depth', 'config: mesh.yaml' and "
    "'axes: [{key: system.router.vc_depth_flits, values: [64, 318]}]'";

constexpr std::uint64_t kMostSeeds = 1'000'000;

struct Override {
  const Key* key;
  ConfigNode value;
};

class SweepReader {
 public:
  SweepReader(Sweep& sweep, Diagnostics& diagnostics) : sweep_(sweep), diagnostics_(diagnostics) {}

  void read(const ConfigNode& root) {
    const StrictMap map(root, "", kFileKeys, diagnostics_);
    if (root.kind != ConfigNode::Kind::map) return;
    map.require("title", "title: VC depth against latency");
    sweep_.title = map.text("title").value_or("");
    read_overrides();
    read_base(map, root.place);
    if (map.find("axes") != nullptr) {
      for (const ConfigNode& node : map.list("axes", kAxesExample)) read_axis(node);
    } else if (map.find("seeds") == nullptr) {
      map.require("axes", kAxesExample);
    }
    if (map.find("seeds") != nullptr) read_seeds(map);
    check_sections();
    // Overrides win over the base. Overrides of axis keys have been moved into their axes already.
    for (const Override& setting : overrides_)
      set_key(sweep_.base, setting.key->name, setting.value);
    refuse_lists();
    check_when();
    sweep_.only = condition(map, "only");
    sweep_.except = condition(map, "except");
    // The Python package checks the contents of `draw`; here it only has to be a mapping.
    if (map.find("draw") != nullptr && map.find("draw")->kind != ConfigNode::Kind::map)
      diagnostics_.error(map.place_of("draw"), "draw: expected a mapping",
                         "draw: {series: name, x: {field: size_bytes}, y: {field: time_ns}}");
    if (const auto limit = read_limit(map, "time_limit", kTimeLimits))
      sweep_.limits.time = std::chrono::milliseconds(*limit);
    if (const auto limit = read_limit(map, "memory_limit", kMemoryLimits))
      sweep_.limits.memory_bytes = *limit;
  }

 private:
  // Keeps one override for each key; the last one wins.
  void read_overrides() {
    std::map<std::string, Override> by_name;
    for (const std::string& assignment : sweep_.overrides) {
      const std::size_t equals = assignment.find('=');
      const Key* key = find_key(assignment.substr(0, equals));
      if (key == nullptr || equals == std::string::npos ||
          assignment.find('\n') != std::string::npos) {
        GivenKeys nobody;
        collect_override(assignment, nobody, diagnostics_);  // records the error
        continue;
      }
      const SourceIndex source = diagnostics_.add_override(assignment);
      auto value =
          load_override_value(assignment.substr(equals + 1), source, equals + 1, diagnostics_);
      if (!value) continue;
      if (value->kind == ConfigNode::Kind::null)
        value->place = {source, 1, Diagnostics::override_column(equals + 1)};
      by_name.insert_or_assign(key->name, Override{key, std::move(*value)});
    }
    for (auto& [name, setting] : by_name) overrides_.push_back(std::move(setting));
  }

  void read_base(const StrictMap& map, const Place& place) {
    sweep_.base.kind = ConfigNode::Kind::map;
    sweep_.base.place = place;
    if (!map.require("config", "config: mesh_8x8.yaml, or sections of keys")) return;
    ConfigNode node = *map.find("config");
    node.place = map.place_of("config");
    std::error_code ignored;
    if (node.kind == ConfigNode::Kind::scalar &&
        fs::equivalent(fs::path(sweep_.folder) / node.text, sweep_.path, ignored)) {
      diagnostics_.error(node.place, "config: names the sweep's own file",
                         "give the path of a configuration, or write its sections here");
      return;
    }
    if (auto layer = load_layer(node, sweep_.folder, diagnostics_)) sweep_.base = std::move(*layer);
  }

  void read_axis(const ConfigNode& node) {
    const StrictMap map(node, "axis", kAxisKeys, diagnostics_);
    SweepAxis axis;
    if (map.find("cases") != nullptr || map.find("name") != nullptr) {
      read_case_axis(map, axis);
    } else if (map.find("zip") == nullptr) {
      if (auto key = read_axis_key(map, "axis", false)) axis.keys.push_back(std::move(*key));
    } else {
      read_zip(map, axis);
    }
    axis.when = condition(map, "when");
    if (axis.when) when_places_.push_back({sweep_.axes.size(), map.place_of("when")});
    if (map.find("kind") != nullptr) axis.kind = read_kind(map);
    if (!axis.keys.empty() || !axis.cases.empty()) sweep_.axes.push_back(std::move(axis));
  }

  void read_case_axis(const StrictMap& map, SweepAxis& axis) {
    axis.cases = read_cases(map, sweep_.folder, diagnostics_, [&](ConfigNode& config) {
      for (const Override& setting : overrides_) {
        if (find_setting(config, setting.key->name) != nullptr)
          set_key(config, setting.key->name, setting.value);
      }
    });
    axis.name = map.text("name").value_or("");
    const auto has_name = [&](const SweepAxis& other) { return other.name == axis.name; };
    if (axis.cases.empty() || std::none_of(sweep_.axes.begin(), sweep_.axes.end(), has_name))
      return;
    diagnostics_.error(map.place_of("name"),
                       fmt::format("axis: another axis is called '{}', too", axis.name));
  }

  std::string read_kind(const StrictMap& map) {
    const std::string kind = map.text("kind").value_or("");
    if (kind == "workload" || kind == "design") return kind;
    diagnostics_.error(map.place_of("kind"),
                       fmt::format("axis: kind '{}' is not workload or design", kind),
                       "kind: workload");
    return {};
  }

  void read_zip(const StrictMap& map, SweepAxis& axis) {
    for (const char* other : {"key", "values", "from", "to", "step", "factor"}) {
      if (map.find(other) == nullptr) continue;
      diagnostics_.error(map.place_of(other),
                         fmt::format("axis: both 'zip' and '{}' are given", other), kZipExample);
    }
    bool good = true;
    for (const ConfigNode& node : map.list("zip", kZipExample)) {
      const StrictMap member(node, "zip", kZippedKeys, diagnostics_);
      auto key = read_axis_key(member, "zip", true);
      good = good && key;
      if (!key) continue;
      if (!axis.keys.empty() && key->values.size() != axis.size()) {
        diagnostics_.error(
            member.place_of(member.find("values") != nullptr ? "values" : "from"),
            fmt::format("zip: '{}' has {} values, '{}' has {}", key->key->name, key->values.size(),
                        axis.keys.front().key->name, axis.size()),
            "zipped keys vary together and need the same number of values");
        good = false;
        continue;
      }
      axis.keys.push_back(std::move(*key));
    }
    if (!good) axis.keys.clear();
  }

  // Returns nullopt if there are errors, or if an override sets the key at all points.
  std::optional<AxisKey> read_axis_key(const StrictMap& map, const std::string& what, bool zipped) {
    if (!map.require("key", kAxesExample)) return std::nullopt;
    const std::string name = map.text("key").value_or("");
    const Place place = map.place_of("key");
    if (name.empty()) return std::nullopt;
    const Key* key = key_named(name, place, what + ".key", diagnostics_);
    if (key == nullptr || !is_new(*key, place)) return std::nullopt;
    AxisKey axis{key, read_axis_values(map, what, *key, zipped, diagnostics_)};
    if (axis.values.empty()) return std::nullopt;
    take_override(axis, zipped);
    return axis;
  }

  // Neither the key nor, of a mapping, the whole or a part of it is an axis already.
  bool is_new(const Key& key, const Place& place) {
    for (const Key* other : axis_keys_) {
      if (other != &key && other->whole != &key && key.whole != other) continue;
      diagnostics_.error(place, fmt::format("'{}' already is an axis", other->name));
      return false;
    }
    axis_keys_.push_back(&key);
    return true;
  }

  // An override of the axis's key replaces the axis's values.
  void take_override(AxisKey& axis, bool zipped) {
    const auto found = std::find_if(overrides_.begin(), overrides_.end(),
                                    [&](const Override& o) { return o.key == axis.key; });
    if (found == overrides_.end()) return;
    std::vector<ConfigNode> values{found->value};
    const bool is_list = found->value.kind == ConfigNode::Kind::list;
    if (is_list && (!is_written_as_list(axis.key->shape) ||
                    (!found->value.items.empty() &&
                     found->value.items.front().kind == ConfigNode::Kind::list))) {
      values = found->value.items;
    }
    // A single value is used at all positions of a zipped axis.
    if (zipped && values.size() == 1) values.resize(axis.values.size(), values.front());
    overrides_.erase(found);
    axis.values = check_axis_values(std::move(values), *axis.key, zipped, diagnostics_);
  }

  void read_seeds(const StrictMap& map) {
    const ConfigNode& node = *map.find("seeds");
    AxisKey axis;
    std::uint64_t first = 1;
    std::optional<std::uint64_t> count;
    axis.key = find_key(default_seed());
    Place place = map.place_of("seeds");
    if (node.kind == ConfigNode::Kind::map) {
      const StrictMap seeds(node, "seeds", {"key", "first", "count"}, diagnostics_);
      if (const auto name = seeds.text("key")) {
        place = seeds.place_of("key");
        axis.key = key_named(*name, place, "seeds.key", diagnostics_);
      }
      first = seeds.integer("first", 0, std::uint64_t{1} << 53U).value_or(1);
      seeds.require("count", "seeds: {first: 1, count: 5}");
      count = seeds.integer("count", 1, kMostSeeds);
    } else {
      count = map.integer("seeds", 1, kMostSeeds);
    }
    if (axis.key == nullptr || !count || !is_new(*axis.key, place)) return;
    for (std::uint64_t seed = first; seed < first + *count; ++seed) {
      ConfigNode value;
      value.kind = ConfigNode::Kind::scalar;
      value.place = place;
      value.text = std::to_string(seed);
      axis.values.push_back(std::move(value));
    }
    // Seeds are counted up, so no two are equal.
    axis.values = check_axis_values(std::move(axis.values), *axis.key, true, diagnostics_);
    if (axis.values.empty()) return;
    take_override(axis, false);
    if (!axis.values.empty()) sweep_.axes.push_back({{std::move(axis)}, std::nullopt});
  }

  [[nodiscard]] std::string default_seed() const {
    for (const char* section : {"traffic", "control"}) {
      if (sweep_.base.find(section) != nullptr) return std::string(section) + ".seed";
    }
    return "simulation.seed";
  }

  // If a value stands where a section is expected, setting an axis's or an override's key would
  // silently replace it.
  void check_sections() {
    for (const Key* key : axis_keys_) check_sections_of(*key);
    for (const Override& setting : overrides_) check_sections_of(*setting.key);
  }

  void check_sections_of(const Key& key) {
    for (std::size_t dot = key.name.find('.'); dot != std::string::npos;
         dot = key.name.find('.', dot + 1)) {
      const std::string section = key.name.substr(0, dot);
      const ConfigNode* node = find_setting(sweep_.base, section);
      if (node == nullptr) return;
      if (node->kind == ConfigNode::Kind::map || node->kind == ConfigNode::Kind::null) continue;
      diagnostics_.error(node->place, fmt::format("'{}' is a section; expected its keys", section),
                         fmt::format("the sweep sets {}", key.name));
      return;
    }
  }

  // True if the key has a value at every position of the axis.
  static bool sets_key(const SweepAxis& axis, const Key& key) {
    return std::any_of(axis.keys.begin(), axis.keys.end(),
                       [&](const AxisKey& k) { return k.key == &key; }) ||
           (!axis.cases.empty() &&
            std::all_of(axis.cases.begin(), axis.cases.end(), [&](const SweepCase& each) {
              return find_setting(each.config, key.name) != nullptr;
            }));
  }

  // A list as a value would expand one point into several.
  void refuse_lists() {
    for (const Key& key : keys()) {
      if (!key.listable || is_written_as_list(key.shape)) continue;
      const ConfigNode* node = find_setting(sweep_.base, key.name);
      if (node == nullptr || node->kind != ConfigNode::Kind::list) continue;
      const bool always_replaced =
          std::any_of(sweep_.axes.begin(), sweep_.axes.end(),
                      [&](const SweepAxis& axis) { return !axis.when && sets_key(axis, key); });
      if (always_replaced) continue;
      diagnostics_.error(
          node->place,
          fmt::format("{}: found a list; in a sweep a list of values is an axis", key.name),
          fmt::format("axes: [{{key: {}, values: {}}}]", key.name, text_of(json_of(*node))));
    }
  }

  // The keys in an axis's `when` must be decided before that axis.
  void check_when() {
    for (const auto& [index, place] : when_places_) {
      if (index >= sweep_.axes.size() || !sweep_.axes[index].when) continue;
      for (const auto& all : *sweep_.axes[index].when) {
        for (const Comparison& comparison : all) {
          for (const Key* key : {comparison.key, comparison.other}) {
            if (key != nullptr && is_axis_from(index, *key)) {
              diagnostics_.error(
                  place,
                  fmt::format("when: '{}' is not an axis that stands before this axis", key->name),
                  "an axis can depend only on axes that stand before it");
            }
          }
        }
      }
    }
  }

  [[nodiscard]] bool is_axis_from(std::size_t index, const Key& key) const {
    for (; index < sweep_.axes.size(); ++index) {
      for (const AxisKey& axis : sweep_.axes[index].keys) {
        if (axis.key == &key) return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::optional<std::uint64_t> read_limit(const StrictMap& map,
                                                        const std::string& name,
                                                        const LimitRange& range) const {
    const ConfigNode* node = map.find(name);
    if (node == nullptr) return std::nullopt;
    // Only a scalar can be a number with a unit.
    const ParsedQuantity parsed =
        range.parse(node->kind == ConfigNode::Kind::scalar ? node->text : "");
    if (!parsed.value) {
      diagnostics_.error(map.place_of(name), fmt::format("{}: {}", name, parsed.error),
                         parsed.hint);
    }
    return parsed.value;
  }

  [[nodiscard]] std::optional<Condition> condition(const StrictMap& map, const std::string& name) {
    const ConfigNode* node = map.find(name);
    if (node == nullptr) return std::nullopt;
    ConfigNode placed = *node;
    placed.place = map.place_of(name);
    return read_condition(placed, name, diagnostics_);
  }

  Sweep& sweep_;
  Diagnostics& diagnostics_;
  std::vector<Override> overrides_;
  std::vector<const Key*> axis_keys_;
  // Index of the axis, and place of its `when`.
  std::vector<std::pair<std::size_t, Place>> when_places_;
};

}  // namespace

Sweep read_sweep(const std::string& path, const std::vector<std::string>& overrides,
                 Diagnostics& diagnostics) {
  Sweep sweep;
  sweep.path = path;
  sweep.name = fs::path(path).stem().string();
  sweep.folder = fs::path(path).parent_path().string();
  sweep.overrides = overrides;
  const FileText file = read_file_text(path);
  const SourceIndex source = diagnostics.add_file(path, file.text.value_or(""));
  if (!file.text) {
    diagnostics.error({source, 0, 0}, fmt::format("the file {}", file.problem));
    return sweep;
  }
  const auto root = load_yaml(*file.text, source, diagnostics);
  if (root && root->kind == ConfigNode::Kind::null) {
    diagnostics.error({source, 1, 1}, "the file is empty", kMinimalFile);
  } else if (root) {
    SweepReader(sweep, diagnostics).read(*root);
  }
  return sweep;
}

}  // namespace espalier
