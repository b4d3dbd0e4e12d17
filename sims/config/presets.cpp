#include "sims/config/presets.h"

#include <algorithm>
#include <stdexcept>

#include "sims/text/strict_map.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

std::vector<Preset> read_presets() {
  const std::string text(presets_file());
  Diagnostics problems;
  const auto root = load_yaml(text, problems.add_file("presets.yaml", text), problems);
  std::vector<Preset> all;
  if (!root) throw std::logic_error(problems.text());
  for (const ConfigEntry& entry : root->entries) {
    const StrictMap map(entry.value, entry.key, {"description", "from", "settings"}, problems);
    map.require("description", {});
    Preset preset{entry.key, map.text("description").value_or(""), {}};
    if (const auto name = map.text("from")) {
      const auto base = std::find_if(all.begin(), all.end(),
                                     [&](const Preset& other) { return other.name == *name; });
      if (base == all.end()) throw std::logic_error("presets.yaml: no preset above is " + *name);
      preset.settings = base->settings;
    }
    if (const ConfigNode* settings = map.find("settings")) {
      if (settings->kind != ConfigNode::Kind::map) {
        throw std::logic_error("presets.yaml: settings of " + entry.key + " are no mapping");
      }
      for (const ConfigEntry& setting : settings->entries) {
        preset.settings.insert_or_assign(setting.key, setting.value);
      }
    }
    all.push_back(std::move(preset));
  }
  if (problems.num_errors() != 0) throw std::logic_error(problems.text());
  return all;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> table = read_presets();
  return table;
}

}  // namespace espalier
