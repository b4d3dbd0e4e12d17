// A collective program: thread blocks for each rank, each a straight sequence of instructions (GC3,
// section 4; MSCCL-IR). The compiler produces it, XML files store it, the certifier proves it, and
// the program contexts of an NI execute it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

enum class ProgramBuffer : std::uint8_t { input, output, scratch };
// (+) is the reduction.
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
// How a connection moves data, see ProtocolSpec.
enum class Protocol : std::uint8_t { simple, ll, ll128, message };

[[nodiscard]] const char* to_string(ProgramBuffer buffer);  // "i", "o", "s"
[[nodiscard]] const char* to_string(ProgramOp op);          // "nop", "s", "r", "rcs", ...
[[nodiscard]] const char* to_string(Protocol protocol);     // "Simple", "LL", "LL128", "Message"

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
// True if the operation reads local memory [src, src + count). A reduce also reads [dst, dst +
// count).
[[nodiscard]] constexpr bool reads_source(ProgramOp op) {
  return op == ProgramOp::send || op == ProgramOp::copy || reduces(op);
}
// True if the operation writes local memory [dst, dst + count).
[[nodiscard]] constexpr bool writes_target(ProgramOp op) {
  return op == ProgramOp::recv || op == ProgramOp::recv_copy_send ||
         op == ProgramOp::recv_reduce_copy || op == ProgramOp::recv_reduce_copy_send ||
         op == ProgramOp::copy || op == ProgramOp::reduce;
}

inline constexpr std::int32_t kNoPeer = -1;

struct ProgramStep {
  ProgramOp op = ProgramOp::nop;
  ProgramBuffer src_buffer = ProgramBuffer::input;
  std::int32_t src_offset = -1;  // in chunks; unused: -1 or the peer's place
  ProgramBuffer dst_buffer = ProgramBuffer::output;
  std::int32_t dst_offset = -1;
  std::uint32_t count = 0;  // consecutive chunks; 0: nop
  // Waits until step `wait_step` of block `wait_block` of the same rank is done; -1, -1: no wait.
  std::int32_t wait_block = -1;
  std::int32_t wait_step = -1;
  bool signals = false;    // another block waits for this step
  std::uint32_t line = 0;  // in the program's file; 0: none
  // The operation of an execution plan that the step belongs to; -1: none.
  std::int32_t plan_gpu = -1;
  std::int32_t plan_block = -1;
  std::int32_t plan_step = -1;
  // Data pass through a register: each request waits for the same request of the awaited step.
  bool on_the_fly = false;
};

struct ThreadBlock {
  std::int32_t send_peer = kNoPeer;  // the only rank to which it may send
  std::int32_t recv_peer = kNoPeer;  // the only rank from which it may receive
  std::uint32_t channel = 0;         // of both connections
  // Number of the library call. The block starts when every block of its rank with a lower number
  // has ended and the call is launched. Each call has its own connections.
  std::uint32_t call = 0;
  std::vector<ProgramStep> steps;
  std::uint32_t line = 0;
};

struct RankProgram {
  std::uint32_t input_chunks = 0;  // 0 if the program does not name the buffer at this rank
  std::uint32_t output_chunks = 0;
  std::uint32_t scratch_chunks = 0;
  std::vector<ThreadBlock> blocks;  // a block's number is its index
  std::uint32_t line = 0;
};

// The initial value of an input chunk.
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

// The promised value of one output chunk of a custom collective.
struct PromisedChunk {
  std::uint32_t rank = 0;
  std::uint32_t index = 0;        // in the output buffer
  std::vector<InputChunk> value;  // terms of the sum, ascending, repeated if added repeatedly
};

struct Program {
  std::string name;
  CollectiveOp collective = CollectiveOp::all_reduce;
  bool in_place = false;  // input and output alias, see ProgramStorage
  // With in_place: the program must be right with in_place = false as well.
  bool also_out_of_place = false;
  Protocol protocol = Protocol::simple;
  std::uint32_t num_channels = 1;  // highest channel + 1
  // Equal chunks into which the size of a call is cut: as many as the larger of input and output
  // buffer has (nchunksperloop).
  std::uint32_t chunks = 1;
  std::vector<RankProgram> ranks;
  // Of `ranks`, the last ones. They are switches, which add and copy for the ranks, in scratch.
  std::uint32_t switches = 0;
  Bytes min_bytes = 0;  // smallest size of a call for which the program may be used
  Bytes max_bytes = 0;  // largest size of a call; 0: no limit
  Bytes multiple = 1;   // of which a call's size must be one
  // Ranks write and read each other's memory, and no slots lie between: a message has its whole
  // step. A send and its receive without chunks are a signal; nops may signal as well.
  bool one_sided = false;
  // For broadcast and reduce. If it is not given, the certifier finds it.
  std::optional<std::uint32_t> root;
  // For custom collectives: the promises; empty: unknown.
  std::vector<PromisedChunk> promises;

  [[nodiscard]] std::size_t num_ranks() const { return ranks.size() - switches; }
  [[nodiscard]] std::size_t num_steps() const;
  // Number of library calls, at least 1.
  [[nodiscard]] std::uint32_t num_calls() const;
};

// One direction of a queue pair. Its k-th message is the k-th message of the sending block.
struct Connection {
  std::uint32_t from = 0;  // rank
  std::uint32_t to = 0;    // rank
  std::uint32_t channel = 0;
  std::uint32_t call = 0;
  // Numbers of the blocks that own its ends; kNoPeer: no owner.
  std::int32_t send_block = kNoPeer;
  std::int32_t recv_block = kNoPeer;
};

// Every connection of which a block names an end, ascending in (from, to, channel, call). If
// several blocks name an end, the first one is the end's owner. Precondition: peers are ranks of
// the program.
[[nodiscard]] std::vector<Connection> connections_of(const Program& program);

// The places of the chunks of a rank's buffers (MSCCL-IR, in-place programs). A rank's memory is a
// sequence of places, one per chunk: [0, num_places). Out of place, the sequence is input, output,
// scratch. In place, input and output share the places of the larger buffer: all_gather has input
// chunk k of rank r in output chunk r * f + k, reduce_scatter has output chunk k of rank r in input
// chunk r * f + k, with f = chunks / ranks; in other collectives, chunk k of both buffers shares
// one place.
class ProgramStorage {
 public:
  // Precondition: at least one rank. custom: buffers have the sizes that each rank declares.
  explicit ProgramStorage(const Program& program);

  // Chunks of a rank's buffer, also if the program does not name it.
  [[nodiscard]] std::uint32_t size(std::uint32_t rank, ProgramBuffer buffer) const;
  // Precondition: offset < size(rank, buffer).
  [[nodiscard]] std::uint32_t place(std::uint32_t rank, ProgramBuffer buffer,
                                    std::uint32_t offset) const;
  [[nodiscard]] std::uint32_t num_places(std::uint32_t rank) const;
  // The place of scratch chunk 0. Scratch is the end of the row.
  [[nodiscard]] std::uint32_t first_scratch(std::uint32_t rank) const;

 private:
  [[nodiscard]] std::uint32_t input_base(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t output_base(std::uint32_t rank) const;

  const Program& program_;
  std::uint32_t share_;  // chunks / ranks
};

// The promised value of output chunk `index` of `rank`, ascending; empty: nothing is promised.
// broadcast and reduce use `root`; custom uses program.promises.
[[nodiscard]] std::vector<InputChunk> promised_value(const Program& program, std::uint32_t rank,
                                                     std::uint32_t index, std::uint32_t root = 0);

}  // namespace espalier
