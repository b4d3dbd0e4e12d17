#include "alg/program/program_dag.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "alg/program/program.h"

namespace espalier {

namespace {

// The last writer and the readers of each place of one rank, from which dependencies follow. Nodes
// are added in an order in which they can run.
class PlaceHistory {
 public:
  static constexpr std::uint32_t kNobody = ~0U;

  void read(std::uint32_t place, std::uint32_t node, std::vector<DagEdge>& after) {
    Place& at = reach(place);
    if (at.writer != kNobody && at.writer != node) after.push_back({at.writer, true});
    if (at.readers.empty() || at.readers.back() != node) at.readers.push_back(node);
  }
  void write(std::uint32_t place, std::uint32_t node, std::vector<DagEdge>& after) {
    Place& at = reach(place);
    if (at.writer != kNobody && at.writer != node) after.push_back({at.writer, false});
    for (const std::uint32_t reader : at.readers) {
      if (reader != node) after.push_back({reader, false});
    }
    at.writer = node;
    at.readers.clear();
  }
  // Returns kNobody if the place holds its initial value.
  [[nodiscard]] std::uint32_t last_writer(std::uint32_t place) const {
    return place < places_.size() ? places_[place].writer : kNobody;
  }

 private:
  struct Place {
    std::uint32_t writer = kNobody;
    std::vector<std::uint32_t> readers;  // since it was written
  };
  Place& reach(std::uint32_t place) {
    if (places_.size() <= place) places_.resize(place + 1);
    return places_[place];
  }

  std::vector<Place> places_;
};

// The smallest split such that the chunks of every operation divide evenly among its instances.
std::uint32_t smallest_split(const ChunkTrace& trace) {
  constexpr std::uint64_t kMostNodes = 1U << 22;
  std::uint64_t chunks = trace.signature.chunks;
  for (const RankProgram& rank : trace.signature.ranks) {
    chunks = std::max(chunks, std::uint64_t{rank.scratch_chunks});
  }
  std::uint64_t split = 1;
  std::uint64_t nodes = 0;
  for (const ChunkOperation& operation : trace.operations) {
    const std::uint64_t instances = operation.parallel;
    split = std::lcm(split, instances / std::gcd(instances, std::uint64_t{operation.source.count}));
    if (split > 1 && split * chunks >= ChunkTracer::kMostChunks) {
      throw ChunkError(fmt::format("the fragments' instances cut {} chunks into {} parts each; "
                                   "allowed are at most {} parts in all",
                                   chunks, split, ChunkTracer::kMostChunks - 1),
                       operation.place);
    }
    nodes += instances;
    if (nodes > kMostNodes) {
      throw ChunkError(
          fmt::format("all instances together have more than {} operations, which is the limit",
                      kMostNodes),
          operation.place);
    }
  }
  return static_cast<std::uint32_t>(split);
}

Program split_signature(const Program& signature, std::uint32_t split) {
  Program result = signature;
  result.chunks *= split;
  for (RankProgram& rank : result.ranks) {
    rank.input_chunks *= split;
    rank.output_chunks *= split;
    rank.scratch_chunks *= split;
  }
  result.promises.clear();
  for (const PromisedChunk& promise : signature.promises) {
    for (std::uint32_t piece = 0; piece < split; ++piece) {
      PromisedChunk part{promise.rank, promise.index * split + piece, promise.value};
      for (InputChunk& chunk : part.value) chunk.index = chunk.index * split + piece;
      result.promises.push_back(std::move(part));
    }
  }
  return result;
}

ChunkSpan share_of(const ChunkSpan& span, std::uint32_t split, std::uint32_t instances,
                   std::uint32_t instance) {
  const std::uint32_t count = span.count * split / instances;
  return {span.rank, span.buffer, span.index * split + instance * count, count};
}

std::string describe(const ChunkDag& /*dag*/, const ChunkNode& node) {
  return fmt::format("{} {} {} {}", to_string(node.kind), to_string(node.source),
                     node.kind == TransferKind::reduce ? "into" : "to", to_string(node.target));
}

}  // namespace

void simplify(std::vector<DagEdge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const DagEdge& a, const DagEdge& b) {
    return a.from != b.from ? a.from < b.from : a.is_true && !b.is_true;
  });
  const auto same = [](const DagEdge& a, const DagEdge& b) { return a.from == b.from; };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
}

ChunkDag make_chunk_dag(const ChunkTrace& trace) {
  ChunkDag dag;
  dag.split = smallest_split(trace);
  dag.signature = split_signature(trace.signature, dag.split);
  const ProgramStorage storage(dag.signature);
  std::vector<PlaceHistory> history(dag.signature.num_ranks());
  for (const ChunkOperation& operation : trace.operations) {
    for (std::uint32_t i = 0; i < operation.parallel; ++i) {
      const auto id = static_cast<std::uint32_t>(dag.nodes.size());
      ChunkNode node;
      node.kind = operation.kind;
      node.source = share_of(operation.source, dag.split, operation.parallel, i);
      node.target = share_of(operation.target, dag.split, operation.parallel, i);
      node.channel = operation.channel;
      node.instance = i;
      node.call = operation.call;
      node.line = operation.place.line;
      const ChunkSpan& from = node.source;
      const ChunkSpan& to = node.target;
      const std::uint32_t read = storage.place(from.rank, from.buffer, from.index);
      const std::uint32_t written = storage.place(to.rank, to.buffer, to.index);
      for (std::uint32_t k = 0; k < from.count; ++k) {
        history[from.rank].read(read + k, id, node.after);
        if (node.kind == TransferKind::reduce) history[to.rank].read(written + k, id, node.after);
        history[to.rank].write(written + k, id, node.after);
      }
      simplify(node.after);
      dag.nodes.push_back(std::move(node));
    }
  }
  return dag;
}

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
      // The accumulator is a local operand, whatever the source of the data is.
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
    simplify(after);
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

namespace {

std::uint32_t message_of(const ChunkNode& /*node*/) { return Instruction::kNone; }
std::uint32_t message_of(const Instruction& node) { return node.message_from; }

template <class Dag>
std::string text_of(const Dag& dag) {
  std::string text;
  for (std::size_t n = 0; n < dag.nodes.size(); ++n) {
    const auto& node = dag.nodes[n];
    text += fmt::format("{}: {}", n, describe(dag, node));
    const char* separator = " after ";
    if (message_of(node) != Instruction::kNone) {
      text += fmt::format("{}message of {}", separator, message_of(node));
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

template <class Dag>
std::string dot_of(const Dag& dag, const char* name) {
  std::string text = fmt::format("digraph {} {{\n  node [shape=box];\n", name);
  for (std::size_t n = 0; n < dag.nodes.size(); ++n) {
    const auto& node = dag.nodes[n];
    text += fmt::format("  n{} [label=\"{}\"];\n", n, describe(dag, node));
    if (message_of(node) != Instruction::kNone) {
      text += fmt::format("  n{} -> n{} [style=bold];\n", message_of(node), n);
    }
    for (const DagEdge& edge : node.after) {
      text += fmt::format("  n{} -> n{}{};\n", edge.from, n, edge.is_true ? "" : " [style=dashed]");
    }
  }
  return text + "}\n";
}

}  // namespace

std::string to_text(const ChunkDag& dag) { return text_of(dag); }
std::string to_text(const InstructionDag& dag) { return text_of(dag); }
std::string to_dot(const ChunkDag& dag) { return dot_of(dag, "chunks"); }
std::string to_dot(const InstructionDag& dag) { return dot_of(dag, "instructions"); }

}  // namespace espalier
