// MSCCL++'s all-reduce of small data (test/mscclpp-test/allreduce_test.cu, kernel 2).
#include "alg/program/builtin_parts.h"

namespace espalier {

// In a server every rank sends all its data to all others, and adds what it receives. Then it
// exchanges the sum with the ranks of its number in the other servers: two steps, and one message
// to each other server.
Program build_mscclpp_packets(const BuiltinRequest& request) {
  const std::uint32_t per_server = request.ranks_per_server;
  const std::uint32_t servers = request.ranks / per_server;
  const auto signature =
      signature_for(request, "mscclpp_packets", CollectiveOp::all_reduce, 1, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    // Every rank exchanges its data with `members` - 1 peers, and adds theirs. They arrive in
    // scratch, from the index `first` on.
    const auto exchange = [&](std::uint32_t members, std::uint32_t first, auto peer) {
      for (std::uint32_t away = 1; away < members; ++away) {
        for (std::uint32_t r = 0; r < request.ranks; ++r) {
          tracer.chunk(r, ProgramBuffer::input, 0)
              .copy(peer(r, away), ProgramBuffer::scratch, first + away - 1,
                    channel_of_distance(first + away));
        }
      }
      for (std::uint32_t r = 0; r < request.ranks; ++r) {
        ChunkRef sum = tracer.chunk(r, ProgramBuffer::input, 0);
        for (std::uint32_t away = 1; away < members; ++away) {
          sum = sum.reduce(tracer.chunk(r, ProgramBuffer::scratch, first + away - 1));
        }
      }
    };
    exchange(per_server, 0, [&](std::uint32_t r, std::uint32_t away) {
      return r / per_server * per_server + (r + away) % per_server;
    });
    exchange(servers, per_server - 1, [&](std::uint32_t r, std::uint32_t away) {
      return (r + away * per_server) % request.ranks;
    });
  });
}

}  // namespace espalier
