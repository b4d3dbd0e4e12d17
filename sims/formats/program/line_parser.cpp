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

bool LineParser::missing(const std::string& what) {
  error(place(), fmt::format("{} is missing", what), form_);
  return false;
}

bool LineParser::accept(const std::string& word) {
  if (peek() != word) return false;
  ++next_;
  return true;
}

bool LineParser::expect(const std::string& word) {
  if (accept(word)) return true;
  if (at_end()) return missing(fmt::format("'{}'", word));
  error(place(), fmt::format("expected '{}', found '{}'", word, peek()), form_);
  return false;
}

bool LineParser::expect_end() {
  if (at_end()) return !failed_;
  error(place(), fmt::format("expected the end of the line, found '{}'", peek()), form_);
  return false;
}

std::optional<ConfigNode> LineParser::word(const std::string& what) {
  if (at_end()) {
    missing(what);
    return std::nullopt;
  }
  return words_[next_++];
}

std::optional<std::uint64_t> LineParser::value(const std::string& what, const ValueShape& shape) {
  const auto text = word(what);
  if (!text) return std::nullopt;
  const auto value = parse_value(*text, what, shape, diagnostics_);
  failed_ = failed_ || !value;
  if (!value) return std::nullopt;
  return value->number;
}

std::optional<std::uint32_t> LineParser::number(const std::string& what, std::uint32_t min,
                                                std::uint32_t max) {
  const auto number = value(what, range_shape(min, max));
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::optional<std::uint64_t> LineParser::bytes(const std::string& what) {
  const bool is_plain = peek().find_first_not_of("0123456789") == std::string::npos;
  return value(what,
               range_shape(0, INT64_MAX - 1, is_plain ? ValueType::integer : ValueType::size));
}

std::optional<std::size_t> LineParser::index_of(const std::string& what,
                                                const std::vector<std::string>& names) {
  const auto text = word(what);
  if (!text) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), text->text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  error(text->place, fmt::format("unknown {} '{}'", what, text->text),
        name_hint(text->text, names));
  return std::nullopt;
}

std::string LineParser::rest() {
  if (at_end()) return {};
  const std::size_t begin = words_[next_].place.column - start_.column;
  next_ = words_.size();
  return line_.substr(begin);
}

}  // namespace espalier
