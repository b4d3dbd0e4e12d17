// What a point's result depends on, apart from the program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "sims/point/config.h"

namespace espalier {

// 64-bit FNV-1a of the bytes, which need not be UTF-8; of nothing where the file cannot be read.
[[nodiscard]] std::uint64_t hash_file(const std::filesystem::path& path);

// The resolved configuration, and a hash of each file that it names. Two points with the same
// content are one simulation.
[[nodiscard]] nlohmann::ordered_json point_content(const RunPoint& point);

}  // namespace espalier
