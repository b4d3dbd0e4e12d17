// Strict reading of XML documents, with a place for every error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sims/text/diagnostics.h"

namespace espalier {

// An integer as C reads it with base 0: 12, 0x1f, 017.
struct CInteger {
  std::optional<std::int64_t> value;
  std::string error;  // if there is no value: the reason, to be appended to the text
};

// The whole text must be an optional sign and digits, without blanks.
[[nodiscard]] CInteger parse_c_integer(std::string_view text);

// The parsed text of an XML file, and the place of each name and value.
class XmlSource {
 public:
  // Text that is not well-formed XML in UTF-8 gives one error and an empty document.
  XmlSource(const std::string& file_name, const std::string& text, Diagnostics& diagnostics);
  XmlSource(const XmlSource&) = delete;
  XmlSource& operator=(const XmlSource&) = delete;

  [[nodiscard]] pugi::xml_node document() const { return document_; }
  [[nodiscard]] SourceIndex index() const { return index_; }
  // `text` is a name or a value of the document. For any other text, returns the place of the whole
  // file.
  [[nodiscard]] Place place(const char* text) const;

 private:
  [[nodiscard]] Place place_of_offset(std::size_t offset) const;
  bool parse(Diagnostics& diagnostics);

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
  void error(const char* at, std::string message, std::string hint = {});
  void warning(const char* at, std::string message, std::string hint = {});
  // Counts an ignored name or text. end() warns of it once, with the number of times. make_hint()
  // is called the first time.
  template <class MakeHint>
  void ignored(const char* at, const std::string& what, const MakeHint& make_hint) {
    Ignored& known = ignored_[what];
    if (known.times++ == 0) known = {source_.place(at), make_hint(), 1};
  }
  void end();

  [[nodiscard]] bool failed() const { return diagnostics_.num_errors() != errors_before_; }
  // True if the limit of errors is reached. The rest of the document is then not read.
  [[nodiscard]] bool full() const;
  [[nodiscard]] std::uint32_t line(const char* at) const { return source_.place(at).line; }

 private:
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
             const XmlElement* parent, XmlReport& report);

  // Returns nullopt after an error: the attribute is missing or invalid.
  [[nodiscard]] std::optional<std::int64_t> integer(const char* name, const IntegerRange& range);
  // Returns `otherwise` if the attribute is missing.
  [[nodiscard]] std::optional<std::int64_t> integer_or(const char* name, const IntegerRange& range,
                                                       std::int64_t otherwise);
  // Returns one of `choices`, selected by name.
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
  // The element's path for messages, e.g. "gpu 1 tb 0 step 3".
  [[nodiscard]] std::string label() const;

  // Report at the value of attribute `name`, or at the element if the attribute is missing.
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
  const XmlElement* parent_;  // nullptr: the parent is not mentioned in messages
  XmlReport& report_;
  std::vector<std::string> unknown_;
};

}  // namespace espalier
