// Programs of the chunk language as text (docs/programs.md), one operation per line, for programs
// that are written in any language:
//
//   collective all_reduce ranks 2 chunks 2 in_place
//   %1 = chunk rank 0 in 0
//   %2 = chunk rank 1 in 0
//   %3 = reduce %2 %1          # rank 0's into rank 1's
//   copy %3 rank 0 in 0 ch=0
#pragma once

#include <optional>
#include <string>

#include "alg/program/chunk_language.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// nullopt: there are errors. All errors of the grammar are reported; without them, the first error
// of the language, at its operation.
[[nodiscard]] std::optional<ChunkTrace> read_trace(const std::string& file_name,
                                                   const std::string& text,
                                                   Diagnostics& diagnostics);

}  // namespace espalier
