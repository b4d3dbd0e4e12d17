// The rings and trees of NCCL, and its ring of messages. What is modelled is who sends which part
// to whom, in which order and over which channel (NCCL: src/graph/connect.cc, trees.cc;
// src/device).
#include "alg/generators/rank_shapes.h"
#include "alg/program/builtin_parts.h"

namespace espalier {

namespace {

// The NIC over which a channel enters a server: neighbouring channels use different ones.
struct ServerEntry {
  std::uint32_t nic = 0;
  std::uint32_t ranks_per_nic = 1;
  [[nodiscard]] std::uint32_t rank() const { return nic * ranks_per_nic; }
};

ServerEntry entry_of_channel(const BuiltinRequest& request, std::uint32_t channel) {
  const std::uint32_t ranks = request.ranks_per_server;
  const std::uint32_t nics = request.nics_per_server;
  const bool share_nics = nics != 0 && nics < ranks && ranks % nics == 0;
  const std::uint32_t entries = share_nics && request.ranks > ranks ? nics : ranks;
  return {channel % entries, ranks / entries};
}

// A channel's ring visits server after server, from the rank of its entry to the one before it.
// Where ranks share NICs, every second ring of a server is the one before it backwards: what
// enters by a NIC leaves by its neighbour, and the ranks beside them receive one ring and send the
// other.
std::vector<std::uint32_t> ring_of_channel(const BuiltinRequest& request, std::uint32_t channel) {
  const std::uint32_t per_server = request.ranks_per_server;
  const ServerEntry entry = entry_of_channel(request, channel);
  const bool backwards = entry.ranks_per_nic > 1 && entry.nic % 2 == 1;
  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < request.ranks; ++r) {
    const std::uint32_t server = r / per_server * per_server;
    const std::uint32_t place =
        backwards ? 2 * per_server - 1 - r % per_server - entry.ranks_per_nic : r % per_server;
    order.push_back(server + (entry.rank() + place) % per_server);
  }
  return order;
}

// The part of rank `owner` that channel `channel` moves: every rank's data are consecutive.
std::uint32_t part_of(const BuiltinRequest& request, std::uint32_t owner, std::uint32_t channel) {
  return owner * request.channels + channel;
}

void reduce_along_rings(ChunkTracer& tracer, const BuiltinRequest& request) {
  for (std::uint32_t c = 0; c < request.channels; ++c) {
    const std::vector<std::uint32_t> order = ring_of_channel(request, c);
    for (std::uint32_t p = 0; p < request.ranks; ++p) {
      const std::uint32_t part = part_of(request, order[p], c);
      ChunkRef sum = tracer.chunk(order[(p + 1) % request.ranks], ProgramBuffer::input, part);
      for (std::uint32_t step = 1; step < request.ranks; ++step) {
        const std::uint32_t next = order[(p + 1 + step) % request.ranks];
        sum = tracer.chunk(next, ProgramBuffer::input, part).reduce(sum, {c});
      }
    }
  }
}

void gather_along_rings(ChunkTracer& tracer, const BuiltinRequest& request, ProgramBuffer buffer) {
  for (std::uint32_t c = 0; c < request.channels; ++c) {
    const std::vector<std::uint32_t> order = ring_of_channel(request, c);
    for (std::uint32_t p = 0; p < request.ranks; ++p) {
      const std::uint32_t part = part_of(request, order[p], c);
      ChunkRef chunk = tracer.chunk(order[p], buffer, part);
      for (std::uint32_t step = 1; step < request.ranks; ++step) {
        chunk = chunk.copy(order[(p + step) % request.ranks], buffer, part, {c});
      }
    }
  }
}

// The ranks of a server form a chain behind the rank of the channel's entry; the first ranks of
// the chains form one of the two binary trees over the servers.
RankTree tree_of_channel(const BuiltinRequest& request, const RankTree& servers,
                         std::uint32_t channel) {
  const std::uint32_t per_server = request.ranks_per_server;
  const std::uint32_t first = entry_of_channel(request, channel).rank();
  const auto rank = [&](std::size_t server, std::uint32_t place) {
    return server * per_server + (first + place) % per_server;
  };
  RankTree tree;
  tree.root = rank(servers.root, 0);
  tree.parent.resize(request.ranks);
  tree.depth.resize(request.ranks);
  for (std::size_t s = 0; s < servers.size(); ++s) {
    tree.parent[rank(s, 0)] = rank(servers.parent[s], 0);
    tree.depth[rank(s, 0)] = servers.depth[s];
    for (std::uint32_t place = 1; place < per_server; ++place) {
      tree.parent[rank(s, place)] = rank(s, place - 1);
      tree.depth[rank(s, place)] = servers.depth[s] + place;
    }
  }
  return tree;
}

}  // namespace

