// Strict reading of XML documents, with a place for every error.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sims/text/diagnostics.h"
#include "sims/text/nearest_name.h"

namespace espalier {

// An integer as C reads it with base 0: 12, 0x1f, 017.
struct CInteger {
  std::optional<std::int64_t> value;
  std::string error;  // if there is no value: the reason, to be appended to the text
};

// The whole text must be an optional sign and digits, without blanks.
[[nodiscard]] inline CInteger parse_c_integer(std::string_view text) {
  const auto failed = [](const char* why) { return CInteger{std::nullopt, why}; };
  if (text.empty()) return failed("is empty, not an integer");
  if (text.find_first_of(" \t\r\n") != std::string_view::npos) {
    return failed("is not an integer: it contains a blank");
  }
  std::string_view digits = text;
  const bool negative = digits.front() == '-';
  if (negative || digits.front() == '+') digits.remove_prefix(1);
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const bool is_hex = digits[1] == 'x' || digits[1] == 'X';
    base = is_hex ? 16 : 8;
    digits.remove_prefix(is_hex ? 2 : 1);
  }
  std::uint64_t magnitude = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, problem] = std::from_chars(digits.data(), last, magnitude, base);
  if (end != last || digits.empty()) {
    const bool is_octal = base == 8 && end != last && (*end == '8' || *end == '9');
    return failed(is_octal ? "is not an integer: a leading zero makes it octal, as in C"
                           : "is not an integer");
  }
  if (problem != std::errc() || magnitude > std::uint64_t{INT64_MAX}) {
    return failed("is out of range");
  }
  const auto value = static_cast<std::int64_t>(magnitude);
  return {negative ? -value : value, {}};
}

// The parsed text of an XML file, and the place of each name and value.
class XmlSource {
 public:
  // Text that is not well-formed XML in UTF-8 gives one error and an empty document.
  XmlSource(const std::string& file_name, const std::string& text, Diagnostics& diagnostics)
      : index_(diagnostics.add_file(file_name, text)), buffer_(text.begin(), text.end()) {
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
      line_starts_.push_back(at + 1);
    }
    if (!parse(diagnostics)) document_.reset();
  }
  XmlSource(const XmlSource&) = delete;
  XmlSource& operator=(const XmlSource&) = delete;

  [[nodiscard]] pugi::xml_node document() const { return document_; }
  [[nodiscard]] SourceIndex index() const { return index_; }
  // `text` is a name or a value of the document. For any other text, returns the place of the whole
  // file.
  [[nodiscard]] Place place(const char* text) const {
    // Compared as numbers, because pointers outside of the buffer cannot be compared with pointers
    // into it.
    const auto at = reinterpret_cast<std::uintptr_t>(text);
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer_.data());
    if (at < begin || at >= begin + buffer_.size()) return {index_, 0, 0};
    return place_of_offset(at - begin);
  }

 private:
  [[nodiscard]] static const char* what_is_wrong(pugi::xml_parse_status status) {
    static const std::map<pugi::xml_parse_status, const char*> reasons{
        {pugi::status_no_document_element, "the file has no element"},
        {pugi::status_end_element_mismatch,
         "an element is not closed, or the tag of another element closes it"},
        {pugi::status_bad_attribute, "an attribute must have the form name=\"value\""},
        {pugi::status_bad_comment, "a comment is not closed"},
        {pugi::status_bad_start_element, "a tag is broken"},
        {pugi::status_bad_end_element, "a closing tag is broken"},
        {pugi::status_unrecognized_tag, "'<' does not begin a tag here"}};
    const auto found = reasons.find(status);
    return found == reasons.end() ? "the error is here" : found->second;
  }
  [[nodiscard]] Place place_of_offset(std::size_t offset) const {
    offset = std::min(offset, buffer_.size());
    const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    const std::size_t start = *std::prev(next);
    return {index_, static_cast<std::uint32_t>(next - line_starts_.begin()),
            static_cast<std::uint32_t>(offset - start + 1)};
  }
  bool parse(Diagnostics& diagnostics) {
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

  SourceIndex index_;
  std::vector<char> buffer_;  // parsed in place: names and values are pointers into it
  std::vector<std::size_t> line_starts_{0};
  pugi::xml_document document_;
};

// Collects XML diagnostics: at most a fixed number of errors, and one warning per ignored name.
class XmlReport {
 public:
  XmlReport(const XmlSource& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics), errors_before_(diagnostics.num_errors()) {}

  // `at` is a name or value of the document.
  void error(const char* at, std::string message, std::string hint = {}) {
    if (full()) return;
    diagnostics_.error(source_.place(at), std::move(message), std::move(hint));
  }
  void warning(const char* at, std::string message, std::string hint = {}) {
    diagnostics_.warning(source_.place(at), std::move(message), std::move(hint));
  }
  // Counts an ignored name or text. end() warns of it once, with the number of times. make_hint()
  // is called the first time.
  template <class MakeHint>
  void ignored(const char* at, const std::string& what, const MakeHint& make_hint) {
    Ignored& known = ignored_[what];
    if (known.times++ == 0) known = {source_.place(at), make_hint(), 1};
  }
  void end() {
    for (const auto& [what, ignored] : ignored_) {
      const std::string more =
          ignored.times > 1 ? fmt::format(", {} times in this file", ignored.times) : "";
      diagnostics_.warning(ignored.first, fmt::format("{} is ignored{}", what, more), ignored.hint);
    }
    ignored_.clear();
  }

