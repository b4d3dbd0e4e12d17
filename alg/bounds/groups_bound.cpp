// The bound of several process groups that share links: what all of them have to pass a cut or a
// partition.
#include <algorithm>
#include <iterator>
#include <utility>

#include "alg/bounds/cuts.h"
#include "alg/flow/steiner_trees.h"
#include "alg/routes/stored_hops.h"

namespace espalier {

namespace {

// Every group's exchange as one table of bytes of every pair.
Scope as_pairs(const Topology& topology, const Scope& scope, const std::vector<Bytes>& parts) {
  const std::size_t nodes = topology.num_nodes();
  Scope pairs;
  pairs.counts.assign(nodes * nodes, 0);
  for (std::size_t g = 0; g < scope.groups.size(); ++g) {
    for (const NodeId from : scope.groups[g].members) {
      for (const NodeId to : scope.groups[g].members) {
        if (from != to) pairs.counts[from.index() * nodes + to.index()] += parts[g];
      }
    }
  }
  return pairs;
}

// Prices of links that trees of all parts fill evenly.
std::vector<Proposal> price_proposals(const Topology& topology, CollectiveOp op, const Scope& scope,
                                      const std::vector<Bytes>& parts) {
  constexpr std::uint32_t kWeighings = 120;
  std::vector<bool> stores(topology.num_vertices(), false);
  std::fill_n(stores.begin(), topology.num_nodes(), true);
  std::vector<SteinerEdge> edges;
  for (const StoredHop& hop : stored_hops(topology, stores, false)) {
    const bool against = op == CollectiveOp::reduce_scatter;
    SteinerEdge& edge = edges.emplace_back();
    edge.a = (against ? hop.to : hop.from).value();
    edge.b = (against ? hop.from : hop.to).value();
    for (const LinkId l : hop.there) edge.links.push_back(l.value());
  }
  std::vector<double> rates;
  for (const TopologyLink& link : topology.links()) {
    rates.push_back(static_cast<double>(link.spec.bytes_per_second));
  }
  std::vector<SteinerItem> items;
  for (std::size_t g = 0; g < scope.groups.size(); ++g) {
    for (const NodeId root : scope.groups[g].members) {
      SteinerItem& item = items.emplace_back();
      for (const NodeId node : scope.groups[g].members) {
        if (node != root) item.terminals.push_back(node.value());
      }
      item.terminals.push_back(root.value());
      item.bytes = static_cast<double>(std::max<Bytes>(1, parts[g]));
    }
  }
  SteinerTrees trees(topology.num_vertices(), rates, std::move(edges), std::move(items), true);
  std::vector<Proposal> proposals;
  for (std::vector<double>& prices : trees.weighed_prices(kWeighings)) {
    proposals.push_back(
        {PriceCertificate{std::move(prices)}, "prices of links: trees of all groups together"});
  }
  return proposals;
}

}  // namespace

CollectiveBound groups_bound(const Topology& topology, CollectiveOp op, const Scope& scope,
                             const std::vector<Bytes>& parts) {
  if (op == CollectiveOp::all_to_all) {
    return scoped_bound(topology, CollectiveOp::all_to_allv, 0, as_pairs(topology, scope, parts));
  }
  const Demand demand{op, 0, parts, scope};
  std::vector<Proposal> proposals = partition_proposals(topology, scope);
  if (!proposals.empty()) {
    Proposal inwards = proposals.front();
    std::get<PartitionCertificate>(inwards.certificate).outwards = false;
    proposals.push_back(std::move(inwards));
  }
  visit_likely_cuts(topology, true, [&](const std::vector<bool>& inside, const auto& name) {
    for (const Direction direction : {Direction::out, Direction::in}) {
      CrossingCertificate crossing = crossing_of(topology, {inside, direction}, scope);
      if (crossing.from.empty() || crossing.to.empty()) continue;
      proposals.push_back({std::move(crossing), name()});
    }
  });
  if (op != CollectiveOp::all_reduce && topology.num_vertices() <= kMostPricedVertices) {
    std::vector<Proposal> prices = price_proposals(topology, op, scope, parts);
    std::move(prices.begin(), prices.end(), std::back_inserter(proposals));
  }
  CollectiveBound bound;
  take_best_proof(topology, demand, std::move(proposals), bound);
  return bound;
}

}  // namespace espalier
