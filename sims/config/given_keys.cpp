#include "sims/config/given_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sims/config/keys.h"
#include "sims/text/nearest_name.h"
#include "sims/text/yaml_loader.h"

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

void GivenKeys::forget(const std::string& section) {
  for (auto at = keys_.begin(); at != keys_.end();) {
    at = is_inside(at->first, section) ? keys_.erase(at) : std::next(at);
  }
  for (auto at = sections_.begin(); at != sections_.end();) {
    at = is_inside(at->first, section) ? sections_.erase(at) : std::next(at);
  }
}

void GivenKeys::choose(const std::string& name, const Value& value) {
  std::vector<GivenValue>& values = keys_.at(name).values;
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const GivenValue& other) { return other.value == value; });
  values = {found == values.end() ? GivenValue{value, keys_.at(name).place, {}, {}} : *found};
}

void GivenKeys::set_field(const Key& key, const GivenKey& given) {
  const bool is_first = keys_.count(key.whole->name) == 0;
  GivenKey& whole = keys_[key.whole->name];
  if (is_first) {
    whole.place = given.place;
    whole.values.emplace_back();
  }
  if (given.values.empty()) whole.values.clear();
  if (whole.values.empty()) return;  // invalid
  GivenValue& item = whole.values.front();
  const auto& fields = key.whole->shape.fields;
  if (item.value.records.empty()) item.value.records.emplace_back(fields.size());
  item.value.records.front()[key.field] = given.values.front().value;
  item.fields.resize(1);
  item.fields.front()[fields[key.field].name] = given.place;
}

bool GivenKeys::usable(const std::vector<std::string>& names) const {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
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

Place GivenKeys::place_of_first(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    if (is_given(name)) return place_of(name);
  }
  return place_of(names.front());
}

Place GivenKeys::place_of_value(const std::string& name, std::uint64_t number) const {
  if (const GivenKey* given = find(name)) {
    for (const GivenValue& item : given->values) {
      if (item.value.number == number) return item.place;
    }
  }
  return place_of(name);
}

Place GivenKeys::place_of_text(const std::string& name, const std::string& text,
                               const std::string& otherwise) const {
  if (const GivenKey* given = find(name)) {
    for (const GivenValue& item : given->values) {
      if (item.value.text == text) return item.place;
    }
  }
  return place_of(otherwise);
}

const GivenValue* GivenKeys::single(const std::string& name) const {
  const GivenKey* given = find(name);
  return given == nullptr || given->values.empty() ? nullptr : &given->values.front();
}

Place GivenKeys::place_of_entry(const std::string& name, std::size_t entry) const {
  const GivenValue* given = single(name);
  return given != nullptr && entry < given->entries.size() ? given->entries[entry] : place_of(name);
}

Place GivenKeys::place_of_field(const std::string& name, std::size_t entry,
                                const std::string& field) const {
  const GivenValue* given = single(name);
  if (given != nullptr && entry < given->fields.size()) {
    const auto& fields = given->fields[entry];
    if (const auto found = fields.find(field); found != fields.end()) return found->second;
  }
  return place_of_entry(name, entry);
}

std::optional<Place> GivenKeys::place_of_part(const std::string& name,
                                              const std::string& part) const {
  const GivenValue* given = single(name);
  if (given == nullptr) return std::nullopt;
  for (const auto& places : given->fields) {
    for (const auto& [field, place] : places) {
      if (field == part || is_inside(field, part)) return place;
    }
  }
  return std::nullopt;
}

Place GivenKeys::place_of_section(const std::string& name) const {
  for (std::string section = name; !section.empty(); section = section_around(section)) {
    const auto found = sections_.find(section);
    if (found != sections_.end()) return found->second;
    // The section exists only through an override.
    if (const auto first = first_key_in(section); first != keys_.end()) return first->second.place;
  }
  return {0, 1, 1};
}

