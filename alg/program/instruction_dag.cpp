#include "alg/program/instruction_dag.h"

#include <fmt/format.h>

#include <algorithm>

#include "alg/program/program_storage.h"

namespace espalier {

namespace {

class Lowering {
 public:
  explicit Lowering(const ChunkDag& chunks)
      : chunks_(chunks), storage_(chunks.signature), history_(chunks.signature.num_ranks()) {
    dag_.signature = chunks.signature;
  }

  InstructionDag lower() {
    for (const ChunkNode& node : chunks_.nodes) {
      const bool is_reduce = node.kind == TransferKind::reduce;
      if (!node.is_remote()) {
        add(is_reduce ? ProgramOp::reduce : ProgramOp::copy, node, node.target.rank);
        continue;
      }
      const std::uint32_t send = add(ProgramOp::send, node, node.source.rank);
      const std::uint32_t recv =
          add(is_reduce ? ProgramOp::recv_reduce_copy : ProgramOp::recv, node, node.target.rank);
      dag_.nodes[send].message_to = recv;
      dag_.nodes[recv].message_from = send;
      // The accumulator is a local operand, whatever place the data come from.
      if (is_reduce) dag_.nodes[recv].source = node.target;
    }
    mark_promised();
    return std::move(dag_);
  }

 private:
  std::uint32_t add(ProgramOp op, const ChunkNode& node, std::uint32_t rank) {
    const auto id = static_cast<std::uint32_t>(dag_.nodes.size());
    Instruction instruction;
    instruction.op = op;
    instruction.rank = rank;
    instruction.source = node.source;
    instruction.target = node.target;
    instruction.channel = node.channel;
    instruction.instance = node.instance;
    instruction.call = node.call;
    instruction.line = node.line;
    instruction.traced = id;
    PlaceHistory& history = history_[rank];
    std::vector<DagEdge>& after = instruction.after;
    for (std::uint32_t k = 0; k < node.source.count; ++k) {
      if (op == ProgramOp::send || node.source.rank == node.target.rank) {
        history.read(place(node.source) + k, id, after);
      }
      if (reduces(op)) history.read(place(node.target) + k, id, after);
      if (op != ProgramOp::send) history.write(place(node.target) + k, id, after);
    }
    PlaceHistory::simplify(after);
    dag_.nodes.push_back(std::move(instruction));
    return id;
  }

  void mark_promised() {
    const Program& program = dag_.signature;
    const auto mark = [&](std::uint32_t rank, std::uint32_t index) {
      const std::uint32_t number = storage_.place(rank, ProgramBuffer::output, index);
      const std::uint32_t writer = history_[rank].last_writer(number);
      if (writer != PlaceHistory::kNobody) dag_.nodes[writer].result_is_promised = true;
    };
    if (program.collective == CollectiveOp::custom) {
      for (const PromisedChunk& promise : program.promises) {
        if (!promise.value.empty()) mark(promise.rank, promise.index);
      }
      return;
    }
    for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
      if (program.collective == CollectiveOp::reduce && r != program.root) continue;
      for (std::uint32_t i = 0; i < storage_.size(r, ProgramBuffer::output); ++i) mark(r, i);
    }
  }

  [[nodiscard]] std::uint32_t place(const ChunkSpan& span) const {
    return storage_.place(span.rank, span.buffer, span.index);
  }

  const ChunkDag& chunks_;
  ProgramStorage storage_;
  std::vector<PlaceHistory> history_;
  InstructionDag dag_;
};

std::string describe(const InstructionDag& dag, const Instruction& node) {
  std::string text = fmt::format("{} ", to_string(node.op));
  const bool is_local = node.op == ProgramOp::copy || node.op == ProgramOp::reduce;
  if (is_local) {
    text += fmt::format("{} to {}", to_string(node.source), to_string(node.target));
  } else {
    text += to_string(reads_source(node.op) ? node.source : node.target);
  }
  if (node.message_to != Instruction::kNone) {
    text += fmt::format(" to rank {}", dag.peer_of(node.message_to));
  }
  if (node.message_from != Instruction::kNone) {
    text += fmt::format(" from rank {}", dag.peer_of(node.message_from));
  }
  if (node.channel && !is_local) text += fmt::format(" channel {}", *node.channel);
  return text;
}

}  // namespace

InstructionDag make_instruction_dag(const ChunkDag& chunks) { return Lowering(chunks).lower(); }

std::vector<std::uint32_t> depths(const InstructionDag& dag) {
  std::vector<std::uint32_t> result(dag.nodes.size(), 0);
  for (std::size_t n = 0; n < dag.nodes.size(); ++n) {
    const Instruction& node = dag.nodes[n];
    for (const DagEdge& edge : node.after) {
      result[n] = std::max(result[n], result[edge.from] + 1);
    }
    if (node.message_from != Instruction::kNone) {
      result[n] = std::max(result[n], result[node.message_from] + 1);
    }
  }
  return result;
}

std::vector<std::uint32_t> reverse_depths(const InstructionDag& dag) {
  std::vector<std::uint32_t> result(dag.nodes.size(), 0);
  for (std::size_t n = dag.nodes.size(); n-- > 0;) {
    const Instruction& node = dag.nodes[n];
    const auto reach = [&](std::uint32_t from) {
      result[from] = std::max(result[from], result[n] + 1);
    };
    for (const DagEdge& edge : node.after) reach(edge.from);
    if (node.message_from != Instruction::kNone) reach(node.message_from);
  }
  return result;
}

std::string to_text(const InstructionDag& dag) {
  std::string text;
  for (std::size_t n = 0; n < dag.nodes.size(); ++n) {
    const Instruction& node = dag.nodes[n];
    text += fmt::format("{}: {}", n, describe(dag, node));
    const char* separator = " after ";
    if (node.message_from != Instruction::kNone) {
      text += fmt::format("{}message of {}", separator, node.message_from);
      separator = ", ";
    }
    for (const DagEdge& edge : node.after) {
      text += fmt::format(edge.is_true ? "{}{}" : "{}({})", separator, edge.from);
      separator = ", ";
    }
    text += '\n';
  }
  return text;
}

std::string to_dot(const InstructionDag& dag) {
  std::string text = "digraph instructions {\n  node [shape=box];\n";
  for (std::size_t n = 0; n < dag.nodes.size(); ++n) {
    const Instruction& node = dag.nodes[n];
    text += fmt::format("  n{} [label=\"{}\"];\n", n, describe(dag, node));
    if (node.message_from != Instruction::kNone) {
      text += fmt::format("  n{} -> n{} [style=bold];\n", node.message_from, n);
    }
    for (const DagEdge& edge : node.after) {
      text += fmt::format("  n{} -> n{}{};\n", edge.from, n, edge.is_true ? "" : " [style=dashed]");
    }
  }
  return text + "}\n";
}

}  // namespace espalier
