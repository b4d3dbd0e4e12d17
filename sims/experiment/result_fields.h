// Results as tables: fields by dotted name, and CSV (RFC 4180).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sims/experiment/result_names.h"

namespace espalier {

// The member with the dotted name ("host.wall_s"); nullptr if the result lacks it.
[[nodiscard]] const nlohmann::ordered_json* find_field(const nlohmann::ordered_json& result,
                                                       const std::string& name);

// The value of a field; empty if the result lacks it or it has another type.
[[nodiscard]] std::optional<double> number_in(const nlohmann::ordered_json& result,
                                              NumberField field);
[[nodiscard]] std::optional<std::string> text_in(const nlohmann::ordered_json& result,
                                                 TextField field);
[[nodiscard]] std::optional<bool> truth_in(const nlohmann::ordered_json& result, TruthField field);

// Dotted names of all numbers, texts and truth values in the results, in the order of their first
// appearance. Without `host`, which is not reproducible, and without lists.
[[nodiscard]] std::vector<std::string> table_fields(
    const std::vector<const nlohmann::ordered_json*>& results);

// One cell. A number is the shortest decimal that reads back to it. Empty for null and for a field
// that a result does not have (nullptr).
[[nodiscard]] std::string csv_cell(const nlohmann::ordered_json* value);
[[nodiscard]] std::string csv_cell(const std::string& text);

// Values with units as plain numbers, for programs that read tables: 50ns in the column
// system.link.latency is also 50 in the column system.link.latency_ns. The units are the results'
// units: ns, bytes, GB/s, GHz, nm.

// The name of the key's number, for example "system.link.latency_ns". Empty if the key has no unit,
// if its values are lists, and if there is no key of this name.
[[nodiscard]] std::string number_name(const std::string& key);

// The number of a value as a configuration writes it ("50ns"). Null for a word such as "auto", and
// for a key without a unit.
[[nodiscard]] nlohmann::ordered_json number_of(const std::string& key,
                                               const nlohmann::ordered_json& value);

// The numbers of all settings that have one, by their names. `set`: values by dotted key.
[[nodiscard]] nlohmann::ordered_json numbers_of(const nlohmann::ordered_json& set);

// The columns of settings: every key, and behind a key with a unit its number.
[[nodiscard]] std::vector<std::string> setting_columns(const std::vector<std::string>& keys);

// A header and one line per result. `columns` come first; `leading` has their cells, one object for
// each result. A field of the results whose name is a column is left out.
[[nodiscard]] std::string results_csv(const std::vector<nlohmann::ordered_json>& results,
                                      const std::vector<std::string>& columns = {},
                                      const std::vector<nlohmann::ordered_json>& leading = {});

}  // namespace espalier
