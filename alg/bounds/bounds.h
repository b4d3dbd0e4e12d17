// Proven lower bounds on the time of a collective, and the name of the cut that limits it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alg/bounds/certificate.h"
#include "alg/plans/dimension_plan.h"
#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"

namespace espalier {

struct BandwidthBound {
  // Seconds per byte of the collective's data: time >= seconds_per_byte * size.
  double seconds_per_byte = 0;
  std::string cut;  // names the limiting cut or partition, for the user
  BoundCertificate certificate;
};

struct CollectiveBound {
  double seconds = 0;            // what `certificate` proves (certificate.h)
  double bandwidth_seconds = 0;  // of the cuts or prices alone, as the search claims it
  std::string binding;           // names the limiting cut or node
  ScheduleClass schedules = ScheduleClass::any;
  std::optional<BoundCertificate> certificate;  // none where nothing is to be sent
};

// With N nodes, chunks of size/N each, and B+(S) the rate of all links that leave a set S of
// vertices; maximised over all cuts, exactly, by max-flow:
//   all_gather:     size/N * |S| / B+(S), S any set that leaves out a node: its chunks have to
//                   get out.
//   reduce_scatter: the same against the links, size/N * |S| / B-(S): S any set that leaves out a
//                   node, which contributes to every chunk of S.
//   all_reduce:     2 (p-1) size / C(P), P any partition of the nodes into p parts, C(P) the rate
//                   of all links between them: each element crosses between parts at least 2 (p-1)
//                   times, p-1 times until one part has the sum and once into each of the others.
//                   The strength of the graph. And size / B+(S): each element crosses every cut
//                   both ways, which binds only where a vertex has unequal rates in and out.
//   all_to_all:     see all_to_all_bound.
// |S| counts nodes; switches stand on whichever side makes the bound largest. In a partition they
// may belong to no part: C(P) is then the sum over the parts of the rate out of (or into) each, as
// a switch passes messages on but neither adds nor copies.
// Preconditions: connected, at least two nodes, no link without bandwidth.
[[nodiscard]] BandwidthBound bandwidth_bound(const Topology& topology, CollectiveOp op);

// Rate and latency together. Every link of a cut, partition or price list counts only in the time
// in which it could carry what has to pass (certificate.h). Beside the cut that binds bandwidth,
// balls around every node are tried, single nodes among them: for every distance d, the parts of
// nodes at distance d or more enter the ball of least rate between them and the node. For an
// all_reduce d is the largest distance, and `size` bytes pass, as each element waits for the
// farthest node. The certificate proves `seconds`. Throws std::logic_error if it does not prove
// what the search claims.
//
// `parts`: bytes of each node's part, by node (all_to_all: of the part that every node sends to
// it); empty: all parts are equal. Cuts are searched with the smallest part, of an all_gatherv or
// reduce_scatterv with each node's own, and proven with each node's own. all_reduce has no parts.
// `held`: see Demand::held; only an all_to_all takes notice.
[[nodiscard]] CollectiveBound collective_bound(const Topology& topology, CollectiveOp op,
                                               Bytes size, const std::vector<Bytes>& parts = {},
                                               const std::vector<double>& held = {});

// The bound of a collective with a scope: broadcast, reduce, all_to_allv, and an all_reduce in
// which the nodes that take no part may add. Proven like collective_bound(), from these:
//   broadcast:   size / F, F the least maximum flow from the root to a node: all data have to
//                pass every cut between them; with the way to the farthest node behind the best
//                one. And at a node with its links alone: its distance from
//                the root + size / rate into the node; at the root size / rate out + the distance
//                of the farthest node.
//   reduce:      the same against the links.
//   all_reduce:  the same from every node that takes part to every other one.
//   all_to_allv: Sum of the bytes over a cut / the cut's rate, for single nodes, balls around every
//                node and the slices of a grid; link prices as for an all_to_all, where every pair
//                pays for its own bytes (networks of up to 160 vertices). And at a node: d + (its
//                bytes for nodes at distance d or more) / rate.
// Preconditions: as for bandwidth_bound; the scope is one of this network and operation. `held`:
// see Demand::held; only an all_to_allv takes notice.
[[nodiscard]] CollectiveBound scoped_bound(const Topology& topology, CollectiveOp op, Bytes size,
                                           const Scope& scope,
                                           const std::vector<double>& held = {});
// The bound of several groups at the same time, whose data share links: an all_reduce,
// reduce_scatter, all_gather or all_to_all. All nodes may add and store. Proven are cuts that the
// bytes of all groups pass, and partitions (certificate.h). `parts`: by group, the least bytes that
// a member has, or sends to another one.
[[nodiscard]] CollectiveBound groups_bound(const Topology& topology, CollectiveOp op,
                                           const Scope& scope, const std::vector<Bytes>& parts);

// For every subset T of the dimensions, cut all links of T. The system falls into p parts, p =
// product of P_K over K in T, with a rate of N * sum of B_K over T between them.
//   all_reduce:                  2 (p-1) size / (N * sum B_K)
//   reduce_scatter, all_gather:  (p-1) size / (N * sum B_K)
// (Each element leaves p-1 parts until one part has the sum, and then enters p-1 parts.) If a
// dimension in T reduces and multicasts in its switches (in_network), every part of an all_reduce
// still sends each element at least once: p size / (N * sum B_K). A link of dimension K is of use
// only until A_K before the end, its latency to the next NPU:
//   time >= (bytes of an NPU + sum of B_K A_K) / sum of B_K
// This is Themis' bound, with the latency of one step in place of all steps, and it holds for any
// schedule. The bound is the largest value over all T, and over the balls around an NPU (bounds.h).
// Precondition: topology.dimensions(), not folded.
[[nodiscard]] CollectiveBound dimension_bound(const Topology& topology, const DimensionPlan& plan);

// The least time of an all_reduce in two phases: a reduce_scatter into equal parts and, when it has
// ended everywhere, an all_gather of them. Phases that overlap are not bound by it.
[[nodiscard]] double two_phase_seconds(const Topology& topology, Bytes size);

// With size/N bytes for every ordered pair of N nodes, the largest of
//   size/N * |S| (N - |S|) / B+(S)   over sets S: data inside is for all nodes outside. The
//                                    best S is hard to find; tried are single nodes, balls around
//                                    every node, and the slices of a grid.
//   size/N * sum of distances / rate of all links: every byte takes up as many links as its
//                                    destination is away.
//   LinkPrices::seconds              on networks of up to 160 vertices that are not even grids
// Preconditions as for bandwidth_bound. `held`: see Demand::held.
[[nodiscard]] BandwidthBound all_to_all_bound(const Topology& topology,
                                              const std::vector<double>& held = {});

// A certificate of an all_to_all's bound: whatever price each link asks per byte, every pair's
// size/N bytes pay at least the cheapest path, and a link of rate B takes in at most price B T in
// time T. So T >= size/N * sum over pairs of the cheapest path / sum over links of price B. With
// the best prices this is the time of the best paths (duality of the concurrent flow).
// With `held` (Demand::held), crossbar inputs have prices as well.
struct LinkPrices {
  std::vector<double> price;  // by LinkId
  std::vector<double> input;  // PriceCertificate::input; empty without `held`
  double seconds = 0;         // per byte of the collective's size
};
// Found by iteration, so a little below the best ones. Preconditions as for bandwidth_bound.
[[nodiscard]] LinkPrices all_to_all_prices(const Topology& topology,
                                           const std::vector<double>& held = {});
// With bytes of its own for every pair, [from * nodes + to], of which some are not 0: `seconds` is
// the time of all of them.
[[nodiscard]] LinkPrices all_to_allv_prices(const Topology& topology,
                                            const std::vector<Bytes>& counts,
                                            const std::vector<double>& held = {});
// Names the switches whose inputs are the dearest, and says what they add to the bound of the links
// alone. Precondition: an input has a price.
[[nodiscard]] std::string held_inputs_text(const Topology& topology, const LinkPrices& prices,
                                           double links_seconds);
// Larger networks take seconds to price.
inline constexpr std::size_t kMostPricedVertices = 160;

// True for networks of equal links in which every node looks the same and no set of nodes has a
// border smaller than b, the rate of a single node's links. Then single nodes give the bound: |S| /
// B(S) <= (N-1) / b for every S that lacks a node, and (p-1) / C(P) <= (p-1) / (p b) <= (N-1) / (N
// b). A torus, as a product of rings, has no smaller cut: two links cross every cut of a ring, also
// of a ring of two nodes. A complete graph has none either: |S| (N-|S|) links cross a cut, at least
// N-1.
[[nodiscard]] bool single_nodes_bind(const Topology& topology);

}  // namespace espalier
