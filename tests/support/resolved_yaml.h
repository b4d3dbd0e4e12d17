// A run point as a configuration file, for tests that read it back.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sims/config/resolved.h"
#include "sims/point/config.h"

namespace espalier {

// Text that some YAML reader might not take for a plain word is quoted; JSON's quoting is valid
// YAML.
inline std::string yaml_text(const std::string& text) {
  static const std::vector<std::string> words_with_a_meaning{"null", "true", "false", "yes", "no",
                                                             "on",   "off",  "y",     "n"};
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/';
  });
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool is_word = std::find(words_with_a_meaning.begin(), words_with_a_meaning.end(), lower) !=
                       words_with_a_meaning.end();
  return plain && !is_word ? text : nlohmann::json(text).dump();
}

inline void write_resolved_section(const nlohmann::ordered_json& section, std::size_t depth,
                                   std::string& out) {
  for (const auto& [name, value] : section.items()) {
    out += fmt::format("{}{}:", std::string(2 * depth, ' '), name);
    if (value.is_object()) {
      out += "\n";
      write_resolved_section(value, depth + 1, out);
    } else if (value.is_string()) {
      out += " " + yaml_text(value.get<std::string>()) + "\n";
    } else if (value.is_number_float()) {
      out += " " + format_fraction(value.get<double>()) + "\n";
    } else {
      out += " " + value.dump() + "\n";
    }
  }
}

inline std::string resolved_yaml(const RunPoint& point) {
  std::string out;
  write_resolved_section(resolved_json(point), 0, out);
  return out;
}

}  // namespace espalier
