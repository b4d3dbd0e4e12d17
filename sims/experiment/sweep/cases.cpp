#include "sims/experiment/sweep/cases.h"

#include "sims/experiment/sweep/axis_values.h"
#include "sims/experiment/sweep/sweep_keys.h"

namespace espalier {

bool lists_values(const Key& key, const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::list || node.items.empty()) return false;
  return !is_written_as_list(key.shape) || node.items.front().kind == ConfigNode::Kind::list;
}

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

}  // namespace espalier
