// The expected data of a run: the contents of each rank's buffer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"
#include "ni/operation.h"

namespace espalier {

// A chunk's value is a 64-bit tag. A rank's contribution is a hash of rank and chunk. Reduction is
// addition modulo 2^64, so a sum does not depend on the order, and two different multisets of
// contributions have different sums, except with probability 2^-64.
using DataTag = std::uint64_t;
[[nodiscard]] DataTag contribution(NodeId rank, ChunkId chunk);

// A memory that messages are read from and written to.
class DataMemory {
 public:
  virtual ~DataMemory() = default;
  // Reads the tags that an operation sends. Called when the operation is issued.
  virtual void read(const Operation& operation, std::vector<DataTag>& data) const = 0;
  // Writes the tags of an operation that has arrived.
  virtual void write(const Operation& operation, const std::vector<DataTag>& data) = 0;
};

class NodeMemory : public DataMemory {
 public:
  // The state before the collective: a rank has its own chunks if the operation starts scattered
  // (starts_scattered), otherwise every chunk. A node that takes no part has zeros where it may
  // have to add. Contributions are numbered from chunk `first` on, so data of another collective
  // have other tags.
  NodeMemory(NodeId rank, CollectiveOp op, const std::vector<Chunk>& chunks,
             ChunkId first = ChunkId(0), const Scope& scope = {});

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

  // Both write the `count` chunks from `first` on.
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

// The tag that each chunk must hold at the end at every rank where the collective promises it.
// `first`: see NodeMemory.
[[nodiscard]] std::vector<DataTag> promised_tags(CollectiveOp op, const std::vector<Chunk>& chunks,
                                                 std::size_t ranks, ChunkId first = ChunkId(0),
                                                 const Scope& scope = {});

// The chunks that do not hold the tag `promised` to `rank`. Empty chunks are skipped.
[[nodiscard]] std::vector<ChunkId> wrong_chunks(NodeId rank, const NodeMemory& memory,
                                                CollectiveOp op, const std::vector<Chunk>& chunks,
                                                const std::vector<DataTag>& promised,
                                                const Scope& scope = {});

}  // namespace espalier
