// Checks that the program is well formed: ranks, chunks, promises, blocks, their peers and their
// steps.
#include <fmt/format.h>

#include <algorithm>

#include "alg/program/program_certifier_parts.h"

namespace espalier::program_certifier {

namespace {

// Chunks of all ranks together. The certifier follows the value of each chunk.
constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 25;

void check_frame(const Program& program, Findings& findings) {
  const std::size_t ranks = program.num_ranks();
  if (program.chunks == 0) {
    findings.add(kMalformed, {}, "the program has no chunks; it needs at least 1");
  }
  const bool is_shared_out = program.collective == CollectiveOp::all_gather ||
                             program.collective == CollectiveOp::reduce_scatter ||
                             program.collective == CollectiveOp::all_to_all;
  if (is_shared_out && program.chunks % ranks != 0) {
    findings.add(kMalformed, {},
                 "the program has {} chunks, which is not a multiple of its {} ranks, as {} needs",
                 program.chunks, ranks, to_string(program.collective));
  }
  if (program.max_bytes != 0 && program.min_bytes > program.max_bytes) {
    findings.add(kMalformed, {},
                 "the program's smallest size, {} bytes, exceeds its largest size, {} bytes",
                 program.min_bytes, program.max_bytes);
  }
  if (program.root && *program.root >= ranks) {
    findings.add(kMalformed, {}, "the root is gpu {}, but the program has {} ranks", *program.root,
                 ranks);
  }
}

void check_size(const Program& program, Findings& findings) {
  const ProgramStorage storage(program);
  std::uint64_t chunks = 0;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    for (const auto buffer :
         {ProgramBuffer::input, ProgramBuffer::output, ProgramBuffer::scratch}) {
      chunks += storage.size(r, buffer);
    }
  }
  if (chunks <= kMostChunks) return;
  findings.add(kMalformed, {},
               "the buffers of all ranks together have {} chunks; allowed are at most {}", chunks,
               kMostChunks);
}

// A declared buffer must have the size that the collective gives it (MSCCL-IR, A.3); 0: not named.
// Ranks have different sizes only in custom collectives.
void check_chunk_counts(const Program& program, std::size_t rank, Findings& findings) {
  const RankProgram& of_rank = program.ranks[rank];
  const ProgramStorage storage(program);
  const auto check = [&](const char* name, ProgramBuffer buffer, std::uint32_t declared) {
    const bool is_custom = program.collective == CollectiveOp::custom;
    const std::uint32_t size =
        is_custom ? program.chunks : storage.size(static_cast<std::uint32_t>(rank), buffer);
    if (declared == 0 || declared == size || (is_custom && declared < size)) return;
    findings.add(kMalformed, site_of(program, rank),
                 "declares {} {} chunks, but with {} chunks on {} ranks {} has {} {}", declared,
                 name, program.chunks, program.num_ranks(), to_string(program.collective),
                 is_custom ? "at most" : "exactly", size);
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
      findings.add(kMalformed, {}, "a promise names gpu {}, but the program has {} ranks",
                   promise.rank, program.num_ranks());
      continue;
    }
    const RankProgram& of_rank = program.ranks[promise.rank];
    // In place, both buffers are the same memory.
    const std::uint32_t size = program.in_place
                                   ? std::max(of_rank.input_chunks, of_rank.output_chunks)
                                   : of_rank.output_chunks;
    if (promise.index >= size) {
      findings.add(kMalformed, site_of(program, promise.rank),
                   "a promise names output chunk {}, but the rank has {} output chunks",
                   promise.index, size);
    }
    for (const InputChunk& chunk : promise.value) {
      if (chunk.rank < program.num_ranks() &&
          chunk.index < program.ranks[chunk.rank].input_chunks) {
        continue;
      }
      findings.add(
          kMalformed, site_of(program, promise.rank),
          "the promise of output chunk {} names input chunk {} of gpu {}, which does not exist",
          promise.index, chunk.index, chunk.rank);
    }
    targets.emplace_back(promise.rank, promise.index);
  }
  std::sort(targets.begin(), targets.end());
  const auto twice = std::adjacent_find(targets.begin(), targets.end());
  if (twice == targets.end()) return;
  findings.add(kMalformed, site_of(program, twice->first),
               "output chunk {} has two promises; allowed is one", twice->second);
}

