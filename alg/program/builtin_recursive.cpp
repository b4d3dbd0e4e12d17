// Recursive halving and doubling (Thakur, Rabenseifner, Gropp: "Optimization of collective
// communication operations in MPICH", 2005): partners exchange runs of chunks whose length halves
// or doubles with the distance.
#include "alg/program/builtin_parts.h"

namespace espalier {

namespace {

// Of the aligned run of `length` chunks that has the rank's own.
std::uint32_t first_of_run(std::uint32_t rank, std::uint32_t length) {
  return rank / length * length;
}

void write_halving(ChunkTracer& tracer, std::uint32_t ranks) {
  for (std::uint32_t distance = ranks / 2; distance > 0; distance /= 2) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const std::uint32_t index = first_of_run(r, distance);
      const ChunkRef theirs = tracer.chunk(r ^ distance, ProgramBuffer::input, index, distance);
      tracer.chunk(r, ProgramBuffer::input, index, distance).reduce(theirs);
    }
  }
}

void write_doubling(ChunkTracer& tracer, std::uint32_t ranks, ProgramBuffer buffer) {
  for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const std::uint32_t index = first_of_run(r, distance);
      tracer.chunk(r, buffer, index, distance).copy(r ^ distance, buffer, index);
    }
  }
}

}  // namespace

Program build_halving_doubling(const BuiltinRequest& request) {
  const auto signature =
      signature_for(request, "gc3_halving_doubling", CollectiveOp::all_reduce, request.ranks, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    write_halving(tracer, request.ranks);
    write_doubling(tracer, request.ranks, ProgramBuffer::input);
  });
}

Program build_allgather_recursive_doubling(const BuiltinRequest& request) {
  const auto signature = signature_for(request, "gc3_allgather_recursive_doubling",
                                       CollectiveOp::all_gather, request.ranks, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    write_doubling(tracer, request.ranks, ProgramBuffer::output);
  });
}

}  // namespace espalier
