// The registry of configuration keys. Reader, schema, overrides and the resolved configuration all
// follow it, so a key is described once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sims/point/config.h"
#include "sims/point/limits.h"
#include "sims/text/values.h"

namespace espalier {

struct Key {
  std::string name;  // dotted
  ValueShape shape;
  std::string description;
  bool listable = false;   // a list of values runs each of them
  bool required = false;   // where it applies
  bool exclusive = false;  // an error, not only a warning, where it does not; so is `required`
  bool resolved = true;    // part of the resolved configuration,
  bool optional = false;   // but not where its word stands
  // A key that means something only beside another key's value. `applies` is empty for all others;
  // it may only read keys that stand before this one in the registry.
  std::function<bool(const RunPoint&)> applies;
  std::string applies_to;    // the other key, or a section
  std::string applies_when;  // "system.topology.type is file"
  // Precondition of these and of `applies`: the key's section exists in the point (collective,
  // traffic, training).
  std::function<void(RunPoint&, const Value&)> set;
  std::function<Value(const RunPoint&)> get;

  [[nodiscard]] bool applies_at(const RunPoint& point) const { return !applies || applies(point); }
};

// Section by section, in the order of the resolved configuration.
[[nodiscard]] const std::vector<Key>& keys();
// nullptr where no key has that name.
[[nodiscard]] const Key* find_key(const std::string& name);
// Names of the keys and sections directly in `section` ("" for the top), without the section's own
// name.
[[nodiscard]] std::vector<std::string> names_in_section(const std::string& section);
[[nodiscard]] bool is_section(const std::string& name);
// Whether the point has the section of that key: a point has a collective or traffic, never both,
// and training only with a collective; control, tenants and sections of faults where it has them.
[[nodiscard]] bool has_section_of(const RunPoint& point, const Key& key);

[[nodiscard]] inline std::string join_key(const std::string& section, const std::string& name) {
  return section.empty() ? name : section + "." + name;
}

}  // namespace espalier
