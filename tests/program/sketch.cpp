#include "sketch.h"

namespace espalier::program_test {

namespace {
std::int32_t peer(std::size_t rank) { return static_cast<std::int32_t>(rank); }
}  // namespace

Program ring_all_reduce(std::uint32_t ranks, std::uint32_t channels, std::uint32_t per_rank) {
  Sketch sketch(CollectiveOp::all_reduce, true, ranks, ranks * channels * per_rank, 0, channels);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t next = (r + 1) % ranks;
    const std::uint32_t before = (r + ranks - 1) % ranks;
    for (std::uint32_t c = 0; c < channels; ++c) {
      const std::size_t b = sketch.block(r, peer(next), peer(before), c);
      const auto chunk = [&](std::uint32_t of) {
        return in((c * ranks + (of + 2 * ranks) % ranks) * per_rank);
      };
      const auto add = [&](ProgramOp op, std::uint32_t of) {
        sketch.add(r, b, op, chunk(of), chunk(of), per_rank);
      };
      add(ProgramOp::send, r);
      for (std::uint32_t k = 1; k + 1 < ranks; ++k) add(ProgramOp::recv_reduce_send, r + ranks - k);
      add(ProgramOp::recv_reduce_copy_send, r + 1);
      for (std::uint32_t k = 0; k + 2 < ranks; ++k) add(ProgramOp::recv_copy_send, r + ranks - k);
      add(ProgramOp::recv, r + 2);
    }
  }
  return sketch.program();
}

Program ring_all_gather(std::uint32_t ranks) {
  Sketch sketch(CollectiveOp::all_gather, true, ranks, ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::size_t b = sketch.block(r, peer((r + 1) % ranks), peer((r + ranks - 1) % ranks));
    sketch.add(r, b, ProgramOp::send, in(0), in(0));
    for (std::uint32_t k = 1; k < ranks; ++k) {
      const Where chunk = out((r + ranks - k) % ranks);
      sketch.add(r, b, k + 1 < ranks ? ProgramOp::recv_copy_send : ProgramOp::recv, chunk, chunk);
    }
  }
  return sketch.program();
}

Program direct_all_to_all(std::uint32_t ranks) {
  Sketch sketch(CollectiveOp::all_to_all, false, ranks, ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    sketch.add(r, sketch.block(r, kNoPeer, kNoPeer), ProgramOp::copy, in(r), out(r));
    for (std::uint32_t q = 0; q < ranks; ++q) {
      if (q == r) continue;
      const std::size_t b = sketch.block(r, peer(q), peer(q));
      sketch.add(r, b, ProgramOp::send, in(q), out(r));
      sketch.add(r, b, ProgramOp::recv, in(r), out(q));
    }
  }
  return sketch.program();
}

Program all_pairs_all_reduce(std::uint32_t ranks, std::uint32_t per_rank) {
  Sketch sketch(CollectiveOp::all_reduce, true, ranks, ranks * per_rank, (ranks - 1) * per_rank);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const Where own = in(r * per_rank);
    std::uint32_t place = 0;
    std::vector<std::size_t> blocks;
    for (std::uint32_t q = 0; q < ranks; ++q) {
      if (q == r) continue;
      const std::size_t b = sketch.block(r, peer(q), peer(q));
      blocks.push_back(b);
      sketch.add(r, b, ProgramOp::send, in(q * per_rank), in(q * per_rank), per_rank);
      const Where target = scratch(per_rank * place++);
      sketch.add(r, b, ProgramOp::recv, target, target, per_rank);
    }
    for (std::uint32_t k = 0; k + 1 < ranks; ++k) {
      sketch.add(r, blocks[0], ProgramOp::reduce, scratch(k * per_rank), own, per_rank);
    }
    for (const std::size_t b : blocks) sketch.add(r, b, ProgramOp::send, own, own, per_rank);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const std::uint32_t q = static_cast<std::uint32_t>(k) + (k >= r ? 1 : 0);
      sketch.add(r, blocks[k], ProgramOp::recv, in(q * per_rank), in(q * per_rank), per_rank);
    }
  }
  return sketch.program();
}

