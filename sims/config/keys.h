// The table of configuration keys. The reader, the schema, overrides and the resolved configuration
// follow it, so a key is described in one place (CONTRIBUTING.md, "Adding a key").
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "alg/algorithm.h"
#include "sims/point/config.h"
#include "sims/point/limits.h"
#include "sims/text/values.h"

namespace espalier {

// Many other keys depend on these two.
inline constexpr const char* kTypeKey = "system.topology.type";
inline constexpr const char* kAlgorithmKey = "collective.algorithm";

// A section that a file may leave out. The point holds its struct where the file has the section.
struct Section {
  const char* name;  // dotted
  bool (*is_in)(const RunPoint&);
  void (*add_to)(RunPoint&);
};
[[nodiscard]] const std::vector<Section>& optional_sections();

// Where a key has a meaning: KeyTable::where and its siblings make predicate and sentence together.
struct KeyCondition {
  std::string on;        // the key or section that decides
  std::string sentence;  // "system.topology.type is file"
  std::function<bool(const RunPoint&)> holds;
};

struct Key {
  std::string name;  // dotted
  ValueShape shape;
  std::string description;
  bool listable = false;   // a list of values makes a point of each value
  bool required = false;   // where the key applies
  bool exclusive = false;  // giving the key where it does not apply is an error, not a warning
  bool resolved = true;    // written to the resolved configuration
  bool optional = false;   // left out there while the value is the key's word ("auto")
  std::vector<KeyCondition> conditions;  // all must hold; each reads only keys above in the table
  const Section* section = nullptr;      // the optional section around the key, if any
  // Precondition of both: the point has the key's section.
  std::function<void(RunPoint&, const Value&)> set;
  std::function<Value(const RunPoint&)> get;

  // Precondition: the point has the key's section.
  [[nodiscard]] bool applies_at(const RunPoint& point) const {
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](const KeyCondition& condition) { return condition.holds(point); });
  }
  // "system.topology.type is file, and workload is not given"
  [[nodiscard]] std::string applies_when() const;
};

// Section by section, in the order of the resolved configuration.
[[nodiscard]] const std::vector<Key>& keys();
// The listable keys. In the cross product of a file's lists the first one varies slowest.
[[nodiscard]] const std::vector<const Key*>& list_keys();
// Names of the algorithms for which `is_so` holds.
[[nodiscard]] std::vector<std::string> algorithms_where(
    const std::function<bool(const Algorithm&)>& is_so);
// nullptr where no key has that name.
[[nodiscard]] const Key* find_key(const std::string& name);
// Names of the keys and sections directly in `section` ("" for the top), without the section's own
// name.
[[nodiscard]] std::vector<std::string> names_in_section(const std::string& section);
[[nodiscard]] bool is_section(const std::string& name);
// Keys of a mandatory section always have theirs.
[[nodiscard]] inline bool has_section_of(const RunPoint& point, const Key& key) {
  return key.section == nullptr || key.section->is_in(point);
}

[[nodiscard]] inline std::string join_key(const std::string& section, const std::string& name) {
  return section.empty() ? name : section + "." + name;
}
// Whether the key or section `name` stands in `section`, at any depth.
[[nodiscard]] inline bool is_inside(const std::string& name, const std::string& section) {
  return name.size() > section.size() && name[section.size()] == '.' &&
         name.compare(0, section.size(), section) == 0;
}

// The text of `espalier schema`: every key with its values, its default and its meaning.
[[nodiscard]] std::string schema_text();

}  // namespace espalier
