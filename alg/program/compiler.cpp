#include "alg/program/compiler.h"

#include <stdexcept>
#include <string>

#include "alg/program/instruction_order.h"
#include "alg/program/protocol.h"
#include "alg/program/slot_check.h"
#include "alg/program/thread_blocks.h"

namespace espalier {

namespace {

Program check_slots(Program program, std::uint32_t slots) {
  for (const std::uint32_t chunks_per_slot : {1U, 0U}) {
    const std::string fault = unfinished_with(program, slots, chunks_per_slot);
    if (!fault.empty()) throw std::logic_error("a compiled program stands still: " + fault);
  }
  return program;
}

}  // namespace

Program compile(const ChunkTrace& trace, const CompileOptions& options) {
  const std::uint32_t slots =
      options.slots != 0 ? options.slots : protocol_spec(trace.signature.protocol).slots;
  const InstructionDag unfused = make_instruction_dag(make_chunk_dag(trace));
  if (options.fuse) {
    const InstructionDag fused =
        fuse_and_assign_channels(unfused, {true, options.most_channels, slots});
    for (const OrderBy priority : {OrderBy::depth, OrderBy::trace}) {
      const auto order = order_instructions(fused, priority, slots);
      if (order) return check_slots(assemble(fused, *order), slots);
    }
  }
  // Fused instructions send as soon as they receive, which may take slots that others need first.
  const InstructionDag plain =
      fuse_and_assign_channels(unfused, {false, options.most_channels, slots});
  for (const OrderBy priority : {OrderBy::depth, OrderBy::trace}) {
    const auto order = order_instructions(plain, priority, slots);
    if (order) return check_slots(assemble(plain, *order), slots);
  }
  throw std::logic_error("instructions in the order of the trace always run");
}

}  // namespace espalier
