// The hierarchical all-reduce (GC3, section 2): rings inside servers, then across them, and back.
// Links of both kinds are busy at once, on different tiles.
#include "alg/program/builtin_parts.h"

namespace espalier {

namespace {

class Hierarchical {
 public:
  Hierarchical(const BuiltinRequest& request, bool composed)
      : request_(request),
        per_server_(request.ranks_per_server),
        servers_(request.ranks / request.ranks_per_server),
        composed_(composed) {}

  Program build() {
    const auto signature =
        signature_for(request_, composed_ ? "gc3_hierarchical_composed" : "gc3_hierarchical",
                      CollectiveOp::all_reduce, request_.ranks, true);
    return build_program(request_, signature, [&](ChunkTracer& tracer) {
      in_servers(tracer, 0, write_ring_reduce_scatter);
      next(tracer);
      across_servers(tracer, write_ring_reduce_scatter);
      next(tracer);
      across_servers(tracer, write_ring_all_gather);
      next(tracer);
      in_servers(tracer, 2, write_ring_all_gather);
    });
  }

 private:
  using WriteRing = void (*)(ChunkTracer&, const RingRuns&);

  void next(ChunkTracer& tracer) const {
    if (composed_) tracer.next_call();
  }

  // Links inside a server are faster than one thread block: as many instances as servers.
  void in_servers(ChunkTracer& tracer, std::uint32_t channel, WriteRing write) const {
    const auto instances = tracer.parallelize(servers_);
    for (std::uint32_t server = 0; server < servers_; ++server) {
      RingRuns runs;
      for (std::uint32_t g = 0; g < per_server_; ++g) {
        runs.ranks.push_back(server * per_server_ + g);
      }
      runs.count = servers_;
      runs.first_channel = channel;
      write(tracer, runs);
    }
  }

  void across_servers(ChunkTracer& tracer, WriteRing write) const {
    for (std::uint32_t g = 0; g < per_server_; ++g) {
      RingRuns runs;
      for (std::uint32_t server = 0; server < servers_; ++server) {
        runs.ranks.push_back(server * per_server_ + g);
      }
      runs.offset = g * servers_;
      runs.first_channel = 1;
      write(tracer, runs);
    }
  }

  const BuiltinRequest& request_;
  std::uint32_t per_server_;
  std::uint32_t servers_;
  bool composed_;  // of four library calls
};

}  // namespace

Program build_hierarchical(const BuiltinRequest& request) {
  return Hierarchical(request, false).build();
}

Program build_hierarchical_composed(const BuiltinRequest& request) {
  return Hierarchical(request, true).build();
}

}  // namespace espalier
