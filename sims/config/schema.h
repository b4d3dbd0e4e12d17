// The configuration's reference, as text.
#pragma once

#include <string>

namespace espalier {

// Every key with what it takes, its default and its meaning, section by section.
[[nodiscard]] std::string schema_text();

}  // namespace espalier
