#include "sims/text/utf8.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace espalier {

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                             : first >= 0xe0 && first <= 0xef ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) > 0x9f;
  const bool too_large = first == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::uint32_t code_point(std::string_view character) {
  const std::size_t length = character.size();
  std::uint32_t code = static_cast<unsigned char>(character.front());
  if (length > 1) code &= 0x7fU >> length;
  for (std::size_t i = 1; i < length; ++i) {
    code = code << 6U | (static_cast<unsigned char>(character[i]) & 0x3fU);
  }
  return code;
}

namespace {

// Control characters, and characters that change the order of letters, hide, or end a line.
// U+200C and U+200D are letters' shapes in some languages.
bool is_obeyed(std::uint32_t code) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kRanges[] = {
      {0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200b}, {0x200e, 0x200f},
      {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  return std::any_of(std::begin(kRanges), std::end(kRanges), [code](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

}  // namespace

std::size_t first_unplain(std::string_view text, std::string_view kept) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return at;
    const bool is_kept = kept.find(text[at]) != std::string_view::npos;
    if (!is_kept && is_obeyed(code_point(text.substr(at, length)))) return at;
    at += length;
  }
  return text.size();
}

bool is_plain_text(std::string_view text) { return first_unplain(text) == text.size(); }

std::string printable(std::string_view text, std::string_view kept) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t plain = first_unplain(text, kept);
    shown += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    shown += '?';
    text.remove_prefix(std::max<std::size_t>(utf8_length(text, 0), 1));
  }
  return shown;
}

}  // namespace espalier
