// The records of messages as these are issued, found again by the ids that the hardware has for
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "ni/message_store.h"
#include "sims/trace/run_record.h"

namespace espalier {

class MessageRecords {
 public:
  // Writes into `records`. All must outlive this.
  MessageRecords(const MessageStore& messages, const PathTable& paths,
                 std::vector<MessageRecord>& records)
      : messages_(messages), paths_(paths), records_(records) {}

  // `id` names this one until another one is opened under it.
  MessageRecord& open(MessageId id) {
    if (id.index() >= open_.size()) open_.resize(id.index() + 1);
    open_[id.index()] = {static_cast<RecordIndex>(records_.size()), 0};
    const GradientMessage& message = messages_[id];
    MessageRecord record;
    record.operation = message.operation;
    record.grid = messages_.routing(id).grid;
    record.whole = index_of(message.whole);
    records_.push_back(record);
    return records_.back();
  }
  [[nodiscard]] RecordIndex index_of(MessageId id) const { return open_[id.index()].record; }
  [[nodiscard]] MessageRecord& operator[](MessageId id) { return records_[index_of(id)]; }
  // By which port its flits leave the `hop`-th router.
  [[nodiscard]] std::uint16_t out_port(MessageId id, std::uint16_t hop) const {
    return paths_.hop(messages_.routing(id).path, hop).out_port;
  }
  // Cycle fidelity: the message's next flit is injected; returns its offset.
  std::uint64_t next_injected(MessageId id) { return open_[id.index()].injected++; }

 private:
  struct Open {
    RecordIndex record = 0;
    std::uint64_t injected = 0;
  };
  const MessageStore& messages_;
  const PathTable& paths_;
  std::vector<MessageRecord>& records_;
  std::vector<Open> open_;  // by message id
};

}  // namespace espalier
