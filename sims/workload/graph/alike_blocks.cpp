#include "sims/workload/graph/alike_blocks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "alg/routes/routing.h"

namespace espalier {

namespace {

using Ranks = std::vector<std::uint32_t>;

class BlockFinder {
 public:
  BlockFinder(const WorkGraph& graph, const Topology& topology, const std::vector<NodeId>& nodes)
      : graph_(graph),
        topology_(topology),
        nodes_(nodes),
        joins_(graph.groups.size(), false),
        set_of_(graph.groups.size()) {
    for (std::size_t g = 0; g < graph.groups.size(); ++g) {
      for (const Ranks& set : graph.groups[g].sets) {
        for (const std::uint32_t rank : set) set_of_[g].emplace(rank, &set);
      }
    }
  }

  // Blocks that never meet, or else those that save most.
  [[nodiscard]] AlikeWork find(bool may_meet) {
    struct Way {
      std::vector<bool> joins;
      double cost;  // nodes that are simulated, divided by ranks
    };
    std::vector<Way> ways{{joins_, 0}};
    if (may_meet && is_shared()) {
      const std::vector<std::pair<std::uint32_t, double>> groups = by_first_use();
      const auto all = static_cast<double>(graph_.ranks.front()->nodes.size());
      joins_.assign(joins_.size(), true);
      for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
        joins_[groups[g].first] = false;
        const double folded = groups[g + 1].second;
        const auto blocks = static_cast<double>(connected().size());
        ways.push_back({joins_, all - folded + folded / blocks});
      }
      std::sort(ways.begin() + 1, ways.end(),
                [](const Way& a, const Way& b) { return a.cost < b.cost; });
    }
    for (const Way& way : ways) {
      joins_ = way.joins;
      std::vector<AlikeBlock> blocks = alike();
      if (!blocks.empty()) return {std::move(blocks), way.joins};
    }
    return {};
  }

