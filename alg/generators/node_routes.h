// Routes between any two nodes for algorithms whose messages take several hops.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"

namespace espalier {

// route_packet's routes, each computed and stored once.
class NodeRoutes {
 public:
  // Both outlive this object; routes are added to `routes`.
  NodeRoutes(const Topology& topology, RouteSet& routes)
      : topology_(topology), routes_(routes), known_(topology.num_nodes() * topology.num_nodes()) {}

  // Precondition: from != to.
  [[nodiscard]] RouteId between(NodeId from, NodeId to);

 private:
  const Topology& topology_;
  RouteSet& routes_;
  std::vector<RouteId> known_;  // from * nodes + to; invalid until it is asked for
};

// Messages a step that every node can send and receive at once: its links, at most one for each
// other node. Precondition: at least two nodes.
[[nodiscard]] std::size_t messages_per_step(const Topology& topology);

// Empty where packets can be routed between all nodes, else the reason why not. See
// Generator::unsuited.
[[nodiscard]] std::string unsuited_for_routes(const Topology& topology);

// Builds schedules of algorithms that exchange runs of chunks between ranks. No other message
// carries a message's chunks between the same two ranks, so each message is a flow of its own; it
// waits for flows that are complete at its sender.
class BlockExchange {
 public:
  // The schedule has its chunks before the first message; it outlives this object.
  BlockExchange(const Topology& topology, Schedule& schedule)
      : schedule_(schedule), routes_(topology, schedule.routes), arrived_(topology.num_nodes()) {}

  // Sends `chunks`, ascending: one message for each run of consecutive chunks that has bytes.
  void send(NodeId from, NodeId to, const std::vector<std::size_t>& chunks, TransferKind kind);

  // Messages of a round do not wait for arrivals of the same round.
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
