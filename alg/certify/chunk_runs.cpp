// Which transfers carry which chunks, with chunks that always travel together taken as one.
#include <fmt/format.h>

#include "alg/certify/certifier_parts.h"

namespace espalier::certifier {

ChunkRuns group_by_chunk(const Schedule& s, const OrderedTransfers& ordered) {
  std::vector<bool> starts_run(s.chunks.size() + 1, false);
  for (const Transfer& t : s.transfers) {
    starts_run[t.first_chunk.index()] = true;
    starts_run[t.first_chunk.index() + t.num_chunks] = true;
  }
  const bool owned = s.op != CollectiveOp::all_reduce;
  ChunkRuns result;
  std::vector<std::size_t> run_of(s.chunks.size());
  for (std::size_t c = 0; c < s.chunks.size(); ++c) {
    const NodeId owner = owned ? s.chunks[c].owner : NodeId();
    const NodeId destination = s.chunks[c].destination;
    if (c == 0 || starts_run[c] || result.runs.back().owner != owner ||
        result.runs.back().destination != destination) {
      result.runs.push_back({ChunkId(c), ChunkId(c), owner, destination, true});
    }
    ChunkRun& run = result.runs.back();
    run.last = ChunkId(c);
    run.empty = run.empty && s.chunks[c].size == 0;
    run_of[c] = result.runs.size() - 1;
  }

  const auto for_each_run = [&](TransferId id, auto visit) {
    const Transfer& t = s.transfers[id.index()];
    const std::size_t last = run_of[t.first_chunk.index() + t.num_chunks - 1];
    for (std::size_t r = run_of[t.first_chunk.index()]; r <= last; ++r) visit(r);
  };
  result.begin.assign(result.runs.size() + 1, 0);
  for (const TransferId t : ordered.at)
    for_each_run(t, [&](std::size_t r) { ++result.begin[r + 1]; });
  for (std::size_t r = 0; r < result.runs.size(); ++r) result.begin[r + 1] += result.begin[r];
  result.positions.resize(result.begin.back());
  std::vector<std::size_t> next(result.begin.begin(), result.begin.end() - 1);
  for (std::uint32_t p = 0; p < ordered.at.size(); ++p) {
    for_each_run(ordered.at[p], [&](std::size_t r) { result.positions[next[r]++] = p; });
  }
  return result;
}

std::string name_of(const ChunkRun& run) {
  return run.first == run.last
             ? fmt::format("chunk {}", run.first.value())
             : fmt::format("chunks {} to {}", run.first.value(), run.last.value());
}

}  // namespace espalier::certifier
