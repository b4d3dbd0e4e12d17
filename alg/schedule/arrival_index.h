// Finds the transfer of an arriving message by receiver, flow, kind and sender.
#pragma once

#include <vector>

#include "alg/schedule/schedule.h"

namespace espalier {

class ArrivalIndex {
 public:
  struct Arrival {
    FlowId flow;
    TransferKind kind;
    NodeId from;
    TransferId transfer;
  };
  struct Range {
    const Arrival* first;
    const Arrival* last;
    [[nodiscard]] const Arrival* begin() const { return first; }
    [[nodiscard]] const Arrival* end() const { return last; }
    [[nodiscard]] bool empty() const { return first == last; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last - first); }
  };

  // Precondition: senders and receivers are below num_nodes.
  ArrivalIndex(const std::vector<Transfer>& transfers, std::size_t num_nodes);

  // All arrivals at a node, by flow, then kind, then sender, then transfer.
  [[nodiscard]] Range at(NodeId to) const;
  [[nodiscard]] Range at(NodeId to, FlowId flow, TransferKind kind) const;
  // The first such transfer; an invalid id if none arrives.
  [[nodiscard]] TransferId find(NodeId to, FlowId flow, TransferKind kind, NodeId from) const;

 private:
  std::vector<std::size_t> begin_;  // by receiver
  std::vector<Arrival> arrivals_;
};

// The properties of a node in a flow that determine when the flow is complete at the node.
struct FlowRole {
  bool is_root = false;       // it has a Gather entry without a parent
  bool sends_reduce = false;  // passes its partial sum on
};
// Appends to `completing` the transfers whose arrival completes `flow` at `node` (see
// TableEntry::after), ordered by sender. Returns false if the flow is never complete there.
[[nodiscard]] bool collect_completion(const ArrivalIndex& arrivals, NodeId node, FlowId flow,
                                      FlowRole role, std::vector<TransferId>& completing);

}  // namespace espalier
