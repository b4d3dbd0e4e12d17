// How the key table is written. A key is one expression, from the struct's member to its meaning:
//   ni.cycles("delivery_cycles", &NiConfig::delivery_cycles).min(1).doc("ejected to visible");
// Internal to keys*.cpp.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sims/config/keys.h"
#include "sims/point/enum_names.h"

namespace espalier {

inline constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();

namespace key_values {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

// The enumeration of a member: the type itself, or the type inside an optional.
template <class T>
struct Choice {
  using Type = T;
};
template <class T>
struct Choice<std::optional<T>> : Choice<T> {};
template <class T>
struct Choice<std::vector<T>> : Choice<T> {};

// Number 0 of an optional enumerator means "none", so the enumerators are numbered from 1.
template <class Member>
void set_number(Member& member, std::uint64_t number) {
  if constexpr (IsOptional<Member>::value) {
    member.reset();
    if (number != 0) member = static_cast<typename Member::value_type>(number - 1);
  } else {
    member = static_cast<Member>(number);
  }
}
template <class Member>
std::uint64_t number_of(const Member& member) {
  if constexpr (IsOptional<Member>::value) {
    return member ? static_cast<std::uint64_t>(*member) + 1 : 0;
  } else {
    return static_cast<std::uint64_t>(member);
  }
}

template <class Member>
void set_member(Member& member, const Value& value) {
  if constexpr (std::is_same_v<Member, std::string>) {
    member = value.text;
  } else if constexpr (std::is_same_v<Member, double>) {
    member = value.fraction;
  } else if constexpr (std::is_same_v<Member, std::vector<std::string>>) {
    member = value.texts;
  } else if constexpr (IsVector<Member>::value) {
    member.clear();
    for (const std::uint64_t item : value.items) set_number(member.emplace_back(), item);
  } else {
    set_number(member, value.number);
  }
}
template <class Member>
Value value_of_member(const Member& member) {
  Value value;
  if constexpr (std::is_same_v<Member, std::string>) {
    value.text = member;
  } else if constexpr (std::is_same_v<Member, double>) {
    value.fraction = member;
  } else if constexpr (std::is_same_v<Member, std::vector<std::string>>) {
    value.texts = member;
  } else if constexpr (IsVector<Member>::value) {
    for (const auto& item : member) value.items.push_back(number_of(item));
  } else {
    value.number = number_of(member);
  }
  return value;
}

// Access from a point to one of its structs.
template <class Struct>
struct PathTo {
  std::function<Struct&(RunPoint&)> to_change;
  std::function<const Struct&(const RunPoint&)> to_read;
};

template <class Outer, class First, class... Rest>
auto& follow(Outer& outer, First first, Rest... rest) {
  auto& member = outer.*first;
  if constexpr (IsOptional<std::decay_t<decltype(member)>>::value) {
    if constexpr (sizeof...(rest) == 0) {
      return *member;
    } else {
      return follow(*member, rest...);
    }
  } else if constexpr (sizeof...(rest) == 0) {
    return member;
  } else {
    return follow(member, rest...);
  }
}

}  // namespace key_values

// keys_collective.cpp
[[nodiscard]] KeyCondition where_algorithm_reads(const std::string& key);

// A key under construction. Valid until the next key is added.
template <class Struct>
class KeyDraft {
 public:
  KeyDraft(Key& key, const key_values::PathTo<Struct>& path) : key_(&key), path_(path) {}

