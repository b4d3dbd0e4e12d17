// The configuration's words for enumerators.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sims/point/collective_config.h"
#include "sims/point/coordination_config.h"
#include "sims/point/ni_config.h"
#include "sims/point/reorder_config.h"
#include "sims/point/router_config.h"
#include "sims/point/simulation_config.h"
#include "sims/point/system_config.h"
#include "sims/point/topology_config.h"
#include "sims/point/traffic_config.h"
#include "sims/point/training_config.h"

namespace espalier {

namespace enum_names {

// An enumerator's own name; empty for a value without an enumerator. GCC and Clang print the one
// as "espalier::TieRule::newest", and the other as a cast: "(espalier::TieRule)3".
template <auto Value>
constexpr std::string_view enumerator() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::string_view before = "Value = ";
  constexpr std::size_t begin = text.find(before) + before.size();
  constexpr std::string_view value = text.substr(begin, text.find_first_of(";]", begin) - begin);
  return value.front() == '(' ? std::string_view() : value.substr(value.rfind(':') + 1);
}

template <auto Value>
inline constexpr auto kCopy = [] {
  constexpr std::string_view name = enumerator<Value>();
  std::array<char, name.size() + 1> copy{};
  for (std::size_t i = 0; i < name.size(); ++i) copy[i] = name[i];
  return copy;
}();

// The word is the enumerator's name, except for words that are no names in C++ or in capitals.
template <auto Value>
inline constexpr const char* kWord = enumerator<Value>() == "automatic" ? "auto"
                                                                        : kCopy<Value>.data();
template <>
inline constexpr const char* kWord<Routing::table> = "file";
template <>
inline constexpr const char* kWord<DimensionShape::switched> = "switch";
template <>
inline constexpr const char* kWord<ProtocolChoice::simple> = "Simple";
template <>
inline constexpr const char* kWord<ProtocolChoice::ll> = "LL";
template <>
inline constexpr const char* kWord<ProtocolChoice::ll128> = "LL128";
template <>
inline constexpr const char* kWord<ProtocolChoice::message> = "Message";

template <class Enum, std::size_t Number = 0>
constexpr std::size_t count() {
  if constexpr (enumerator<static_cast<Enum>(Number)>().empty()) {
    return Number;
  } else {
    return count<Enum, Number + 1>();
  }
}

template <class Enum, std::size_t... Numbers>
constexpr auto words(std::index_sequence<Numbers...> /*numbers*/) {
  return std::array{kWord<static_cast<Enum>(Numbers)>...};
}

}  // namespace enum_names

template <class Enum>
inline constexpr auto kEnumNames =
    enum_names::words<Enum>(std::make_index_sequence<enum_names::count<Enum>()>());

// The configuration's word: name_of(LockstepMode::drain) is "drain".
template <class Enum>
[[nodiscard]] constexpr const char* name_of(Enum choice) {
  return kEnumNames<Enum>.at(static_cast<std::size_t>(choice));
}

template <class Enum>
[[nodiscard]] std::vector<std::string> all_names() {
  return {kEnumNames<Enum>.begin(), kEnumNames<Enum>.end()};
}

}  // namespace espalier
