// The table of configuration keys. The reader, the schema, overrides and the resolved configuration
// follow the table, so a key is described in one place (CONTRIBUTING.md, "Adding a key").
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "alg/algorithm.h"
#include "sims/point/limits.h"
#include "sims/text/values.h"

namespace espalier {

struct RunPoint;

// Many other keys depend on these two keys.
inline constexpr const char* kTypeKey = "system.topology.type";
inline constexpr const char* kAlgorithmKey = "collective.algorithm";
inline constexpr const char* kProgramFileKey = "collective.program.file";

// An optional section. The point has the section's struct if the file has the section.
struct Section {
  const char* name;  // dotted
  bool (*is_in)(const RunPoint&);
  void (*add_to)(RunPoint&);
};
[[nodiscard]] const std::vector<Section>& optional_sections();

// Condition under which a key has a meaning. KeyTable::where() and similar functions make predicate
// and sentence together.
struct KeyCondition {
  std::string on;        // the key or section that decides
  std::string sentence;  // "system.topology.type is file"
  std::function<bool(const RunPoint&)> holds;
};

struct Key {
  std::string name;  // dotted
  ValueShape shape;
  std::string description;
  bool listable = false;  // a list of values expands to one point for each value
  bool required = false;  // must be given if the key applies
  // Giving the key although it does not apply is an error; for other keys it is a warning.
  bool exclusive = false;
  bool resolved = true;  // is written to the resolved configuration
  // Not written to the resolved configuration while the value is the key's word ("auto").
  bool optional = false;
  // All must hold. A condition reads only keys that are earlier in the table.
  std::vector<KeyCondition> conditions;
  const Section* section = nullptr;  // the optional section around the key, if any
  // Of a mapping: conditions of single fields or of groups of fields, by their dotted names.
  std::vector<std::pair<std::string, KeyCondition>> part_conditions;
  // Of a key that stands for a field of a mapping: the mapping, and the field's index.
  const Key* whole = nullptr;
  std::size_t field = 0;
  // Precondition of both: the point has the key's section.
  std::function<void(RunPoint&, const Value&)> set;
  std::function<Value(const RunPoint&)> get;

  // Precondition: the point has the key's section.
  [[nodiscard]] bool applies_at(const RunPoint& point) const {
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](const KeyCondition& condition) { return condition.holds(point); });
  }
  // E.g. "system.topology.type is file, and workload is not given".
  [[nodiscard]] std::string applies_when() const;
};

// All keys, section by section, in the order of the resolved configuration.
[[nodiscard]] const std::vector<Key>& keys();
// The keys that may have a list of values. In the cross product of a file's lists, the first one
// varies slowest.
[[nodiscard]] const std::vector<const Key*>& list_keys();
// Names of the algorithms for which `is_so` returns true.
[[nodiscard]] std::vector<std::string> algorithms_where(
    const std::function<bool(const Algorithm&)>& is_so);
// Returns nullptr if no key has that name. A field of a mapping
// ("system.cost.macros.link.area_um2") is a key too, for overrides and axes; keys() has only the
// mapping.
[[nodiscard]] const Key* find_key(const std::string& name);
// The names of all keys, and of the fields of mappings.
[[nodiscard]] const std::vector<std::string>& key_names();
// Names of the keys and sections directly in `section` ("" for the top level), without the
// section's own name.
[[nodiscard]] std::vector<std::string> names_in_section(const std::string& section);
[[nodiscard]] bool is_section(const std::string& name);
// True if the point has the key's section. Mandatory sections always exist.
[[nodiscard]] inline bool has_section_of(const RunPoint& point, const Key& key) {
  return key.section == nullptr || key.section->is_in(point);
}

[[nodiscard]] inline std::string join_key(const std::string& section, const std::string& name) {
  return section.empty() ? name : section + "." + name;
}
// Whether the key or section `name` is inside `section`, at any depth.
[[nodiscard]] inline bool is_inside(const std::string& name, const std::string& section) {
  return name.size() > section.size() && name[section.size()] == '.' &&
         name.compare(0, section.size(), section) == 0;
}

// The mapping's value without fields whose condition does not hold at the point.
[[nodiscard]] Value applicable_part(const Key& mapping, const RunPoint& point, Value value);

// The text of `espalier schema`: every key with its values, its default and its meaning.
[[nodiscard]] std::string schema_text();

}  // namespace espalier