  KeyDraft& min(std::uint64_t min) { return range(min, key_->shape.max); }
  KeyDraft& range(std::uint64_t min, std::uint64_t max) {
    key_->shape.min = min;
    key_->shape.max = max;
    return *this;
  }
  // Range of a fraction, including both ends.
  KeyDraft& between(double min, double max) {
    key_->shape.min_fraction = min;
    key_->shape.max_fraction = max;
    return *this;
  }
  KeyDraft& above_zero_to(double max) {
    key_->shape.min_excluded = true;
    return between(0, max);
  }
  KeyDraft& below(double max) {
    key_->shape.max_excluded = true;
    return between(0, max);
  }
  // A word that stands for 0 or for an empty list.
  KeyDraft& word(std::string word) {
    key_->shape.zero_word = std::move(word);
    return *this;
  }
  // The word "auto" leaves the cycles to the cost model; 0 keeps its own meaning. `is_implied` is
  // set if the word was given.
  KeyDraft& or_implied(bool Struct::*is_implied) {
    key_->shape.word_number = kNever;
    key_->set = [set = key_->set, path = path_, is_implied](RunPoint& point, const Value& value) {
      path.to_change(point).*is_implied = value.number == kNever;
      if (value.number != kNever) set(point, value);
    };
    key_->get = [get = key_->get, path = path_, is_implied](const RunPoint& point) {
      return path.to_read(point).*is_implied ? number_value(kNever) : get(point);
    };
    return word("auto");
  }
  // A value with one of `endings` is the path of a file, and means the name `name`. file_of()
  // returns the member of the point that stores the path. The word `all` means every name but
  // `name` and those in `not_in_all`.
  template <class FileOf>
  KeyDraft& file_as(const std::string& name, std::vector<std::string> endings, std::string all,
                    std::vector<std::string> not_in_all, FileOf file_of) {
    ValueShape& shape = key_->shape;
    const auto found = std::find(shape.names.begin(), shape.names.end(), name);
    shape.file_name = static_cast<std::uint64_t>(found - shape.names.begin());
    shape.file_endings = std::move(endings);
    shape.all_word = std::move(all);
    shape.not_in_all = std::move(not_in_all);
    key_->set = [set = key_->set, path = path_, file_of](RunPoint& point, const Value& value) {
      set(point, value);
      if (!value.text.empty()) file_of(path.to_change(point)) = value.text;
    };
    return *this;
  }
  KeyDraft& names(std::vector<std::string> names) {
    key_->shape.names = std::move(names);
    return *this;
  }
  KeyDraft& list(ListOf list) {
    key_->shape.list = list;
    return *this;
  }
  KeyDraft& required() {
    key_->required = true;
    return *this;
  }
  KeyDraft& exclusive() {
    key_->exclusive = true;
    return *this;
  }
  KeyDraft& optional() {
    key_->optional = true;
    return *this;
  }
  KeyDraft& only(KeyCondition condition) {
    key_->conditions.push_back(std::move(condition));
    return *this;
  }
  // The key applies if the algorithm has it as a parameter (alg/algorithm.h).
  KeyDraft& only_where_algorithm_reads_it() { return only(where_algorithm_reads(key_->name)); }
  KeyDraft& doc(std::string description) {
    key_->description = std::move(description);
    return *this;
  }

 private:
  Key* key_;
  key_values::PathTo<Struct> path_;
};

template <class Struct>
class KeyGroup;

// The table under construction.
class KeyTable {
 public:
  Key& add(std::string name);
  [[nodiscard]] Key& last() { return keys_.back(); }

  // The keys of one struct, e.g. table.group("system.ni", &RunPoint::system, &SystemConfig::ni).
  template <class... Members>
  auto group(std::string section, Members... members) {
    return group_at(
        std::move(section), [=](auto& point) -> auto& {
          return key_values::follow(point, members...);
        });
  }
  // `path` maps a point to a reference to the struct.
  template <class Path>
  auto group_at(std::string section, Path path) {
    using Struct = std::decay_t<decltype(path(std::declval<RunPoint&>()))>;
    return KeyGroup<Struct>(*this, std::move(section), key_values::PathTo<Struct>{path, path});
  }

  // Condition: the value of key `name` is one of `words`. The key must be earlier in the table.
  // Throws std::logic_error if the key or a word is unknown.
  [[nodiscard]] KeyCondition where(const std::string& name, std::vector<std::string> words) const;
  [[nodiscard]] KeyCondition where_not(const std::string& name,
                                       std::vector<std::string> words) const;
  // Condition: the path `name` is not given.
  [[nodiscard]] KeyCondition without_path(const std::string& name) const;
  // Condition: no section in the list is given.
  [[nodiscard]] static KeyCondition without(const std::vector<std::string>& sections);
  [[nodiscard]] KeyCondition where_dimensional() const {
    return where(kTypeKey, {"dimensions", "astra_network"});
  }
  [[nodiscard]] KeyCondition where_not_dimensional() const {
    return where_not(kTypeKey, {"dimensions", "astra_network"});
  }

  [[nodiscard]] std::vector<Key> take() { return std::move(keys_); }

 private:
  [[nodiscard]] std::function<bool(const RunPoint&)> is_one_of(
      const std::string& name, const std::vector<std::string>& words) const;

  std::vector<Key> keys_;
};

// Keys of one struct and one section, one method for each kind of value.
template <class Struct>
class KeyGroup {
 public:
  using Draft = KeyDraft<Struct>;

  KeyGroup(KeyTable& table, std::string section, key_values::PathTo<Struct> path)
      : table_(&table), section_(std::move(section)), path_(std::move(path)) {}

  // The same group with a further condition for all its keys.
  [[nodiscard]] KeyGroup only(KeyCondition condition) const {
    KeyGroup group = *this;
    group.conditions_.push_back(std::move(condition));
    return group;
  }
  // The same group, with keys that are left out of the resolved configuration.
  [[nodiscard]] KeyGroup unresolved() const {
    KeyGroup group = *this;
    group.resolved_ = false;
    return group;
  }

