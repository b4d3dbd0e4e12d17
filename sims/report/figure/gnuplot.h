// Runs gnuplot.
#pragma once

#include <filesystem>
#include <string>

namespace espalier {

// Runs the script in its folder. Empty if that went well, else what is wrong and what to do about
// it.
[[nodiscard]] std::string run_gnuplot(const std::filesystem::path& script);

}  // namespace espalier
