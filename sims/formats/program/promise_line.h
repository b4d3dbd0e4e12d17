// "rank 1 out 0 = 0:0 + 1:0": output chunk 0 of rank 1 is the sum of input chunk 0 of rank 0 and of
// rank 1. The order of a sum means nothing; a chunk that is added twice stands there twice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alg/program/program.h"
#include "sims/formats/program/line_parser.h"

namespace espalier {

// Buffers of a custom collective, as far as promises go.
struct PromiseBounds {
  std::vector<std::uint32_t> input_chunks;  // by rank
  std::vector<std::uint32_t> output_chunks;
};

// From the word 'rank' to the end of the line.
[[nodiscard]] std::optional<PromisedChunk> read_promise(LineParser& line,
                                                        const PromiseBounds& bounds);
[[nodiscard]] std::string promise_text(const PromisedChunk& promise);

}  // namespace espalier
