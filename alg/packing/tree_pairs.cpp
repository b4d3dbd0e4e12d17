// Pairs of trees with one root for an all_reduce on direct links that lead one way, or at another
// rate back: an in-tree that reduces to the root, and an out-tree that broadcasts from there.
//
// A link's price grows with what it carries. Pairs over the busiest links are taken off and made
// anew at the root where both trees together are cheapest (Chu and Liu 1965, Edmonds 1967). Then
// all pairs found so far get shares.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "alg/packing/forest_task.h"
#include "alg/packing/tree_shares.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

constexpr std::size_t kMostPairs = 32;
constexpr std::size_t kMostPairsOfNodes = 4096;  // pairs x nodes: some seconds
constexpr std::size_t kMostPasses = 25;
constexpr std::size_t kMostRoots = 16;    // that are tried for a pair
constexpr double kFewerPairsLoss = 0.03;  // that fewer pairs may cost
constexpr std::uint32_t kNoEdge = ~0U;

struct PricedEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double price = 0;
};

// By vertex: the vertex that represents the cycle of picked edges behind it, or itself.
std::vector<std::uint32_t> contract_cycles(const std::vector<PricedEdge>& edges,
                                           const std::vector<std::uint32_t>& picked) {
  const std::size_t vertices = picked.size();
  std::vector<std::uint32_t> part(vertices);
  std::iota(part.begin(), part.end(), 0U);
  std::vector<std::uint32_t> seen_by(vertices, kNoEdge);
  for (std::uint32_t start = 0; start < vertices; ++start) {
    std::uint32_t v = start;
    while (seen_by[v] == kNoEdge && picked[v] != kNoEdge) {
      seen_by[v] = start;
      v = edges[picked[v]].from;
    }
    if (picked[v] == kNoEdge || seen_by[v] != start) continue;
    for (std::uint32_t u = edges[picked[v]].from; u != v; u = edges[picked[u]].from) part[u] = v;
  }
  return part;
}

// The edges of the cheapest out-tree from `root`, one into every other vertex that has an edge.
// Precondition: the root reaches them all.
std::vector<std::uint32_t> cheapest_tree(std::size_t vertices, const std::vector<PricedEdge>& edges,
                                         std::uint32_t root) {
  std::vector<std::uint32_t> picked(vertices, kNoEdge);
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    std::uint32_t& best = picked[edges[e].to];
    if (edges[e].to == root) continue;
    if (best == kNoEdge || edges[e].price < edges[best].price) best = e;
  }
  const std::vector<std::uint32_t> part = contract_cycles(edges, picked);
  bool has_cycle = false;
  for (std::uint32_t v = 0; v < vertices; ++v) has_cycle = has_cycle || part[v] != v;
  if (has_cycle) {
    std::vector<PricedEdge> between;
    std::vector<std::uint32_t> edge_of;
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
      const auto& [from, to, price] = edges[e];
      if (part[from] == part[to] || to == root) continue;
      between.push_back({part[from], part[to], price - edges[picked[to]].price});
      edge_of.push_back(e);
    }
    // The edge into a cycle takes the place of the cycle's edge at its end.
    for (const std::uint32_t e : cheapest_tree(vertices, between, part[root])) {
      picked[edges[edge_of[e]].to] = edge_of[e];
    }
  }
  picked.erase(std::remove(picked.begin(), picked.end(), kNoEdge), picked.end());
  return picked;
}

struct TreePair {
  std::uint32_t root = 0;
  std::vector<std::uint32_t> in;   // links towards the root
  std::vector<std::uint32_t> out;  // links away from it
};

class PairSearch {
 public:
  explicit PairSearch(const Topology& topology)
      : nodes_(topology.num_nodes()), load_(topology.num_links(), 0) {
    for (const TopologyLink& link : topology.links()) {
      out_.push_back({link.from.value(), link.to.value()});
      in_.push_back({link.to.value(), link.from.value()});
      rates_.push_back(static_cast<double>(link.spec.bytes_per_second));
    }
  }

  [[nodiscard]] const std::vector<double>& rates() const { return rates_; }

  std::vector<TreePair> find(std::size_t count) {
    constexpr double kBusy = 0.94;  // of the busiest link
    constexpr std::size_t kMostVainPasses = 5;
    std::fill(load_.begin(), load_.end(), 0);
    std::vector<TreePair> pairs;
    double steepness = 8;
    for (std::size_t p = 0; p < count; ++p) pairs.push_back(cheapest(steepness));
    std::vector<TreePair> best = pairs;
    double least = peak();
    for (std::size_t pass = 0, vain = 0; pass < kMostPasses && vain < kMostVainPasses; ++pass) {
      for (TreePair& pair : pairs) {
        if (busiest(pair) < kBusy * peak()) continue;
        add(pair, -1);
        pair = cheapest(steepness);
      }
      steepness = std::min(1.25 * steepness, 200.0);
      ++vain;
      if (peak() >= least * 0.9995) continue;
      least = peak();
      best = pairs;
      vain = 0;
    }
    return best;
  }

