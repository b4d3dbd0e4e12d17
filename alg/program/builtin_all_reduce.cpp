// Built-in all-reduces, with their halves and the broadcast.
#include <algorithm>
#include <numeric>

#include "alg/generators/rank_shapes.h"
#include "alg/program/builtin_parts.h"

namespace espalier {

// ---------------------------------------------------------------- rings (GC3, section 7.1.1)
// One logical ring whose chunks are spread over channels, so that the sends of one channel overlap
// with the receives of another.

namespace {

// The ranks 0, 1, 2, ...
RingRuns ring_of(const BuiltinRequest& request, ProgramBuffer buffer) {
  RingRuns runs;
  runs.ranks.resize(request.ranks);
  std::iota(runs.ranks.begin(), runs.ranks.end(), 0U);
  runs.buffer = buffer;
  runs.channels = request.channels;
  return runs;
}

}  // namespace

void write_ring(ChunkTracer& tracer, const BuiltinRequest& request) {
  write_reducescatter_ring(tracer, request);
  write_ring_all_gather(tracer, ring_of(request, ProgramBuffer::input));
}

void write_allgather_ring(ChunkTracer& tracer, const BuiltinRequest& request) {
  write_ring_all_gather(tracer, ring_of(request, ProgramBuffer::output));
}

void write_reducescatter_ring(ChunkTracer& tracer, const BuiltinRequest& request) {
  write_ring_reduce_scatter(tracer, ring_of(request, ProgramBuffer::input));
}

// Like NCCL's rings between servers: ring c enters every server at its rank c and leaves it at the
// rank before, so that the NICs of all ranks are used.
void write_ring_rotated(ChunkTracer& tracer, const BuiltinRequest& request) {
  const std::uint32_t per_server = request.ranks_per_server;
  for (std::uint32_t c = 0; c < request.channels; ++c) {
    RingRuns runs;
    runs.offset = c * request.ranks;
    runs.first_channel = c;
    for (std::uint32_t r = 0; r < request.ranks; ++r) {
      const std::uint32_t first = r / per_server * per_server;  // first rank of the server
      runs.ranks.push_back(first + (r + c) % per_server);
    }
    write_ring_reduce_scatter(tracer, runs);
    write_ring_all_gather(tracer, runs);
  }
}

// ---------------------------------------------------------------- all pairs (GC3, section 7.1.2)
// Every rank receives its chunk from all other ranks side by side in scratch, adds them up, and
// sends the sum to all.

void write_allpairs(ChunkTracer& tracer, const BuiltinRequest& request) {
  const std::uint32_t ranks = request.ranks;
  for_each_distance(ranks, ranks, [&](std::uint32_t away, std::uint32_t r) {
    const std::uint32_t peer = (r + away) % ranks;
    tracer.chunk(r, ProgramBuffer::input, peer)
        .copy(peer, ProgramBuffer::scratch, away - 1, channel_of_distance(away));
  });
  for (std::uint32_t r = 0; r < ranks; ++r) {
    ChunkRef sum = tracer.chunk(r, ProgramBuffer::input, r);
    for (std::uint32_t away = 1; away < ranks; ++away) {
      sum = sum.reduce(tracer.chunk(r, ProgramBuffer::scratch, away - 1));
    }
  }
  for_each_distance(ranks, ranks, [&](std::uint32_t away, std::uint32_t r) {
    tracer.chunk(r, ProgramBuffer::input, r)
        .copy((r + away) % ranks, ProgramBuffer::input, r, channel_of_distance(away));
  });
}

// ---------------------------------------------------------------- hierarchical (GC3, section 2)
// Rings inside servers, then across servers, then inside servers again. Both kinds of links are
// busy at the same time, with different tiles.

void write_hierarchical(ChunkTracer& tracer, const BuiltinRequest& request) {
  const std::uint32_t per_server = request.ranks_per_server;
  const std::uint32_t servers = request.ranks / per_server;
  using WriteRing = void (*)(ChunkTracer&, const RingRuns&);
  // Links inside a server are faster than one thread block, so the ring has one instance per
  // server.
  const auto in_servers = [&](std::uint32_t channel, WriteRing write) {
    const auto instances = tracer.parallelize(servers);
    for (std::uint32_t server = 0; server < servers; ++server) {
      RingRuns runs;
      for (std::uint32_t g = 0; g < per_server; ++g) runs.ranks.push_back(server * per_server + g);
      runs.stride = runs.count = servers;
      runs.first_channel = channel;
      write(tracer, runs);
    }
  };
  const auto across_servers = [&](WriteRing write) {
    for (std::uint32_t g = 0; g < per_server; ++g) {
      RingRuns runs;
      for (std::uint32_t server = 0; server < servers; ++server) {
        runs.ranks.push_back(server * per_server + g);
      }
      runs.offset = g * servers;
      runs.first_channel = 1;
      write(tracer, runs);
    }
  };
  in_servers(0, write_ring_reduce_scatter);
  across_servers(write_ring_reduce_scatter);
  across_servers(write_ring_all_gather);
  in_servers(2, write_ring_all_gather);
}

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

void write_halving_doubling(ChunkTracer& tracer, const BuiltinRequest& request) {
  write_halving(tracer, request.ranks);
  write_doubling(tracer, request.ranks, ProgramBuffer::input);
}

void write_allgather_recursive_doubling(ChunkTracer& tracer, const BuiltinRequest& request) {
  write_doubling(tracer, request.ranks, ProgramBuffer::output);
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

void write_binomial_tree(ChunkTracer& tracer, const BuiltinRequest& request) {
  write_binomial_reduce(tracer, request.ranks);
  write_broadcast_tree(tracer, request);
}

void write_double_binary_tree(ChunkTracer& tracer, const BuiltinRequest& request) {
  const auto trees = make_double_tree(request.ranks);
  for (std::uint32_t t = 0; t < trees.size(); ++t) write_tree(tracer, trees[t], t);
}

void write_broadcast_tree(ChunkTracer& tracer, const BuiltinRequest& request) {
  std::uint32_t away = 1;
  while (2 * away < request.ranks) away *= 2;
  for (; away > 0; away /= 2) {
    for (std::uint32_t r = 0; r + away < request.ranks; r += 2 * away) {
      tracer.chunk(r, ProgramBuffer::input, 0).copy(r + away, ProgramBuffer::input, 0);
    }
  }
}

}  // namespace espalier
