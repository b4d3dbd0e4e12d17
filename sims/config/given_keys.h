// The keys that an input gives, with their values and places.
#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"
#include "sims/text/values.h"

namespace espalier {

struct GivenValue {
  Value value;
  Place place;
  std::vector<Place> entries;                        // of a value that is a list
  std::vector<std::map<std::string, Place>> fields;  // of its records
};

// One key as given. Empty: what was written is no valid value.
struct GivenKey {
  Place place;  // of the value as a whole
  std::vector<GivenValue> values;
};

class GivenKeys {
 public:
  void add_section(const std::string& name, const Place& place) { sections_[name] = place; }
  // What stands where the section should be is no section.
  void add_broken_section(const std::string& name) { broken_sections_.insert(name); }
  // No section around the key is broken: what is missing there is really missing.
  [[nodiscard]] bool surroundings_usable(const std::string& name) const;
  void set(const std::string& name, GivenKey given) { keys_[name] = std::move(given); }
  // Written in the file, or implied by an override of one of its keys.
  [[nodiscard]] bool has_section(const std::string& name) const;

  // nullptr where the key is not given.
  [[nodiscard]] const GivenKey* find(const std::string& name) const;
  [[nodiscard]] bool is_given(const std::string& name) const { return find(name) != nullptr; }
  // None of the keys was given with an invalid value, so a rule about them can be judged.
  [[nodiscard]] bool usable(std::initializer_list<const char*> names) const;
  // A rule that several keys must keep together: body(place) where they are usable. `place` is that
  // of the first key that is given, or else of the section around the first key.
  template <class Body>
  void rule(std::initializer_list<const char*> names, Body&& body) const {
    if (usable(names)) body(place_of_first(names));
  }

  // Of the key's value where it is given, else of the innermost section around it that is.
  [[nodiscard]] Place place_of(const std::string& name) const;
  // Of the first of these that is given, for rules that join several keys; else as place_of the
  // first.
  [[nodiscard]] Place place_of_first(std::initializer_list<const char*> names) const;
  // Of that value in the key's list.
  [[nodiscard]] Place place_of_value(const std::string& name, std::uint64_t number) const;
  // Of entry `entry` of a value that is a list; of the value as a whole where it has no such entry.
  [[nodiscard]] Place place_of_entry(const std::string& name, std::size_t entry) const;
  // Of a field of record `entry`; of the record as a whole where that is not given.
  [[nodiscard]] Place place_of_field(const std::string& name, std::size_t entry,
                                     const std::string& field) const;
  [[nodiscard]] Place place_of_section(const std::string& name) const;

 private:
  [[nodiscard]] std::map<std::string, GivenKey>::const_iterator first_key_in(
      const std::string& section) const;

  std::map<std::string, Place> sections_;
  std::set<std::string> broken_sections_;
  std::map<std::string, GivenKey> keys_;
};

// The keys of a configuration file; values that are not valid are recorded as errors.
void collect_keys(const ConfigNode& root, GivenKeys& given, Diagnostics& diagnostics);
// One override, "key=value"; it replaces what the file gives.
void collect_override(const std::string& assignment, GivenKeys& given, Diagnostics& diagnostics);

}  // namespace espalier
