#include "sims/experiment/sweep/cases.h"

#include <fmt/format.h>

#include "sims/config/config_layers.h"
#include "sims/experiment/sweep/axis_values.h"
#include "sims/experiment/sweep/sweep_keys.h"

namespace espalier {

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