namespace {

std::string last_part(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

// The words of other simulators and of the papers, and the keys that stand for them here.
struct Synonym {
  const char* word;  // a name or its last part, with _ for -
  const char* key;
};
constexpr Synonym kSynonyms[] = {
    {"sub_packet_bytes", "system.flow_control.payload_bytes"},  // MultiTree
    {"packet_bytes", "system.flow_control.payload_bytes"},
    {"num_vcs", "system.router.vcs"},                         // BookSim
    {"vc_buf_size", "system.router.vc_depth_flits"},          // BookSim
    {"vcs_per_vnet", "system.router.vcs"},                    // Garnet
    {"buffers_per_data_vc", "system.router.vc_depth_flits"},  // Garnet
    {"flit_width", "system.router.flit_bytes"},
    {"channel_width", "system.router.flit_bytes"},
    {"link_width_bits", "system.router.flit_bytes"},  // Garnet
    {"link_bandwidth", "system.link.bandwidth"},
    {"link_latency", "system.link.latency"},
    {"sub_packet_bytes", "system.flow_control.payload_bytes"},
    {"packet_size", "traffic.message"},           // BookSim
    {"warmup_periods", "traffic.warmup_cycles"},  // BookSim
    {"sample_period", "traffic.measure_cycles"},  // BookSim
    {"duration_cycles", "traffic.measure_cycles"},
    {"data_size", "collective.size"},
    {"collective_algorithm", "collective.algorithm"},
    {"collective.preferred_dataset_splits", "collective.chunks"},  // ASTRA-sim; of Themis
    {"preferred_dataset_splits", "workload.chunks"},               // of steps
};

// The key that stands for another simulator's word; empty if it is none.
std::string key_of_synonym(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  for (const Synonym& synonym : kSynonyms) {
    if (name == synonym.word || last_part(name) == synonym.word) return synonym.key;
  }
  return {};
}

// The first key whose last part is `end`, which may be empty.
std::string key_that_ends_in(const std::string& end) {
  for (const std::string& key : key_names()) {
    if (last_part(key) == end) return key;
  }
  return {};
}

// The name may be mistyped, or may belong to another section.
std::string unknown_key_hint(const std::string& section, const std::string& name) {
  if (const std::string key = key_of_synonym(section + "." + name); !key.empty()) {
    return fmt::format("did you mean '{}'?", key);
  }
  const auto here = names_in_section(section);
  if (name.find('.') != std::string::npos) {
    const std::string dotted = nearest_name(name, key_names());
    if (!dotted.empty()) {
      return fmt::format("'{}' is written as nested sections in a file", dotted);
    }
  }
  const std::string nearest = nearest_name(name, here);
  if (!nearest.empty()) return fmt::format("did you mean '{}'?", nearest);
  const std::string elsewhere = key_that_ends_in(name);
  if (!elsewhere.empty()) return fmt::format("did you mean '{}'?", elsewhere);
  return fmt::format("valid names: {}", fmt::join(here, ", "));
}

bool is_all_word(const ConfigNode& node, const Key& key) {
  return node.kind == ConfigNode::Kind::scalar && !key.shape.all_word.empty() &&
         node.text == key.shape.all_word;
}

bool has_value(const GivenKey& given, const Value& value) {
  return std::any_of(given.values.begin(), given.values.end(),
                     [&](const GivenValue& other) { return other.value == value; });
}

// Adds every name that is not in the list yet.
// `even_left_out`: also the names that `all` leaves out.
void add_all_names(GivenKey& given, const Place& place, const Key& key,
                   bool even_left_out = false) {
  given.all_place = place;
  for (std::uint64_t name = 0; name < key.shape.names.size(); ++name) {
    if (name == key.shape.file_name || has_value(given, number_value(name))) continue;
    const auto& left_out = key.shape.not_in_all;
    if (!even_left_out &&
        std::find(left_out.begin(), left_out.end(), key.shape.names[name]) != left_out.end()) {
      continue;
    }
    given.values.push_back({number_value(name), place, {}, {}});
  }
}

GivenKey read_list(const ConfigNode& node, const Key& key, Diagnostics& diagnostics) {
  GivenKey given{node.place, {}, {}};
  if (node.items.empty()) {
    diagnostics.error(node.place, fmt::format("{}: the list is empty", key.name),
                      describe(key.shape));
    return given;
  }
  bool good = true;
  // The names that the list gives itself come first, in the order of the list.
  const ConfigNode* all = nullptr;
  for (const ConfigNode& item : node.items) {
    if (is_all_word(item, key)) {
      all = &item;
      continue;
    }
    const auto value = parse_value(item, key.name, key.shape, diagnostics);
    good = good && value;
    if (!value) continue;
    if (has_value(given, *value)) {
      diagnostics.error(item.place,
                        fmt::format("{}: {} is in the list twice", key.name, item.text));
      good = false;
    }
    given.values.push_back({*value, item.place, {}, {}});
  }
  if (all != nullptr) add_all_names(given, all->place, key);
  if (!good) given.values.clear();
  return given;
}

void note_places(const ConfigNode& node, const std::string& group,
                 std::map<std::string, Place>& places) {
  for (const ConfigEntry& entry : node.entries) {
    const std::string name = join_key(group, entry.key);
    places[name] = entry.value.kind == ConfigNode::Kind::scalar ? entry.value.place : entry.place;
    note_places(entry.value, name, places);
  }
}

GivenKey read_key(ConfigNode node, const Place& key_place, const Key& key,
                  Diagnostics& diagnostics) {
  // The YAML parser gives no place for a missing value, so the key's place is used.
  if (node.kind == ConfigNode::Kind::null) node.place = key_place;
  if (node.kind == ConfigNode::Kind::list && !is_written_as_list(key.shape)) {
    if (key.listable) return read_list(node, key, diagnostics);
    diagnostics.error(
        node.place, fmt::format("{}: expected one value, found a list", key.name),
        fmt::format("espalier sweep varies any key: axes: [{{key: {}, values: [...]}}]", key.name));
    return {node.place, {}, {}};
  }
  GivenKey given{node.place, {}, {}};
  if (is_all_word(node, key)) {
    add_all_names(given, node.place, key);
    return given;
  }
  if (const auto value = parse_value(node, key.name, key.shape, diagnostics)) {
    GivenValue& item = given.values.emplace_back(GivenValue{*value, node.place, {}, {}});
    for (const ConfigNode& entry : node.items) {
      item.entries.push_back(entry.place);
      auto& fields = item.fields.emplace_back();
      for (const ConfigEntry& field : entry.entries) fields[field.key] = field.value.place;
    }
    if (node.kind == ConfigNode::Kind::map) note_places(node, "", item.fields.emplace_back());
  }
  return given;
}

void collect_section(const ConfigNode& map, const std::string& section, GivenKeys& given,
                     Diagnostics& diagnostics) {
  for (const ConfigEntry& entry : map.entries) {
    const std::string name = join_key(section, entry.key);
    // In a file, sections are nested; dotted names are for the command line.
    const bool is_dotted = entry.key.find('.') != std::string::npos;
    const Key* key = is_dotted ? nullptr : find_key(name);
    if (key != nullptr) {
      given.set(name, read_key(entry.value, entry.place, *key, diagnostics));
    } else if (is_dotted || !is_section(name)) {
      diagnostics.error(entry.place,
                        section.empty()
                            ? fmt::format("unknown key '{}'", entry.key)
                            : fmt::format("unknown key '{}' in '{}'", entry.key, section),
                        unknown_key_hint(section, entry.key));
    } else {
      given.add_section(name, entry.place);
      if (entry.value.kind == ConfigNode::Kind::map) {
        collect_section(entry.value, name, given, diagnostics);
      } else {
        given.add_broken_section(name);
        const bool empty = entry.value.kind == ConfigNode::Kind::null;
        diagnostics.error(
            empty ? entry.place : entry.value.place,
            fmt::format("'{}' {}", name, empty ? "is empty" : "is a section; expected its keys"),
            fmt::format("its keys: {}", fmt::join(names_in_section(name), ", ")));
      }
    }
  }
}

}  // namespace

void collect_keys(const ConfigNode& root, GivenKeys& given, Diagnostics& diagnostics) {
  collect_section(root, "", given, diagnostics);
}

void add_every_algorithm(GivenKeys& given, const std::vector<std::string>& programs, bool is_fixed,
                         const Place& place) {
  if (!given.usable({kAlgorithmKey})) return;
  const Key& key = *find_key(kAlgorithmKey);
  const GivenKey* before = given.find(kAlgorithmKey);
  GivenKey algorithms = before == nullptr ? GivenKey{place, {}, {}} : *before;
  for (const std::string& file : programs) {
    Value value = number_value(key.shape.file_name);
    value.text = file;
    if (!has_value(algorithms, value)) algorithms.values.push_back({value, place, {}, {}});
  }
  if (!is_fixed) {
    // The configured algorithms compete like the others: none is skipped with a warning.
    const Place all = algorithms.place;
    for (GivenValue& value : algorithms.values) value.place = all;
    constexpr bool kAutoToo = true;
    add_all_names(algorithms, all, key, kAutoToo);
  }
  given.set(kAlgorithmKey, std::move(algorithms));
}

std::string nearest_key(const std::string& name) {
  const std::string synonym = key_of_synonym(name);
  const std::string nearest = synonym.empty() ? nearest_name(name, key_names()) : synonym;
  if (!nearest.empty()) return nearest;
  std::vector<std::string> ends;
  for (const std::string& key : key_names()) ends.push_back(last_part(key));
  return key_that_ends_in(nearest_name(last_part(name), ends));
}

void collect_override(const std::string& assignment, GivenKeys& given, Diagnostics& diagnostics) {
  const SourceIndex source = diagnostics.add_override(assignment);
  if (const std::size_t line_end = assignment.find('\n'); line_end != std::string::npos) {
    diagnostics.error({source, 1, Diagnostics::override_column(line_end)},
                      "an override must be a single line");
    return;
  }
  const std::size_t equals = assignment.find('=');
  const std::string name = assignment.substr(0, equals);
  const Place name_place{source, 1, Diagnostics::override_column(0)};
  const Key* key = find_key(name);
  if (key == nullptr) {
    const std::string message = is_section(name) ? fmt::format("'{}' is a section, not a key", name)
                                                 : fmt::format("unknown key '{}'", name);
    const std::string nearest = nearest_key(name);
    std::string hint = "espalier schema lists all keys";
    if (is_section(name)) {
      hint = fmt::format("its keys: {}", fmt::join(names_in_section(name), ", "));
    } else if (!nearest.empty()) {
      hint = fmt::format("did you mean '{}'?", nearest);
    }
    diagnostics.error(name_place, message, hint);
    return;
  }
  const auto set = [&](GivenKey value) {
    if (key->whole != nullptr) {
      given.set_field(*key, value);
    } else {
      given.set(name, std::move(value));
    }
  };
  if (equals == std::string::npos) {
    diagnostics.error({source, 1, Diagnostics::override_column(assignment.size())},
                      fmt::format("{}: no value is given", name), fmt::format("{}=VALUE", name));
    set({name_place, {}, {}});
    return;
  }
  auto node = load_override_value(assignment.substr(equals + 1), source, equals + 1, diagnostics);
  if (!node) {
    set({name_place, {}, {}});
    return;
  }
  const Place value_place{source, 1, Diagnostics::override_column(equals + 1)};
  set(read_key(std::move(*node), value_place, *key, diagnostics));
}

}  // namespace espalier
