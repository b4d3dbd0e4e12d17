// How the key table is written. A key is one expression, from the struct's member to its meaning:
//   ni.cycles("delivery_cycles", &NiConfig::delivery_cycles).min(1);
// Internal to keys*.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sims/config/keys.h"
#include "sims/point/config.h"
#include "sims/point/enum_names.h"
#include "sims/text/values.h"

namespace espalier {

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
void get_member(const Member& member, Value& value) {
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
}

}  // namespace key_values

// Writes and reads one member of a struct whose type is forgotten. The compiler makes the code once
// for a struct and a type of member, not for each key.
class MemberAccess {
 public:
  template <class Struct, class Member>
  explicit MemberAccess(Member Struct::*member)
      : set_(&set_in<Struct, Member>), get_(&get_in<Struct, Member>) {
    static_assert(sizeof(member) == sizeof(member_));
    std::memcpy(member_.data(), &member, sizeof(member));
  }
  // Precondition: `owner` points to a Struct.
  void set(void* owner, const Value& value) const { set_(member_, owner, value); }
  [[nodiscard]] Value get(const void* owner) const {
    Value value;
    get_(member_, owner, value);
    return value;
  }

 private:
  struct Any {};
  using Bytes = std::array<unsigned char, sizeof(int Any::*)>;

  template <class Struct, class Member>
  static Member Struct::*of(const Bytes& bytes) {
    Member Struct::*member;
    std::memcpy(&member, bytes.data(), sizeof(member));
    return member;
  }
  template <class Struct, class Member>
  static void set_in(const Bytes& member, void* owner, const Value& value) {
    key_values::set_member(static_cast<Struct*>(owner)->*of<Struct, Member>(member), value);
  }
  template <class Struct, class Member>
  static void get_in(const Bytes& member, const void* owner, Value& value) {
    key_values::get_member(static_cast<const Struct*>(owner)->*of<Struct, Member>(member), value);
  }

  Bytes member_{};  // the pointer to member
  void (*set_)(const Bytes&, void*, const Value&);
  void (*get_)(const Bytes&, const void*, Value&);
};

inline constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();

namespace key_values {

template <class T>
T& inside(T& value) {
  return value;
}
template <class T>
T& inside(std::optional<T>& value) {
  return *value;
}

// The struct that a path of members leads to, for instance NiConfig.
template <class Struct>
Struct& follow(Struct& found) {
  return found;
}
template <class Outer, class First, class... Rest>
auto& follow(Outer& outer, First first, Rest... rest) {
  return follow(inside(outer.*first), rest...);
}

// Finds a struct in a point.
using Path = std::function<void*(RunPoint&)>;
[[nodiscard]] const void* find(const Path& path, const RunPoint& point);

}  // namespace key_values

// keys_collective.cpp
[[nodiscard]] KeyCondition where_algorithm_reads(const std::string& key);

// A key under construction. Valid until the next key is added.
class KeyDraft {
 public:
  explicit KeyDraft(Key& key) : key_(&key) {}

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
  KeyDraft& word(std::string_view word) {
    key_->shape.zero_word = word;
    return *this;
  }
  // A value with one of `endings` is the path of a file, and means the name `name`. The word `all`
  // means every name but `name` and those in `not_in_all`.
  KeyDraft& file_as(const std::string& name, std::vector<std::string> endings, std::string_view all,
                    std::vector<std::string> not_in_all);
  // The numbers are nodes, which may be named.
  KeyDraft& nodes() {
    key_->shape.is_node = true;
    return *this;
  }
  KeyDraft& or_file(const std::string& file_key) {
    key_->shape.file_key = file_key;
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
  KeyDraft& only(const KeyCondition& condition) {
    key_->conditions.push_back(condition);
    return *this;
  }
  // The key applies if the algorithm has it as a parameter (alg/algorithm.h).
  KeyDraft& only_where_algorithm_reads_it() { return only(where_algorithm_reads(key_->name)); }
  KeyDraft& doc(std::string_view description) {
    key_->description = description;
    return *this;
  }

 private:
  Key* key_;
};

// A field of a mapping. `min` and `max` apply to numbers.
[[nodiscard]] ValueField value_field(const char* name, ValueType type, std::uint64_t min,
                                     std::uint64_t max, bool required);

// One field of a list of mappings, and the member of `Record` that stores it.
template <class Record>
struct RecordField {
  template <class Member>
  RecordField(Member Record::*of, ValueField written) : field(std::move(written)), member(of) {}

