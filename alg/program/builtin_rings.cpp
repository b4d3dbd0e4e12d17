// Rings (GC3, section 7.1.1): one logical ring whose chunks are spread over channels, so that the
// sends of one and the receives of another overlap.
#include "alg/program/builtin_parts.h"

namespace espalier {

Program build_ring(const BuiltinRequest& request) {
  const auto signature =
      signature_for(request, "gc3_ring", CollectiveOp::all_reduce, request.ranks, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    const RingRuns runs{all_ranks(request), ProgramBuffer::input, 0, 1, 0, request.channels};
    write_ring_reduce_scatter(tracer, runs);
    write_ring_all_gather(tracer, runs);
  });
}

// As NCCL's rings between servers: ring c enters every server at its rank c and leaves it by the
// rank before, so that the NICs of all ranks carry some of the rings.
Program build_ring_rotated(const BuiltinRequest& request) {
  const auto signature = signature_for(request, "gc3_ring_rotated", CollectiveOp::all_reduce,
                                       request.ranks * request.channels, true);
  const std::uint32_t per_server = request.ranks_per_server;
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    for (std::uint32_t c = 0; c < request.channels; ++c) {
      RingRuns runs{{}, ProgramBuffer::input, c * request.ranks, 1, c, 1};
      for (std::uint32_t r = 0; r < request.ranks; ++r) {
        const std::uint32_t first = r / per_server * per_server;  // of its server
        runs.ranks.push_back(first + (r + c) % per_server);
      }
      write_ring_reduce_scatter(tracer, runs);
      write_ring_all_gather(tracer, runs);
    }
  });
}

Program build_allgather_ring(const BuiltinRequest& request) {
  const auto signature =
      signature_for(request, "gc3_allgather_ring", CollectiveOp::all_gather, request.ranks, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    const RingRuns runs{all_ranks(request), ProgramBuffer::output, 0, 1, 0, request.channels};
    write_ring_all_gather(tracer, runs);
  });
}

Program build_reducescatter_ring(const BuiltinRequest& request) {
  const auto signature = signature_for(request, "gc3_reducescatter_ring",
                                       CollectiveOp::reduce_scatter, request.ranks, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    const RingRuns runs{all_ranks(request), ProgramBuffer::input, 0, 1, 0, request.channels};
    write_ring_reduce_scatter(tracer, runs);
  });
}

}  // namespace espalier
