// Cuts of a network, as the searches for bounds find and name them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "alg/bounds/bounds.h"
#include "alg/flow/max_flow.h"
#include "hw/topology/topology.h"

namespace espalier {

// The links that count at the border of a set.
enum class Direction : std::uint8_t { out, in };
[[nodiscard]] const char* to_string(Direction direction);
[[nodiscard]] inline Direction opposite(Direction direction) {
  return direction == Direction::out ? Direction::in : Direction::out;
}

// A set of vertices, and the direction in which its border limits the collective.
struct Cut {
  std::vector<bool> inside;  // by vertex
  Direction direction = Direction::out;
};

[[nodiscard]] inline NodeId tail_of(const TopologyLink& link, Direction d) {
  return d == Direction::out ? link.from : link.to;
}
[[nodiscard]] inline NodeId head_of(const TopologyLink& link, Direction d) {
  return d == Direction::out ? link.to : link.from;
}

[[nodiscard]] WideAmount border_rate(const Topology& topology, const Cut& cut);
// The same links, seen from the other side.
[[nodiscard]] Cut other_side(Cut cut);
// "2 links out, 32 GB/s"
[[nodiscard]] std::string border_text(const Topology& topology, const Cut& cut);
// Names the cut by the side with fewer nodes.
[[nodiscard]] std::string cut_text(const Topology& topology, Cut cut);
[[nodiscard]] Cut single_node(const Topology& topology, NodeId node, Direction direction);

// All nodes of `scope` on one side send, all of them on the other side receive.
[[nodiscard]] CrossingCertificate crossing_of(const Topology& topology, const Cut& cut,
                                              const Scope& scope = {});

// By vertex, the latency of the nearest way from one of `nodes` (out) or to one of them (in), in
// picoseconds.
[[nodiscard]] std::vector<std::uint64_t> latencies(const Topology& topology,
                                                   const std::vector<NodeId>& nodes,
                                                   Direction direction);

// Sets that are likely to bind an exchange between all nodes: every node alone, balls around every
// node (`larger` than one node), and the slices of a grid. `inside` is by vertex, `name()` a text.
using LikelyCut =
    std::function<void(const std::vector<bool>& inside, const std::function<std::string()>& name)>;
void visit_likely_cuts(const Topology& topology, bool larger, const LikelyCut& visit);

// The largest |S| / B(S) over sets S that lack a node (bandwidth_bound).
// `parts`: bytes of each node's part, of which some are not 0; empty: all parts are equal.
[[nodiscard]] BandwidthBound scatter_bound(const Topology& topology, Direction direction,
                                           const std::vector<Bytes>& parts = {});
// The least C(P) / (p - 1) over partitions, and the least cut (bandwidth_bound).
[[nodiscard]] BandwidthBound all_reduce_bound(const Topology& topology);

// A bound with latency that a search hopes to be large; its certificate has to prove it.
struct Proposal {
  BoundCertificate certificate;
  std::string text;
};
// Balls around nodes: data that come from a distance enter the node's surroundings only after that
// distance, less the way from there to the node. Of all nodes, distances and radii, the one in each
// direction that promises most.
[[nodiscard]] std::vector<Proposal> ball_proposals(const Topology& topology, const Demand& demand);
// The partition of an all_reduce among some nodes, between which all others add, or of several
// groups (relay_partition.cpp). For one group nothing where there are switches.
[[nodiscard]] std::vector<Proposal> partition_proposals(const Topology& topology,
                                                        const Scope& scope);
// Certificates of a cut with latency: one counts all data that cross it, others only the data from
// nodes that are at least some distance away.
[[nodiscard]] std::vector<Proposal> cut_proposals(const Topology& topology, const Demand& demand,
                                                  const CrossingCertificate& cut,
                                                  const std::string& text);
// Sets `bound` to the proposal that proves most. Throws std::logic_error if a certificate is wrong,
// or none proves bound.bandwidth_seconds.
void take_best_proof(const Topology& topology, const Demand& demand,
                     std::vector<Proposal> proposals, CollectiveBound& bound);

}  // namespace espalier
