// A run's messages by what schedules call them: gradients alone, shares of one operation as one.
#pragma once

#include <tuple>
#include <vector>

#include "alg/schedule/schedule.h"
#include "sims/observe/record/run_record.h"

namespace espalier {

class MessageIndex {
 public:
  // `record` must outlive it.
  explicit MessageIndex(const RunRecord& record);

  // In order of issue: those of a vertex, and those to it.
  [[nodiscard]] const std::vector<RecordIndex>& of(NodeId vertex) const {
    return issued_[vertex.index()];
  }
  [[nodiscard]] const std::vector<RecordIndex>& to(NodeId vertex) const {
    return arrived_[vertex.index()];
  }
  // kNowhere where there is none.
  [[nodiscard]] RecordIndex find(NodeId from, NodeId to, FlowId flow, TransferKind kind) const;
  // The share of `message`'s operation that arrived, or left, last.
  [[nodiscard]] RecordIndex last_done(RecordIndex message) const { return last_done_[message]; }
  [[nodiscard]] RecordIndex last_sent(RecordIndex message) const { return last_sent_[message]; }
  // The operation's: in memory; left the NI.
  [[nodiscard]] Cycle done(RecordIndex message) const {
    return record_.messages[last_done_[message]].done;
  }
  [[nodiscard]] Cycle sent(RecordIndex message) const {
    return record_.messages[last_sent_[message]].sent;
  }

 private:
  using Key = std::tuple<NodeId, NodeId, FlowId, TransferKind>;
  const RunRecord& record_;
  std::vector<std::vector<RecordIndex>> issued_;   // by vertex
  std::vector<std::vector<RecordIndex>> arrived_;  // by vertex
  std::vector<std::pair<Key, RecordIndex>> keys_;  // sorted
  std::vector<RecordIndex> last_done_;             // by message
  std::vector<RecordIndex> last_sent_;
};

}  // namespace espalier
