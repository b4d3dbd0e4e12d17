// The functional truth of a run: what each rank's buffer holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"
#include "ni/operation.h"

namespace espalier {

// A chunk's value is a 64-bit tag. Each rank's contribution is a hash of rank and chunk, reduction
// is addition modulo 2^64: independent of the order, and different for every other multiset of
// contributions (but for chance, 2^-64).
using DataTag = std::uint64_t;
[[nodiscard]] DataTag contribution(NodeId rank, ChunkId chunk);

// A memory that messages are read from and written to.
class DataMemory {
 public:
  virtual ~DataMemory() = default;
  // The tags that an operation sends, when it is issued.
  virtual void read(const Operation& operation, std::vector<DataTag>& data) const = 0;
  // They have arrived.
  virtual void write(const Operation& operation, const std::vector<DataTag>& data) = 0;
};

class NodeMemory : public DataMemory {
 public:
  // The state before the collective: every chunk for all_reduce and reduce_scatter, its own chunks
  // for all_gather and all_to_all. Contributions are those of the chunks from number `first` on:
  // what is meant for another collective is told apart.
  NodeMemory(NodeId rank, CollectiveOp op, const std::vector<Chunk>& chunks,
             ChunkId first = ChunkId(0));

  [[nodiscard]] DataTag read(ChunkId chunk) const { return tags_[chunk.index()]; }
  // The tags of the chunks from `first` on.
  [[nodiscard]] const DataTag* read_from(ChunkId first) const {
    return tags_.data() + first.index();
  }
  void read(const Operation& operation, std::vector<DataTag>& data) const override {
    const DataTag* first = read_from(operation.first_chunk);
    data.assign(first, first + operation.num_chunks);
  }
  void write(const Operation& operation, const std::vector<DataTag>& data) override {
    if (operation.on_arrival == TransferKind::reduce) {
      reduce(operation.first_chunk, data.data(), data.size());
    } else {
      copy(operation.first_chunk, data.data(), data.size());
    }
  }

  // Over the `count` chunks from `first` on.
  void copy(ChunkId first, const DataTag* tags, std::size_t count) {
    std::copy(tags, tags + count, tags_.begin() + static_cast<std::ptrdiff_t>(first.index()));
  }
  void reduce(ChunkId first, const DataTag* tags, std::size_t count) {
    DataTag* sum = tags_.data() + first.index();
    for (std::size_t c = 0; c < count; ++c) sum[c] += tags[c];
  }

 private:
  std::vector<DataTag> tags_;
};

// What the collective promises each chunk to hold at the end, wherever it promises it. `first`: see
// NodeMemory.
[[nodiscard]] std::vector<DataTag> promised_tags(CollectiveOp op, const std::vector<Chunk>& chunks,
                                                 std::size_t ranks, ChunkId first = ChunkId(0));

// The chunks that do not hold what is `promised` to `rank`; empty chunks do not count.
[[nodiscard]] std::vector<ChunkId> wrong_chunks(NodeId rank, const NodeMemory& memory,
                                                CollectiveOp op, const std::vector<Chunk>& chunks,
                                                const std::vector<DataTag>& promised);

}  // namespace espalier