 private:
  // All ranks share one work, and exchange no messages.
  [[nodiscard]] bool is_shared() const {
    const auto& nodes = graph_.ranks.front()->nodes;
    return std::none_of(nodes.begin(), nodes.end(), is_message) &&
           std::all_of(graph_.ranks.begin(), graph_.ranks.end(),
                       [&](const auto& work) { return work == graph_.ranks.front(); });
  }
  // The groups of rank 0, and how many of its nodes come before the first collective of each.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, double>> by_first_use() const {
    std::vector<const WorkNode*> nodes;
    for (const WorkNode& node : graph_.ranks.front()->nodes) nodes.push_back(&node);
    std::sort(nodes.begin(), nodes.end(),
              [](const WorkNode* a, const WorkNode* b) { return a->id < b->id; });
    std::vector<std::pair<std::uint32_t, double>> groups;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const std::uint32_t group = nodes[n]->group;
      const bool is_known = std::any_of(groups.begin(), groups.end(),
                                        [&](const auto& known) { return known.first == group; });
      if (nodes[n]->kind == WorkKind::collective && !is_known) groups.emplace_back(group, n);
    }
    return groups;
  }

  // Empty if ranks do not fall into several blocks that do the same work in the same places.
  [[nodiscard]] std::vector<AlikeBlock> alike() {
    std::vector<AlikeBlock> blocks = connected();
    place_.resize(graph_.ranks.size());
    for (const AlikeBlock& block : blocks) {
      if (block.ranks.size() != blocks.front().ranks.size()) return {};
      for (std::uint32_t p = 0; p < block.ranks.size(); ++p) place_[block.ranks[p]] = p;
    }
    if (blocks.size() < 2) return {};
    for (const AlikeBlock& block : blocks) {
      for (std::size_t p = 0; p < block.ranks.size(); ++p) {
        if (!works_as(block.ranks[p], blocks.front().ranks[p])) return {};
      }
    }
    return share_no_link(blocks) ? blocks : std::vector<AlikeBlock>{};
  }

  // By first rank: ranks that communicate, at once or through others.
  [[nodiscard]] std::vector<AlikeBlock> connected() const {
    Ranks root(graph_.ranks.size());
    std::iota(root.begin(), root.end(), 0U);
    const auto find = [&](std::uint32_t rank) {
      while (root[rank] != rank) rank = root[rank] = root[root[rank]];
      return rank;
    };
    const auto join = [&](std::uint32_t a, std::uint32_t b) {
      a = find(a);
      b = find(b);
      root[std::max(a, b)] = std::min(a, b);
    };
    std::map<const RankWork*, std::pair<std::set<std::uint32_t>, std::set<std::uint32_t>>> met;
    for (std::uint32_t r = 0; r < graph_.ranks.size(); ++r) {
      const auto [known, is_new] = met.try_emplace(graph_.ranks[r].get());
      auto& [groups, peers] = known->second;
      if (is_new) {
        for (const WorkNode& node : graph_.ranks[r]->nodes) {
          if (node.kind == WorkKind::collective && !joins_[node.group]) groups.insert(node.group);
          if (is_message(node)) peers.insert(node.peer);
        }
      }
      for (const std::uint32_t peer : peers) join(r, peer);
      for (const std::uint32_t group : groups) {
        const auto set = set_of_[group].find(r);
        if (set != set_of_[group].end()) join(r, set->second->front());
      }
    }
    std::vector<AlikeBlock> blocks;
    std::map<std::uint32_t, std::size_t> block_of;
    for (std::uint32_t r = 0; r < root.size(); ++r) {
      const auto [block, is_new] = block_of.try_emplace(find(r), blocks.size());
      if (is_new) blocks.emplace_back();
      blocks[block->second].ranks.push_back(r);
    }
    return blocks;
  }

  [[nodiscard]] static bool is_message(const WorkNode& node) {
    return node.kind == WorkKind::send || node.kind == WorkKind::receive;
  }

  // Rank `a` does in its block what `b` does in its own.
  [[nodiscard]] bool works_as(std::uint32_t a, std::uint32_t b) {
    const RankWork& one = *graph_.ranks[a];
    const RankWork& other = *graph_.ranks[b];
    if (one.nodes.size() != other.nodes.size() || one.first_wait != other.first_wait ||
        one.waits != other.waits) {
      return false;
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> compared;
    for (std::size_t n = 0; n < one.nodes.size(); ++n) {
      const WorkNode& x = one.nodes[n];
      const WorkNode& y = other.nodes[n];
      if (std::tie(x.kind, x.op, x.tag, x.id, x.picoseconds, x.bytes) !=
          std::tie(y.kind, y.op, y.tag, y.id, y.picoseconds, y.bytes)) {
        return false;
      }
      if (is_message(x) && place_[x.peer] != place_[y.peer]) return false;
      if (x.kind == WorkKind::collective && !joins_[x.group] &&
          compared.insert({x.group, y.group}).second && !meets_as(a, x.group, b, y.group)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool meets_as(std::uint32_t a, std::uint32_t group_of_a, std::uint32_t b,
                              std::uint32_t group_of_b) const {
    const auto one = set_of_[group_of_a].find(a);
    const auto other = set_of_[group_of_b].find(b);
    if (one == set_of_[group_of_a].end() || other == set_of_[group_of_b].end()) return false;
    return std::equal(one->second->begin(), one->second->end(), other->second->begin(),
                      other->second->end(),
                      [&](std::uint32_t x, std::uint32_t y) { return place_[x] == place_[y]; });
  }

  // Routers treat a block's packets alike if its links are alike and have the same order among a
  // router's ports: arbiters then meet the same requests in the same order.
  [[nodiscard]] bool share_no_link(std::vector<AlikeBlock>& blocks) const {
    std::vector<bool> is_used(topology_.num_links(), false);
    std::vector<std::uint64_t> first_pattern;
    std::vector<std::size_t> first_ports;
    for (AlikeBlock& block : blocks) {
      std::vector<NodeId> nodes;
      for (const std::uint32_t rank : block.ranks) nodes.push_back(nodes_[rank]);
      const auto pattern = route_pattern(topology_, nodes, &block.links);
      const auto ports = port_order(block.links);
      if (&block == &blocks.front()) {
        first_pattern = pattern;
        first_ports = ports;
      }
      if (pattern.empty() || pattern != first_pattern || ports != first_ports) return false;
      for (const LinkId link : block.links) {
        if (is_used[link.index()]) return false;
        is_used[link.index()] = true;
      }
    }
    return true;
  }

  // Places in `links`, router by router in the order of their first links, by port.
  [[nodiscard]] std::vector<std::size_t> port_order(const std::vector<LinkId>& links) const {
    std::vector<std::size_t> order;
    for (const bool leaves : {true, false}) {
      std::map<NodeId, std::size_t> number;
      std::vector<std::tuple<std::size_t, std::uint32_t, std::size_t>> ports;
      for (std::size_t l = 0; l < links.size(); ++l) {
        const TopologyLink& link = topology_.link(links[l]);
        const auto router = number.try_emplace(leaves ? link.from : link.to, number.size()).first;
        ports.emplace_back(router->second, leaves ? link.out_port : link.in_port, l);
      }
      std::sort(ports.begin(), ports.end());
      for (const auto& port : ports) order.push_back(std::get<2>(port));
    }
    return order;
  }

  const WorkGraph& graph_;
  const Topology& topology_;
  const std::vector<NodeId>& nodes_;
  std::vector<bool> joins_;                                    // by group
  std::vector<std::map<std::uint32_t, const Ranks*>> set_of_;  // by group and rank
  Ranks place_;                                                // by rank, in its block
};

}  // namespace

AlikeWork find_alike_blocks(const WorkGraph& graph, const Topology& topology,
                            const std::vector<NodeId>& nodes, bool may_meet) {
  return BlockFinder(graph, topology, nodes).find(may_meet);
}

}  // namespace espalier
