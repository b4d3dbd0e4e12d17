// A collective program: for each rank thread blocks, each a straight line of instructions (GC3,
// section 4; MSCCL-IR). What the compiler makes, XML files hold, the certifier proves and the
// program contexts of an NI run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

enum class ProgramBuffer : std::uint8_t { input, output, scratch };
// `accumulator` is a local operand, (+) the reduction:
// send                      message := src
// recv                      dst := message
// recv_copy_send       rcs  dst := message; sends it on
// recv_reduce_send     rrs  sends src (+) message; memory keeps src
// recv_reduce_copy     rrc  dst := src (+) message
// recv_reduce_copy_send rrcs the same, and sends it on
// copy                 cpy  dst := src
// reduce               re   dst := dst (+) src
enum class ProgramOp : std::uint8_t {
  nop,
  send,
  recv,
  recv_copy_send,
  recv_reduce_send,
  recv_reduce_copy,
  recv_reduce_copy_send,
  copy,
  reduce
};
// How a connection moves data: payload share, fence, slots; see ProtocolSpec.
enum class Protocol : std::uint8_t { simple, ll, ll128 };

[[nodiscard]] const char* to_string(ProgramBuffer buffer);  // "i", "o", "s"
[[nodiscard]] const char* to_string(ProgramOp op);          // "nop", "s", "r", "rcs", ...
[[nodiscard]] const char* to_string(Protocol protocol);     // "Simple", "LL", "LL128"

[[nodiscard]] constexpr bool receives(ProgramOp op) {
  return op == ProgramOp::recv || op == ProgramOp::recv_copy_send ||
         op == ProgramOp::recv_reduce_send || op == ProgramOp::recv_reduce_copy ||
         op == ProgramOp::recv_reduce_copy_send;
}
[[nodiscard]] constexpr bool sends(ProgramOp op) {
  return op == ProgramOp::send || op == ProgramOp::recv_copy_send ||
         op == ProgramOp::recv_reduce_send || op == ProgramOp::recv_reduce_copy_send;
}
[[nodiscard]] constexpr bool reduces(ProgramOp op) {
  return op == ProgramOp::recv_reduce_send || op == ProgramOp::recv_reduce_copy ||
         op == ProgramOp::recv_reduce_copy_send || op == ProgramOp::reduce;
}
// Local memory it reads: [src, src + count), and of a reduce also [dst, dst + count).
[[nodiscard]] constexpr bool reads_source(ProgramOp op) {
  return op == ProgramOp::send || op == ProgramOp::copy || reduces(op);
}
// Local memory it writes: [dst, dst + count).
[[nodiscard]] constexpr bool writes_target(ProgramOp op) {
  return op == ProgramOp::recv || op == ProgramOp::recv_copy_send ||
         op == ProgramOp::recv_reduce_copy || op == ProgramOp::recv_reduce_copy_send ||
         op == ProgramOp::copy || op == ProgramOp::reduce;
}

inline constexpr std::int32_t kNoPeer = -1;

struct ProgramStep {
  ProgramOp op = ProgramOp::nop;
  ProgramBuffer src_buffer = ProgramBuffer::input;
  std::int32_t src_offset = -1;  // in chunks; where unused -1, or what the peer does
  ProgramBuffer dst_buffer = ProgramBuffer::output;
  std::int32_t dst_offset = -1;
  std::uint32_t count = 0;  // consecutive chunks; 0 of a nop
  // Waits until step `wait_step` of block `wait_block` of the same rank is done; -1, -1: for none.
  std::int32_t wait_block = -1;
  std::int32_t wait_step = -1;
  bool signals = false;    // some other block waits for this step
  std::uint32_t line = 0;  // in the file it was read from; 0: in none
};

struct ThreadBlock {
  std::int32_t send_peer = kNoPeer;  // the only rank it may send to
  std::int32_t recv_peer = kNoPeer;  // the only rank it may receive from
  std::uint32_t channel = 0;         // of both connections
  // Of a collective composed of several library calls: it starts when every block of its rank with
  // a lower number has ended and the call is launched. Connections of different calls are
  // different connections.
  std::uint32_t call = 0;
  std::vector<ProgramStep> steps;
  std::uint32_t line = 0;
};

struct RankProgram {
  std::uint32_t input_chunks = 0;  // 0 where the program does not name the buffer here
  std::uint32_t output_chunks = 0;
  std::uint32_t scratch_chunks = 0;
  std::vector<ThreadBlock> blocks;  // a block's number is its place
  std::uint32_t line = 0;
};

// An input chunk, as it was at the start.
struct InputChunk {
  std::uint32_t rank = 0;
  std::uint32_t index = 0;
  friend bool operator==(const InputChunk& a, const InputChunk& b) {
    return a.rank == b.rank && a.index == b.index;
  }
  friend bool operator<(const InputChunk& a, const InputChunk& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.index < b.index;
  }
};

// What a custom collective promises of one output chunk.
struct PromisedChunk {
  std::uint32_t rank = 0;
  std::uint32_t index = 0;        // in the output buffer
  std::vector<InputChunk> value;  // ascending; their sum, each as often as it stands there
};

struct Program {
  std::string name;
  CollectiveOp collective = CollectiveOp::all_reduce;
  bool in_place = false;  // input and output alias, see ProgramStorage
  // in_place, and offered for buffers of their own too: it must be right with in_place = false as
  // well.
  bool also_out_of_place = false;
  Protocol protocol = Protocol::simple;
  std::uint32_t num_channels = 1;  // highest channel + 1
  // Chunks in the larger of input and output buffer (nchunksperloop): the size of a call is cut
  // into so many equal chunks.
  std::uint32_t chunks = 1;
  std::vector<RankProgram> ranks;
  // Sizes in bytes for which it is offered; max 0: no upper limit.
  Bytes min_bytes = 0;
  Bytes max_bytes = 0;
  // broadcast, reduce: where it is known. The certifier finds it where it is not.
  std::optional<std::uint32_t> root;
  // custom: what it promises; empty where that is not known.
  std::vector<PromisedChunk> promises;

  [[nodiscard]] std::size_t num_ranks() const { return ranks.size(); }
  [[nodiscard]] std::size_t num_steps() const;
  // Library calls it is composed of, at least 1.
  [[nodiscard]] std::uint32_t num_calls() const;
};

// One direction of a queue pair: its k-th message is the k-th that the sending block sends.
struct Connection {
  std::uint32_t from = 0;  // ranks
  std::uint32_t to = 0;
  std::uint32_t channel = 0;
  std::uint32_t call = 0;
  // Numbers of the blocks that own its ends; kNoPeer where an end has no owner.
  std::int32_t send_block = kNoPeer;
  std::int32_t recv_block = kNoPeer;
};

// Every connection that some block names an end of, ascending in (from, to, channel, call).
// Precondition: peers are ranks of the program. Where several blocks own an end, the first one's
// number is kept.
[[nodiscard]] std::vector<Connection> connections_of(const Program& program);

}  // namespace espalier
