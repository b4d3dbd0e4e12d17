#include "sims/formats/program/msccl_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "sims/formats/program/msccl_format.h"
#include "sims/text/utf8.h"

namespace espalier {

namespace {

bool has_remote_target(ProgramOp op) {
  return op == ProgramOp::send || op == ProgramOp::recv_reduce_send;
}
bool has_remote_source(ProgramOp op) {
  return op == ProgramOp::recv || op == ProgramOp::recv_copy_send;
}

// The local location of a step's message: rcs and rrcs send the stored data, s and rrs send the
// source.
struct Location {
  ProgramBuffer buffer = ProgramBuffer::input;
  std::int32_t offset = -1;
};
Location local_of(const ProgramStep& step) {
  if (has_remote_target(step.op)) return {step.src_buffer, step.src_offset};
  return {step.dst_buffer, step.dst_offset};
}

void fill_target(ProgramStep& step, const Location& peer) {
  if (!has_remote_target(step.op) || step.dst_offset != -1) return;
  step.dst_buffer = peer.buffer;
  step.dst_offset = peer.offset;
}
void fill_source(ProgramStep& step, const Location& peer) {
  if (!has_remote_source(step.op) || step.src_offset != -1) return;
  step.src_buffer = peer.buffer;
  step.src_offset = peer.offset;
}

template <class Predicate>
std::vector<ProgramStep*> steps_of(Program& program, std::uint32_t rank, std::int32_t block,
                                   Predicate predicate) {
  std::vector<ProgramStep*> steps;
  if (block == kNoPeer) return steps;
  for (ProgramStep& step : program.ranks[rank].blocks[static_cast<std::size_t>(block)].steps) {
    if (predicate(step.op)) steps.push_back(&step);
  }
  return steps;
}

}  // namespace

void fill_peer_fields(Program& program) {
  for (const Connection& connection : connections_of(program)) {
    const auto sending = steps_of(program, connection.from, connection.send_block, sends);
    const auto receiving = steps_of(program, connection.to, connection.recv_block, receives);
    for (std::size_t k = 0; k < std::min(sending.size(), receiving.size()); ++k) {
      fill_target(*sending[k], local_of(*receiving[k]));
      fill_source(*receiving[k], local_of(*sending[k]));
    }
  }
  for (RankProgram& rank : program.ranks) {
    for (ThreadBlock& block : rank.blocks) {
      for (ProgramStep& step : block.steps) {
        fill_target(step, local_of(step));
        fill_source(step, local_of(step));
      }
    }
  }
}

namespace {

template <class Value, std::size_t Count>
const char* msccl_name(const MscclName<Value> (&names)[Count], Value value) {
  for (const auto& [name, named] : names) {
    if (named == value) return name;
  }
  return "?";
}

// ---------------------------------------------------------------- what can be written

// The reason why a program cannot be written. The checks throw it.
struct Obstacle {
  std::string why;
};

template <class... Args>
void require(bool is_met, fmt::format_string<Args...> otherwise, Args... args) {
  if (!is_met) throw Obstacle{fmt::format(otherwise, args...)};
}

// Adds the place to the obstacles that `check` meets: "tb 3: ".
template <class Check>
void check_within(const char* what, std::size_t number, const Check& check) {
  try {
    check();
  } catch (const Obstacle& obstacle) {
    throw Obstacle{fmt::format("{} {}: {}", what, number, obstacle.why)};
  }
}

void check_whole(const Program& program) {
  const auto ranks = static_cast<std::int64_t>(program.num_ranks());
  constexpr auto kLimit = static_cast<Bytes>(kUnlimitedBytes);
  require(program.num_calls() <= 1, "the program has {} library calls, but a document has one call",
          program.num_calls());
  require(ranks != 0, "the program has no ranks");
  require(is_plain_text(program.name),
          "the program's name contains a control character or broken UTF-8");
  require(program.chunks != 0 && program.chunks <= kMostChunksOfBuffer,
          "the program has {} chunks; a document has 1 to {}", program.chunks, kMostChunksOfBuffer);
  require(!has_shares(program.collective) || program.chunks % ranks == 0,
          "{} chunks are not a multiple of {} ranks", program.chunks, ranks);
  require(program.min_bytes < kLimit && program.max_bytes < kLimit &&
              (program.max_bytes == 0 || program.min_bytes <= program.max_bytes),
          "the smallest size, {} bytes, must not exceed the largest size, {} bytes, and both must "
          "be below 2^63",
          program.min_bytes, program.max_bytes);
  require(program.in_place || !program.also_out_of_place, "also_out_of_place needs in_place");
  const std::uint32_t root = program.root.value_or(0);
  require(!program.root || (is_rooted(program.collective) && root < ranks),
          "the root {} does not exist", root);
  require(program.num_channels != 0 && program.num_channels <= INT32_MAX,
          "the program has {} channels; allowed are 1 to 2^31 - 1", program.num_channels);
}

void check_step(const ProgramStep& step, bool after_nop) {
  const bool is_nop = step.op == ProgramOp::nop;
  require(is_nop ? step.count == 0 : step.count != 0 && step.count <= kMostChunksOfStep,
          "moves {} chunks; runtimes accept 1 to {}, and 0 for a nop", step.count,
          kMostChunksOfStep);
  require(step.src_offset >= -1 && step.dst_offset >= -1, "has a negative offset");
  require(step.wait_block >= -1 && step.wait_step >= -1 &&
              (step.wait_block == -1) == (step.wait_step == -1),
          "waits for tb {} step {}, which is not a valid dependency", step.wait_block,
          step.wait_step);
  require(!after_nop || is_nop || step.wait_block != -1,
          "follows a nop, so it must wait for a step");
}

void check_block(const Program& program, std::size_t rank, const ThreadBlock& block) {
  for (const std::int32_t peer : {block.send_peer, block.recv_peer}) {
    const bool is_rank = peer >= 0 && static_cast<std::size_t>(peer) < program.num_ranks() &&
                         static_cast<std::size_t>(peer) != rank;
    require(peer == kNoPeer || is_rank, "its peer {} does not exist", peer);
  }
  require(block.channel < program.num_channels, "is on channel {}, but the program has {} channels",
          block.channel, program.num_channels);
  require(block.steps.size() <= kMostStepsOfBlock, "has {} steps; runtimes accept at most {}",
          block.steps.size(), kMostStepsOfBlock);
  bool after_nop = false;
  for (std::size_t s = 0; s < block.steps.size(); ++s) {
    check_within("step", s, [&] { check_step(block.steps[s], after_nop); });
    after_nop = block.steps[s].op == ProgramOp::nop;
  }
}

// `num_chunks`: of the ranks before, and then also of this rank.
void check_rank(const Program& program, std::size_t number, std::int64_t& num_chunks) {
  const RankProgram& rank = program.ranks[number];
  const auto ranks = static_cast<std::int64_t>(program.num_ranks());
  const std::int64_t in = input_chunks_of(program.collective, program.chunks, ranks);
  const std::int64_t out = output_chunks_of(program.collective, program.chunks, ranks);
  const auto fits = [&program](std::int64_t chunks, std::int64_t expected) {
    const bool is_less = program.collective == CollectiveOp::custom && chunks < expected;
    return chunks == 0 || chunks == expected || is_less;
  };
  require(fits(rank.input_chunks, in) && fits(rank.output_chunks, out),
          "has {} input and {} output chunks, but the collective has {} and {}", rank.input_chunks,
          rank.output_chunks, in, out);
  num_chunks += in + out + rank.scratch_chunks;
  require(rank.scratch_chunks <= kMostChunksOfBuffer && num_chunks <= kMostChunksOfProgram,
          "has more than {} chunks in one buffer or {} in all buffers", kMostChunksOfBuffer,
          kMostChunksOfProgram);
  require(rank.blocks.size() <= kMostBlocksOfRank,
          "has {} thread blocks; runtimes accept at most {}", rank.blocks.size(),
          kMostBlocksOfRank);
  std::map<std::uint32_t, std::int64_t> of_channel;
  for (std::size_t b = 0; b < rank.blocks.size(); ++b) {
    const ThreadBlock& block = rank.blocks[b];
    require(++of_channel[block.channel] <= kMostBlocksOfChannel,
            "has more than {} thread blocks of channel {}", kMostBlocksOfChannel, block.channel);
    check_within("tb", b, [&] { check_block(program, number, block); });
  }
}

// ---------------------------------------------------------------- the text

std::string escaped(const std::string& text) {
  constexpr std::string_view kMarkup = "&<>\"";
  constexpr const char* kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
  std::string out;
  for (const char c : text) {
    const std::size_t found = kMarkup.find(c);
    out += found == std::string_view::npos ? std::string(1, c) : kEntities[found];
  }
  return out;
}

// Writes no prolog, because the runtimes' own parser does not accept one.
class Writer {
 public:
  std::string write(const Program& program) {
    const auto max_bytes =
        program.max_bytes == 0 ? static_cast<Bytes>(kUnlimitedBytes) : program.max_bytes;
    // GPUs have no messages of NIs. LL128 has as many slots.
    const Protocol protocol =
        program.protocol == Protocol::message ? Protocol::ll128 : program.protocol;
    put("<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" "
        "coll=\"{}\" inplace=\"{}\" outofplace=\"{}\" minBytes=\"{}\" maxBytes=\"{}\"",
        escaped(program.name), msccl_name(kMscclNamesOfProtocols, protocol), program.num_channels,
        program.chunks, program.num_ranks(),
        msccl_name(kMscclNamesOfCollectives, program.collective), program.in_place ? 1 : 0,
        program.in_place && !program.also_out_of_place ? 0 : 1, program.min_bytes, max_bytes);
    if (program.root) put(" root=\"{}\"", *program.root);
    put(">\n");
    for (std::size_t r = 0; r < program.num_ranks(); ++r) write_rank(r, program.ranks[r]);
    put("</algo>\n");
    return std::move(text_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void write_rank(std::size_t number, const RankProgram& rank) {
    put("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", number,
        rank.input_chunks, rank.output_chunks, rank.scratch_chunks);
    for (std::size_t b = 0; b < rank.blocks.size(); ++b) write_block(b, rank.blocks[b]);
    put("  </gpu>\n");
  }

  void write_block(std::size_t number, const ThreadBlock& block) {
    put("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", number, block.send_peer,
        block.recv_peer, block.channel);
    for (std::size_t s = 0; s < block.steps.size(); ++s) {
      const ProgramStep& step = block.steps[s];
      put("      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" "
          "dstoff=\"{}\" cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
          s, msccl_name(kMscclNamesOfOps, step.op),
          msccl_name(kMscclNamesOfBuffers, step.src_buffer), step.src_offset,
          msccl_name(kMscclNamesOfBuffers, step.dst_buffer), step.dst_offset, step.count,
          step.wait_block, step.wait_step, step.signals ? 1 : 0);
    }
    put("    </tb>\n");
  }

  std::string text_;
};

}  // namespace

std::string unwritable_as_msccl_xml(const Program& program) try {
  if (program.one_sided) return "signals without data have no MSCCL XML";
  check_whole(program);
  std::int64_t num_chunks = 0;
  for (std::size_t r = 0; r < program.num_ranks(); ++r) {
    check_within("gpu", r, [&] { check_rank(program, r, num_chunks); });
  }
  return {};
} catch (const Obstacle& obstacle) {
  return obstacle.why;
}

std::string write_msccl_xml(Program program) {
  fill_peer_fields(program);
  return Writer().write(program);
}

}  // namespace espalier