  ValueField field;
  MemberAccess member;
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
    return KeyGroup<Struct>(*this, std::move(section),
                            [path](RunPoint& point) -> void* { return &path(point); });
  }

  // Condition: the value of key `name` is one of `words`. The key must be earlier in the table.
  // Throws std::logic_error if the key or a word is unknown.
  [[nodiscard]] KeyCondition where(const std::string& name, std::vector<std::string> words) const;
  [[nodiscard]] KeyCondition where_not(const std::string& name,
                                       std::vector<std::string> words) const;
  // Condition: the path `name` is not given.
  [[nodiscard]] KeyCondition without_path(const std::string& name) const;
  [[nodiscard]] KeyCondition with_path(const std::string& name) const;
  // Condition: no section in the list is given.
  [[nodiscard]] static KeyCondition without(const std::vector<std::string>& sections);
  // Under workload.file the network of astra_network is a graph.
  [[nodiscard]] KeyCondition where_dimensional() const {
    KeyCondition condition = where(kTypeKey, families_where(&is_dimensional));
    condition.sentence += ", and workload.file is not given";
    return condition;
  }
  [[nodiscard]] KeyCondition where_not_dimensional() const {
    return where_not(kTypeKey, families_where(&is_dimensional));
  }

  [[nodiscard]] std::vector<Key> take() { return std::move(keys_); }

 private:
  static bool is_dimensional(const Family& family) { return family.is_dimensional(); }
  [[nodiscard]] std::function<bool(const RunPoint&)> is_one_of(
      const std::string& name, const std::vector<std::string>& words) const;

  std::vector<Key> keys_;
};

// Keys of one section whose members are in one struct. KeyGroup knows the struct.
class AnyKeyGroup {
 public:
  AnyKeyGroup(KeyTable& table, std::string section, key_values::Path path)
      : table_(&table), section_(std::move(section)), path_(std::move(path)) {}

 protected:
  KeyDraft key(ValueType type, const char* name, const MemberAccess& member) const;
  // A number for which the word "auto" may stand; `is_implied` is set if the word was given.
  KeyDraft key_or_implied(const char* name, const MemberAccess& member,
                          const MemberAccess& is_implied) const;
  KeyDraft named_key(const char* name, const MemberAccess& member,
                     const std::vector<std::string>& names) const;
  KeyDraft record_key(const char* name, std::vector<ValueField> fields) const;

  KeyTable* table_;
  std::string section_;
  key_values::Path path_;
  std::vector<KeyCondition> conditions_;
  bool resolved_ = true;
};

// One method for each kind of value.
template <class Struct>
class KeyGroup : public AnyKeyGroup {
 public:
  using AnyKeyGroup::AnyKeyGroup;

  // The same group with a further condition for all its keys.
  [[nodiscard]] KeyGroup only(const KeyCondition& condition) const {
    KeyGroup group = *this;
    group.conditions_.push_back(condition);
    return group;
  }
  // The same group, with keys that are left out of the resolved configuration.
  [[nodiscard]] KeyGroup unresolved() const {
    KeyGroup group = *this;
    group.resolved_ = false;
    return group;
  }

