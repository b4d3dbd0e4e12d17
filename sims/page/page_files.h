// The files of the page, which CMake makes part of the program: its *.html, *.css and *.js, and the
// chart library (Chart.js) of the machine that built it.
#pragma once

#include <string_view>

namespace espalier::report {

[[nodiscard]] std::string_view page_template();
[[nodiscard]] std::string_view picture_style();  // also of SVG files
[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_script();
[[nodiscard]] std::string_view chart_library();

}  // namespace espalier::report
