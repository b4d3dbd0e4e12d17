// Built-in all-to-alls.
#include "alg/program/builtin_parts.h"

namespace espalier {

// GC3, section 7.3: a server first gathers its data for rank g of another server on its own rank g,
// and sends them in one message. There are two differences from the paper. The paper's figure also
// sends to the own server, from scratch that was never written. In the paper's order all servers
// start with the first server; here partners are ordered by distance.
void write_twostep_alltoall(ChunkTracer& tracer, const BuiltinRequest& request) {
  const std::uint32_t per_server = request.ranks_per_server;
  const std::uint32_t servers = request.ranks / per_server;
  const auto rank = [&](std::uint32_t server, std::uint32_t g) { return server * per_server + g; };
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
}

void write_direct_alltoall(ChunkTracer& tracer, const BuiltinRequest& request) {
  const std::uint32_t ranks = request.ranks;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    tracer.chunk(r, ProgramBuffer::input, r).copy(r, ProgramBuffer::output, r);
  }
  for_each_distance(ranks, ranks, [&](std::uint32_t away, std::uint32_t r) {
    const std::uint32_t peer = (r + away) % ranks;
    tracer.chunk(r, ProgramBuffer::input, peer)
        .copy(peer, ProgramBuffer::output, r, channel_of_distance(away));
  });
}

}  // namespace espalier
