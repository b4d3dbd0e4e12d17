#pragma once

#include <string>
#include <vector>

namespace espalier {

[[nodiscard]] std::vector<std::string> list_kinds();
// `kind` empty: all kinds.
[[nodiscard]] int list_command(const std::string& kind);
[[nodiscard]] int schema_command(bool results, bool markdown);

}  // namespace espalier
