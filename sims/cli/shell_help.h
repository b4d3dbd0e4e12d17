// What the shell and man know of the program, from the definition of its command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace espalier {

// A script for bash, which zsh reads after bashcompinit: commands, options, values from a list, and
// the keys of configurations behind -s.
[[nodiscard]] std::string completion_script(const CLI::App& app, const std::string& shell);

// A page for man, section 1, in roff.
[[nodiscard]] std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace espalier
