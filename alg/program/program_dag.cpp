#include "alg/program/compiler_passes.h"

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

}  // namespace

void simplify(std::vector<DagEdge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const DagEdge& a, const DagEdge& b) {
    return a.from != b.from ? a.from < b.from : a.is_true && !b.is_true;
  });
  const auto same = [](const DagEdge& a, const DagEdge& b) { return a.from == b.from; };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
}

ChunkTrace cut_into_instances(const ChunkTrace& trace) {
  const std::uint32_t split = smallest_split(trace);
  ChunkTrace cut{split_signature(trace.signature, split), {}};
  for (const ChunkOperation& operation : trace.operations) {
    for (std::uint32_t i = 0; i < operation.parallel; ++i) {
      ChunkOperation& part = cut.operations.emplace_back(operation);
      part.source = share_of(operation.source, split, operation.parallel, i);
      part.target = share_of(operation.target, split, operation.parallel, i);
      part.parallel = 1;
      part.instance = i;
    }
  }
  return cut;
}

namespace {

class Lowering {
 public:
  explicit Lowering(const ChunkTrace& cut)
      : cut_(cut), storage_(cut.signature), history_(cut.signature.num_ranks()) {
    dag_.signature = cut.signature;
  }

  InstructionDag lower() {
    for (const ChunkOperation& node : cut_.operations) {
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
  std::uint32_t add(ProgramOp op, const ChunkOperation& node, std::uint32_t rank) {
    const auto id = static_cast<std::uint32_t>(dag_.nodes.size());
    Instruction instruction;
    instruction.op = op;
    instruction.rank = rank;
    instruction.source = node.source;
    instruction.target = node.target;
    instruction.channel = node.channel;
    instruction.instance = node.instance;
    instruction.call = node.call;
    instruction.line = node.place.line;
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

  const ChunkTrace& cut_;
  ProgramStorage storage_;
  std::vector<PlaceHistory> history_;
  InstructionDag dag_;
};

}  // namespace

InstructionDag make_instruction_dag(const ChunkTrace& trace) {
  const ChunkTrace cut = cut_into_instances(trace);
  return Lowering(cut).lower();
}

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

}  // namespace espalier
