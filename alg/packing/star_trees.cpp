// Where nodes behind switches have links of unequal rates, equal shares of an all_reduce would hold
// the slow nodes up: the owner of a share receives it from all others. Here slow nodes own less or
// nothing, and each owner reduces and broadcasts directly.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "alg/packing/forest_task.h"

namespace espalier {

namespace {

constexpr std::uint32_t kMostUnits = 64;
constexpr double kFewerUnitsLoss = 0.005;
constexpr double kTie = 0.001;  // of two nodes, the one with more room

// Bytes per second into the node and out of it, whichever is less; empty unless each node has one
// link each way.
std::vector<double> rates_of_nodes(const Topology& topology) {
  std::vector<double> rates;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const auto& out = topology.out_links(NodeId(n));
    const auto& in = topology.in_links(NodeId(n));
    if (out.size() != 1 || in.size() != 1) return {};
    rates.push_back(static_cast<double>(std::min(topology.link(out.front()).spec.bytes_per_second,
                                                 topology.link(in.front()).spec.bytes_per_second)));
  }
  return rates;
}

// Seconds per unit and byte on a node's link, which carries its own units from (or to) each other
// node, and all other units once. A switch passes a message at the rate of its slower link.
double busy(const std::vector<double>& rates, const std::vector<std::uint32_t>& units,
            std::size_t node) {
  double seconds = 0;
  for (std::size_t n = 0; n < rates.size(); ++n) {
    if (n != node) seconds += (units[node] + units[n]) / std::min(rates[node], rates[n]);
  }
  return seconds;
}

double busiest(const std::vector<double>& rates, const std::vector<std::uint32_t>& units) {
  double most = 0;
  for (std::size_t n = 0; n < rates.size(); ++n) most = std::max(most, busy(rates, units, n));
  return most;
}

// Unit after unit to the node that makes the busiest link least busy.
std::vector<std::uint32_t> shared_out(const std::vector<double>& rates, std::uint32_t all) {
  std::vector<std::uint32_t> units(rates.size(), 0);
  for (std::uint32_t u = 0; u < all; ++u) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t n = 0; n < rates.size(); ++n) {
      ++units[n];
      const double most = busiest(rates, units) + busy(rates, units, n) * kTie;
      --units[n];
      if (most >= least) continue;
      least = most;
      best = n;
    }
    ++units[best];
  }
  return units;
}

}  // namespace

void plan_star_trees(const ForestTask& task, SegmentSearch& search) {
  const std::vector<double> rates = rates_of_nodes(task.topology);
  if (rates.size() < 3 || std::equal(rates.begin() + 1, rates.end(), rates.begin())) return;
  std::vector<std::uint32_t> best;
  double least = 0;
  for (std::uint32_t all = 1; all <= kMostUnits; all += all < 16 ? 1 : all / 4) {
    std::vector<std::uint32_t> units = shared_out(rates, all);
    const double time = busiest(rates, units) / all;
    if (!best.empty() && time >= least * (1 - kFewerUnitsLoss)) continue;
    least = time;
    best = std::move(units);
  }
  std::size_t all = 0;
  for (const std::uint32_t units : best) all += units;
  LinkOrder order(task.topology);
  const PackGraph in = task.paths_of_pairs(true, order);
  const PackGraph out = task.paths_of_pairs(false, order);
  TreeOps trees(task.topology, all, 0);
  std::size_t unit = 0;
  for (std::uint32_t owner = 0; owner < best.size(); ++owner) {
    for (std::uint32_t u = 0; u < best[owner]; ++u, ++unit) {
      for (const bool reversed : {true, false}) {
        const PackGraph& graph = reversed ? in : out;
        PackedTree star;
        star.root = owner;
        for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
          if (graph.edges[e].from == owner) star.edges.push_back(e);
        }
        if (star.edges.size() + 1 != rates.size()) return;  // no safe path to some node
        task.add_tree(graph, star, unit, reversed, trees);
      }
    }
  }
  search.consider(std::move(trees));
}

}  // namespace espalier
