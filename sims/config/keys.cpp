#include "sims/config/keys.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "sims/config/key_table.h"
#include "sims/text/text_lines.h"

namespace espalier {

namespace {

template <auto Member>
Section optional_section(const char* name) {
  return {name, [](const RunPoint& point) { return (point.*Member).has_value(); },
          [](RunPoint& point) { (point.*Member).emplace(); }};
}

// Every key that may have a list of values, in the order of expansion: the first one varies
// slowest.
const std::vector<std::string>& list_order() {
  static const std::vector<std::string> order{"workload.file",
                                              "workload.name",
                                              "workload.issue",
                                              "workload.element",
                                              "workload.counts",
                                              "training.network",
                                              "training.overlap",
                                              "coordination.mode",
                                              "coordination.num_groups",
                                              "coordination.fusion_threshold",
                                              "coordination.compute_contention",
                                              "coordination.seed",
                                              "collective.algorithm",
                                              "system.ni.dimension_queue.order",
                                              "system.ni.dimension_queue.in_flight",
                                              "system.flow_control.mode",
                                              "system.ni.lockstep",
                                              "collective.op",
                                              "collective.size",
                                              "collective.rank_order",
                                              "collective.rank_order_seed",
                                              "collective.chunks",
                                              "collective.program.channels",
                                              "collective.program.instances",
                                              "collective.program.protocol",
                                              "control.vcs"};
  return order;
}

// From keys.txt; the families of networks have given those of their keys.
void add_meanings(std::vector<Key>& keys) {
  for (const std::vector<std::string>& row : table_rows(keys_file(), "keys.txt", 2)) {
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& any) {
      return any.name == row[0] && any.description.empty();
    });
    if (key == keys.end()) throw std::logic_error("keys.txt: no key lacks a meaning: " + row[0]);
    key->description = row[1];
  }
  for (const Key& key : keys) {
    if (key.description.empty()) throw std::logic_error("keys.txt has no row of " + key.name);
  }
}

std::vector<Key> make_table() {
  KeyTable table;
  add_system_keys(table);
  add_cost_keys(table);
  add_collective_keys(table);
  add_program_ni_keys(table);
  add_training_keys(table);
  add_coordination_keys(table);
  add_macros_of_all_blocks(table);
  add_workload_keys(table);
  add_message_keys(table);
  add_fault_keys(table);
  add_simulation_keys(table);
  add_reorder_keys(table);
  std::vector<Key> keys = table.take();
  add_meanings(keys);
  for (Key& key : keys) {
    const auto& order = list_order();
    key.listable = std::find(order.begin(), order.end(), key.name) != order.end();
  }
  return keys;
}

// A key for each field of each mapping.
std::vector<Key> make_field_keys() {
  std::vector<Key> fields;
  for (const Key& whole : keys()) {
    if (whole.shape.type != ValueType::record || whole.shape.list != ListOf::nothing) continue;
    for (std::size_t f = 0; f < whole.shape.fields.size(); ++f) {
      const ValueField& field = whole.shape.fields[f];
      Key& key = fields.emplace_back();
      key.name = join_key(whole.name, field.name);
      key.shape = field.shape;
      key.description = field.meaning;
      key.conditions = whole.conditions;
      for (const auto& [part, condition] : whole.part_conditions) {
        if (is_inside(field.name, part)) key.conditions.push_back(condition);
      }
      key.whole = &whole;
      key.field = f;
      key.get = [&whole, f](const RunPoint& point) {
        const Value value = whole.get(point);
        return value.records.empty() ? Value{} : value.records.front()[f];
      };
    }
  }
  return fields;
}

const std::map<std::string, const Key*>& keys_by_name() {
  static const std::vector<Key> field_keys = make_field_keys();
  static const std::map<std::string, const Key*> by_name = [] {
    std::map<std::string, const Key*> index;
    for (const Key& key : keys()) index.emplace(key.name, &key);
    for (const Key& key : field_keys) index.emplace(key.name, &key);
    return index;
  }();
  return by_name;
}

// E.g. "a, b or c".
std::string any_of_words(const std::vector<std::string>& words) {
  std::string text = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) {
    text += (i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return text;
}

// Replaces words with a common prefix by "gc3_*", if `words` has all of the `names` with this
// prefix.
std::vector<std::string> with_patterns(const std::vector<std::string>& words,
                                       const std::vector<std::string>& names) {
  constexpr std::ptrdiff_t kFewest = 4;
  std::vector<std::string> shorter;
  for (const std::string& word : words) {
    const std::string prefix = word.substr(0, word.find('_') + 1);
    const auto begins_so = [&](const std::string& name) { return name.rfind(prefix, 0) == 0; };
    const auto of_words = std::count_if(words.begin(), words.end(), begins_so);
    const bool all = !prefix.empty() && of_words >= kFewest &&
                     of_words == std::count_if(names.begin(), names.end(), begins_so);
    const std::string shown = all ? prefix + "*" : word;
    if (shorter.empty() || shorter.back() != shown) shorter.push_back(shown);
  }
  return shorter;
}

}  // namespace

