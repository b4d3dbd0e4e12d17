// The attributes of one element, read strictly: what is missing, given twice, unknown or no value
// is reported with its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sims/formats/program/xml_report.h"

namespace espalier {

struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = 0;
};

class XmlElement {
 public:
  // All of `known` may stand there. `number`, if it has one: the attribute that tells it from
  // others of its name.
  XmlElement(pugi::xml_node node, const std::vector<const char*>& known, const char* number,
             const XmlElement* parent, XmlReport& report);

  // Without the attribute, or where it is no such value: nothing, and an error.
  [[nodiscard]] std::optional<std::int64_t> integer(const char* name, const IntegerRange& range);
  // Without the attribute: `otherwise`.
  [[nodiscard]] std::optional<std::int64_t> integer_or(const char* name, const IntegerRange& range,
                                                       std::int64_t otherwise);
  // One of `choices`, by name.
  template <class Choice>
  [[nodiscard]] std::optional<Choice> choice(
      const char* name, const std::vector<std::pair<const char*, Choice>>& choices) {
    const pugi::xml_attribute attribute = required(name);
    if (!attribute) return std::nullopt;
    const std::string value = attribute.value();
    for (const auto& [text, chosen] : choices) {
      if (value == text) return chosen;
    }
    std::vector<std::string> names;
    names.reserve(choices.size());
    for (const auto& [text, chosen] : choices) names.emplace_back(text);
    report_choice(attribute, names);
    return std::nullopt;
  }

  [[nodiscard]] bool has(const char* name) const { return !node_.attribute(name).empty(); }
  [[nodiscard]] std::string text(const char* name) const { return node_.attribute(name).value(); }
  // "gpu 1 tb 0 step 3", for messages.
  [[nodiscard]] std::string label() const;

  // At the value of `name`, or at the element where that is missing.
  void error_at(const char* name, std::string message, std::string hint = {});
  void warn_at(const char* name, std::string message, std::string hint = {});
  void error(std::string message, std::string hint = {});

 private:
  [[nodiscard]] pugi::xml_attribute required(const char* name);
  [[nodiscard]] std::optional<std::int64_t> integer_of(pugi::xml_attribute attribute,
                                                       const IntegerRange& range);
  [[nodiscard]] const char* value_or_element(const char* name) const;
  void report_choice(pugi::xml_attribute attribute, const std::vector<std::string>& names);
  void check_names(const std::vector<const char*>& known);

  pugi::xml_node node_;
  const char* number_;
  const XmlElement* parent_;  // nullptr where it needs no mention
  XmlReport& report_;
  std::vector<std::string> unknown_;
};

}  // namespace espalier
