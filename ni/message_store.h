// Gradient messages in flight, with the data they carry.
#pragma once

#include <vector>

#include "flowctl/message.h"
#include "ni/node_memory.h"
#include "ni/operation.h"

namespace espalier {

struct GradientMessage {
  Operation operation;
  std::vector<DataTag>
      data;  // of the chunks, read from the sender's memory when the operation was issued
};

// Shared by the NIs of a system. Ids are those of the MessageTable that routers look into.
class MessageStore {
 public:
  explicit MessageStore(MessageTable& table) : table_(table) {}

  MessageId open(const Operation& operation, const Message& routing, const NodeMemory* memory) {
    const MessageId id = table_.add(routing);
    if (id.index() >= messages_.size()) messages_.resize(id.index() + 1);
    GradientMessage& message = messages_[id.index()];
    message.operation = operation;
    message.data.clear();
    if (memory != nullptr) {
      for (std::uint32_t c = 0; c < operation.num_chunks; ++c) {
        message.data.push_back(memory->read(ChunkId(operation.first_chunk.index() + c)));
      }
    }
    return id;
  }
  void close(MessageId id) { table_.remove(id); }
  // Whole packets of `flits` flits together have left the network; true if they were the last.
  [[nodiscard]] bool received(MessageId id, std::uint64_t flits) {
    return (table_[id].flits_left -= flits) == 0;
  }
  [[nodiscard]] const Message& routing(MessageId id) const { return table_[id]; }
  [[nodiscard]] const GradientMessage& operator[](MessageId id) const {
    return messages_[id.index()];
  }

 private:
  MessageTable& table_;
  std::vector<GradientMessage> messages_;
};

}  // namespace espalier
