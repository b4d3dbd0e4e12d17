// The keys that an input gives, with their values and places.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"
#include "sims/text/values.h"

namespace espalier {

struct Key;

struct GivenValue {
  Value value;
  Place place;
  std::vector<Place> entries;  // of a value that is a list
  // Places of the fields of each record, if the value is a list of records. Of a mapping: places of
  // its fields and groups of fields, by dotted names.
  std::vector<std::map<std::string, Place>> fields;
};

// One key as given. `values` is empty if the given value is invalid.
struct GivenKey {
  Place place;  // of the value as a whole
  std::vector<GivenValue> values;
  // Place of the word that stands for all names (ValueShape::all_word), if it was given.
  std::optional<Place> all_place;
};

class GivenKeys {
 public:
  void add_section(const std::string& name, const Place& place) { sections_[name] = place; }
  // Notes that the section is broken: another kind of value was given in its place.
  void add_broken_section(const std::string& name) { broken_sections_.insert(name); }
  // True if no section around the key is broken, so that a key missing there is reported.
  [[nodiscard]] bool surroundings_usable(const std::string& name) const;
  void set(const std::string& name, GivenKey given) { keys_[name] = std::move(given); }
  // Forgets the keys inside the section, and the sections in it.
  void forget(const std::string& section);
  // Keeps one value of a key's list.
  void choose(const std::string& name, const Value& value);
  // Sets a field of a mapping; the mapping's other fields stay.
  void set_field(const Key& key, const GivenKey& given);
  // True if the section is written in the file, or implied by an override of one of its keys.
  [[nodiscard]] bool has_section(const std::string& name) const;

  // Returns nullptr if the key is not given.
  [[nodiscard]] const GivenKey* find(const std::string& name) const;
  [[nodiscard]] bool is_given(const std::string& name) const { return find(name) != nullptr; }
  // True if none of the keys was given with an invalid value, so that a rule about the keys can be
  // judged.
  [[nodiscard]] bool usable(const std::vector<std::string>& names) const;
  // Judges a rule that joins several keys: calls body(place) if the keys are usable. `place` is
  // the place of the first key that is given, or of the section around the first key.
  template <class Body>
  void rule(const std::vector<std::string>& names, Body&& body) const {
    if (usable(names)) body(place_of_first(names));
  }

  // The place of the key's value if it is given, otherwise of the innermost given section around
  // the key.
  [[nodiscard]] Place place_of(const std::string& name) const;
  // For rules that join several keys: the place of the first key that is given; if none is given,
  // place_of() the first key.
  [[nodiscard]] Place place_of_first(const std::vector<std::string>& names) const;
  // The place of the value number `number` in the key's list.
  [[nodiscard]] Place place_of_value(const std::string& name, std::uint64_t number) const;
  // The place of the value with this text in the key's list, otherwise place_of(otherwise).
  [[nodiscard]] Place place_of_text(const std::string& name, const std::string& text,
                                    const std::string& otherwise) const;
  // The place of entry `entry` of a value that is a list, or of the whole value if it has no such
  // entry.
  [[nodiscard]] Place place_of_entry(const std::string& name, std::size_t entry) const;
  // The place of a field of record `entry`, or of the whole record if the field is not given.
  [[nodiscard]] Place place_of_field(const std::string& name, std::size_t entry,
                                     const std::string& field) const;
  // The place of a mapping's part, which is a field or a group of fields, if it is given.
  [[nodiscard]] std::optional<Place> place_of_part(const std::string& name,
                                                   const std::string& part) const;
  [[nodiscard]] Place place_of_section(const std::string& name) const;

 private:
  // The value of a key that has one; nullptr if it is not given or invalid.
  [[nodiscard]] const GivenValue* single(const std::string& name) const;
  [[nodiscard]] std::map<std::string, GivenKey>::const_iterator first_key_in(
      const std::string& section) const;

  std::map<std::string, Place> sections_;
  std::set<std::string> broken_sections_;
  std::map<std::string, GivenKey> keys_;
};

// Collects the keys of a configuration file. Invalid values are recorded as errors.
void collect_keys(const ConfigNode& root, GivenKeys& given, Diagnostics& diagnostics);
// Adds to collective.algorithm every other algorithm, unless `is_fixed`, and the programs in the
// files `programs`. The key needs no value before.
void add_every_algorithm(GivenKeys& given, const std::vector<std::string>& programs, bool is_fixed,
                         const Place& place);

// The key that the writer of an unknown name means: mistyped, of another simulator, or without its
// section. Empty if no key is near.
[[nodiscard]] std::string nearest_key(const std::string& name);

// Collects one override, "key=value". It replaces the file's value.
void collect_override(const std::string& assignment, GivenKeys& given, Diagnostics& diagnostics);

}  // namespace espalier
