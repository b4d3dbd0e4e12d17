#pragma once

namespace espalier::report {

// The style sheet of every page: text, tables, and the classes of pictures, light and dark.
[[nodiscard]] const char* style_sheet();

}  // namespace espalier::report
