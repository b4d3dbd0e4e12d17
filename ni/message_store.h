// Messages in flight and the data that they carry.
#pragma once

#include <vector>

#include "flowctl/message.h"
#include "ni/node_memory.h"
#include "ni/operation.h"

namespace espalier {

struct InFlightMessage {
  Operation operation;
  Bytes bytes = 0;  // of this message: its share, if the operation uses several links
  // Tags of the chunks, read from the sender's memory when the operation was issued.
  std::vector<DataTag> data;
  // If an operation uses several links: the message that keeps operation and data for all its
  // messages.
  MessageId whole;
  // Messages of the operation that have not left their NI; counted in `whole`.
  std::uint32_t unsent = 1;
  // Messages of the operation not yet in the receiver's memory; counted in `whole`.
  std::uint32_t unarrived = 1;
};

// Packets that NIs have sent on a path (PathTable) which starts at the router of `from`.
struct PathUse {
  NodeId from;
  std::uint64_t packets = 0;
  std::uint64_t flits = 0;
};

// Shared by the NIs of a system. Ids are indices into the MessageTable that routers read.
class MessageStore {
 public:
  explicit MessageStore(MessageTable& table) : table_(table) {}

  // `whole`: see InFlightMessage. It is invalid for a single message and for the first of several.
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
  // Makes `first` the message that keeps the data of an operation of `stripes` messages.
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
  // A message has left its NI (stripe_sent) or is in the receiver's memory (stripe_arrived).
  // Returns true if it was the last message of its operation.
  [[nodiscard]] bool stripe_sent(MessageId id) {
    return --messages_[messages_[id.index()].whole.index()].unsent == 0;
  }
  // The message's id may be reused afterwards, unless the message keeps the operation's data.
  [[nodiscard]] bool stripe_arrived(MessageId id) {
    const MessageId whole = messages_[id.index()].whole;
    const bool last = --messages_[whole.index()].unarrived == 0;
    if (!last && id != whole) table_.remove(id);
    return last;
  }
  // Closes all messages of an operation. `last` is the operation's last message to arrive.
  void close_whole(MessageId last) {
    const MessageId whole = messages_[last.index()].whole;
    if (last != whole) table_.remove(last);
    table_.remove(whole);
  }
  // Whole packets of `flits` flits in total have left the network. Returns true if they were the
  // last packets of the message.
  [[nodiscard]] bool received(MessageId id, std::uint64_t flits) {
    return (table_[id].flits_left -= flits) == 0;
  }
  [[nodiscard]] const Message& routing(MessageId id) const { return table_[id]; }
  // By path; zero if no message took the path.
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
