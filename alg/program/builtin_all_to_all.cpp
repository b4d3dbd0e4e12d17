// Built-in all-to-alls, and AllToNext.
#include "alg/program/builtin_parts.h"

namespace espalier {

// GC3, section 7.3: a server first gathers its data for rank g of another server on its own rank g,
// and sends them in one message. There are two differences from the paper. The paper's figure also
// sends to the own server, from scratch that was never written. In the paper's order all servers
// start with the first server; here partners are ordered by distance.
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

// The same with two library calls. The first call gives every rank the chunks that its server has
// for its counterparts, in the order of arrival. The second call copies them side by side and
// exchanges the sequences of chunks.
Program build_twostep_alltoall_composed(const BuiltinRequest& request) {
  const auto signature = signature_for(request, "gc3_twostep_alltoall_composed",
                                       CollectiveOp::all_to_all, request.ranks, false);
  const std::uint32_t per_server = request.ranks_per_server;
  const std::uint32_t servers = request.ranks / per_server;
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    // Index in scratch, after the sequences: the chunk of rank i of this server for the counterpart
    // in `to`.
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
    // Peers are ordered by distance, so the ranks do not all start with the same peer.
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

// AllToNext (GC3, section 7.4): rank i's buffer goes to rank i + 1. The last rank sends nothing,
// and the first receives nothing.

namespace {

ProgramSignature signature_of_next(const BuiltinRequest& request, const char* name,
                                   std::uint32_t chunks) {
  auto signature = signature_for(request, name, CollectiveOp::custom, chunks, false);
  for (std::uint32_t r = 1; r < request.ranks; ++r) {
    for (std::uint32_t k = 0; k < chunks; ++k) signature.promises.push_back({r, k, {{r - 1, k}}});
  }
  return signature;
}

}  // namespace

// Between servers every rank carries a part to its counterpart, so that all network links are used.
Program build_alltonext(const BuiltinRequest& request) {
  const std::uint32_t per_server = request.ranks_per_server;
  const auto signature = signature_of_next(request, "gc3_alltonext", per_server);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    constexpr std::uint32_t kLeaving = 0;  // chunks of scratch
    constexpr std::uint32_t kArriving = 1;
    for (std::uint32_t r = 0; r + 1 < request.ranks; ++r) {
      const std::uint32_t next = r + 1;
      if (next % per_server != 0) {
        tracer.chunk(r, ProgramBuffer::input, 0, per_server).copy(next, ProgramBuffer::output, 0);
        continue;
      }
      const std::uint32_t first = next - per_server;  // first rank of this server
      for (std::uint32_t g = 0; g < per_server; ++g) {
        ChunkRef part = tracer.chunk(r, ProgramBuffer::input, g);
        if (first + g != r) part = part.copy(first + g, ProgramBuffer::scratch, kLeaving);
        if (g != 0) part = part.copy(next + g, ProgramBuffer::scratch, kArriving);
        part.copy(next, ProgramBuffer::output, g);
      }
    }
  });
}

Program build_alltonext_direct(const BuiltinRequest& request) {
  const auto signature = signature_of_next(request, "gc3_alltonext_direct", 1);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    for (std::uint32_t r = 0; r + 1 < request.ranks; ++r) {
      tracer.chunk(r, ProgramBuffer::input, 0).copy(r + 1, ProgramBuffer::output, 0);
    }
  });
}

}  // namespace espalier