  template <class Member>
  Draft integer(const std::string& name, Member Struct::*member) const {
    return key(ValueType::integer, name, member).range(0, kAnyNumber);
  }
  template <class Member>
  Draft cycles(const std::string& name, Member Struct::*member) const {
    return key(ValueType::integer, name, member).range(0, kLongestLatencyCycles);
  }
  template <class Member>
  Draft size(const std::string& name, Member Struct::*member) const {
    return key(ValueType::size, name, member).range(1, kLargestMessage);
  }
  template <class Member>
  Draft time(const std::string& name, Member Struct::*member) const {
    return key(ValueType::time, name, member).range(1, kSecond);
  }
  template <class Member>
  Draft rate(const std::string& name, Member Struct::*member) const {
    return key(ValueType::rate, name, member).range(kSlowestLink, kFastestLink);
  }
  template <class Member>
  Draft number(ValueType type, const std::string& name, Member Struct::*member) const {
    return key(type, name, member);
  }
  Draft boolean(const std::string& name, bool Struct::*member) const {
    return key(ValueType::boolean, name, member).range(0, 1);
  }
  Draft fraction(const std::string& name, double Struct::*member) const {
    return key(ValueType::fraction, name, member);
  }
  // An enumerator, given by its name. If the member is optional, "auto" means none.
  template <class Member>
  Draft choice(const std::string& name, Member Struct::*member) const {
    Draft draft = key(ValueType::name, name, member);
    std::vector<std::string> names = all_names<typename key_values::Choice<Member>::Type>();
    if constexpr (has_none<Member>()) {
      names.insert(names.begin(), "auto");
      draft.word("auto");
    }
    return draft.names(std::move(names));
  }
  // One of `names`, stored as text.
  Draft named(const std::string& name, std::string Struct::*member,
              const std::vector<std::string>& names) const;
  // The path of a file, relative to the configuration's folder.
  Draft path(const std::string& name, std::string Struct::*member) const {
    return key(ValueType::text, name, member);
  }

 private:
  template <class Member>
  static constexpr bool has_none() {
    if constexpr (key_values::IsVector<Member>::value) {
      return key_values::IsOptional<typename Member::value_type>::value;
    } else {
      return key_values::IsOptional<Member>::value;
    }
  }

  template <class Member>
  Draft key(ValueType type, const std::string& name, Member Struct::*member) const {
    Key& key = table_->add(join_key(section_, name));
    key.shape.type = type;
    key.conditions = conditions_;
    key.resolved = resolved_;
    key.set = [path = path_, member](RunPoint& point, const Value& value) {
      key_values::set_member(path.to_change(point).*member, value);
    };
    key.get = [path = path_, member](const RunPoint& point) {
      return key_values::value_of_member(path.to_read(point).*member);
    };
    return Draft(key, path_);
  }

  KeyTable* table_;
  std::string section_;
  key_values::PathTo<Struct> path_;
  std::vector<KeyCondition> conditions_;
  bool resolved_ = true;
};

template <class Struct>
KeyDraft<Struct> KeyGroup<Struct>::named(const std::string& name, std::string Struct::*member,
                                         const std::vector<std::string>& names) const {
  Draft draft = key(ValueType::name, name, member);
  Key& made = table_->last();
  made.set = [path = path_, member, names](RunPoint& point, const Value& value) {
    path.to_change(point).*member = names.at(value.number);
  };
  made.get = [path = path_, member, names](const RunPoint& point) {
    const auto found = std::find(names.begin(), names.end(), path.to_read(point).*member);
    return number_value(static_cast<std::uint64_t>(found - names.begin()));
  };
  return draft.names(names);
}

// Parts of the table, in the order of the table.
void add_topology_keys(KeyTable& table);         // keys_topology.cpp
void add_system_keys(KeyTable& table);           // keys_system.cpp
void add_program_ni_keys(KeyTable& table);       // keys_system.cpp
void add_cost_keys(KeyTable& table);             // keys_cost.cpp
void add_readiness_macro_keys(KeyTable& table);  // keys_cost.cpp
void add_collective_keys(KeyTable& table);       // keys_collective.cpp
void add_training_keys(KeyTable& table);         // keys_workload.cpp
void add_workload_keys(KeyTable& table);         // keys_workload.cpp
void add_coordination_keys(KeyTable& table);     // keys_coordination.cpp
void add_message_keys(KeyTable& table);          // keys_run.cpp
void add_fault_keys(KeyTable& table);            // keys_faults.cpp
void add_simulation_keys(KeyTable& table);       // keys_run.cpp
void add_reorder_keys(KeyTable& table);          // keys_run.cpp

}  // namespace espalier
