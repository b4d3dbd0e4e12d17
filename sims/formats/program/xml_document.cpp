#include "sims/formats/program/xml_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "sims/text/nearest_name.h"

namespace espalier {

namespace {

// Returns 99 for a character that is not a digit in any base.
unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 99;
}

CInteger failed(const char* why) { return {std::nullopt, why}; }

}  // namespace

CInteger parse_c_integer(std::string_view text) {
  if (text.empty()) return failed("is empty, not an integer");
  if (text.find_first_of(" \t\r\n") != std::string_view::npos) {
    return failed("is not an integer: it contains a blank");
  }
  std::string_view digits = text;
  const bool negative = digits.front() == '-';
  if (negative || digits.front() == '+') digits.remove_prefix(1);
  unsigned base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const bool is_hex = digits[1] == 'x' || digits[1] == 'X';
    base = is_hex ? 16 : 8;
    digits.remove_prefix(is_hex ? 2 : 1);
  }
  if (digits.empty()) return failed("is not an integer");
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t magnitude = 0;
  bool overflows = false;
  for (const char c : digits) {
    const unsigned digit = digit_value(c);
    if (digit >= base) {
      return failed(base == 8 && digit < 10
                        ? "is not an integer: a leading zero makes it octal, as in C"
                        : "is not an integer");
    }
    overflows = overflows || magnitude > (largest - digit) / base;
    if (!overflows) magnitude = magnitude * base + digit;
  }
  if (overflows) return failed("is out of range");
  const auto value = static_cast<std::int64_t>(magnitude);
  return {negative ? -value : value, {}};
}

namespace {

const char* what_is_wrong(pugi::xml_parse_status status) {
  switch (status) {
    case pugi::status_no_document_element:
      return "the file has no element";
    case pugi::status_end_element_mismatch:
      return "an element is not closed, or the tag of another element closes it";
    case pugi::status_bad_attribute:
      return "an attribute must have the form name=\"value\"";
    case pugi::status_bad_comment:
      return "a comment is not closed";
    case pugi::status_bad_start_element:
      return "a tag is broken";
    case pugi::status_bad_end_element:
      return "a closing tag is broken";
    case pugi::status_unrecognized_tag:
      return "'<' does not begin a tag here";
    default:
      return "the error is here";
  }
}

}  // namespace

XmlSource::XmlSource(const std::string& file_name, const std::string& text,
                     Diagnostics& diagnostics)
    : index_(diagnostics.add_file(file_name, text)), buffer_(text.begin(), text.end()) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    line_starts_.push_back(at + 1);
  }
  if (!parse(diagnostics)) document_.reset();
}

bool XmlSource::parse(Diagnostics& diagnostics) {
  const std::string_view text(buffer_.data(), buffer_.size());
  // The parser stops at a zero byte.
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos || text.substr(0, 2) == "\xff\xfe" ||
      text.substr(0, 2) == "\xfe\xff") {
    diagnostics.error(place_of_offset(zero < text.size() ? zero : 0),
                      "expected an XML document in UTF-8, found bytes that are not text");
    return false;
  }
  const pugi::xml_parse_result result = document_.load_buffer_inplace(
      buffer_.data(), buffer_.size(), pugi::parse_default, pugi::encoding_utf8);
  if (result) return true;
  const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
  diagnostics.error(place_of_offset(offset),
                    fmt::format("this is not well-formed XML: {}", what_is_wrong(result.status)));
  return false;
}

Place XmlSource::place_of_offset(std::size_t offset) const {
  offset = std::min(offset, buffer_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const std::size_t start = *std::prev(next);
  return {index_, static_cast<std::uint32_t>(next - line_starts_.begin()),
          static_cast<std::uint32_t>(offset - start + 1)};
}

Place XmlSource::place(const char* text) const {
  // Compared as numbers, because pointers outside of the buffer cannot be compared with pointers
  // into it.
  const auto at = reinterpret_cast<std::uintptr_t>(text);
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer_.data());
  if (at < begin || at >= begin + buffer_.size()) return {index_, 0, 0};
  return place_of_offset(at - begin);
}

namespace {
constexpr std::size_t kMostXmlErrors = 200;
}

void XmlReport::error(const char* at, std::string message, std::string hint) {
  if (full()) return;
  diagnostics_.error(source_.place(at), std::move(message), std::move(hint));
}

void XmlReport::warning(const char* at, std::string message, std::string hint) {
  diagnostics_.warning(source_.place(at), std::move(message), std::move(hint));
}

void XmlReport::end() {
  for (const auto& [what, ignored] : ignored_) {
    const std::string more =
        ignored.times > 1 ? fmt::format(", {} times in this file", ignored.times) : "";
    diagnostics_.warning(ignored.first, fmt::format("{} is ignored{}", what, more), ignored.hint);
  }
  ignored_.clear();
}

bool XmlReport::full() const {
  return diagnostics_.num_errors() - errors_before_ >= kMostXmlErrors;
}

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
          meant.empty() ? "" : fmt::format("found '{}'; names are case-sensitive", meant));
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
