// The rings and trees of NCCL, its ring of messages, MSCCL++'s all-reduce of small data and its
// all-gather between servers. What is modelled is who sends which part to whom, in which order and
// over which channel (NCCL: src/graph/connect.cc, trees.cc; src/device; MSCCL++: test/mscclpp-test,
// allreduce_test.cu, kernel 2, and allgather_test.cu, kernels 2 and 4).
#include <fmt/format.h>

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
// other. A channel moves one part of every rank's data, which are consecutive.
RingRuns ring_of_channel(const BuiltinRequest& request, std::uint32_t channel) {
  const std::uint32_t per_server = request.ranks_per_server;
  const ServerEntry entry = entry_of_channel(request, channel);
  const bool backwards = entry.ranks_per_nic > 1 && entry.nic % 2 == 1;
  RingRuns runs;
  runs.offset = channel;
  runs.stride = request.channels;
  runs.first_channel = channel;
  runs.by_rank = true;
  for (std::uint32_t r = 0; r < request.ranks; ++r) {
    const std::uint32_t server = r / per_server * per_server;
    const std::uint32_t place =
        backwards ? 2 * per_server - 1 - r % per_server - entry.ranks_per_nic : r % per_server;
    runs.ranks.push_back(server + (entry.rank() + place) % per_server);
  }
  return runs;
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

// Trees and messages to the next rank grow with the ranks, rings with their square.
std::string unsuited_nccl_ring(const BuiltinRequest& request) {
  constexpr std::uint64_t kMostMessages = std::uint64_t{1} << 22;
  const std::uint64_t messages =
      std::uint64_t{2} * request.channels * request.ranks * request.ranks;
  if (messages <= kMostMessages) return unsuited_nccl(request);
  return fmt::format(
      "sends {} messages on {} ranks over {} channels, of which at most {} are simulated", messages,
      request.ranks, request.channels, kMostMessages);
}

std::string unsuited_nccl(const BuiltinRequest& request) {
  std::string sizes = unsuited_counts(request);
  if (!sizes.empty()) return sizes;
  if (request.ranks_per_server == 0 || request.ranks % request.ranks_per_server != 0) {
    return "needs servers of equal size: set collective.program.ranks_per_server";
  }
  return {};
}

void write_nccl_ring(ChunkTracer& tracer, const BuiltinRequest& request) {
  write_nccl_reducescatter(tracer, request);
  for (std::uint32_t c = 0; c < request.channels; ++c) {
    write_ring_all_gather(tracer, ring_of_channel(request, c));
  }
}

void write_nccl_reducescatter(ChunkTracer& tracer, const BuiltinRequest& request) {
  for (std::uint32_t c = 0; c < request.channels; ++c) {
    write_ring_reduce_scatter(tracer, ring_of_channel(request, c));
  }
}

void write_nccl_allgather(ChunkTracer& tracer, const BuiltinRequest& request) {
  for (std::uint32_t c = 0; c < request.channels; ++c) {
    RingRuns runs = ring_of_channel(request, c);
    runs.buffer = ProgramBuffer::output;
    write_ring_all_gather(tracer, runs);
  }
}

// Half of the channels work on one tree over the servers, half on the other.
void write_nccl_tree(ChunkTracer& tracer, const BuiltinRequest& request) {
  const auto servers = make_double_tree(request.ranks / request.ranks_per_server);
  for (std::uint32_t c = 0; c < request.channels; ++c) {
    const RankTree& tree = servers[2 * c < request.channels ? 0 : 1];
    write_tree(tracer, tree_of_channel(request, tree, c), c);
  }
}

// Every rank sends a part to every other one. Its own part is not copied: NCCL's thread blocks for
// it run beside the others and end before them, but a block of this language would do it beside a
// message.
void write_nccl_alltoall(ChunkTracer& tracer, const BuiltinRequest& request) {
  for_each_distance(request.ranks, request.ranks, [&](std::uint32_t away, std::uint32_t r) {
    const std::uint32_t peer = (r + away) % request.ranks;
    tracer.chunk(r, ProgramBuffer::input, peer)
        .copy(peer, ProgramBuffer::output, r, channel_of_distance(away));
  });
}

std::vector<PromisedChunk> nccl_alltoall_promises(const BuiltinRequest& request) {
  std::vector<PromisedChunk> promises;
  for (std::uint32_t r = 0; r < request.ranks; ++r) {
    for (std::uint32_t from = 0; from < request.ranks; ++from) {
      if (from != r) promises.push_back({r, from, {{from, r}}});
    }
  }
  return promises;
}

// Every rank sends its buffer to the next one, and the last rank to the first.
void write_nccl_sendrecv(ChunkTracer& tracer, const BuiltinRequest& request) {
  for (std::uint32_t r = 0; r < request.ranks; ++r) {
    tracer.chunk(r, ProgramBuffer::input, 0)
        .copy((r + 1) % request.ranks, ProgramBuffer::output, 0);
  }
}

std::vector<PromisedChunk> nccl_sendrecv_promises(const BuiltinRequest& request) {
  std::vector<PromisedChunk> promises;
  for (std::uint32_t r = 0; r < request.ranks; ++r) {
    promises.push_back({r, 0, {{(r + request.ranks - 1) % request.ranks, 0}}});
  }
  return promises;
}

// In a server every rank sends all its data to all others, and adds what it receives. Then it
// exchanges the sum with the ranks of its number in the other servers: two steps, and one message
// to each other server.
void write_mscclpp_packets(ChunkTracer& tracer, const BuiltinRequest& request) {
  const std::uint32_t per_server = request.ranks_per_server;
  // Every rank exchanges its data with `members` - 1 peers, and adds theirs. They arrive in
  // scratch, from the index `first` on.
  const auto exchange = [&](std::uint32_t members, std::uint32_t first, auto peer) {
    for_each_distance(request.ranks, members, [&](std::uint32_t away, std::uint32_t r) {
      tracer.chunk(r, ProgramBuffer::input, 0)
          .copy(peer(r, away), ProgramBuffer::scratch, first + away - 1,
                channel_of_distance(first + away));
    });
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
  exchange(request.ranks / per_server, per_server - 1, [&](std::uint32_t r, std::uint32_t away) {
    return (r + away * per_server) % request.ranks;
  });
}

// Every rank sends its part to the ranks of its server and to the rank of its number in each other
// server, which hands it on to the ranks there: a part enters a server once.
void write_mscclpp_allgather(ChunkTracer& tracer, const BuiltinRequest& request) {
  const std::uint32_t per_server = request.ranks_per_server;
  for (std::uint32_t hop = 0; hop < request.ranks / per_server; ++hop) {
    for (std::uint32_t r = 0; r < request.ranks; ++r) {
      const std::uint32_t there = (r + hop * per_server) % request.ranks;
      ChunkRef part = tracer.chunk(r, ProgramBuffer::output, r);
      if (hop != 0) part = part.copy(there, ProgramBuffer::output, r, {hop});
      for (std::uint32_t away = 1; away < per_server; ++away) {
        const std::uint32_t peer = there / per_server * per_server + (there + away) % per_server;
        part.copy(peer, ProgramBuffer::output, r, {hop});
      }
    }
  }
}

}  // namespace espalier
