#include "sims/formats/program/xml_element.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sims/formats/program/c_integer.h"
#include "sims/text/nearest_name.h"

namespace espalier {

XmlElement::XmlElement(pugi::xml_node node, const std::vector<const char*>& known,
                       const char* number, const XmlElement* parent, XmlReport& report)
    : node_(node), number_(number), parent_(parent), report_(report) {
  check_names(known);
}

std::string XmlElement::label() const {
  std::string label = parent_ == nullptr ? "" : parent_->label() + " ";
  label += node_.name();
  if (number_ == nullptr) return label;
  const pugi::xml_attribute number = node_.attribute(number_);
  return label +
         (number ? fmt::format(" {}", number.value()) : fmt::format(" without {}", number_));
}

void XmlElement::check_names(const std::vector<const char*>& known) {
  std::uint64_t seen = 0;
  for (const pugi::xml_attribute attribute : node_.attributes()) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const char* name) {
      return std::strcmp(name, attribute.name()) == 0;
    });
    if (found == known.end()) {
      unknown_.emplace_back(attribute.name());
      report_.ignored(attribute.name(),
                      fmt::format("attribute '{}' of '{}'", attribute.name(), node_.name()), [&] {
                        const std::string nearest =
                            nearest_name(attribute.name(), {known.begin(), known.end()});
                        const bool is_meant = !nearest.empty() && !has(nearest.c_str());
                        return is_meant ? fmt::format("did you mean '{}'?", nearest) : "";
                      });
      continue;
    }
    const std::uint64_t bit = std::uint64_t{1} << (found - known.begin());
    if ((seen & bit) != 0) {
      report_.error(attribute.name(),
                    fmt::format("{}: '{}' is given twice", label(), attribute.name()));
    }
    seen |= bit;
  }
}

pugi::xml_attribute XmlElement::required(const char* name) {
  const pugi::xml_attribute attribute = node_.attribute(name);
  if (!attribute) {
    const std::string meant = nearest_name(name, unknown_);
    error(fmt::format("{}: attribute '{}' is missing", label(), name),
          meant.empty()
              ? ""
              : fmt::format("there is '{}': names are as they are, to the letter", meant));
  }
  return attribute;
}

std::optional<std::int64_t> XmlElement::integer_of(pugi::xml_attribute attribute,
                                                   const IntegerRange& range) {
  const CInteger number = parse_c_integer(attribute.value());
  if (number.value && *number.value >= range.min && *number.value <= range.max) return number.value;
  const std::string what = number.value ? fmt::format("{} is out of range", attribute.value())
                                        : fmt::format("'{}' {}", attribute.value(), number.error);
  report_.error(attribute.value(), fmt::format("{}: {}: {}", label(), attribute.name(), what),
                range.max == INT64_MAX ? fmt::format("at least {}", range.min)
                                       : fmt::format("{} to {}", range.min, range.max));
  return std::nullopt;
}

std::optional<std::int64_t> XmlElement::integer(const char* name, const IntegerRange& range) {
  const pugi::xml_attribute attribute = required(name);
  if (!attribute) return std::nullopt;
  return integer_of(attribute, range);
}

std::optional<std::int64_t> XmlElement::integer_or(const char* name, const IntegerRange& range,
                                                   std::int64_t otherwise) {
  const pugi::xml_attribute attribute = node_.attribute(name);
  if (!attribute) return otherwise;
  return integer_of(attribute, range);
}

void XmlElement::report_choice(pugi::xml_attribute attribute,
                               const std::vector<std::string>& names) {
  report_.error(
      attribute.value(),
      fmt::format("{}: {}: '{}' is unknown", label(), attribute.name(), attribute.value()),
      name_hint(attribute.value(), names));
}

const char* XmlElement::value_or_element(const char* name) const {
  const pugi::xml_attribute attribute = node_.attribute(name);
  return attribute ? attribute.value() : node_.name();
}

void XmlElement::error_at(const char* name, std::string message, std::string hint) {
  report_.error(value_or_element(name), fmt::format("{}: {}: {}", label(), name, message),
                std::move(hint));
}

void XmlElement::warn_at(const char* name, std::string message, std::string hint) {
  report_.warning(value_or_element(name), fmt::format("{}: {}: {}", label(), name, message),
                  std::move(hint));
}

void XmlElement::error(std::string message, std::string hint) {
  report_.error(node_.name(), std::move(message), std::move(hint));
}

}  // namespace espalier