  template <class Member>
  KeyDraft integer(const char* name, Member Struct::*member) const {
    return number(ValueType::integer, name, member).range(0, kAnyNumber);
  }
  template <class Member>
  KeyDraft cycles(const char* name, Member Struct::*member) const {
    return number(ValueType::integer, name, member).range(0, kLongestLatencyCycles);
  }
  // The word "auto" leaves the number to the cost model and sets `is_implied`.
  template <class Member>
  KeyDraft integer_or_implied(const char* name, Member Struct::*member,
                              bool Struct::*is_implied) const {
    return key_or_implied(name, MemberAccess(member), MemberAccess(is_implied));
  }
  template <class Member>
  KeyDraft size(const char* name, Member Struct::*member) const {
    return number(ValueType::size, name, member).range(1, kLargestMessage);
  }
  template <class Member>
  KeyDraft time(const char* name, Member Struct::*member) const {
    return number(ValueType::time, name, member).range(1, kSecond);
  }
  template <class Member>
  KeyDraft rate(const char* name, Member Struct::*member) const {
    return number(ValueType::rate, name, member).range(kSlowestLink, kFastestLink);
  }
  template <class Member>
  KeyDraft number(ValueType type, const char* name, Member Struct::*member) const {
    return key(type, name, MemberAccess(member));
  }
  KeyDraft boolean(const char* name, bool Struct::*member) const {
    return number(ValueType::boolean, name, member).range(0, 1);
  }
  KeyDraft fraction(const char* name, double Struct::*member) const {
    return number(ValueType::fraction, name, member);
  }
  // An enumerator, given by its name. If the member is optional, "auto" means none.
  template <class Member>
  KeyDraft choice(const char* name, Member Struct::*member) const {
    KeyDraft draft = number(ValueType::name, name, member);
    std::vector<std::string> names = all_names<typename key_values::Choice<Member>::Type>();
    if constexpr (has_none<Member>()) {
      names.insert(names.begin(), "auto");
      draft.word("auto");
    }
    return draft.names(std::move(names));
  }
  // One of `names`, stored as text.
  KeyDraft named(const char* name, std::string Struct::*member,
                 const std::vector<std::string>& names) const {
    return named_key(name, MemberAccess(member), names);
  }
  // The path of a file, relative to the configuration's folder.
  KeyDraft path(const char* name, std::string Struct::*member) const {
    return number(ValueType::text, name, member);
  }
  // A list of mappings.
  template <class Record>
  KeyDraft records(const char* name, std::vector<Record> Struct::*list,
                   const std::vector<RecordField<Record>>& fields) const;

 private:
  template <class Member>
  static constexpr bool has_none() {
    if constexpr (key_values::IsVector<Member>::value) {
      return key_values::IsOptional<typename Member::value_type>::value;
    } else {
      return key_values::IsOptional<Member>::value;
    }
  }
};

template <class Struct>
template <class Record>
KeyDraft KeyGroup<Struct>::records(const char* name, std::vector<Record> Struct::*list,
                                   const std::vector<RecordField<Record>>& fields) const {
  std::vector<ValueField> written;
  for (const RecordField<Record>& field : fields) written.push_back(field.field);
  KeyDraft draft = record_key(name, std::move(written));
  Key& key = table_->last();
  key.set = [path = path_, list, fields](RunPoint& point, const Value& value) {
    auto& records = static_cast<Struct*>(path(point))->*list;
    records.clear();
    for (const std::vector<Value>& from : value.records) {
      Record& record = records.emplace_back();
      for (std::size_t f = 0; f < fields.size(); ++f) fields[f].member.set(&record, from[f]);
    }
  };
  key.get = [path = path_, list, fields](const RunPoint& point) {
    Value value;
    for (const Record& record : static_cast<const Struct*>(key_values::find(path, point))->*list) {
      auto& to = value.records.emplace_back();
      for (const RecordField<Record>& field : fields) to.push_back(field.member.get(&record));
    }
    return value;
  };
  return draft;
}

[[nodiscard]] std::string_view keys_file();  // keys.txt: what keys mean

// Parts of the table, in the order of the table.
void add_topology_keys(KeyTable& table);         // keys_topology.cpp
void add_system_keys(KeyTable& table);           // keys_system.cpp
void add_program_ni_keys(KeyTable& table);       // keys_system.cpp
void add_cost_keys(KeyTable& table);             // keys_cost.cpp
void add_macros_of_all_blocks(KeyTable& table);  // keys_cost.cpp
void add_collective_keys(KeyTable& table);       // keys_collective.cpp
void add_training_keys(KeyTable& table);         // keys_run.cpp
void add_workload_keys(KeyTable& table);         // keys_run.cpp
void add_coordination_keys(KeyTable& table);     // keys_coordination.cpp
void add_message_keys(KeyTable& table);          // keys_run.cpp
void add_fault_keys(KeyTable& table);            // keys_run.cpp
void add_simulation_keys(KeyTable& table);       // keys_run.cpp
void add_reorder_keys(KeyTable& table);          // keys_run.cpp

}  // namespace espalier