Program hierarchical_all_reduce(std::uint32_t servers, std::uint32_t per_server) {
  const std::uint32_t ranks = servers * per_server;
  // A local block for the sums, one for each peer in the server, one for each of the other servers.
  Sketch sketch(CollectiveOp::all_reduce, true, ranks, per_server, per_server + servers);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t server = r / per_server;
    const std::uint32_t own = r % per_server;
    const std::size_t local = sketch.block(r, kNoPeer, kNoPeer);
    for (std::uint32_t g = 0; g < per_server; ++g) {
      if (g == own) continue;
      const std::uint32_t q = server * per_server + g;
      const std::size_t b = sketch.block(r, peer(q), peer(q));
      sketch.add(r, b, ProgramOp::send, in(g), in(g));
      sketch.add(r, b, ProgramOp::recv, scratch(g), scratch(g));
      sketch.add(r, local, ProgramOp::reduce, scratch(g), in(own));
    }
    for (std::uint32_t n = 0; n < servers; ++n) {
      if (n == server) continue;
      const std::uint32_t q = n * per_server + own;
      const std::size_t b = sketch.block(r, peer(q), peer(q));
      sketch.add(r, b, ProgramOp::send, in(own), in(own));
      sketch.add(r, b, ProgramOp::recv, scratch(per_server + n), scratch(per_server + n));
    }
    for (std::uint32_t n = 0; n < servers; ++n) {
      if (n == server) continue;
      sketch.add(r, local, ProgramOp::reduce, scratch(per_server + n), in(own));
    }
    for (std::uint32_t g = 0; g < per_server; ++g) {
      if (g == own) continue;
      const std::uint32_t q = server * per_server + g;
      const std::size_t b = sketch.block(r, peer(q), peer(q));
      sketch.add(r, b, ProgramOp::send, in(own), in(own));
      sketch.add(r, b, ProgramOp::recv, in(g), in(g));
    }
  }
  return sketch.program();
}

Program two_step_all_to_all(std::uint32_t servers, std::uint32_t per_server) {
  const std::uint32_t ranks = servers * per_server;
  // Rank (n, g) collects for the ranks (m, g) of the other servers what its own server has.
  Sketch sketch(CollectiveOp::all_to_all, false, ranks, ranks, ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t server = r / per_server;
    const std::uint32_t own = r % per_server;
    const std::size_t local = sketch.block(r, kNoPeer, kNoPeer);
    for (std::uint32_t n = 0; n < servers; ++n) {
      const std::uint32_t q = n * per_server + own;
      const Where to = n == server ? out(q) : scratch(q);
      sketch.add(r, local, ProgramOp::copy, in(q),
                 n == server ? to : scratch(n * per_server + own));
    }
    for (std::uint32_t g = 0; g < per_server; ++g) {
      if (g == own) continue;
      const std::uint32_t q = server * per_server + g;
      const std::size_t b = sketch.block(r, peer(q), peer(q));
      for (std::uint32_t n = 0; n < servers; ++n) {
        sketch.add(r, b, ProgramOp::send, in(n * per_server + g), in(0));
        const Where target = n == server ? out(q) : scratch(n * per_server + g);
        sketch.add(r, b, ProgramOp::recv, target, target);
      }
    }
    for (std::uint32_t n = 0; n < servers; ++n) {
      if (n == server) continue;
      const std::uint32_t q = n * per_server + own;
      const std::size_t b = sketch.block(r, peer(q), peer(q));
      sketch.add(r, b, ProgramOp::send, scratch(n * per_server), in(0), per_server);
      sketch.add(r, b, ProgramOp::recv, in(0), out(n * per_server), per_server);
    }
  }
  return sketch.program();
}

Program chain_broadcast(std::uint32_t ranks, std::uint32_t chunks) {
  Sketch sketch(CollectiveOp::broadcast, true, ranks, chunks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const bool is_last = r + 1 == ranks;
    const std::size_t b =
        sketch.block(r, is_last ? kNoPeer : peer(r + 1), r == 0 ? kNoPeer : peer(r - 1));
    const ProgramOp op = r == 0 ? ProgramOp::send : ProgramOp::recv_copy_send;
    for (std::uint32_t k = 0; k < chunks; ++k) {
      sketch.add(r, b, is_last ? ProgramOp::recv : op, in(k), in(k));
    }
  }
  return sketch.program();
}

Program chain_reduce(std::uint32_t ranks, std::uint32_t chunks) {
  Sketch sketch(CollectiveOp::reduce, false, ranks, chunks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const bool is_last = r + 1 == ranks;
    const std::size_t b =
        sketch.block(r, is_last ? kNoPeer : peer(r + 1), r == 0 ? kNoPeer : peer(r - 1));
    const ProgramOp op = r == 0 ? ProgramOp::send : ProgramOp::recv_reduce_send;
    sketch.add(r, b, is_last ? ProgramOp::recv_reduce_copy : op, in(0), out(0), chunks);
  }
  return sketch.program();
}

Program composed_all_reduce(std::uint32_t ranks) {
  Sketch sketch(CollectiveOp::all_reduce, true, ranks, ranks, ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::size_t local = sketch.block(r, kNoPeer, kNoPeer);
    for (std::uint32_t q = 0; q < ranks; ++q) {
      if (q == r) continue;
      const std::size_t b = sketch.block(r, peer(q), peer(q));
      sketch.add(r, b, ProgramOp::send, in(q), in(q));
      sketch.add(r, b, ProgramOp::recv, scratch(q), scratch(q));
      sketch.add(r, local, ProgramOp::reduce, scratch(q), in(r));
    }
    for (std::uint32_t q = 0; q < ranks; ++q) {
      if (q == r) continue;
      const std::size_t b = sketch.block(r, peer(q), peer(q), 0, 1);
      sketch.add(r, b, ProgramOp::send, in(r), in(r));
      sketch.add(r, b, ProgramOp::recv, in(q), in(q));
    }
  }
  return sketch.program();
}

}  // namespace espalier::program_test
