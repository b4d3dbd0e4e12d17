// All pairs (GC3, section 7.1.2): an all-reduce in two steps. Every rank gets its chunk from all
// others side by side in scratch, adds them up, and hands the sum to all.
#include "alg/program/builtin_parts.h"

namespace espalier {

Program build_allpairs(const BuiltinRequest& request) {
  const std::uint32_t ranks = request.ranks;
  const auto signature =
      signature_for(request, "gc3_allpairs", CollectiveOp::all_reduce, ranks, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    // Peers in the order of their distance: no rank is everyone's first.
    for (std::uint32_t away = 1; away < ranks; ++away) {
      for (std::uint32_t r = 0; r < ranks; ++r) {
        const std::uint32_t peer = (r + away) % ranks;
        tracer.chunk(r, ProgramBuffer::input, peer)
            .copy(peer, ProgramBuffer::scratch, away - 1, channel_of_distance(away));
      }
    }
    for (std::uint32_t r = 0; r < ranks; ++r) {
      ChunkRef sum = tracer.chunk(r, ProgramBuffer::input, r);
      for (std::uint32_t away = 1; away < ranks; ++away) {
        sum = sum.reduce(tracer.chunk(r, ProgramBuffer::scratch, away - 1));
      }
    }
    for (std::uint32_t away = 1; away < ranks; ++away) {
      for (std::uint32_t r = 0; r < ranks; ++r) {
        const ChunkRef sum = tracer.chunk(r, ProgramBuffer::input, r);
        sum.copy((r + away) % ranks, ProgramBuffer::input, r, channel_of_distance(away));
      }
    }
  });
}

}  // namespace espalier
