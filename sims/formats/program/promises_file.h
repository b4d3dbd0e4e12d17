// The promises of a custom collective, which the file of its program does not hold. A line for each
// output chunk, in any order; '#' begins a comment:
//
//   rank 1 out 0 = 0:0 + 1:0   # the sum of input chunk 0 of rank 0 and of rank 1
//
// The order of a sum has no meaning. A chunk that is added twice is listed twice. An output chunk
// without a line has no promise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alg/program/program.h"
#include "sims/formats/program/line_parser.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Sizes of the buffers of a custom collective.
struct PromiseBounds {
  std::vector<std::uint32_t> input_chunks;   // by rank
  std::vector<std::uint32_t> output_chunks;  // by rank
};

// Reads from the word 'rank' to the end of the line.
[[nodiscard]] std::optional<PromisedChunk> read_promise(LineParser& line,
                                                        const PromiseBounds& bounds);

// The promises for `program`, ascending in (rank, index). nullopt: there are errors.
[[nodiscard]] std::optional<std::vector<PromisedChunk>> read_promises(const std::string& file_name,
                                                                      const std::string& text,
                                                                      const Program& program,
                                                                      Diagnostics& diagnostics);

}  // namespace espalier
