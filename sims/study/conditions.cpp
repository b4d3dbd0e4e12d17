#include "sims/study/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sims/study/axis_values.h"

namespace espalier {

namespace {

constexpr const char* kExample = "{collective.algorithm: themis, system.router.vcs: '>= 2'}";

// Two-character relations come first, because ">" is a prefix of ">=".
const std::vector<std::pair<std::string, Relation>> kRelations{
    {">=", Relation::at_least}, {"<=", Relation::at_most}, {"!=", Relation::not_equal},
    {"==", Relation::equal},    {">", Relation::more},     {"<", Relation::less}};

bool is_ordered(const Key& key) {
  return key.shape.type == ValueType::integer || key.shape.type == ValueType::fraction ||
         quantity_of(key.shape.type).has_value();
}

// A size is comparable with an integer: bytes are written with a unit (collective.size) or with the
// unit in the key's name.
bool are_comparable(const Key& a, const Key& b) {
  const auto kind = [](const Key& key) {
    return key.shape.type == ValueType::size ? ValueType::integer : key.shape.type;
  };
  return kind(a) == kind(b) && a.shape.list == ListOf::nothing && b.shape.list == ListOf::nothing;
}

class ConditionReader {
 public:
  ConditionReader(std::string name, Diagnostics& diagnostics)
      : name_(std::move(name)), diagnostics_(diagnostics) {}

  Condition read(const ConfigNode& node) const {
    if (node.kind != ConfigNode::Kind::list) return {read_mapping(node)};
    Condition condition;
    for (const ConfigNode& item : node.items) condition.push_back(read_mapping(item));
    if (node.items.empty()) fail(node.place, "the list is empty", kExample);
    return condition;
  }

 private:
  void fail(const Place& place, const std::string& message, const std::string& hint) const {
    diagnostics_.error(place, fmt::format("{}: {}", name_, message), hint);
  }

  std::vector<Comparison> read_mapping(const ConfigNode& node) const {
    std::vector<Comparison> all;
    if (node.kind != ConfigNode::Kind::map || node.entries.empty()) {
      fail(node.place, "expected a mapping of keys to conditions, or a list of such mappings",
           kExample);
      return all;
    }
    for (const ConfigEntry& entry : node.entries) {
      const Key* key = key_named(entry.key, entry.place, name_, diagnostics_);
      if (key == nullptr) continue;
      ConfigNode value = entry.value;
      if (value.kind == ConfigNode::Kind::null) value.place = entry.place;
      all.push_back(read_comparison(*key, value));
    }
    return all;
  }

  Comparison read_comparison(const Key& key, const ConfigNode& node) const {
    Comparison comparison;
    comparison.key = &key;
    if (lists_values(key, node)) {
      for (const ConfigNode& item : node.items) add_value(comparison, item);
      return comparison;
    }
    const auto found =
        std::find_if(kRelations.begin(), kRelations.end(), [&](const auto& relation) {
          return node.kind == ConfigNode::Kind::scalar && node.text.rfind(relation.first, 0) == 0;
        });
    if (found == kRelations.end()) {
      add_value(comparison, node);
      return comparison;
    }
    comparison.relation = found->second;
    ConfigNode operand = node;
    const std::size_t begin = node.text.find_first_not_of(' ', found->first.size());
    operand.text = begin == std::string::npos ? "" : node.text.substr(begin);
    operand.quoted = false;  // the quotes belong to the comparison, not to the operand
    read_operand(comparison, operand);
    return comparison;
  }

  void read_operand(Comparison& comparison, const ConfigNode& operand) const {
    const bool equality =
        comparison.relation == Relation::equal || comparison.relation == Relation::not_equal;
    if (!equality && !is_ordered(*comparison.key)) {
      fail(operand.place, fmt::format("the values of '{}' have no order", comparison.key->name),
           "compare with == or !=, or list the values");
      return;
    }
    if (!looks_like_a_key(operand.text)) {
      add_value(comparison, operand);
      return;
    }
    comparison.other = key_named(operand.text, operand.place, name_, diagnostics_);
    if (comparison.other == nullptr || are_comparable(*comparison.key, *comparison.other)) return;
    fail(operand.place,
         fmt::format("'{}' and '{}' cannot be compared", comparison.key->name, operand.text),
         fmt::format("{}: {}", comparison.key->name, describe(comparison.key->shape)));
  }

  static bool looks_like_a_key(const std::string& text) {
    const std::size_t dot = text.find('.');
    return dot != std::string::npos && dot > 0 && text.find('/') == std::string::npos &&
           is_section(text.substr(0, dot));
  }

  void add_value(Comparison& comparison, const ConfigNode& node) const {
    const std::string what = fmt::format("{}: {}", name_, comparison.key->name);
    if (const auto value = parse_value(node, what, comparison.key->shape, diagnostics_))
      comparison.values.push_back(*value);
  }

  std::string name_;
  Diagnostics& diagnostics_;
};

// True for words such as "auto", which are neither more nor less than a number.
bool is_word(const Key& key, const Value& value) {
  return !key.shape.zero_word.empty() && value.number == 0;
}

bool is_less(const Key& key, const Value& a, const Value& b) {
  return key.shape.type == ValueType::fraction ? a.fraction < b.fraction : a.number < b.number;
}

bool compare(const Comparison& comparison, const Value& value, const Value& to) {
  const Key& key = *comparison.key;
  const Key& other = comparison.other == nullptr ? key : *comparison.other;
  if (comparison.relation == Relation::equal) return value == to;
  if (comparison.relation == Relation::not_equal) return !(value == to);
  if (is_word(key, value) || is_word(other, to)) return false;
  switch (comparison.relation) {
    case Relation::less:
      return is_less(key, value, to);
    case Relation::more:
      return is_less(key, to, value);
    case Relation::at_most:
      return !is_less(key, to, value);
    default:
      return !is_less(key, value, to);
  }
}

bool means_something(const Key& key, const RunPoint& point) {
  return has_section_of(point, key) && key.applies_at(point);
}

bool holds(const Comparison& comparison, const RunPoint& point) {
  if (!means_something(*comparison.key, point)) return false;
  const Value value = comparison.key->get(point);
  if (comparison.other != nullptr) {
    return means_something(*comparison.other, point) &&
           compare(comparison, value, comparison.other->get(point));
  }
  return std::any_of(comparison.values.begin(), comparison.values.end(),
                     [&](const Value& to) { return compare(comparison, value, to); });
}

}  // namespace

Condition read_condition(const ConfigNode& node, const std::string& name,
                         Diagnostics& diagnostics) {
  return ConditionReader(name, diagnostics).read(node);
}

bool holds(const Condition& condition, const RunPoint& point) {
  return std::any_of(condition.begin(), condition.end(), [&](const auto& all) {
    return std::all_of(all.begin(), all.end(),
                       [&](const Comparison& comparison) { return holds(comparison, point); });
  });
}

}  // namespace espalier
