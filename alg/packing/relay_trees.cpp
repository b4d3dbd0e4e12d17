// Undirected trees over the ranks of a process group and relays, for an all_reduce: every tree
// reduces to its centre and broadcasts back, and relays add and store. Trees are found by prices on
// links: a tree is taken off the busiest links and grown anew where links are cheap.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <random>
#include <utility>

#include "alg/packing/forest_task.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

constexpr std::uint32_t kNone = ~0U;

// A link and the link back.
struct Cable {
  std::uint32_t a = 0;  // vertices
  std::uint32_t b = 0;
  std::uint32_t there = 0;  // links
  std::uint32_t back = 0;
  double rate = 0;  // of the slower direction
};

class RelayTrees {
 public:
  explicit RelayTrees(const ForestTask& task)
      : ranks_(static_cast<std::uint32_t>(task.ranks.size())), at_(task.topology.num_vertices()) {
    const Topology& topology = task.topology;
    for (std::uint32_t l = 0; l < topology.num_links(); ++l) {
      const LinkId back = link_back(topology, LinkId(l));
      if (!back.valid() || back.value() < l) continue;
      const TopologyLink& link = topology.link(LinkId(l));
      const std::uint64_t rate =
          std::min(link.spec.bytes_per_second, topology.link(back).spec.bytes_per_second);
      for (const NodeId end : {link.from, link.to}) {
        at_[end.index()].push_back(static_cast<std::uint32_t>(cables_.size()));
      }
      cables_.push_back(
          {link.from.value(), link.to.value(), l, back.value(), static_cast<double>(rate)});
    }
    exactly_ = std::pow(3, ranks_ - 1) * static_cast<double>(at_.size()) <= kMostExactSteps;
    load_.resize(cables_.size());
    price_.resize(cables_.size());
  }

  // `count` trees with equal shares; empty if they cannot reach every rank.
  std::vector<std::vector<std::uint32_t>> find(std::uint32_t count) {
    std::fill(load_.begin(), load_.end(), 0);
    trees_.assign(count, {});
    for (std::uint32_t t = 0; t < count; ++t) {
      set_prices(kFirstSteepness);
      if (!grow(t)) return {};
    }
    auto best = trees_;
    best_peak_ = peak();
    double steepness = kFirstSteepness;
    for (std::uint32_t without_gain = 0; without_gain < kPatience; ++without_gain) {
      improve(steepness);
      if (peak() < best_peak_ * (1 - kLeastGain)) without_gain = 0;
      if (peak() < best_peak_) {
        best_peak_ = peak();
        best = trees_;
      }
      steepness = std::min(steepness * kSteeper, kSteepest);
    }
    return best;
  }

  // Seconds per byte of the data, for the trees that find() returned.
  [[nodiscard]] double seconds(std::uint32_t count) const { return best_peak_ / count; }

  // Rooted at a vertex from which the farthest one is nearest.
  [[nodiscard]] PackedTree rooted(const std::vector<std::uint32_t>& cables) const {
    PackedTree best;
    std::size_t best_height = std::numeric_limits<std::size_t>::max();
    for (const std::uint32_t c : cables) {
      for (const std::uint32_t root : {cables_[c].a, cables_[c].b}) {
        auto [tree, height] = rooted_at(root, cables);
        if (height >= best_height) continue;
        best_height = height;
        best = std::move(tree);
      }
    }
    return best;
  }

 private:
  [[nodiscard]] std::pair<PackedTree, std::size_t> rooted_at(
      std::uint32_t root, const std::vector<std::uint32_t>& cables) const {
    std::vector<std::size_t> depth(at_.size(), kUnreached);
    depth[root] = 0;
    PackedTree tree;
    tree.root = root;
    std::vector<std::uint32_t> order{root};
    for (std::size_t head = 0; head < order.size(); ++head) {
      for (const std::uint32_t c : cables) {
        const Cable& cable = cables_[c];
        if (cable.a != order[head] && cable.b != order[head]) continue;
        const bool there = cable.a == order[head];
        const std::uint32_t next = there ? cable.b : cable.a;
        if (depth[next] != kUnreached) continue;
        depth[next] = depth[order[head]] + 1;
        tree.edges.push_back(there ? cable.there : cable.back);
        order.push_back(next);
      }
    }
    return {std::move(tree), depth[order.back()]};
  }

