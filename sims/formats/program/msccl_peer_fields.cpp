#include "sims/formats/program/msccl_peer_fields.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace espalier {

namespace {

bool has_remote_target(ProgramOp op) {
  return op == ProgramOp::send || op == ProgramOp::recv_reduce_send;
}
bool has_remote_source(ProgramOp op) {
  return op == ProgramOp::recv || op == ProgramOp::recv_copy_send;
}

// The memory that what it sends, or what it receives, has to do with: rcs and rrcs send what they
// store, s and rrs what stands in src.
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

}  // namespace espalier
