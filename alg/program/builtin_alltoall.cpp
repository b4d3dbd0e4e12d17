#include "alg/program/builtin_parts.h"

namespace espalier {

// GC3, section 7.3: all that a server has for rank g of another one is first brought together on
// its own rank g, and crosses in one message. The figure there sends to its own server, too, from
// scratch that nobody wrote.
// Servers take their partners in the order of their distance. In the order printed there, all send
// to the first one first.
Program build_twostep_alltoall(const BuiltinRequest& request) {
  const auto signature = signature_for(request, "gc3_twostep_alltoall", CollectiveOp::all_to_all,
                                       request.ranks, false);
  const std::uint32_t per_server = request.ranks_per_server;
  const std::uint32_t servers = request.ranks / per_server;
  const auto rank = [&](std::uint32_t server, std::uint32_t g) { return server * per_server + g; };
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    for (std::uint32_t away = 0; away < servers; ++away) {
      for (std::uint32_t g = 0; g < per_server; ++g) {
        for (std::uint32_t m = 0; m < servers; ++m) {
          const std::uint32_t n = (m + away) % servers;
          for (std::uint32_t i = 0; i < per_server; ++i) {
            const ChunkRef chunk = tracer.chunk(rank(m, i), ProgramBuffer::input, rank(n, g));
            if (n == m) {
              chunk.copy(rank(n, g), ProgramBuffer::output, rank(m, i));
            } else {
              chunk.copy(rank(m, g), ProgramBuffer::scratch, rank(n, i));
            }
          }
          if (n == m) continue;
          tracer.chunk(rank(m, g), ProgramBuffer::scratch, rank(n, 0), per_server)
              .copy(rank(n, g), ProgramBuffer::output, rank(m, 0));
        }
      }
    }
  });
}

// The same by hand over a library: one call hands every rank the chunks that its server has for its
// counterparts, as they come; the next one copies them side by side and exchanges the runs.
Program build_twostep_alltoall_composed(const BuiltinRequest& request) {
  const auto signature = signature_for(request, "gc3_twostep_alltoall_composed",
                                       CollectiveOp::all_to_all, request.ranks, false);
  const std::uint32_t per_server = request.ranks_per_server;
  const std::uint32_t servers = request.ranks / per_server;
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    // Behind the runs in scratch: chunk of rank i of this server for rank g's counterpart in `to`.
    const auto arrived = [&](std::uint32_t i, std::uint32_t to) {
      return request.ranks + i * servers + to;
    };
    for (std::uint32_t away = 0; away < per_server; ++away) {
      for (std::uint32_t r = 0; r < request.ranks; ++r) {
        const std::uint32_t first = r / per_server * per_server;
        const std::uint32_t i = r - first;
        const std::uint32_t g = (i + away) % per_server;
        for (std::uint32_t to = 0; to < servers; ++to) {
          const std::uint32_t target = to * per_server + g;
          const ChunkRef chunk = tracer.chunk(r, ProgramBuffer::input, target);
          if (to * per_server == first) {
            chunk.copy(target, ProgramBuffer::output, r);
          } else {
            chunk.copy(first + g, ProgramBuffer::scratch, arrived(i, to));
          }
        }
      }
    }
    tracer.next_call();
    for (std::uint32_t away = 1; away < servers; ++away) {
      for (std::uint32_t r = 0; r < request.ranks; ++r) {
        const std::uint32_t from = r / per_server;
        const std::uint32_t to = (from + away) % servers;
        const std::uint32_t run = to * per_server;
        for (std::uint32_t i = 0; i < per_server; ++i) {
          tracer.chunk(r, ProgramBuffer::scratch, arrived(i, to))
              .copy(r, ProgramBuffer::scratch, run + i);
        }
        tracer.chunk(r, ProgramBuffer::scratch, run, per_server)
            .copy(run + r % per_server, ProgramBuffer::output, from * per_server);
      }
    }
  });
}

Program build_direct_alltoall(const BuiltinRequest& request) {
  const std::uint32_t ranks = request.ranks;
  const auto signature =
      signature_for(request, "gc3_direct_alltoall", CollectiveOp::all_to_all, ranks, false);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    // Peers in the order of their distance: no rank is everyone's first.
    for (std::uint32_t r = 0; r < ranks; ++r) {
      tracer.chunk(r, ProgramBuffer::input, r).copy(r, ProgramBuffer::output, r);
    }
    for (std::uint32_t away = 1; away < ranks; ++away) {
      for (std::uint32_t r = 0; r < ranks; ++r) {
        const std::uint32_t peer = (r + away) % ranks;
        tracer.chunk(r, ProgramBuffer::input, peer)
            .copy(peer, ProgramBuffer::output, r, channel_of_distance(away));
      }
    }
  });
}

}  // namespace espalier
