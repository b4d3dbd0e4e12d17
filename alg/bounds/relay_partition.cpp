// The partition that binds an all_reduce of a process group whose relays add: every part holds a
// node that takes part, and every relay is in some part; and the one that binds several groups. The
// best partition is hard to find. The prices of links that trees fill (alg/flow/steiner_trees.h)
// come close.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "alg/bounds/cuts.h"
#include "alg/flow/steiner_trees.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

constexpr std::size_t kMostThresholds = 40;  // of prices that are tried
constexpr std::uint32_t kTreeCounts[] = {8, 16, 32};
constexpr std::uint32_t kPhases = 120;
constexpr double kJump = 1.2;  // of prices, at which partitions of several groups are tried, too
constexpr double kSteepness[] = {8, 20, 60};

class PartitionSearch {
 public:
  PartitionSearch(const Topology& topology, const Scope& scope)
      : topology_(topology), groups_(scope.groups) {
    if (groups_.empty()) groups_.push_back({scope.members(topology.num_nodes()).front()});
    if (groups_.size() == 1) groups_.front().size = 1;
    takes_part_.resize(topology.num_vertices(), false);
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) takes_part_[n] = scope.has(NodeId(n));
    for (std::uint32_t l = 0; l < topology.num_links(); ++l) {
      const TopologyLink& link = topology.link(LinkId(l));
      const LinkId back = link_back(topology, LinkId(l));
      if (back.valid() && back.value() < l) continue;
      edges_.push_back(
          {link.from.value(), link.to.value(), {static_cast<std::uint32_t>(edges_.size())}});
      rates_.push_back(static_cast<double>(link.spec.bytes_per_second));
    }
  }

  // The vertices of each part. Empty if there is no partition.
  std::vector<std::vector<NodeId>> run() {
    std::vector<SteinerItem> items;
    for (const RankGroup& group : groups_) {
      SteinerItem& item = items.emplace_back();
      for (const NodeId node : group.members) item.terminals.push_back(node.value());
      item.bytes = static_cast<double>(group.size);
    }
    try_trees(items);
    // Groups that fill the network by links of their own: other links then cost nothing.
    for (std::size_t g = 0; groups_.size() > 1 && g < items.size(); ++g) {
      items[g].within = items[g].terminals;
    }
    if (groups_.size() > 1) try_trees(items);
    std::vector<std::vector<NodeId>> parts;
    for (std::uint32_t v = 0; v < best_.size(); ++v) {
      if (best_[v] != v || !best_has_node_[v]) continue;
      auto& vertices = parts.emplace_back();
      for (std::uint32_t w = 0; w < best_.size(); ++w) {
        if (best_[w] == v) vertices.emplace_back(w);
      }
    }
    return parts;
  }

 private:
  void try_trees(const std::vector<SteinerItem>& items) {
    SteinerTrees trees(topology_.num_vertices(), rates_, edges_, items, false);
    for (const std::uint32_t count : kTreeCounts) {
      if (trees.find(std::vector<std::uint32_t>(items.size(), count)).empty()) break;
      for (const double steepness : kSteepness) try_prices(trees.prices(steepness));
    }
    if (groups_.size() == 1) return;
    for (const std::vector<double>& prices : trees.weighed_prices(kPhases)) try_prices(prices);
  }

  // Joins what cheap edges join.
  void try_prices(const std::vector<double>& price) {
    std::vector<std::uint32_t> order(edges_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return price[a] < price[b]; });
    part_.resize(topology_.num_vertices());
    std::iota(part_.begin(), part_.end(), 0U);
    const std::size_t step = std::max<std::size_t>(1, order.size() / kMostThresholds);
    for (std::size_t i = 0; i <= order.size(); ++i) {
      const bool same =
          i > 0 && i < order.size() && price[order[i]] <= price[order[i - 1]] * 1.0001;
      const bool jumps = groups_.size() > 1 && i > 0 && i < order.size() &&
                         price[order[i]] > kJump * price[order[i - 1]];
      if (!same && (i % step == 0 || i + 1 == order.size() || jumps)) evaluate(part_);
      if (i < order.size()) join(part_, edges_[order[i]].a, edges_[order[i]].b);
    }
  }

  static std::uint32_t root(std::vector<std::uint32_t>& part, std::uint32_t v) {
    while (part[v] != v) v = part[v] = part[part[v]];
    return v;
  }
  static void join(std::vector<std::uint32_t>& part, std::uint32_t a, std::uint32_t b) {
    a = root(part, a);
    b = root(part, b);
    part[std::max(a, b)] = std::min(a, b);
  }

  // Parts without a member join the neighbour to which they have the most rate. Of several groups,
  // parts of switches alone are no parts.
  void evaluate(std::vector<std::uint32_t> part) {
    const std::size_t vertices = part.size();
    std::vector<bool> has_member(vertices, false);
    std::vector<bool> has_node(vertices, false);
    const bool several = groups_.size() > 1;
    const auto settle = [&] {
      std::fill(has_member.begin(), has_member.end(), false);
      std::fill(has_node.begin(), has_node.end(), false);
      for (std::uint32_t v = 0; v < vertices; ++v) {
        part[v] = root(part, v);
        if (takes_part_[v]) has_member[part[v]] = true;
        if (!topology_.is_switch(NodeId(v))) has_node[part[v]] = true;
      }
    };
    settle();
    for (std::uint32_t v = 0; v < vertices;) {
      if (part[v] != v || has_member[v] || (several && !has_node[v])) {
        ++v;
        continue;
      }
      std::vector<double> rate_to(vertices, 0);
      for (const TopologyLink& link : topology_.links()) {
        const std::uint32_t from = part[link.from.index()];
        const std::uint32_t to = part[link.to.index()];
        if (from == to || (from != v && to != v)) continue;
        rate_to[from == v ? to : from] += static_cast<double>(link.spec.bytes_per_second);
      }
      const auto most = std::max_element(rate_to.begin(), rate_to.end());
      join(part, v, static_cast<std::uint32_t>(most - rate_to.begin()));
      settle();
    }
    double crossings = 0;
    double rate = 0;
    for (const RankGroup& group : groups_) {
      std::vector<bool> counted(vertices, false);
      std::size_t parts = 0;
      for (const NodeId node : group.members) {
        parts += counted[part[node.index()]] ? 0U : 1U;
        counted[part[node.index()]] = true;
      }
      crossings += static_cast<double>(group.size) * static_cast<double>(parts - 1);
    }
    for (const TopologyLink& link : topology_.links()) {
      const std::uint32_t from = part[link.from.index()];
      if (from != part[link.to.index()] && has_node[from]) {
        rate += static_cast<double>(link.spec.bytes_per_second);
      }
    }
    if (crossings == 0 || crossings <= best_ratio_ * rate) return;
    best_ratio_ = crossings / rate;
    best_ = std::move(part);
    best_has_node_ = std::move(has_node);
  }

  const Topology& topology_;
  std::vector<RankGroup> groups_;
  std::vector<bool> takes_part_;  // by vertex
  std::vector<SteinerEdge> edges_;
  std::vector<double> rates_;
  std::vector<std::uint32_t> part_;
  double best_ratio_ = 0;
  std::vector<std::uint32_t> best_;
  std::vector<bool> best_has_node_;
};

}  // namespace

std::vector<Proposal> partition_proposals(const Topology& topology, const Scope& scope) {
  if (topology.num_switches() != 0 && scope.groups.size() < 2) return {};
  PartitionCertificate partition{PartitionSearch(topology, scope).run()};
  if (partition.parts.empty()) return {};
  std::string text = fmt::format("partition into {} parts", partition.parts.size());
  return {{std::move(partition), std::move(text)}};
}

}  // namespace espalier
