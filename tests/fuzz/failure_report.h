// What is left of a failing case: a small configuration that shows the difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "comparison.h"
#include "fuzz_case.h"

namespace espalier::fuzz {

// Writes the case to `scratch` and runs it.
[[nodiscard]] Verdict compare_case(const FuzzCase& fuzz_case, const Variants& variants,
                                   const std::filesystem::path& scratch);

struct FailingCase {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
  FuzzCase fuzz_case;
  Verdict verdict;
};

// Shrinks the case, writes both forms to folders in `out`, and prints the small one.
void report_failure(const FailingCase& failing, const Variants& variants,
                    const std::filesystem::path& scratch, const std::filesystem::path& out,
                    std::size_t shrink_tries);

}  // namespace espalier::fuzz