  [[nodiscard]] bool failed() const { return diagnostics_.num_errors() != errors_before_; }
  // True if the limit of errors is reached. The rest of the document is then not read.
  [[nodiscard]] bool full() const {
    return diagnostics_.num_errors() - errors_before_ >= kMostErrors;
  }
  [[nodiscard]] std::uint32_t line(const char* at) const { return source_.place(at).line; }

 private:
  static constexpr std::size_t kMostErrors = 200;

  struct Ignored {
    Place first;
    std::string hint;
    std::size_t times = 0;
  };

  const XmlSource& source_;
  Diagnostics& diagnostics_;
  std::size_t errors_before_;
  std::map<std::string, Ignored> ignored_;
};

struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = 0;
};

// Strict access to the attributes of one element. Attributes that are missing, given twice, unknown
// or invalid are reported with their places.
class XmlElement {
 public:
  // `known`: names of valid attributes. `number`: name of the attribute that numbers elements of
  // this kind, or nullptr.
  XmlElement(pugi::xml_node node, const std::vector<const char*>& known, const char* number,
             const XmlElement* parent, XmlReport& report)
      : node_(node), number_(number), parent_(parent), report_(report) {
    check_names(known);
  }

  // Returns nullopt after an error: the attribute is missing or invalid.
  [[nodiscard]] std::optional<std::int64_t> integer(const char* name, const IntegerRange& range) {
    const pugi::xml_attribute attribute = required(name);
    if (!attribute) return std::nullopt;
    return integer_of(attribute, range);
  }
  // Returns `otherwise` if the attribute is missing.
  [[nodiscard]] std::optional<std::int64_t> integer_or(const char* name, const IntegerRange& range,
                                                       std::int64_t otherwise) {
    const pugi::xml_attribute attribute = node_.attribute(name);
    if (!attribute) return otherwise;
    return integer_of(attribute, range);
  }
  // Returns one of `choices`, selected by name.
  template <class Choice, std::size_t Count>
  [[nodiscard]] std::optional<Choice> choice(
      const char* name, const std::pair<const char*, Choice> (&choices)[Count]) {
    const pugi::xml_attribute attribute = required(name);
    if (!attribute) return std::nullopt;
    const std::string value = attribute.value();
    for (const auto& [text, chosen] : choices) {
      if (value == text) return chosen;
    }
    std::vector<std::string> names;
    for (const auto& [text, chosen] : choices) names.emplace_back(text);
    report_choice(attribute, names);
    return std::nullopt;
  }

  [[nodiscard]] bool has(const char* name) const { return !node_.attribute(name).empty(); }
  [[nodiscard]] std::string text(const char* name) const { return node_.attribute(name).value(); }
  // The element's path for messages, e.g. "gpu 1 tb 0 step 3".
  [[nodiscard]] std::string label() const {
    std::string label = parent_ == nullptr ? "" : parent_->label() + " ";
    label += node_.name();
    if (number_ == nullptr) return label;
    const pugi::xml_attribute number = node_.attribute(number_);
    return label +
           (number ? fmt::format(" {}", number.value()) : fmt::format(" without {}", number_));
  }

  // Report at the value of attribute `name`, or at the element if the attribute is missing.
  void error_at(const char* name, const std::string& message, std::string hint = {}) {
    report_.error(value_or_element(name), fmt::format("{}: {}: {}", label(), name, message),
                  std::move(hint));
  }
  void warn_at(const char* name, const std::string& message, std::string hint = {}) {
    report_.warning(value_or_element(name), fmt::format("{}: {}: {}", label(), name, message),
                    std::move(hint));
  }
  void error(std::string message, std::string hint = {}) {
    report_.error(node_.name(), std::move(message), std::move(hint));
  }

 private:
  [[nodiscard]] pugi::xml_attribute required(const char* name) {
    const pugi::xml_attribute attribute = node_.attribute(name);
    if (!attribute) {
      const std::string meant = nearest_name(name, unknown_);
      error(fmt::format("{}: attribute '{}' is missing", label(), name),
            meant.empty() ? "" : fmt::format("found '{}'; names are case-sensitive", meant));
    }
    return attribute;
  }
  [[nodiscard]] std::optional<std::int64_t> integer_of(pugi::xml_attribute attribute,
                                                       const IntegerRange& range) {
    const CInteger number = parse_c_integer(attribute.value());
    if (number.value && *number.value >= range.min && *number.value <= range.max)
      return number.value;
    const std::string what = number.value ? fmt::format("{} is out of range", attribute.value())
                                          : fmt::format("'{}' {}", attribute.value(), number.error);
    report_.error(attribute.value(), fmt::format("{}: {}: {}", label(), attribute.name(), what),
                  range.max == INT64_MAX ? fmt::format("at least {}", range.min)
                                         : fmt::format("{} to {}", range.min, range.max));
    return std::nullopt;
  }
  [[nodiscard]] const char* value_or_element(const char* name) const {
    const pugi::xml_attribute attribute = node_.attribute(name);
    return attribute ? attribute.value() : node_.name();
  }
  void report_choice(pugi::xml_attribute attribute, const std::vector<std::string>& names) {
    report_.error(
        attribute.value(),
        fmt::format("{}: {}: '{}' is unknown", label(), attribute.name(), attribute.value()),
        name_hint(attribute.value(), names));
  }
  void check_names(const std::vector<const char*>& known) {
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

  pugi::xml_node node_;
  const char* number_;
  const XmlElement* parent_;  // nullptr: the parent is not mentioned in messages
  XmlReport& report_;
  std::vector<std::string> unknown_;
};

}  // namespace espalier
