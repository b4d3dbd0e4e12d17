// Writes programs step by step and adds the waits that a rank's own memory asks for, as a compiler
// would; and small programs of every kind made with it.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "alg/program/program.h"

namespace espalier::program_test {

struct Where {
  ProgramBuffer buffer = ProgramBuffer::input;
  std::uint32_t offset = 0;
};
inline Where in(std::uint32_t offset) { return {ProgramBuffer::input, offset}; }
inline Where out(std::uint32_t offset) { return {ProgramBuffer::output, offset}; }
inline Where scratch(std::uint32_t offset) { return {ProgramBuffer::scratch, offset}; }

class Sketch {
 public:
  // `scratch` chunks; input and output as the collective has them. custom: all `chunks`.
  Sketch(CollectiveOp collective, bool in_place, std::uint32_t ranks, std::uint32_t chunks,
         std::uint32_t scratch_chunks = 0, std::uint32_t channels = 1) {
    program_.collective = collective;
    program_.in_place = in_place;
    program_.chunks = chunks;
    program_.num_channels = channels;
    program_.ranks.resize(ranks);
    for (RankProgram& rank : program_.ranks) {
      rank.input_chunks = rank.output_chunks = chunks;
      if (collective == CollectiveOp::all_gather) rank.input_chunks /= ranks;
      if (collective == CollectiveOp::reduce_scatter) rank.output_chunks /= ranks;
      rank.scratch_chunks = scratch_chunks;
    }
    accesses_.resize(ranks);
  }

  // The block with these peers; made where there is none.
  std::size_t block(std::size_t rank, std::int32_t to, std::int32_t from, std::uint32_t channel = 0,
                    std::uint32_t call = 0) {
    auto& blocks = program_.ranks[rank].blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b].send_peer == to && blocks[b].recv_peer == from &&
          blocks[b].channel == channel && blocks[b].call == call) {
        return b;
      }
    }
    ThreadBlock& added = blocks.emplace_back();
    added.send_peer = to;
    added.recv_peer = from;
    added.channel = channel;
    added.call = call;
    return blocks.size() - 1;
  }

  // `keep_wait` says of each wait that is needed whether it is written.
  template <class KeepWait>
  void add(std::size_t rank, std::size_t block, ProgramOp op, Where src, Where dst,
           std::uint32_t count, KeepWait keep_wait) {
    ProgramStep step;
    step.op = op;
    step.src_buffer = src.buffer;
    step.src_offset = static_cast<std::int32_t>(src.offset);
    step.dst_buffer = dst.buffer;
    step.dst_offset = static_cast<std::int32_t>(dst.offset);
    step.count = count;
    std::map<std::size_t, std::size_t> waits;  // by block: its last step that must be done
    const std::set<std::uint32_t> reads = places(rank, step, false);
    const std::set<std::uint32_t> writes = places(rank, step, true);
    const auto wait_for = [&](const Access& access) {
      const auto& blocks = program_.ranks[rank].blocks;
      if (access.block == block || blocks[access.block].call != blocks[block].call) return;
      waits[access.block] = std::max(waits[access.block], access.step);
    };
    for (const std::uint32_t place : reads) {
      for (const Access& access : accesses_[rank][place]) {
        if (access.writes) wait_for(access);
      }
    }
    for (const std::uint32_t place : writes) {
      for (const Access& access : accesses_[rank][place]) wait_for(access);
    }
    auto& steps = program_.ranks[rank].blocks[block].steps;
    for (auto w = waits.begin(); w != waits.end();) {
      w = keep_wait() ? std::next(w) : waits.erase(w);
    }
    for (auto w = waits.begin(); w != waits.end(); ++w) {
      ProgramStep nop;
      ProgramStep& waiting = std::next(w) == waits.end() ? step : nop;
      waiting.wait_block = static_cast<std::int32_t>(w->first);
      waiting.wait_step = static_cast<std::int32_t>(w->second);
      program_.ranks[rank].blocks[w->first].steps[w->second].signals = true;
      if (&waiting == &nop) steps.push_back(nop);
    }
    for (const std::uint32_t place : reads) {
      accesses_[rank][place].push_back({block, steps.size(), false});
    }
    for (const std::uint32_t place : writes) {
      accesses_[rank][place].push_back({block, steps.size(), true});
    }
    steps.push_back(step);
  }
  void add(std::size_t rank, std::size_t block, ProgramOp op, Where src, Where dst,
           std::uint32_t count = 1) {
    add(rank, block, op, src, dst, count, [] { return true; });
  }

  [[nodiscard]] Program& program() { return program_; }

 private:
  struct Access {
    std::size_t block;
    std::size_t step;
    bool writes;
  };

  [[nodiscard]] std::set<std::uint32_t> places(std::size_t rank, const ProgramStep& step,
                                               bool written) const {
    const ProgramStorage storage(program_);
    const auto r = static_cast<std::uint32_t>(rank);
    std::set<std::uint32_t> found;
    for (std::uint32_t k = 0; k < step.count; ++k) {
      if (written && writes_target(step.op)) {
        found.insert(
            storage.place(r, step.dst_buffer, static_cast<std::uint32_t>(step.dst_offset) + k));
      }
      if (!written && reads_source(step.op)) {
        found.insert(
            storage.place(r, step.src_buffer, static_cast<std::uint32_t>(step.src_offset) + k));
      }
    }
    return found;
  }

  Program program_;
  std::vector<std::map<std::uint32_t, std::vector<Access>>> accesses_;  // by rank and place
};

// Chunks go round, `per_rank` of each rank on each channel; the blocks of a channel are its own.
Program ring_all_reduce(std::uint32_t ranks, std::uint32_t channels, std::uint32_t per_rank);
Program ring_all_gather(std::uint32_t ranks);
Program direct_all_to_all(std::uint32_t ranks);
// Reduced by one rank for each chunk, in one block of it, and sent to all; a block for each peer.
Program all_pairs_all_reduce(std::uint32_t ranks, std::uint32_t per_rank);
// Reduce-scatter in a server, exchange between the servers through scratch, all-gather in it.
Program hierarchical_all_reduce(std::uint32_t servers, std::uint32_t per_server);
// Within a server to the rank that talks to the destination's like, which sends one message each.
Program two_step_all_to_all(std::uint32_t servers, std::uint32_t per_server);
Program chain_broadcast(std::uint32_t ranks, std::uint32_t chunks);
Program chain_reduce(std::uint32_t ranks, std::uint32_t chunks);
// The hierarchical one as two library calls.
Program composed_all_reduce(std::uint32_t ranks);

}  // namespace espalier::program_test
