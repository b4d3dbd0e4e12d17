// Built-in all-reduces, with their halves and the broadcast.
#include <algorithm>

#include "alg/generators/rank_shapes.h"
#include "alg/program/builtin_parts.h"

namespace espalier {

// ---------------------------------------------------------------- rings (GC3, section 7.1.1)
// One logical ring whose chunks are spread over channels, so that the sends of one channel overlap
// with the receives of another.

Program build_ring(const BuiltinRequest& request) {
  const auto signature =
      signature_for(request, "gc3_ring", CollectiveOp::all_reduce, request.ranks, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    const RingRuns runs{all_ranks(request), ProgramBuffer::input, 0, 1, 0, request.channels};
    write_ring_reduce_scatter(tracer, runs);
    write_ring_all_gather(tracer, runs);
  });
}

// Like NCCL's rings between servers: ring c enters every server at its rank c and leaves it at the
// rank before, so that the NICs of all ranks are used.
Program build_ring_rotated(const BuiltinRequest& request) {
  const auto signature = signature_for(request, "gc3_ring_rotated", CollectiveOp::all_reduce,
                                       request.ranks * request.channels, true);
  const std::uint32_t per_server = request.ranks_per_server;
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    for (std::uint32_t c = 0; c < request.channels; ++c) {
      RingRuns runs{{}, ProgramBuffer::input, c * request.ranks, 1, c, 1};
      for (std::uint32_t r = 0; r < request.ranks; ++r) {
        const std::uint32_t first = r / per_server * per_server;  // first rank of the server
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

// ---------------------------------------------------------------- all pairs (GC3, section 7.1.2)
// Every rank receives its chunk from all other ranks side by side in scratch, adds them up, and
// sends the sum to all.

Program build_allpairs(const BuiltinRequest& request) {
  const std::uint32_t ranks = request.ranks;
  const auto signature =
      signature_for(request, "gc3_allpairs", CollectiveOp::all_reduce, ranks, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    // Peers are ordered by distance, so the ranks do not all start with the same peer.
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

// ---------------------------------------------------------------- hierarchical (GC3, section 2)
// Rings inside servers, then across servers, then inside servers again. Both kinds of links are
// busy at the same time, with different tiles.

namespace {

class Hierarchical {
 public:
  explicit Hierarchical(const BuiltinRequest& request)
      : request_(request),
        per_server_(request.ranks_per_server),
        servers_(request.ranks / request.ranks_per_server) {}

  Program build() {
    const auto signature =
        signature_for(request_, "gc3_hierarchical", CollectiveOp::all_reduce, request_.ranks, true);
    return build_program(request_, signature, [&](ChunkTracer& tracer) {
      in_servers(tracer, 0, write_ring_reduce_scatter);
      across_servers(tracer, write_ring_reduce_scatter);
      across_servers(tracer, write_ring_all_gather);
      in_servers(tracer, 2, write_ring_all_gather);
    });
  }

 private:
  using WriteRing = void (*)(ChunkTracer&, const RingRuns&);

  // Links inside a server are faster than one thread block, so the ring has one instance per
  // server.
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
};

}  // namespace

Program build_hierarchical(const BuiltinRequest& request) { return Hierarchical(request).build(); }

// ---------------------------------------------------------------- recursive halving and doubling
// Partners exchange runs of chunks whose length halves or doubles with the distance (Thakur,
// Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", 2005).

namespace {

// First chunk of the aligned run of `length` chunks that contains the rank's own.
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

// ---------------------------------------------------------------- trees
// The reduction goes up to the root, and the result comes down. Tiles follow each other through the
// tree.

namespace {

// Children of rank r in the binomial tree are r + 1, r + 2, r + 4, ... up to the end of its
// subtree.
void write_binomial_reduce(ChunkTracer& tracer, std::uint32_t ranks) {
  for (std::uint32_t away = 1; away < ranks; away *= 2) {
    for (std::uint32_t r = 0; r + away < ranks; r += 2 * away) {
      const ChunkRef theirs = tracer.chunk(r + away, ProgramBuffer::input, 0);
      tracer.chunk(r, ProgramBuffer::input, 0).reduce(theirs);
    }
  }
}

void write_binomial_broadcast(ChunkTracer& tracer, std::uint32_t ranks) {
  std::uint32_t away = 1;
  while (2 * away < ranks) away *= 2;
  for (; away > 0; away /= 2) {
    for (std::uint32_t r = 0; r + away < ranks; r += 2 * away) {
      tracer.chunk(r, ProgramBuffer::input, 0).copy(r + away, ProgramBuffer::input, 0);
    }
  }
}

// Ranks by depth, the root first.
std::vector<std::uint32_t> downwards(const RankTree& tree) {
  std::vector<std::uint32_t> ranks(tree.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r] = static_cast<std::uint32_t>(r);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return tree.depth[a] < tree.depth[b]; });
  return ranks;
}

}  // namespace

void write_tree(ChunkTracer& tracer, const RankTree& tree, std::uint32_t index) {
  const Directives directives{index};
  std::vector<std::uint32_t> ranks = downwards(tree);
  const auto parent_of = [&](std::uint32_t r) {
    return tracer.chunk(static_cast<std::uint32_t>(tree.parent[r]), ProgramBuffer::input, index);
  };
  for (auto r = ranks.rbegin(); r != ranks.rend(); ++r) {
    if (*r == tree.root) continue;
    parent_of(*r).reduce(tracer.chunk(*r, ProgramBuffer::input, index), directives);
  }
  for (const std::uint32_t r : ranks) {
    if (r != tree.root) parent_of(r).copy(r, ProgramBuffer::input, index, directives);
  }
}

Program build_binomial_tree(const BuiltinRequest& request) {
  const auto signature =
      signature_for(request, "gc3_binomial_tree", CollectiveOp::all_reduce, 1, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    write_binomial_reduce(tracer, request.ranks);
    write_binomial_broadcast(tracer, request.ranks);
  });
}

Program build_double_binary_tree(const BuiltinRequest& request) {
  const auto signature =
      signature_for(request, "gc3_double_binary_tree", CollectiveOp::all_reduce, 2, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    const auto trees = make_double_tree(request.ranks);
    for (std::uint32_t t = 0; t < trees.size(); ++t) write_tree(tracer, trees[t], t);
  });
}

Program build_broadcast_tree(const BuiltinRequest& request) {
  auto signature = signature_for(request, "gc3_broadcast_tree", CollectiveOp::broadcast, 1, true);
  signature.root = 0;
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    write_binomial_broadcast(tracer, request.ranks);
  });
}

}  // namespace espalier
