// Where a command's output goes.
#pragma once

#include <string>

namespace espalier {

// To file `target`, or to stdout where it is "-". False where it cannot be written: stderr says so.
[[nodiscard]] bool write_text(const std::string& target, const std::string& text);

}  // namespace espalier
