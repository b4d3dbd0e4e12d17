#include "alg/program/chunk_dag.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "alg/program/program_storage.h"

namespace espalier {

namespace {

// The smallest cut with which every operation has as many chunks for each of its instances.
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
      throw ChunkError(
          fmt::format("fragments of so many instances cut {} chunks into {} each, more "
                      "than {} in all",
                      chunks, split, ChunkTracer::kMostChunks - 1),
          operation.place);
    }
    nodes += instances;
    if (nodes > kMostNodes) {
      throw ChunkError(
          fmt::format("all instances together are more than {} operations", kMostNodes),
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

std::string describe(const ChunkNode& node) {
  return fmt::format("{} {} {} {}", to_string(node.kind), to_string(node.source),
                     node.kind == TransferKind::reduce ? "into" : "to", to_string(node.target));
}

}  // namespace

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
      PlaceHistory::simplify(node.after);
      dag.nodes.push_back(std::move(node));
    }
  }
  return dag;
}

std::string to_text(const ChunkDag& dag) {
  std::string text;
  for (std::size_t n = 0; n < dag.nodes.size(); ++n) {
    text += fmt::format("{}: {}", n, describe(dag.nodes[n]));
    const char* separator = " after ";
    for (const DagEdge& edge : dag.nodes[n].after) {
      text += fmt::format(edge.is_true ? "{}{}" : "{}({})", separator, edge.from);
      separator = ", ";
    }
    text += '\n';
  }
  return text;
}

std::string to_dot(const ChunkDag& dag) {
  std::string text = "digraph chunks {\n  node [shape=box];\n";
  for (std::size_t n = 0; n < dag.nodes.size(); ++n) {
    text += fmt::format("  n{} [label=\"{}\"];\n", n, describe(dag.nodes[n]));
    for (const DagEdge& edge : dag.nodes[n].after) {
      text += fmt::format("  n{} -> n{}{};\n", edge.from, n, edge.is_true ? "" : " [style=dashed]");
    }
  }
  return text + "}\n";
}

}  // namespace espalier
