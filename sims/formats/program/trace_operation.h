// One operation of a trace, as it was written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/program/chunk_language.h"
#include "sims/formats/program/line_parser.h"

namespace espalier {

enum class TraceWord : std::uint8_t { chunk, copy, reduce, parallelize, end, call };

struct TraceOperation {
  TraceWord word = TraceWord::chunk;
  std::optional<std::uint32_t> result;   // "%3 = ..."
  std::vector<std::uint32_t> arguments;  // references: of copy 1, of reduce 2
  ChunkSpan span;                        // chunk; copy: its target
  std::optional<std::uint32_t> channel;
  std::uint32_t instances = 1;  // parallelize
  Place place;                  // of the word
  Place result_place;
  std::vector<Place> argument_places;
};

// The words that begin an operation, behind its result.
[[nodiscard]] const std::vector<std::string>& trace_words();

// Nothing where there is an error.
[[nodiscard]] std::optional<TraceOperation> read_operation(LineParser& line);

}  // namespace espalier
