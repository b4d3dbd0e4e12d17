// Does the program mean something? Its frame: ranks, chunks, promises, blocks and their peers.
#include <fmt/format.h>

#include <algorithm>

#include "alg/program/program_certifier_parts.h"

namespace espalier::program_certifier {

namespace {

// Of all ranks together: each has its value followed.
constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 25;

void check_frame(const Program& program, Findings& findings) {
  const std::size_t ranks = program.num_ranks();
  if (program.chunks == 0) {
    findings.add(kMalformed, {}, [] { return "it has no chunks"; });
  }
  const bool is_shared_out = program.collective == CollectiveOp::all_gather ||
                             program.collective == CollectiveOp::reduce_scatter ||
                             program.collective == CollectiveOp::all_to_all;
  if (is_shared_out && program.chunks % ranks != 0) {
    findings.add(kMalformed, {}, [&] {
      return fmt::format("{} chunks are not a multiple of {} ranks, as {} needs", program.chunks,
                         ranks, to_string(program.collective));
    });
  }
  if (program.max_bytes != 0 && program.min_bytes > program.max_bytes) {
    findings.add(kMalformed, {}, [&] {
      return fmt::format("is offered from {} bytes to {}: for no size", program.min_bytes,
                         program.max_bytes);
    });
  }
  if (program.root && *program.root >= ranks) {
    findings.add(kMalformed, {}, [&] {
      return fmt::format("its root is gpu {}, but there are {} ranks", *program.root, ranks);
    });
  }
}

void check_size(const Program& program, Findings& findings) {
  const ProgramStorage storage(program);
  std::uint64_t chunks = 0;
  for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
    for (const auto buffer :
         {ProgramBuffer::input, ProgramBuffer::output, ProgramBuffer::scratch}) {
      chunks += storage.size(r, buffer);
    }
  }
  if (chunks <= kMostChunks) return;
  findings.add(kMalformed, {}, [&] {
    return fmt::format("its buffers have {} chunks in all ranks together, more than {}", chunks,
                       kMostChunks);
  });
}

// A declared buffer has the size the collective gives it (MSCCL-IR, A.3); 0: it is not named. Only
// of custom collectives each rank has a size of its own.
void check_chunk_counts(const Program& program, std::size_t rank, Findings& findings) {
  const RankProgram& of_rank = program.ranks[rank];
  const ProgramStorage storage(program);
  const auto check = [&](const char* name, ProgramBuffer buffer, std::uint32_t declared) {
    const bool is_custom = program.collective == CollectiveOp::custom;
    const std::uint32_t size =
        is_custom ? program.chunks : storage.size(static_cast<std::uint32_t>(rank), buffer);
    if (declared == 0 || declared == size || (is_custom && declared < size)) return;
    findings.add(kMalformed, site_of(program, rank), [&] {
      return fmt::format("declares {} {} chunks, but with {} chunks on {} ranks {} has {} {}",
                         declared, name, program.chunks, program.num_ranks(),
                         to_string(program.collective), is_custom ? "at most" : "exactly", size);
    });
  };
  check("input", ProgramBuffer::input, of_rank.input_chunks);
  check("output", ProgramBuffer::output, of_rank.output_chunks);
}

void check_promises(const Program& program, Findings& findings) {
  if (program.collective != CollectiveOp::custom) return;
  using Target = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Target> targets;
  for (const PromisedChunk& promise : program.promises) {
    if (promise.rank >= program.num_ranks()) {
      findings.add(kMalformed, {}, [&] {
        return fmt::format("a promise is for gpu {}, but there are {} ranks", promise.rank,
                           program.num_ranks());
      });
      continue;
    }
    const RankProgram& of_rank = program.ranks[promise.rank];
    // In place, either name of the buffer will do.
    const std::uint32_t size = program.in_place
                                   ? std::max(of_rank.input_chunks, of_rank.output_chunks)
                                   : of_rank.output_chunks;
    if (promise.index >= size) {
      findings.add(kMalformed, site_of(program, promise.rank), [&] {
        return fmt::format("output chunk {} is promised, but there are {}", promise.index, size);
      });
    }
    for (const InputChunk& chunk : promise.value) {
      if (chunk.rank < program.num_ranks() &&
          chunk.index < program.ranks[chunk.rank].input_chunks) {
        continue;
      }
      findings.add(kMalformed, site_of(program, promise.rank), [&] {
        return fmt::format(
            "output chunk {} is promised with input chunk {} of gpu {}, which "
            "does not exist",
            promise.index, chunk.index, chunk.rank);
      });
    }
    targets.emplace_back(promise.rank, promise.index);
  }
  std::sort(targets.begin(), targets.end());
  const auto twice = std::adjacent_find(targets.begin(), targets.end());
  if (twice == targets.end()) return;
  findings.add(kMalformed, site_of(program, twice->first),
               [&] { return fmt::format("output chunk {} is promised twice", twice->second); });
}

// Returns whether both are ranks, or none.
bool check_peers(const Program& program, std::size_t rank, std::size_t block, Findings& findings) {
  const ThreadBlock& of_block = program.ranks[rank].blocks[block];
  const auto ranks = static_cast<std::int64_t>(program.num_ranks());
  const auto check = [&](const char* verb, std::int32_t peer) {
    const bool exists = peer >= kNoPeer && peer < ranks;
    if (exists && peer != static_cast<std::int32_t>(rank)) return true;
    findings.add(kMalformed, site_of(program, rank, block), [&] {
      if (exists) return fmt::format("{} itself", verb);
      return fmt::format("{} gpu {}, but there are {} ranks", verb, peer, ranks);
    });
    return false;
  };
  const bool sends_right = check("sends to", of_block.send_peer);
  const bool receives_right = check("receives from", of_block.recv_peer);
  if (of_block.channel >= program.num_channels) {
    findings.add(kMalformed, site_of(program, rank, block), [&] {
      return fmt::format("is on channel {}, but there are {} channels", of_block.channel,
                         program.num_channels);
    });
  }
  return sends_right && receives_right;
}

}  // namespace

void check_form(const Program& program, Findings& findings) {
  if (program.num_ranks() == 0) {
    findings.add(kMalformed, {}, [] { return "it has no ranks"; });
    return;
  }
  check_frame(program, findings);
  check_size(program, findings);
  check_promises(program, findings);
  bool has_right_peers = true;
  for (std::size_t r = 0; r < program.num_ranks(); ++r) {
    check_chunk_counts(program, r, findings);
    for (std::size_t b = 0; b < program.ranks[r].blocks.size(); ++b) {
      has_right_peers = check_peers(program, r, b, findings) && has_right_peers;
      check_step_form(program, r, b, findings);
    }
  }
  if (has_right_peers) check_ends(program, findings);
}

}  // namespace espalier::program_certifier
