#include "alg/program/compiler.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "alg/program/compiler_passes.h"
#include "alg/program/program_certifier.h"
#include "alg/program/protocol.h"

namespace espalier {

namespace {

class Compilation {
 public:
  Compilation(const ChunkTrace& trace, const CompileOptions& options)
      : unfused_(make_instruction_dag(trace)),
        slots_(options.slots != 0 ? options.slots : protocol_spec(trace.signature.protocol).slots),
        locals_(options.locals) {
    rules_.most = options.most_channels;
    rules_.slots = slots_;
    rules_.fuse = options.fuse;
  }

  Program run() {
    if (rules_.fuse) {
      for (const OrderBy priority : {OrderBy::depth, OrderBy::readiness}) {
        if (auto program = take_apart_and_order(priority)) return check_slots(std::move(*program));
      }
      rules_.fuse = false;
    }
    for (const OrderBy priority : {OrderBy::depth, OrderBy::trace}) {
      if (auto program = order_by(priority)) return check_slots(std::move(*program));
    }
    throw std::logic_error(
        "no order of the instructions runs to its end, not even the order of the trace");
  }

 private:
  // A fused instruction sends as soon as it receives. If it would wait for a slot forever, it is
  // split: its receive then frees the slot before its send needs room.
  std::optional<Program> take_apart_and_order(OrderBy priority) {
    constexpr int kMostRounds = 64;
    rules_.apart.assign(unfused_.nodes.size(), false);
    for (int round = 0; round < kMostRounds; ++round) {
      const InstructionDag dag = fuse_and_assign_channels(unfused_, rules_);
      const InstructionOrder found = order_instructions(dag, priority, slots_);
      if (found.order.size() == dag.nodes.size()) return assemble(dag, found.order, locals_);
      if (found.stuck.empty()) break;
      for (const std::uint32_t n : found.stuck) rules_.apart[dag.nodes[n].traced] = true;
    }
    return std::nullopt;
  }

  std::optional<Program> order_by(OrderBy priority) const {
    const InstructionDag dag = fuse_and_assign_channels(unfused_, rules_);
    const InstructionOrder found = order_instructions(dag, priority, slots_);
    if (found.order.size() < dag.nodes.size()) return std::nullopt;
    return assemble(dag, found.order, locals_);
  }

  [[nodiscard]] Program check_slots(Program program) const {
    for (const std::uint32_t chunks_per_slot : {1U, 0U}) {
      if (!ends_with_slots(program, slots_, chunks_per_slot)) {
        throw std::logic_error("the compiled program deadlocks");
      }
    }
    return program;
  }

  InstructionDag unfused_;
  std::uint32_t slots_;
  LocalPlacement locals_;
  ChannelRules rules_;
};

}  // namespace

Program compile(const ChunkTrace& trace, const CompileOptions& options) {
  return Compilation(trace, options).run();
}

}  // namespace espalier
