// What algorithms that exchange runs of chunks between ranks are made of: a message carries chunks
// that no other message carries along the same way, so each is a flow of its own, and what it waits
// for are flows that are complete at its sender.
#pragma once

#include <utility>
#include <vector>

#include "alg/generators/node_routes.h"
#include "alg/schedule/schedule.h"

namespace espalier {

class BlockExchange {
 public:
  // The schedule has its chunks before the first message; it outlives this object.
  BlockExchange(const Topology& topology, Schedule& schedule)
      : schedule_(schedule), routes_(topology, schedule.routes), arrived_(topology.num_nodes()) {}

  // These chunks, ascending, one message for each run of them that has bytes.
  void send(NodeId from, NodeId to, const std::vector<std::size_t>& chunks, TransferKind kind);

  // What is sent within a round does not wait for what arrives in it.
  void end_round();

 private:
  struct Run {
    std::size_t begin = 0;  // chunks [begin, end)
    std::size_t end = 0;
  };

  void send_run(NodeId from, NodeId to, const Run& run, TransferKind kind);
  // Everything that the node has received of these chunks.
  [[nodiscard]] std::vector<TransferId> waits_for(NodeId node, const Run& run) const;

  Schedule& schedule_;
  NodeRoutes routes_;
  std::vector<std::vector<TransferId>> arrived_;  // by node
  std::vector<std::pair<NodeId, TransferId>>
      arriving_;  // of the round being added, not yet visible
  std::size_t next_flow_ = 0;
};

}  // namespace espalier
