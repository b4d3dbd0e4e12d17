// Where the chunks of a rank's buffers lie, aliasing included: two names of one place are one
// place (MSCCL-IR, in-place programs).
#pragma once

#include <cstdint>

#include "alg/program/program.h"

namespace espalier {

// A rank's memory is a row of places, one per chunk: [0, num_places).
// Out of place: input, output, scratch. In place, input and output share the larger of the two:
// all_reduce, reduce, broadcast, all_to_all, custom: chunk for chunk; all_gather: input chunk k of
// rank r is output chunk r * f + k; reduce_scatter: output chunk k of rank r is input chunk
// r * f + k; f = chunks / ranks.
class ProgramStorage {
 public:
  // `program` must have at least one rank. custom: buffers are as large as each rank declares them.
  explicit ProgramStorage(const Program& program);

  // Sizes of a rank's buffers, in chunks, whether the program names them or not.
  [[nodiscard]] std::uint32_t size(std::uint32_t rank, ProgramBuffer buffer) const;
  // Precondition: offset < size(rank, buffer).
  [[nodiscard]] std::uint32_t place(std::uint32_t rank, ProgramBuffer buffer,
                                    std::uint32_t offset) const;
  [[nodiscard]] std::uint32_t num_places(std::uint32_t rank) const;
  // Of chunk 0 of scratch; scratch is the end of the row.
  [[nodiscard]] std::uint32_t first_scratch(std::uint32_t rank) const;

 private:
  [[nodiscard]] std::uint32_t input_base(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t output_base(std::uint32_t rank) const;

  const Program& program_;
  std::uint32_t share_;  // chunks / ranks
};

// What the collective promises of output chunk `index` of `rank`, ascending; empty where it
// promises nothing of it. broadcast, reduce: `root`; custom: program.promises.
[[nodiscard]] std::vector<InputChunk> promised_value(const Program& program, std::uint32_t rank,
                                                     std::uint32_t index, std::uint32_t root = 0);

}  // namespace espalier