 private:
  [[nodiscard]] double filled(std::size_t link) const { return load_[link] / rates_[link]; }
  [[nodiscard]] double peak() const {
    double most = 0;
    for (std::size_t l = 0; l < load_.size(); ++l) most = std::max(most, filled(l));
    return most;
  }
  [[nodiscard]] double busiest(const TreePair& pair) const {
    double most = 0;
    for (const auto* tree : {&pair.in, &pair.out}) {
      for (const std::uint32_t link : *tree) most = std::max(most, filled(link));
    }
    return most;
  }
  void add(const TreePair& pair, double change) {
    for (const auto* tree : {&pair.in, &pair.out}) {
      for (const std::uint32_t link : *tree) load_[link] += change;
    }
  }

  // Adds the pair whose links are the cheapest, of all roots or of some that change by turns.
  TreePair cheapest(double steepness) {
    constexpr double kTiePrice = 0.02;
    const double most = std::max(peak(), 1e-30);
    for (std::size_t l = 0; l < load_.size(); ++l) {
      const double price = (std::exp(steepness * (filled(l) / most - 1)) + kTiePrice) / rates_[l];
      out_[l].price = in_[l].price = price;
    }
    TreePair best;
    double least = 0;
    const std::size_t roots = std::min(nodes_, kMostRoots);
    for (std::size_t r = 0; r < roots; ++r) {
      const auto root = static_cast<std::uint32_t>(next_root_++ % nodes_);
      TreePair pair{root, cheapest_tree(nodes_, in_, root), cheapest_tree(nodes_, out_, root)};
      double cost = 0;
      for (const std::uint32_t link : pair.in) cost += in_[link].price;
      for (const std::uint32_t link : pair.out) cost += out_[link].price;
      if (r != 0 && cost >= least) continue;
      least = cost;
      best = std::move(pair);
    }
    add(best, 1);
    return best;
  }

  std::size_t nodes_;
  std::vector<PricedEdge> out_;  // by link
  std::vector<PricedEdge> in_;   // the same in the other direction
  std::vector<double> rates_;    // by link
  std::vector<double> load_;     // by link: trees
  std::size_t next_root_ = 0;
};

}  // namespace

bool leads_otherwise_back(const Topology& topology) {
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    const LinkId back = link_back(topology, LinkId(l));
    if (!back.valid() || topology.link(back).spec.bytes_per_second !=
                             topology.link(LinkId(l)).spec.bytes_per_second) {
      return true;
    }
  }
  return false;
}

void plan_tree_pairs(const ForestTask& task, SegmentSearch& search) {
  PairSearch pairs(task.topology);
  std::vector<TreePair> all;
  LinkLists links;                              // by pair
  std::vector<std::vector<std::size_t>> found;  // pairs, each with as much of the data
  const std::size_t most =
      std::clamp<std::size_t>(kMostPairsOfNodes / task.ranks.size(), 4, kMostPairs);
  for (std::size_t count = 1; count <= most; count += (count + 2) / 3) {
    found.emplace_back();
    for (TreePair& pair : pairs.find(count)) {
      found.back().push_back(all.size());
      links.push_back(pair.in);
      links.back().insert(links.back().end(), pair.out.begin(), pair.out.end());
      all.push_back(std::move(pair));
    }
  }
  const std::vector<double> share = shares_of(links, pairs.rates());
  for (std::size_t count = most / 2; count <= 2 * most; count *= 2) {
    found.push_back(repeated(share, static_cast<double>(count)));
  }
  const auto seconds = [&](const std::vector<std::size_t>& chosen) {
    LinkLists of_pairs;
    for (const std::size_t p : chosen) of_pairs.push_back(links[p]);
    return chosen.empty() ? std::numeric_limits<double>::infinity()
                          : seconds_of(of_pairs, pairs.rates());
  };
  double least = std::numeric_limits<double>::infinity();
  for (const auto& chosen : found) least = std::min(least, seconds(chosen));
  const PackGraph graph = pack_graph(task.topology, false);
  const PackGraph reversed = pack_graph(task.topology, true);
  const std::vector<std::size_t>* before = nullptr;
  for (const double loss : {kFewerPairsLoss, kGoodLoss}) {
    const auto chosen = std::find_if(found.begin(), found.end(), [&](const auto& some) {
      return seconds(some) <= least * (1 + loss);
    });
    if (&*chosen == before) break;
    before = &*chosen;
    TreeOps trees(task.topology, chosen->size(), 0);
    for (std::size_t u = 0; u < chosen->size(); ++u) {
      const TreePair& pair = all[(*chosen)[u]];
      const PackedTree in = tree_from(pair.root, reversed, edges_out(reversed, pair.in)).first;
      const PackedTree out = tree_from(pair.root, graph, edges_out(graph, pair.out)).first;
      task.add_reduces(reversed, in, u, true, trees);
      task.add_copies(graph, out, u, trees);
    }
    search.consider(std::move(trees));
  }
}

}  // namespace espalier
