#include "sims/text/config_node.h"

namespace espalier {

const ConfigEntry* ConfigNode::find(const std::string& key) const {
  for (const ConfigEntry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

}  // namespace espalier
