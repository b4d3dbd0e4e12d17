#include "ni/node_memory.h"

#include "hw/hash.h"

namespace espalier {

namespace {
constexpr DataTag kUninitialised = 0xdeadbeefdeadbeefULL;
}  // namespace

DataTag contribution(NodeId rank, ChunkId chunk) { return mix(rank.value(), chunk.value()); }

NodeMemory::NodeMemory(NodeId rank, CollectiveOp op, const std::vector<Chunk>& chunks,
                       ChunkId first, const Scope& scope) {
  tags_.reserve(chunks.size());
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const bool takes_part = scope.has(rank, chunks[c].group);
    const DataTag empty = takes_part || starts_scattered(op) ? kUninitialised : 0;
    const bool has_input = takes_part && (!starts_scattered(op) || chunks[c].owner == rank);
    tags_.push_back(has_input ? contribution(rank, ChunkId(first.index() + c)) : empty);
  }
}

std::vector<DataTag> promised_tags(CollectiveOp op, const std::vector<Chunk>& chunks,
                                   std::size_t ranks, ChunkId first, const Scope& scope) {
  std::vector<DataTag> promised(chunks.size(), 0);
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const ChunkId chunk(first.index() + c);
    if (starts_scattered(op)) {
      promised[c] = contribution(chunks[c].owner, chunk);
      continue;
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      if (scope.has(NodeId(r), chunks[c].group)) promised[c] += contribution(NodeId(r), chunk);
    }
  }
  return promised;
}

std::vector<ChunkId> wrong_chunks(NodeId rank, const NodeMemory& memory, CollectiveOp op,
                                  const std::vector<Chunk>& chunks,
                                  const std::vector<DataTag>& promised, const Scope& scope) {
  std::vector<ChunkId> wrong;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    if (!scope.has(rank, chunks[c].group)) continue;
    const bool elsewhere = (ends_at_owner(op) && chunks[c].owner != rank) ||
                           (is_exchange(op) && chunks[c].destination != rank);
    if (chunks[c].size == 0 || elsewhere) continue;
    if (memory.read(ChunkId(c)) != promised[c]) wrong.emplace_back(c);
  }
  return wrong;
}

}  // namespace espalier