std::string unsuited_nccl(const BuiltinRequest& request) {
  std::string sizes = unsuited_sizes(request);
  if (!sizes.empty()) return sizes;
  if (request.ranks_per_server == 0 || request.ranks % request.ranks_per_server != 0) {
    return "needs servers of equal size: set collective.program.ranks_per_server";
  }
  return {};
}

Program build_nccl_ring(const BuiltinRequest& request) {
  const auto signature = signature_for(request, "nccl_ring", CollectiveOp::all_reduce,
                                       request.ranks * request.channels, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    reduce_along_rings(tracer, request);
    gather_along_rings(tracer, request, ProgramBuffer::input);
  });
}

Program build_nccl_reducescatter(const BuiltinRequest& request) {
  const auto signature = signature_for(request, "nccl_reducescatter", CollectiveOp::reduce_scatter,
                                       request.ranks * request.channels, true);
  return build_program(request, signature,
                       [&](ChunkTracer& tracer) { reduce_along_rings(tracer, request); });
}

Program build_nccl_allgather(const BuiltinRequest& request) {
  const auto signature = signature_for(request, "nccl_allgather", CollectiveOp::all_gather,
                                       request.ranks * request.channels, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    gather_along_rings(tracer, request, ProgramBuffer::output);
  });
}

// Half of the channels work on one tree over the servers, half on the other.
Program build_nccl_tree(const BuiltinRequest& request) {
  const auto signature =
      signature_for(request, "nccl_tree", CollectiveOp::all_reduce, request.channels, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    const auto servers = make_double_tree(request.ranks / request.ranks_per_server);
    for (std::uint32_t c = 0; c < request.channels; ++c) {
      const RankTree& tree = servers[2 * c < request.channels ? 0 : 1];
      write_tree(tracer, tree_of_channel(request, tree, c), c);
    }
  });
}

// Every rank sends a part to every other one. Its own part is not copied: NCCL's thread blocks for
// it run beside the others and end before them, but a block of this language would do it beside a
// message.
Program build_nccl_alltoall(const BuiltinRequest& request) {
  const std::uint32_t ranks = request.ranks;
  auto signature = signature_for(request, "nccl_alltoall", CollectiveOp::custom, ranks, false);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::uint32_t from = 0; from < ranks; ++from) {
      if (from != r) signature.promises.push_back({r, from, {{from, r}}});
    }
  }
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    // By distance, so that ranks do not all begin with the same peer.
    for (std::uint32_t away = 1; away < ranks; ++away) {
      for (std::uint32_t r = 0; r < ranks; ++r) {
        const std::uint32_t peer = (r + away) % ranks;
        tracer.chunk(r, ProgramBuffer::input, peer)
            .copy(peer, ProgramBuffer::output, r, channel_of_distance(away));
      }
    }
  });
}

// Every rank sends its buffer to the next one, and the last rank to the first.
Program build_nccl_sendrecv(const BuiltinRequest& request) {
  auto signature = signature_for(request, "nccl_sendrecv", CollectiveOp::custom, 1, false);
  for (std::uint32_t r = 0; r < request.ranks; ++r) {
    signature.promises.push_back({r, 0, {{(r + request.ranks - 1) % request.ranks, 0}}});
  }
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    for (std::uint32_t r = 0; r < request.ranks; ++r) {
      tracer.chunk(r, ProgramBuffer::input, 0)
          .copy((r + 1) % request.ranks, ProgramBuffer::output, 0);
    }
  });
}

}  // namespace espalier
