// Messages in flight, with the data that they carry.
#pragma once

#include <vector>

#include "flowctl/message.h"
#include "ni/node_memory.h"
#include "ni/operation.h"

namespace espalier {

struct InFlightMessage {
  Operation operation;
  Bytes bytes = 0;  // of this message: its share, where the operation goes over several links
  std::vector<DataTag>
      data;  // of the chunks, read from the sender's memory when the operation was issued
  // An operation over several links: the message that keeps operation and data for all of them.
  MessageId whole;
  std::uint32_t unsent = 1;     // messages of the operation that have not left their NI,
  std::uint32_t unarrived = 1;  // and that are not in the receiver's memory; counted in `whole`
};

// Packets that NIs have sent on a path (PathTable) from the router of `from`.
struct PathUse {
  NodeId from;
  std::uint64_t packets = 0;
  std::uint64_t flits = 0;
};

// Shared by the NIs of a system. Ids are those of the MessageTable that routers look into.
class MessageStore {
 public:
  explicit MessageStore(MessageTable& table) : table_(table) {}

  // `whole`: see InFlightMessage; an invalid id for a message on its own, or the first of several.
  MessageId open(const Operation& operation, const Message& routing, const DataMemory* memory,
                 MessageId whole = MessageId()) {
    const MessageId id = table_.add(routing);
    if (id.index() >= messages_.size()) messages_.resize(id.index() + 1);
    InFlightMessage& message = messages_[id.index()];
    message.operation = operation;
    message.bytes = operation.bytes;
    message.whole = whole.valid() ? whole : id;
    message.unsent = 1;
    message.unarrived = 1;
    message.data.clear();
    if (memory != nullptr) memory->read(operation, message.data);
    if (routing.path >= uses_.size()) uses_.resize(routing.path + 1);
    PathUse& use = uses_[routing.path];
    use.from = operation.from;
    use.packets += routing.grid.packets();
    use.flits += routing.grid.flits;
    return id;
  }
  // The operation of `stripes` messages, of which `first` keeps what is common.
  void set_whole(MessageId first, const Operation& operation, std::uint32_t stripes) {
    InFlightMessage& message = messages_[first.index()];
    message.operation.bytes = operation.bytes;
    message.operation.stripes = operation.stripes;
    message.unsent = stripes;
    message.unarrived = stripes;
  }
  [[nodiscard]] const InFlightMessage& whole_of(MessageId id) const {
    return messages_[messages_[id.index()].whole.index()];
  }
  // A message has left its NI, or is in the receiver's memory; true if it was the last of its
  // operation.
  [[nodiscard]] bool stripe_sent(MessageId id) {
    return --messages_[messages_[id.index()].whole.index()].unsent == 0;
  }
  // Its id may be used again then, but for that of the message that keeps what is common.
  [[nodiscard]] bool stripe_arrived(MessageId id) {
    const MessageId whole = messages_[id.index()].whole;
    const bool last = --messages_[whole.index()].unarrived == 0;
    if (!last && id != whole) table_.remove(id);
    return last;
  }
  // All messages of `last`'s operation, the last of which has arrived.
  void close_whole(MessageId last) {
    const MessageId whole = messages_[last.index()].whole;
    if (last != whole) table_.remove(last);
    table_.remove(whole);
  }
  // Whole packets of `flits` flits together have left the network; true if they were the last.
  [[nodiscard]] bool received(MessageId id, std::uint64_t flits) {
    return (table_[id].flits_left -= flits) == 0;
  }
  [[nodiscard]] const Message& routing(MessageId id) const { return table_[id]; }
  // By path; zero where no message took the path.
  [[nodiscard]] const std::vector<PathUse>& path_uses() const { return uses_; }
  [[nodiscard]] const InFlightMessage& operator[](MessageId id) const {
    return messages_[id.index()];
  }

 private:
  MessageTable& table_;
  std::vector<InFlightMessage> messages_;
  std::vector<PathUse> uses_;
};

}  // namespace espalier
