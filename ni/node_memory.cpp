#include "ni/node_memory.h"

#include "hw/hash.h"

namespace espalier {

namespace {
constexpr DataTag kUninitialised = 0xdeadbeefdeadbeefULL;
}  // namespace

DataTag contribution(NodeId rank, ChunkId chunk) { return mix(rank.value(), chunk.value()); }

NodeMemory::NodeMemory(NodeId rank, CollectiveOp op, const std::vector<Chunk>& chunks) {
  tags_.reserve(chunks.size());
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const bool has_input = op != CollectiveOp::all_gather || chunks[c].owner == rank;
    tags_.push_back(has_input ? contribution(rank, ChunkId(c)) : kUninitialised);
  }
}

std::vector<ChunkId> wrong_chunks(NodeId rank, const NodeMemory& memory, CollectiveOp op,
                                  const std::vector<Chunk>& chunks, std::size_t ranks) {
  std::vector<ChunkId> wrong;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const ChunkId chunk(c);
    if (chunks[c].size == 0) continue;
    if (op == CollectiveOp::reduce_scatter && chunks[c].owner != rank) continue;
    DataTag expected = 0;
    if (op == CollectiveOp::all_gather) {
      expected = contribution(chunks[c].owner, chunk);
    } else {
      for (std::size_t r = 0; r < ranks; ++r) expected += contribution(NodeId(r), chunk);
    }
    if (memory.read(chunk) != expected) wrong.push_back(chunk);
  }
  return wrong;
}

}  // namespace espalier