  [[nodiscard]] double filled(std::size_t c) const { return load_[c] / cables_[c].rate; }
  [[nodiscard]] double peak() const {
    double most = 0;
    for (std::size_t c = 0; c < cables_.size(); ++c) most = std::max(most, filled(c));
    return most;
  }

  void set_prices(double steepness) {
    peak_ = std::max(peak(), std::numeric_limits<double>::min());
    steepness_ = steepness;
    for (std::size_t c = 0; c < cables_.size(); ++c) set_price(c);
  }
  void set_price(std::size_t c) {
    price_[c] = (std::exp(steepness_ * (filled(c) / peak_ - 1)) + kLeastPrice) / cables_[c].rate;
  }
  void add_load(std::uint32_t tree, double change) {
    for (const std::uint32_t c : trees_[tree]) {
      load_[c] += change;
      set_price(c);
    }
  }

  void improve(double steepness) {
    set_prices(steepness);
    std::vector<std::uint32_t> order(trees_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::uint32_t t : order) {
      const bool busy = std::any_of(trees_[t].begin(), trees_[t].end(),
                                    [&](std::uint32_t c) { return filled(c) >= kBusy * peak_; });
      if (!busy) continue;
      add_load(t, -1);
      grow(t);
    }
  }

  bool grow(std::uint32_t tree) {
    trees_[tree].clear();
    if (!(exactly_ ? grow_least(trees_[tree]) : grow_near(tree, trees_[tree]))) return false;
    add_load(tree, 1);
    return true;
  }

  // The nearest rank that the tree lacks joins it, again and again (Takahashi, Matsuyama 1980).
  bool grow_near(std::uint32_t tree, std::vector<std::uint32_t>& cables) {
    std::vector<bool> in_tree(at_.size(), false);
    in_tree[tree % ranks_] = true;
    for (std::uint32_t joined = 1; joined < ranks_; ++joined) {
      std::uint32_t v = nearest(in_tree);
      if (v == kNone) return false;
      while (!in_tree[v]) {
        in_tree[v] = true;
        cables.push_back(came_by_[v]);
        const Cable& cable = cables_[came_by_[v]];
        v = cable.a == v ? cable.b : cable.a;
      }
    }
    return true;
  }

  // The cheapest tree (Dreyfus, Wagner 1971): over all sets of ranks but the last, and all vertices
  // that a tree of the set reaches.
  bool grow_least(std::vector<std::uint32_t>& cables) {
    const std::size_t vertices = at_.size();
    const std::uint32_t sets = 1U << (ranks_ - 1);
    least_.assign(sets * vertices, {});
    for (std::uint32_t set = 1; set < sets; ++set) {
      Least* of_set = &least_[set * vertices];
      Frontier frontier;
      for (std::uint32_t v = 0; v < vertices; ++v) {
        if (v + 1 < ranks_ && set == 1U << v) of_set[v].cost = 0;
        for (std::uint32_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
          const double cost =
              least_[part * vertices + v].cost + least_[(set ^ part) * vertices + v].cost;
          if (cost < of_set[v].cost) of_set[v] = {cost, kNone, part};
        }
        if (of_set[v].cost < kNever) frontier.emplace(of_set[v].cost, v);
      }
      while (!frontier.empty()) {
        const auto [cost, v] = frontier.top();
        frontier.pop();
        if (cost > of_set[v].cost) continue;
        for (const std::uint32_t c : at_[v]) {
          const std::uint32_t next = cables_[c].a == v ? cables_[c].b : cables_[c].a;
          if (cost + price_[c] >= of_set[next].cost) continue;
          of_set[next] = {cost + price_[c], c, 0};
          frontier.emplace(of_set[next].cost, next);
        }
      }
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{sets - 1, ranks_ - 1}};
    while (!open.empty()) {
      const auto [set, v] = open.back();
      open.pop_back();
      const Least& least = least_[set * vertices + v];
      if (least.cost == kNever) return false;
      if (least.cable != kNone) {
        cables.push_back(least.cable);
        const Cable& cable = cables_[least.cable];
        open.emplace_back(set, cable.a == v ? cable.b : cable.a);
      } else if (least.part != 0) {
        open.emplace_back(least.part, v);
        open.emplace_back(set ^ least.part, v);
      }
    }
    return true;
  }

