// What a custom collective promises, which its program's file does not say. A line per output
// chunk, in any order; '#' begins a comment:
//
//   rank 1 out 0 = 0:0 + 1:0   # input chunk 0 of rank 0 and that of rank 1
//
// Nothing is promised of a chunk that has no line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alg/program/program.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Of `program`, for its promises; ascending in (rank, index). Nothing where there are errors.
[[nodiscard]] std::optional<std::vector<PromisedChunk>> read_promises(const std::string& file_name,
                                                                      const std::string& text,
                                                                      const Program& program,
                                                                      Diagnostics& diagnostics);
// The file of program.promises.
[[nodiscard]] std::string write_promises(const Program& program);

}  // namespace espalier
