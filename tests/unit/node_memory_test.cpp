#include "ni/node_memory.h"

#include <catch2/catch.hpp>
#include <set>

namespace espalier {
namespace {

const std::vector<Chunk> kChunks{{0, 8, NodeId(0)}, {8, 8, NodeId(1)}, {16, 8, NodeId(2)}};

std::vector<std::size_t> wrong(std::size_t rank, const NodeMemory& memory, CollectiveOp op) {
  std::vector<std::size_t> result;
  for (const ChunkId c :
       wrong_chunks(NodeId(rank), memory, op, kChunks, promised_tags(op, kChunks, 3))) {
    result.push_back(c.index());
  }
  return result;
}

Operation arrival(TransferKind kind, ChunkId chunk) {
  Operation operation;
  operation.on_arrival = kind;
  operation.first_chunk = chunk;
  operation.num_chunks = 1;
  return operation;
}
Operation reduce_of(ChunkId chunk) { return arrival(TransferKind::reduce, chunk); }
Operation copy_of(ChunkId chunk) { return arrival(TransferKind::copy, chunk); }

DataTag sum(std::size_t chunk) {
  DataTag tag = 0;
  for (std::size_t r = 0; r < 3; ++r) tag += contribution(NodeId(r), ChunkId(chunk));
  return tag;
}

TEST_CASE("Contributions differ by rank and by chunk") {
  std::set<DataTag> tags;
  for (std::size_t r = 0; r < 64; ++r) {
    for (std::size_t c = 0; c < 64; ++c) tags.insert(contribution(NodeId(r), ChunkId(c)));
  }
  CHECK(tags.size() == 64 * 64);
}

TEST_CASE("An all_reduce ends with every contribution in every chunk at every rank") {
  NodeMemory memory(NodeId(1), CollectiveOp::all_reduce, kChunks);
  CHECK(wrong(1, memory, CollectiveOp::all_reduce) == std::vector<std::size_t>{0, 1, 2});
  for (std::size_t c = 0; c < 3; ++c) {
    memory.write(reduce_of(ChunkId(c)), {contribution(NodeId(2), ChunkId(c))});
    memory.write(reduce_of(ChunkId(c)), {contribution(NodeId(0), ChunkId(c))});
  }
  CHECK(wrong(1, memory, CollectiveOp::all_reduce).empty());
}

TEST_CASE("The order of reduction does not matter, but a repeated or missing contribution does") {
  NodeMemory twice(NodeId(0), CollectiveOp::all_reduce, kChunks);
  for (std::size_t c = 0; c < 3; ++c) twice.write(copy_of(ChunkId(c)), {sum(c)});
  CHECK(wrong(0, twice, CollectiveOp::all_reduce).empty());
  twice.write(reduce_of(ChunkId(2)), {contribution(NodeId(1), ChunkId(2))});
  CHECK(wrong(0, twice, CollectiveOp::all_reduce) == std::vector<std::size_t>{2});
  twice.write(copy_of(ChunkId(2)), {sum(2) - contribution(NodeId(1), ChunkId(2))});
  CHECK(wrong(0, twice, CollectiveOp::all_reduce) == std::vector<std::size_t>{2});
}

TEST_CASE("The sum of another chunk is wrong data") {
  NodeMemory memory(NodeId(0), CollectiveOp::all_reduce, kChunks);
  for (std::size_t c = 0; c < 3; ++c) memory.write(copy_of(ChunkId(c)), {sum(c)});
  memory.write(copy_of(ChunkId(0)), {sum(1)});
  CHECK(wrong(0, memory, CollectiveOp::all_reduce) == std::vector<std::size_t>{0});
}

TEST_CASE("A reduce_scatter promises a rank its own chunks only") {
  NodeMemory memory(NodeId(1), CollectiveOp::reduce_scatter, kChunks);
  CHECK(wrong(1, memory, CollectiveOp::reduce_scatter) == std::vector<std::size_t>{1});
  memory.write(reduce_of(ChunkId(1)), {contribution(NodeId(0), ChunkId(1))});
  memory.write(reduce_of(ChunkId(1)), {contribution(NodeId(2), ChunkId(1))});
  CHECK(wrong(1, memory, CollectiveOp::reduce_scatter).empty());
}

TEST_CASE("An all_gather starts with a rank's own chunks and ends with everyone's") {
  NodeMemory memory(NodeId(1), CollectiveOp::all_gather, kChunks);
  CHECK(wrong(1, memory, CollectiveOp::all_gather) == std::vector<std::size_t>{0, 2});
  CHECK(memory.read(ChunkId(1)) == contribution(NodeId(1), ChunkId(1)));
  memory.write(copy_of(ChunkId(0)), {contribution(NodeId(0), ChunkId(0))});
  memory.write(copy_of(ChunkId(2)), {contribution(NodeId(2), ChunkId(2))});
  CHECK(wrong(1, memory, CollectiveOp::all_gather).empty());
}

TEST_CASE("Memory that was never written does not count as right data") {
  const NodeMemory memory(NodeId(0), CollectiveOp::all_gather, kChunks);
  CHECK(memory.read(ChunkId(1)) != contribution(NodeId(0), ChunkId(1)));
  CHECK(memory.read(ChunkId(1)) != contribution(NodeId(1), ChunkId(1)));
  CHECK(memory.read(ChunkId(1)) != 0);
}

TEST_CASE("Empty chunks are not compared") {
  const std::vector<Chunk> chunks{{0, 8, NodeId(0)}, {8, 0, NodeId(1)}};
  const NodeMemory memory(NodeId(0), CollectiveOp::all_gather, chunks);
  const auto promised = promised_tags(CollectiveOp::all_gather, chunks, 2);
  CHECK(wrong_chunks(NodeId(0), memory, CollectiveOp::all_gather, chunks, promised).empty());
}

}  // namespace
}  // namespace espalier
