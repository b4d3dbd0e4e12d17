#pragma once

#include <string>

namespace espalier::report {

// The style sheet of every page: text, tables, and the classes of pictures, for light and dark
// pages.
[[nodiscard]] std::string style_sheet();

}  // namespace espalier::report