// Returns whether each peer is a rank or kNoPeer.
bool check_peers(const Program& program, std::size_t rank, std::size_t block, Findings& findings) {
  const ThreadBlock& of_block = program.ranks[rank].blocks[block];
  const auto ranks = static_cast<std::int64_t>(program.ranks.size());
  const auto check = [&](const char* verb, std::int32_t peer) {
    const bool exists = peer >= kNoPeer && peer < ranks;
    if (exists && peer != static_cast<std::int32_t>(rank)) return true;
    findings.add_described(kMalformed, site_of(program, rank, block), [&] {
      if (exists) return fmt::format("{} itself", verb);
      return fmt::format("{} gpu {}, but the program has {} ranks", verb, peer, ranks);
    });
    return false;
  };
  const bool sends_right = check("sends to", of_block.send_peer);
  const bool receives_right = check("receives from", of_block.recv_peer);
  if (of_block.channel >= program.num_channels) {
    findings.add(kMalformed, site_of(program, rank, block),
                 "is on channel {}, but the program has {} channels", of_block.channel,
                 program.num_channels);
  }
  return sends_right && receives_right;
}

}  // namespace

void check_form(const Program& program, Findings& findings) {
  if (program.num_ranks() == 0) {
    findings.add(kMalformed, {}, "the program has no ranks; it needs at least 1");
    return;
  }
  check_frame(program, findings);
  check_size(program, findings);
  check_promises(program, findings);
  bool has_right_peers = true;
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    check_chunk_counts(program, r, findings);
    for (std::size_t b = 0; b < program.ranks[r].blocks.size(); ++b) {
      has_right_peers = check_peers(program, r, b, findings) && has_right_peers;
      check_step_form(program, r, b, findings);
    }
  }
  if (has_right_peers) check_ends(program, findings);
}

// ---------------------------------------------------------------- steps: operands, peers, waits

namespace {

struct StepCheck {
  const Program& program;
  std::size_t rank;
  std::size_t block;
  Findings& findings;

  [[nodiscard]] const ThreadBlock& of_block() const { return program.ranks[rank].blocks[block]; }
  [[nodiscard]] Site site(std::size_t step) const { return site_of(program, rank, block, step); }

  [[nodiscard]] std::uint32_t declared(ProgramBuffer buffer) const {
    const RankProgram& of_rank = program.ranks[rank];
    if (buffer == ProgramBuffer::scratch) return of_rank.scratch_chunks;
    return buffer == ProgramBuffer::input ? of_rank.input_chunks : of_rank.output_chunks;
  }

  void check_operand(std::size_t s, const char* name, ProgramBuffer buffer, std::int32_t offset) {
    const std::uint32_t count = of_block().steps[s].count;
    const std::uint32_t size = declared(buffer);
    if (offset >= 0 && static_cast<std::uint64_t>(offset) + count <= size) return;
    findings.add(kMalformed, site(s),
                 "its {} is {} {}, {} chunks long, but buffer {} of this rank has {} chunks", name,
                 to_string(buffer), offset, count, to_string(buffer), size);
  }

  [[nodiscard]] bool is_signal(ProgramOp op) const {
    return program.one_sided && (op == ProgramOp::send || op == ProgramOp::recv);
  }

