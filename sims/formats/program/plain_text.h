// Names that may be shown and written as they are.
#pragma once

#include <string>

#include "sims/text/utf8.h"

namespace espalier {

// Well-formed UTF-8 without control characters.
[[nodiscard]] inline bool is_plain_text(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0 || is_control(text[at])) return false;
    at += length;
  }
  return true;
}

}  // namespace espalier
