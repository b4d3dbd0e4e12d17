// Cases that are kept as files: counterexamples of the past.
#pragma once

#include <filesystem>
#include <vector>

#include "comparison.h"

namespace espalier::fuzz {

// Every folder with a configuration in it, at any depth, in the order of their names. False, with
// the differences on stdout, where one fails or there is none.
[[nodiscard]] bool replay(const std::vector<std::filesystem::path>& folders,
                          const Variants& variants);

}  // namespace espalier::fuzz