  void check_operands(std::size_t s) {
    const ProgramStep& step = of_block().steps[s];
    if (step.count == 0 && is_signal(step.op)) return;
    if (step.op != ProgramOp::nop && step.count == 0) {
      findings.add(kMalformed, site(s), "its count is 0; allowed is 1 and more");
    }
    if (reads_source(step.op)) check_operand(s, "source", step.src_buffer, step.src_offset);
    if (writes_target(step.op)) check_operand(s, "target", step.dst_buffer, step.dst_offset);
    if (sends(step.op) && of_block().send_peer == kNoPeer) {
      findings.add(kMalformed, site(s), "sends, but its thread block has no send peer");
    }
    if (receives(step.op) && of_block().recv_peer == kNoPeer) {
      findings.add(kMalformed, site(s), "receives, but its thread block has no receive peer");
    }
  }

  // Why the wait is wrong, as the end of a sentence; nullptr: it is right.
  [[nodiscard]] const char* wrong_wait(std::size_t s) const {
    const ProgramStep& step = of_block().steps[s];
    const auto& blocks = program.ranks[rank].blocks;
    if (step.wait_block < 0 || static_cast<std::size_t>(step.wait_block) >= blocks.size()) {
      return "which does not exist";
    }
    const ThreadBlock& other = blocks[static_cast<std::size_t>(step.wait_block)];
    if (step.wait_step < 0 || static_cast<std::size_t>(step.wait_step) >= other.steps.size()) {
      return "which does not exist";
    }
    // A wait for a later step of the own block would never end.
    if (static_cast<std::size_t>(step.wait_block) == block &&
        static_cast<std::size_t>(step.wait_step) >= s) {
      return "which comes later in its own thread block";
    }
    // Scoreboards are cleared between calls.
    if (other.call != of_block().call) return "which belongs to another call";
    const ProgramStep& target = other.steps[static_cast<std::size_t>(step.wait_step)];
    if (target.op == ProgramOp::nop && !program.one_sided) return "a nop, which never signals";
    return target.signals ? nullptr : "which does not signal";
  }

  void check_wait(std::size_t s) {
    const ProgramStep& step = of_block().steps[s];
    if (step.wait_block == -1 && step.wait_step == -1) return;
    const char* wrong = wrong_wait(s);
    if (wrong == nullptr) return;
    findings.add(kMalformed, site(s), "waits for gpu {} tb {} step {}, {}", rank, step.wait_block,
                 step.wait_step, wrong);
  }

  // Nops hand their waits to the next step, which must have a wait itself.
  void check_nops(std::size_t s) {
    const auto& steps = of_block().steps;
    if (s == 0 || steps[s - 1].op != ProgramOp::nop) return;
    if (steps[s].op == ProgramOp::nop || steps[s].wait_block != -1) return;
    findings.add(
        kMalformed, site(s),
        "comes after the nop {}, but waits for no step; the step after a nop must wait for a "
        "step",
        name_of(site(s - 1)));
  }

  // Runtimes may join consecutive reductions into one place to one reduction of many operands,
  // which must have one length (MSCCL-IR, A.7).
  void check_reductions(std::size_t s) {
    if (s == 0) return;
    const ProgramStep& last = of_block().steps[s - 1];
    const ProgramStep& step = of_block().steps[s];
    const bool joins = last.op == ProgramOp::reduce && step.op == ProgramOp::reduce &&
                       !last.signals && step.wait_block == -1 &&
                       last.dst_buffer == step.dst_buffer && last.dst_offset == step.dst_offset &&
                       last.src_buffer == step.src_buffer;
    if (!joins || last.count == step.count) return;
    findings.add(
        kMalformed, site(s),
        "reduces {} chunks into the place into which {} reduces {}; a runtime may join the two "
        "reductions, so their counts must be equal",
        step.count, name_of(site(s - 1)), last.count);
  }
};

}  // namespace

void check_step_form(const Program& program, std::size_t rank, std::size_t block,
                     Findings& findings) {
  StepCheck check{program, rank, block, findings};
  for (std::size_t s = 0; s < check.of_block().steps.size(); ++s) {
    check.check_operands(s);
    check.check_wait(s);
    if (program.one_sided) continue;
    check.check_nops(s);
    check.check_reductions(s);
  }
}

}  // namespace espalier::program_certifier
