// Routes between any two nodes, for algorithms whose messages take several hops.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "alg/routes/routing.h"
#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"

namespace espalier {

// Routes of RouteTurns. Each is stored once.
class NodeRoutes {
 public:
  // Both must outlive this object. Routes are added to `routes`.
  NodeRoutes(const Topology& topology, RouteSet& routes)
      : topology_(topology),
        routes_(routes),
        turns_(topology),
        known_(topology.num_nodes() * topology.num_nodes()) {}

  // Precondition: from != to.
  [[nodiscard]] RouteId between(NodeId from, NodeId to);

 private:
  const Topology& topology_;
  RouteSet& routes_;
  RouteTurns turns_;
  std::vector<RouteId> known_;  // from * nodes + to; invalid until first used
};

// The number of messages that every node can send and receive in one step: its number of links, but
// at most one for each other node. Precondition: at least two nodes.
[[nodiscard]] std::size_t messages_per_step(const Topology& topology);

// Returns an empty text if packets can be routed between all nodes, otherwise the reason. See
// Generator::unsuited.
[[nodiscard]] std::string unsuited_for_routes(const Topology& topology);

// Builds schedules of algorithms in which ranks exchange consecutive chunks. No other message
// carries the same chunks between the same two ranks, so each message is a separate flow. A message
// waits for flows that are complete at its sender.
class BlockExchange {
 public:
  // The schedule must have its chunks before the first message, and must outlive this object.
  BlockExchange(const Topology& topology, Schedule& schedule)
      : schedule_(schedule), routes_(topology, schedule.routes), arrived_(topology.num_nodes()) {}

  // Sends `chunks`, which ascend: one message for each sequence of consecutive chunks that has
  // bytes.
  void send(NodeId from, NodeId to, const std::vector<std::size_t>& chunks, TransferKind kind);

  // Ends an exchange, whose messages do not wait for its arrivals.
  void end_exchange();

 private:
  struct Run {
    std::size_t begin = 0;  // chunks [begin, end)
    std::size_t end = 0;
  };

  void send_run(NodeId from, NodeId to, const Run& run, TransferKind kind);
  // The transfers of earlier exchanges that brought these chunks to the node.
  [[nodiscard]] std::vector<TransferId> waits_for(NodeId node, const Run& run) const;

  Schedule& schedule_;
  NodeRoutes routes_;
  std::vector<std::vector<TransferId>> arrived_;  // by node
  // Arrivals of the current exchange, for which messages do not wait yet.
  std::vector<std::pair<NodeId, TransferId>> arriving_;
  std::size_t next_flow_ = 0;
};

}  // namespace espalier
