// Members of structs by their type, for the key table. Internal to keys*.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

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

}  // namespace espalier
