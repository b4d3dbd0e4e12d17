// Tables of this folder that are part of the program, as CMake has read them.
#pragma once

#include <string_view>

namespace espalier {

[[nodiscard]] std::string_view command_line_file();  // command_line.txt
[[nodiscard]] std::string_view names_file();         // names.txt
[[nodiscard]] std::string_view columns_file();       // columns.txt
[[nodiscard]] std::string_view completion_file();    // completion.bash

}  // namespace espalier
