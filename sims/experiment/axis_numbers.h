// Values with units as plain numbers, for tables that other programs read: 50ns in the column
// system.link.latency is also 50 in the column system.link.latency_ns. The units are the
// results' units: ns, bytes, GB/s, GHz, nm.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace espalier {

// The name of the key's number, for example "system.link.latency_ns". Empty if the key has no unit,
// if its values are lists, and if there is no key of this name.
[[nodiscard]] std::string number_name(const std::string& key);

// The number of a value as a configuration writes it ("50ns"). Null for a word such as "auto", and
// for a key without a unit.
[[nodiscard]] nlohmann::ordered_json number_of(const std::string& key,
                                               const nlohmann::ordered_json& value);

// The numbers of all settings that have one, by their names. `set`: values by dotted key.
[[nodiscard]] nlohmann::ordered_json numbers_of(const nlohmann::ordered_json& set);

}  // namespace espalier
