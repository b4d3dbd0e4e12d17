#include "alg/packing/pack_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace espalier {

namespace {

// The relative error that a rate, divided by another one, may have before it loses a whole unit.
constexpr double kUnitTolerance = 1e-9;

// The graph with a source that has an arc to every root. Nodes are tested one after the other. All
// arcs are turned round, and data flow from the tested node to the source: that is near, and the
// source has an arc to every node, through which a search from there would go.
struct DemandFlow {
  explicit DemandFlow(const PackGraph& network)
      : graph(network), flow(graph.vertices + 1), source(graph.vertices) {
    for (const PackEdge& e : graph.edges) flow.add_arc(e.to, e.from, 0);
    for (std::size_t n = 0; n < graph.nodes; ++n) flow.add_arc(n, source, 0);
  }
  // Keeps the arcs to tested nodes.
  void set_demand(std::int64_t of_root) {
    for (std::size_t n = tested; n < graph.nodes; ++n) {
      flow.set_capacity(graph.edges.size() + n, graph.is_root(n) ? of_root : 0);
    }
  }
  // Whether `all` units reach the next node. Sets of vertices that lack a tested node have been
  // tested, so a tested node may be one with the source: flows to other nodes then find short ways.
  bool reaches_next(std::int64_t all) {
    if (flow.max_flow(tested, source, all) < all) return false;
    flow.set_capacity(graph.edges.size() + tested, SmallFlow::kUnlimited);
    ++tested;
    return true;
  }
  // Whether a vertex is in the set from which too little reached the node.
  [[nodiscard]] bool in_cut(std::size_t vertex) const { return !flow.on_source_side(vertex); }
  const PackGraph& graph;
  SmallFlow flow;
  std::size_t source;
  std::size_t tested = 0;  // nodes [0, tested)
};

}  // namespace

PackGraph pack_graph(const Topology& topology, bool reversed) {
  PackGraph graph;
  graph.nodes = topology.num_nodes();
  graph.vertices = topology.num_vertices();
  graph.edges.reserve(topology.num_links());
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    const TopologyLink& link = topology.link(LinkId(l));
    PackEdge e;
    e.from = (reversed ? link.to : link.from).value();
    e.to = (reversed ? link.from : link.to).value();
    e.rate = link.spec.bytes_per_second;
    e.path = {LinkId(l)};
    graph.edges.push_back(std::move(e));
  }
  return graph;
}

// Dinkelbach's method with 1 / rate as the fraction p / q: an edge of rate b has capacity p b, each
// root a supply of q. If less than roots * q reaches some node, the cut is a better fraction.
double best_root_rate(const PackGraph& graph) {
  std::uint64_t unit = 0;
  for (const PackEdge& e : graph.edges) unit = std::gcd(unit, e.rate);
  std::vector<std::int64_t> rates;
  std::int64_t all = 0;
  for (const PackEdge& e : graph.edges) {
    rates.push_back(static_cast<std::int64_t>(e.rate / unit));
    all += rates.back();
  }
  const auto roots = static_cast<std::int64_t>(graph.num_roots());
  if (all > SmallFlow::kUnlimited / (roots + 1)) {
    throw std::invalid_argument("the rates of the links have no common unit that is large enough");
  }
  DemandFlow demand(graph);
  std::int64_t p = 1;
  std::int64_t q = all;
  const auto set_capacities = [&] {
    for (std::size_t e = 0; e < rates.size(); ++e) demand.flow.set_capacity(e, p * rates[e]);
    demand.set_demand(q);
  };
  set_capacities();
  while (demand.tested < graph.nodes) {
    while (!demand.reaches_next(roots * q)) {
      std::int64_t inside = 0;
      std::int64_t border = 0;
      for (std::size_t n = 0; n < graph.nodes; ++n) {
        inside += graph.is_root(n) && demand.in_cut(n) ? 1 : 0;
      }
      for (std::size_t e = 0; e < rates.size(); ++e) {
        const PackEdge& edge = graph.edges[e];
        if (demand.in_cut(edge.from) && !demand.in_cut(edge.to)) {
          border += rates[e];
        }
      }
      if (border == 0) throw std::invalid_argument("some node cannot reach all others");
      const std::int64_t divisor = std::gcd(inside, border);
      p = inside / divisor;
      q = border / divisor;
      set_capacities();
    }
  }
  return static_cast<double>(q) / static_cast<double>(p) * static_cast<double>(unit);
}

std::vector<std::int64_t> units_at(const PackGraph& graph, double unit_rate) {
  std::vector<std::int64_t> units;
  units.reserve(graph.edges.size());
  for (const PackEdge& e : graph.edges) {
    const double ratio = static_cast<double>(e.rate) / unit_rate;
    units.push_back(static_cast<std::int64_t>(ratio * (1 + kUnitTolerance)));
  }
  return units;
}

bool trees_fit(const PackGraph& graph, const std::vector<std::int64_t>& units, std::int64_t trees) {
  DemandFlow demand(graph);
  for (std::size_t e = 0; e < units.size(); ++e) demand.flow.set_capacity(e, units[e]);
  demand.set_demand(trees);
  const std::int64_t all = trees * static_cast<std::int64_t>(graph.num_roots());
  while (demand.tested < graph.nodes) {
    if (!demand.reaches_next(all)) return false;
  }
  return true;
}

UnitRate best_unit_rate(const PackGraph& graph, std::uint32_t trees, double best_rate) {
  // Only at rate / (whole number) does an edge lose a unit.
  const double most = best_rate / trees;
  std::vector<double> candidates{most};
  std::vector<std::uint64_t> rates;
  for (const PackEdge& e : graph.edges) rates.push_back(e.rate);
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  constexpr double kLeastShare = 0.5;  // if off: 59 % slower
  for (const std::uint64_t rate : rates) {
    const auto full = static_cast<double>(rate);
    const auto first = static_cast<std::uint64_t>(std::max(1.0, std::ceil(full / most)));
    const auto last = static_cast<std::uint64_t>(full / (most * kLeastShare));
    for (std::uint64_t c = first; c <= last; ++c)
      candidates.push_back(full / static_cast<double>(c));
  }
  std::sort(candidates.begin(), candidates.end(), std::greater<>());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  UnitRate result;
  result.trees = trees;
  // The least index that fits.
  std::size_t low = 0;
  std::size_t high = candidates.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (trees_fit(graph, units_at(graph, candidates[middle]), trees)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  result.unit_rate = low < candidates.size() ? candidates[low] : 0;
  // An edge so slow that it serves no tree above half of the best rate may be needed.
  for (double rate = most * kLeastShare; result.unit_rate == 0; rate /= 2) {
    if (trees_fit(graph, units_at(graph, rate), trees)) result.unit_rate = rate;
  }
  result.units = units_at(graph, result.unit_rate);
  return result;
}

}  // namespace espalier
