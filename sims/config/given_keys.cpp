#include "sims/config/given_keys.h"

#include <algorithm>

namespace espalier {

namespace {

std::string section_around(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

}  // namespace

bool GivenKeys::has_section(const std::string& name) const {
  if (sections_.count(name) != 0) return true;
  return first_key_in(name) != keys_.end();
}

std::map<std::string, GivenKey>::const_iterator GivenKeys::first_key_in(
    const std::string& section) const {
  const std::string prefix = section + ".";
  const auto first = keys_.lower_bound(prefix);
  const bool inside = first != keys_.end() && first->first.compare(0, prefix.size(), prefix) == 0;
  return inside ? first : keys_.end();
}

const GivenKey* GivenKeys::find(const std::string& name) const {
  const auto found = keys_.find(name);
  return found == keys_.end() ? nullptr : &found->second;
}

bool GivenKeys::usable(std::initializer_list<const char*> names) const {
  return std::all_of(names.begin(), names.end(), [&](const char* name) {
    const GivenKey* given = find(name);
    return given == nullptr || !given->values.empty();
  });
}

bool GivenKeys::surroundings_usable(const std::string& name) const {
  for (std::string section = section_around(name); !section.empty();
       section = section_around(section)) {
    if (broken_sections_.count(section) != 0) return false;
  }
  return true;
}

Place GivenKeys::place_of(const std::string& name) const {
  const GivenKey* given = find(name);
  return given != nullptr ? given->place : place_of_section(section_around(name));
}

Place GivenKeys::place_of_first(std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    if (is_given(name)) return place_of(name);
  }
  return place_of(*names.begin());
}

Place GivenKeys::place_of_value(const std::string& name, std::uint64_t number) const {
  if (const GivenKey* given = find(name)) {
    for (const GivenValue& item : given->values) {
      if (item.value.number == number) return item.place;
    }
  }
  return place_of(name);
}

Place GivenKeys::place_of_entry(const std::string& name, std::size_t entry) const {
  const GivenKey* given = find(name);
  const bool there =
      given != nullptr && !given->values.empty() && entry < given->values.front().entries.size();
  return there ? given->values.front().entries[entry] : place_of(name);
}

Place GivenKeys::place_of_field(const std::string& name, std::size_t entry,
                                const std::string& field) const {
  const GivenKey* given = find(name);
  const bool there =
      given != nullptr && !given->values.empty() && entry < given->values.front().fields.size();
  if (there) {
    const auto& fields = given->values.front().fields[entry];
    if (const auto found = fields.find(field); found != fields.end()) return found->second;
  }
  return place_of_entry(name, entry);
}

Place GivenKeys::place_of_section(const std::string& name) const {
  for (std::string section = name; !section.empty(); section = section_around(section)) {
    const auto found = sections_.find(section);
    if (found != sections_.end()) return found->second;
    // The section exists through an override only.
    if (const auto first = first_key_in(section); first != keys_.end()) return first->second.place;
  }
  return {0, 1, 1};
}

}  // namespace espalier