const std::vector<Section>& optional_sections() {
  static const std::vector<Section> sections{
      optional_section<&RunPoint::collective>("collective"),
      optional_section<&RunPoint::traffic>("traffic"),
      optional_section<&RunPoint::training>("training"),
      optional_section<&RunPoint::coordination>("coordination"),
      optional_section<&RunPoint::workload>("workload"),
      optional_section<&RunPoint::control>("control"),
      optional_section<&RunPoint::tenants>("tenants"),
      {"faults.dma_jitter",
       [](const RunPoint& point) { return point.faults.dma_jitter.has_value(); },
       [](RunPoint& point) { point.faults.dma_jitter.emplace(); }}};
  return sections;
}

std::string Key::applies_when() const {
  std::string text;
  for (const KeyCondition& condition : conditions) {
    text += (text.empty() ? "" : ", and ") + condition.sentence;
  }
  return text;
}

Key& KeyTable::add(std::string name) {
  Key& key = keys_.emplace_back();
  key.name = std::move(name);
  for (const Section& section : optional_sections()) {
    if (is_inside(key.name, section.name)) key.section = &section;
  }
  return key;
}

std::function<bool(const RunPoint&)> KeyTable::is_one_of(
    const std::string& name, const std::vector<std::string>& words) const {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& key) { return key.name == name; });
  if (found == keys_.end()) {
    throw std::logic_error(fmt::format("{} is not in the table above its user", name));
  }
  if (found->shape.type == ValueType::text) {
    return [get = found->get, words](const RunPoint& point) {
      return std::find(words.begin(), words.end(), get(point).text) != words.end();
    };
  }
  // The last one stands for an unknown name.
  std::vector<bool> chosen(found->shape.names.size() + 1);
  for (const std::string& word : words) {
    const auto& names = found->shape.names;
    const auto at = std::find(names.begin(), names.end(), word);
    if (at == names.end()) throw std::logic_error(fmt::format("{} is never {}", name, word));
    chosen[static_cast<std::size_t>(at - names.begin())] = true;
  }
  const Section* section = found->section;
  return [get = found->get, chosen, section](const RunPoint& point) {
    return (section == nullptr || section->is_in(point)) && chosen.at(get(point).number);
  };
}

KeyCondition KeyTable::where(const std::string& name, std::vector<std::string> words) const {
  auto holds = is_one_of(name, words);
  const auto key =
      std::find_if(keys_.begin(), keys_.end(), [&](const Key& k) { return k.name == name; });
  return {name, fmt::format("{} is {}", name, any_of_words(with_patterns(words, key->shape.names))),
          std::move(holds)};
}

KeyCondition KeyTable::where_not(const std::string& name, std::vector<std::string> words) const {
  return {name, fmt::format("{} is not {}", name, any_of_words(words)),
          [is_so = is_one_of(name, words)](const RunPoint& point) { return !is_so(point); }};
}

KeyCondition KeyTable::without_path(const std::string& name) const {
  return {name, name + " is not given", is_one_of(name, {""})};
}

KeyCondition KeyTable::with_path(const std::string& name) const {
  return {name, name + " is given",
          [is_not = is_one_of(name, {""})](const RunPoint& point) { return !is_not(point); }};
}

KeyCondition KeyTable::without(const std::vector<std::string>& sections) {
  std::vector<const Section*> absent;
  for (const Section& section : optional_sections()) {
    if (std::find(sections.begin(), sections.end(), section.name) != sections.end()) {
      absent.push_back(&section);
    }
  }
  const std::string sentence =
      sections.size() == 1 ? sections.front() + " is not given"
                           : fmt::format("neither {} is given", fmt::join(sections, " nor "));
  return {sections.front(), sentence, [absent](const RunPoint& point) {
            return std::none_of(absent.begin(), absent.end(),
                                [&](const Section* section) { return section->is_in(point); });
          }};
}

const std::vector<Key>& keys() {
  static const std::vector<Key> table = make_table();
  return table;
}

const std::vector<const Key*>& list_keys() {
  static const std::vector<const Key*> listed = [] {
    std::vector<const Key*> found;
    for (const std::string& name : list_order()) found.push_back(find_key(name));
    return found;
  }();
  return listed;
}

const Key* find_key(const std::string& name) {
  const auto found = keys_by_name().find(name);
  return found == keys_by_name().end() ? nullptr : found->second;
}

const std::vector<std::string>& key_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Key& key : keys()) all.push_back(key.name);
    for (const auto& [name, key] : keys_by_name()) {
      if (key->whole != nullptr) all.push_back(name);
    }
    return all;
  }();
  return names;
}

Value applicable_part(const Key& mapping, const RunPoint& point, Value value) {
  if (value.records.empty()) return value;
  const auto& fields = mapping.shape.fields;
  for (const auto& [part, condition] : mapping.part_conditions) {
    if (condition.holds(point)) continue;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      if (is_inside(fields[f].name, part)) value.records.front()[f] = Value{};
    }
  }
  return value;
}

std::vector<std::string> names_in_section(const std::string& section) {
  std::vector<std::string> names;
  for (const std::string& key : key_names()) {
    if (!section.empty() && !is_inside(key, section)) continue;
    const std::string rest = key.substr(section.empty() ? 0 : section.size() + 1);
    const std::string name = rest.substr(0, rest.find('.'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

bool is_section(const std::string& name) {
  return !name.empty() && find_key(name) == nullptr && !names_in_section(name).empty();
}

}  // namespace espalier
