// The records of messages as these are issued, found again by the ids that the hardware has for
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "sims/observe/record/run_record.h"
#include "sims/system/fabric.h"

namespace espalier {

class MessageRecords {
 public:
  // Writes into `records`. Both must outlive this.
  MessageRecords(const Fabric& fabric, std::vector<MessageRecord>& records)
      : fabric_(fabric), records_(records) {}

  // `id` names this one until another one is opened under it.
  MessageRecord& open(MessageId id) {
    if (id.index() >= open_.size()) open_.resize(id.index() + 1);
    open_[id.index()] = {static_cast<RecordIndex>(records_.size()), 0};
    const InFlightMessage& message = fabric_.messages()[id];
    const Message& routing = fabric_.messages().routing(id);
    MessageRecord record;
    record.operation = message.operation;
    record.operation.to = end_of(routing.path, message.operation.from);
    record.grid = routing.grid;
    record.whole = index_of(message.whole);
    records_.push_back(record);
    return records_.back();
  }
  [[nodiscard]] RecordIndex index_of(MessageId id) const { return open_[id.index()].record; }
  [[nodiscard]] MessageRecord& operator[](MessageId id) { return records_[index_of(id)]; }
  // By which port its flits leave the `hop`-th router.
  [[nodiscard]] std::uint16_t out_port(MessageId id, std::uint16_t hop) const {
    return fabric_.paths().hop(fabric_.messages().routing(id).path, hop).out_port;
  }
  // Cycle fidelity: the message's next flit is injected; returns its offset.
  std::uint64_t next_injected(MessageId id) { return open_[id.index()].injected++; }

 private:
  // Where a path from a vertex leads. Where one NPU stands for all, operations name others.
  [[nodiscard]] NodeId end_of(std::uint32_t path, NodeId from) const {
    const Topology& topology = fabric_.topology();
    NodeId vertex = from;
    for (std::uint32_t h = 0;; ++h) {
      const std::uint32_t port = fabric_.paths().hop(path, h).out_port;
      const auto& links = topology.out_links(vertex);
      if (port >= links.size()) return vertex;
      vertex = topology.link(links[port]).to;
    }
  }

  struct Open {
    RecordIndex record = 0;
    std::uint64_t injected = 0;
  };
  const Fabric& fabric_;
  std::vector<MessageRecord>& records_;
  std::vector<Open> open_;  // by message id
};

}  // namespace espalier
