#include "sims/formats/program/line_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "sims/text/nearest_name.h"
#include "sims/text/text_lines.h"

namespace espalier {

namespace {
constexpr const char* kMarks = "=+:";

std::string_view without_blank_end(std::string_view line) {
  const std::size_t last = line.find_last_not_of(kBlanks);
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}
}  // namespace

LineParser::LineParser(std::string_view line, const Place& line_start, Diagnostics& diagnostics)
    : diagnostics_(diagnostics),
      line_(without_blank_end(line.substr(0, line.find('#')))),
      start_(line_start),
      words_(words_of(line_, start_, kMarks)) {}

const std::string& LineParser::peek() const {
  static const std::string kNothing;
  return at_end() ? kNothing : words_[next_].text;
}

Place LineParser::place() const {
  if (!at_end()) return words_[next_].place;
  Place end = start_;
  end.column += static_cast<std::uint32_t>(line_.size());
  return end;
}

void LineParser::error(const Place& place, std::string message, std::string hint) {
  failed_ = true;
  diagnostics_.error(place, std::move(message), std::move(hint));
}

bool LineParser::accept(const std::string& word) {
  if (failed_ || peek() != word) return false;
  ++next_;
  return true;
}

void LineParser::expect(const std::string& word) {
  if (accept(word) || failed_) return;
  error(place(),
        at_end() ? fmt::format("'{}' is missing", word)
                 : fmt::format("expected '{}', found '{}'", word, peek()),
        form_);
}

bool LineParser::expect_end() {
  if (!failed_ && !at_end()) {
    error(place(), fmt::format("expected the end of the line, found '{}'", peek()), form_);
  }
  return !failed_;
}

ConfigNode LineParser::word(const std::string& what) {
  if (!failed_ && !at_end()) return words_[next_++];
  if (!failed_) error(place(), fmt::format("{} is missing", what), form_);
  return {};
}

std::uint64_t LineParser::value(const std::string& what, const ValueShape& shape) {
  const ConfigNode text = word(what);
  if (failed_) return shape.min;
  const auto value = parse_value(text, what, shape, diagnostics_);
  failed_ = !value;
  return value ? value->number : shape.min;
}

std::uint32_t LineParser::number(const std::string& what, std::uint32_t min, std::uint32_t max) {
  return static_cast<std::uint32_t>(value(what, range_shape(min, max)));
}

std::uint64_t LineParser::bytes(const std::string& what) {
  const bool is_plain = peek().find_first_not_of("0123456789") == std::string::npos;
  return value(what,
               range_shape(0, INT64_MAX - 1, is_plain ? ValueType::integer : ValueType::size));
}

std::size_t LineParser::index_of(const std::string& what, const std::vector<std::string>& names) {
  const ConfigNode text = word(what);
  if (failed_) return 0;
  const auto found = std::find(names.begin(), names.end(), text.text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  error(text.place, fmt::format("unknown {} '{}'", what, text.text), name_hint(text.text, names));
  return 0;
}

std::string LineParser::rest() {
  if (at_end()) return {};
  const std::size_t begin = words_[next_].place.column - start_.column;
  next_ = words_.size();
  return line_.substr(begin);
}

}  // namespace espalier