  // By the cheapest way from the tree, in came_by_.
  std::uint32_t nearest(const std::vector<bool>& in_tree) {
    Frontier frontier;
    cost_.assign(at_.size(), kNever);
    came_by_.assign(at_.size(), kNone);
    for (std::uint32_t v = 0; v < in_tree.size(); ++v) {
      if (!in_tree[v]) continue;
      cost_[v] = 0;
      frontier.emplace(0, v);
    }
    while (!frontier.empty()) {
      const auto [cost, v] = frontier.top();
      frontier.pop();
      if (cost > cost_[v]) continue;
      if (v < ranks_ && !in_tree[v]) return v;
      for (const std::uint32_t c : at_[v]) {
        const std::uint32_t next = cables_[c].a == v ? cables_[c].b : cables_[c].a;
        if (cost + price_[c] >= cost_[next]) continue;
        cost_[next] = cost + price_[c];
        came_by_[next] = c;
        frontier.emplace(cost_[next], next);
      }
    }
    return kNone;
  }

  static constexpr double kNever = std::numeric_limits<double>::infinity();
  using Entry = std::pair<double, std::uint32_t>;
  using Frontier = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
  // How a tree reaches a vertex: over a cable, or as two parts that meet there.
  struct Least {
    double cost = kNever;
    std::uint32_t cable = kNone;
    std::uint32_t part = 0;
  };

  // Of the search for one tree; larger groups take minutes.
  static constexpr double kMostExactSteps = 20'000;
  static constexpr double kFirstSteepness = 8;
  static constexpr double kSteeper = 1.25;
  static constexpr double kSteepest = 200;
  static constexpr double kLeastPrice = 0.02;  // idle links cost, too
  static constexpr double kBusy = 0.94;        // of the busiest link's time
  static constexpr double kLeastGain = 0.0005;
  static constexpr std::uint32_t kPatience = 8;

  std::mt19937 random_{1};
  std::uint32_t ranks_;
  bool exactly_ = false;
  std::vector<Least> least_;  // by set of ranks and vertex
  std::vector<Cable> cables_;
  std::vector<std::vector<std::uint32_t>> at_;  // by vertex: cables
  std::vector<double> load_;                    // trees, by cable
  std::vector<double> price_;
  double peak_ = 0;
  double steepness_ = 0;
  double best_peak_ = 0;
  std::vector<std::vector<std::uint32_t>> trees_;  // cables
  std::vector<double> cost_;
  std::vector<std::uint32_t> came_by_;
};

}  // namespace

void plan_relay_trees(const ForestTask& task, SegmentSearch& search) {
  constexpr std::uint32_t kMostTrees = 64;
  constexpr double kFewerLoss = 0.03;  // that fewer trees may cost
  RelayTrees relay_trees(task);
  std::vector<std::pair<std::uint32_t, double>> rates;  // count of trees, seconds per byte
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::vector<std::vector<std::uint32_t>>> found;
  for (std::uint32_t count = 1; count <= kMostTrees; count += count < 16 ? 1 : count / 8) {
    auto trees = relay_trees.find(count);
    if (trees.empty()) return;
    rates.emplace_back(count, relay_trees.seconds(count));
    least = std::min(least, rates.back().second);
    found.push_back(std::move(trees));
  }
  for (const double loss : {kFewerLoss, 0.0}) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (rates[i].second > least * (1 + loss)) continue;
      TreeOps trees(task.topology, found[i].size(), 0);
      const PackGraph graph = pack_graph(task.topology, false);
      for (std::size_t u = 0; u < found[i].size(); ++u) {
        const PackedTree tree = relay_trees.rooted(found[i][u]);
        task.add_reduces(graph, tree, u, false, trees);
        task.add_copies(graph, tree, u, trees);
      }
      search.consider(std::move(trees));
      break;
    }
  }
}

}  // namespace espalier
