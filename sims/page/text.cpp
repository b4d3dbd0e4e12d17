#include "sims/page/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "sims/text/units.h"
#include "sims/text/utf8.h"

namespace espalier::report {

namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

const char* escaped(char c) {
  constexpr std::string_view kMarkup = "&<>\"'";
  constexpr const char* kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  const std::size_t found = kMarkup.find(c);
  return found == std::string_view::npos ? nullptr : kEntities[found];
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace

std::string escape(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text, at), 1);
    if (first_unplain(std::string_view(text).substr(at, length), "\t\n") != length) {
      result += kReplacement;
    } else if (const char* entity = length == 1 ? escaped(text[at]) : nullptr) {
      result += entity;
    } else {
      result.append(text, at, length);
    }
    at += length;
  }
  return result;
}

std::string number_text(double value) {
  const double size = std::abs(value);
  if (size >= 1000 && size < 1e9) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value == 0 ? 0.0 : value);
}

std::string place_text(const char* command, double x, double y) {
  return command + without_trailing_zeros(fmt::format("{:.2f}", x)) + " " +
         without_trailing_zeros(fmt::format("{:.2f}", y));
}

std::string bytes_text(std::uint64_t bytes) {
  const std::string exact = format_quantity(Quantity::size, bytes, " ");
  for (const auto& [unit_bytes, unit] : {std::pair{1e9, "GB"}, {1e6, "MB"}, {1e4, "kB"}}) {
    const double scale = unit_bytes == 1e4 ? 1e3 : unit_bytes;
    // In bytes, a large size has too many digits.
    if (static_cast<double>(bytes) >= unit_bytes && exact == fmt::format("{} B", bytes))
      return fmt::format("{:.4g} {}", static_cast<double>(bytes) / scale, unit);
  }
  return exact;
}

std::string percent_text(double part) {
  // Larger ratios, from invalid results, would have hundreds of digits or overflow.
  constexpr double kMost = 1e7;
  if (part >= kMost) return "over 1e+09 %";
  if (part <= -kMost) return "below -1e+09 %";
  return fmt::format("{:.1f} %", 100 * part);
}

void add_word(std::string& words, const std::string& word) {
  if (!word.empty()) words += (words.empty() ? "" : ", ") + word;
}

std::string spread_text(double part) {
  return part < 1e-4 ? "0.01 %" : fmt::format("{:.2g} %", 100 * part);
}

std::string count_text(std::size_t count, const std::string& singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

}  // namespace espalier::report
