// Trees of process groups that run at the same time, all grown by one search: the prices of links
// know what every group sends. The trees of an exchange are paths.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "alg/flow/steiner_trees.h"
#include "alg/packing/forest_task.h"
#include "alg/routes/links.h"
#include "alg/routes/stored_hops.h"

namespace espalier {

namespace {

constexpr std::uint32_t kMostTreesOfItem = 64;    // of the item with most bytes
constexpr std::uint32_t kMostTreesOfRoot = 16;    // of a broadcast or reduce
constexpr std::size_t kMostTreesOfGroups = 2048;  // of all items
constexpr std::size_t kQuickTrees = 512;          // so many are always tried
constexpr std::uint32_t kPatienceOfCounts = 6;    // of more, counts tried without such a gain
constexpr double kGainOfCounts = 0.003;
constexpr double kFewerGroupTreesLoss = 0.02;  // that fewer trees may cost

// Data that trees carry. What a rank keeps for itself in an exchange has none.
struct GroupItem {
  OwnedData owned;
  std::optional<SteinerItem> tree;
};

class GroupItems {
 public:
  GroupItems(const ForestTask& task, bool own_only) : request_(task.request), own_only_(own_only) {
    std::vector<RankGroup> groups = request_.groups;
    if (groups.empty()) {
      groups.push_back({{}, request_.size});
      for (std::size_t r = 0; r < task.ranks.size(); ++r) {
        groups.front().members.push_back(request_.node_of(r));
      }
    }
    for (number_ = 0; number_ < groups.size(); ++number_) {
      add(groups[number_].members, groups[number_].size);
    }
  }
  [[nodiscard]] std::vector<GroupItem> take() { return std::move(items_); }

 private:
  void add(const std::vector<NodeId>& members, Bytes size) {
    if (request_.op == CollectiveOp::all_reduce) {
      return add_item(members, members.front(), {}, size, members);
    }
    if (is_rooted(request_.op)) {
      return add_item(members, request_.node_of(request_.root), {}, size, members);
    }
    const std::size_t ranks = members.size();
    const std::vector<Bytes> offsets = cut_evenly(size, ranks, request_.element_bytes);
    for (std::size_t r = 0; r < ranks; ++r) {
      if (!is_exchange(request_.op)) {
        add_item(members, members[r], {}, offsets[r + 1] - offsets[r], members);
        continue;
      }
      for (std::size_t to = 0; to < ranks; ++to) {
        const Bytes bytes = request_.op == CollectiveOp::all_to_allv
                                ? request_.counts[r * ranks + to]
                                : offsets[to + 1] - offsets[to];
        add_item(members, members[r], members[to], bytes, {members[r], members[to]});
      }
    }
  }

  void add_item(const std::vector<NodeId>& members, NodeId owner, NodeId destination, Bytes bytes,
                const std::vector<NodeId>& ends) {
    GroupItem& item = items_.emplace_back();
    item.owned = {number_, owner, bytes, 1, destination};
    if (bytes == 0 || owner == destination) return;
    item.tree.emplace();
    for (const NodeId node : ends) item.tree->terminals.push_back(node.value());
    if (request_.op != CollectiveOp::all_reduce) {  // the root comes last
      auto& terminals = item.tree->terminals;
      std::swap(*std::find(terminals.begin(), terminals.end(), owner.value()), terminals.back());
    }
    for (const NodeId node : members) {
      if (own_only_) item.tree->within.push_back(node.value());
    }
    item.tree->bytes = static_cast<double>(bytes);
  }

  const CollectiveRequest& request_;
  bool own_only_;
  std::uint32_t number_ = 0;  // of the group
  std::vector<GroupItem> items_;
};

// The tree's edges from `root` on, each with the end that is nearer to the root.
struct RootedTree {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> hops;  // edge, its nearer end
  std::size_t height = 0;
};

RootedTree rooted_at(std::uint32_t root, std::size_t vertices,
                     const std::vector<SteinerEdge>& edges,
                     const std::vector<std::uint32_t>& tree) {
  std::vector<std::size_t> depth(vertices, kUnreached);
  depth[root] = 0;
  RootedTree rooted;
  std::vector<std::uint32_t> order{root};
  for (std::size_t head = 0; head < order.size(); ++head) {
    for (const std::uint32_t e : tree) {
      if (edges[e].a != order[head] && edges[e].b != order[head]) continue;
      const std::uint32_t next = edges[e].a == order[head] ? edges[e].b : edges[e].a;
      if (depth[next] != kUnreached) continue;
      depth[next] = depth[order[head]] + 1;
      rooted.hops.emplace_back(e, order[head]);
      order.push_back(next);
    }
  }
  rooted.height = depth[order.back()];
  return rooted;
}

class GroupTrees {
 public:
  // `more_paths`: of a broadcast or reduce, not only those that the rule for switches admits.
  GroupTrees(const ForestTask& task, bool own_only, bool more_paths = false)
      : task_(task),
        reduces_(task.phases.front()),
        copies_(!task.phases.back()),
        items_(GroupItems(task, own_only).take()) {
    const Topology& topology = task.topology;
    std::vector<bool> stores = task.request.relays;
    stores.resize(topology.num_vertices(), false);
    std::fill_n(stores.begin(), topology.num_nodes(), true);
    LinkOrder order(topology);
    if (more_paths) order.admit_all();
    const auto is_unsafe = [&](LinkId a, LinkId b) { return !order.admits(a, b, false); };
    for (StoredHop& hop : stored_hops(topology, stores, reduces_ && copies_)) {
      const auto& path = hop.there;
      const bool safe =
          !task.root || std::adjacent_find(path.begin(), path.end(), is_unsafe) == path.end();
      if (safe) hops_.push_back(std::move(hop));
    }
    const auto rate = [&](LinkId l) {
      return static_cast<double>(topology.link(l).spec.bytes_per_second);
    };
    // A switch passes a packet at the rate of the slower of its two links.
    const auto add_path = [&](const std::vector<LinkId>& path, SteinerEdge& edge) {
      double slowest = std::numeric_limits<double>::infinity();
      for (const LinkId l : path) slowest = std::min(slowest, rate(l));
      for (const LinkId l : path) {
        edge.links.push_back(l.value());
        edge.hold.push_back(rate(l) / slowest);
      }
    };
    for (const StoredHop& hop : hops_) {
      // Reduces go against the tree.
      const bool against = reduces_ && !copies_;
      SteinerEdge edge{
          (against ? hop.to : hop.from).value(), (against ? hop.from : hop.to).value(), {}};
      add_path(hop.there, edge);
      add_path(hop.back, edge);
      edges_.push_back(std::move(edge));
    }
  }

  // Offers the trees that fill links best, and fewer ones that are almost as good.
  void plan(SegmentSearch& search) {
    std::vector<SteinerItem> wanted;
    Bytes most = 1;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!items_[i].tree) continue;
      wanted.push_back(*items_[i].tree);
      item_of_.push_back(i);
      most = std::max(most, items_[i].owned.bytes);
    }
    if (wanted.empty()) return search.consider(no_trees());
    std::vector<double> rates;
    for (const TopologyLink& link : task_.topology.links()) {
      rates.push_back(static_cast<double>(link.spec.bytes_per_second));
    }
    SteinerTrees steiner(task_.topology.num_vertices(), rates, edges_, wanted,
                         !(reduces_ && copies_));
    struct Found {
      std::vector<std::uint32_t> counts;
      std::vector<SteinerTrees::Tree> trees;
      double seconds = 0;
    };
    std::vector<Found> found;
    double least = std::numeric_limits<double>::infinity();
    std::uint32_t without_gain = 0;
    const std::uint32_t most_trees = task_.root ? kMostTreesOfRoot : kMostTreesOfItem;
    for (std::uint32_t k = 1; k <= most_trees; k += k < 16 ? 1 : k / 8) {
      Found next;
      std::size_t all = 0;
      for (const SteinerItem& item : wanted) {
        const double share = item.bytes / static_cast<double>(most);
        next.counts.push_back(std::max(1U, static_cast<std::uint32_t>(std::lround(share * k))));
        all += next.counts.back();
      }
      const bool is_slow = all > kQuickTrees && without_gain >= kPatienceOfCounts;
      if ((all > kMostTreesOfGroups || is_slow) && !found.empty()) break;
      next.trees = steiner.find(next.counts);
      if (next.trees.empty()) return;
      next.seconds = steiner.busiest() * wanted[0].bytes / next.counts[0];
      without_gain = next.seconds < least * (1 - kGainOfCounts) ? 0 : without_gain + 1;
      least = std::min(least, next.seconds);
      found.push_back(std::move(next));
    }
    const Found* before = nullptr;
    for (const double loss : {kFewerGroupTreesLoss, 0.0}) {
      std::size_t i = 0;
      while (found[i].seconds > least * (1 + loss)) ++i;
      if (&found[i] == before) break;
      before = &found[i];
      search.consider(ops_of(found[i].counts, found[i].trees));
    }
  }

 private:
  [[nodiscard]] TreeOps ops_of(const std::vector<std::uint32_t>& counts,
                               const std::vector<SteinerTrees::Tree>& trees) const {
    TreeOps ops = no_trees();
    const std::uint32_t most = *std::max_element(counts.begin(), counts.end());
    for (OwnedData& owned : ops.owned) owned.units = most;  // of data that stay
    for (std::size_t i = 0; i < counts.size(); ++i) ops.owned[item_of_[i]].units = counts[i];
    std::vector<std::size_t> next;  // unit, by item
    for (const OwnedData& owned : ops.owned) {
      next.push_back(ops.units);
      ops.units += owned.units;
    }
    ops.reduced.resize(ops.units);
    for (const SteinerTrees::Tree& tree : trees) {
      add(tree, *items_[item_of_[tree.item]].tree, next[item_of_[tree.item]]++, ops);
    }
    return ops;
  }

  [[nodiscard]] TreeOps no_trees() const {
    TreeOps ops(task_.topology, 0, 0);
    for (const GroupItem& item : items_) ops.owned.push_back(item.owned);
    return ops;
  }

  void add(const SteinerTrees::Tree& tree, const SteinerItem& item, std::size_t unit,
           TreeOps& ops) const {
    const std::size_t vertices = task_.topology.num_vertices();
    std::uint32_t root = item.terminals.back();
    RootedTree rooted = rooted_at(root, vertices, edges_, tree.edges);
    for (const std::uint32_t e : tree.edges) {
      for (const std::uint32_t v : {edges_[e].a, edges_[e].b}) {
        if (!reduces_ || !copies_) continue;
        RootedTree other = rooted_at(v, vertices, edges_, tree.edges);
        if (other.height >= rooted.height) continue;
        rooted = std::move(other);
        root = v;
      }
    }
    std::vector<std::vector<std::uint32_t>> into(vertices);
    // Returns the number of the op.
    const auto send = [&](std::uint32_t e, std::uint32_t from, std::uint32_t to,
                          TransferKind kind) {
      const StoredHop& hop = hops_[e];
      RoundOp op;
      op.from = NodeId(from);
      op.to = NodeId(to);
      op.route = ops.routes.add(task_.topology, hop.from == op.from ? hop.there : hop.back);
      op.kind = kind;
      op.unit = static_cast<std::uint32_t>(unit);
      op.after = into[from];
      ops.ops.push_back(std::move(op));
      return static_cast<std::uint32_t>(ops.ops.size() - 1);
    };
    for (auto hop = rooted.hops.rbegin(); reduces_ && hop != rooted.hops.rend(); ++hop) {
      const auto [e, near] = *hop;
      into[near].push_back(send(e, far_end(e, near), near, TransferKind::reduce));
    }
    ops.reduced[unit] = into[root];
    for (const auto& [e, near] : rooted.hops) {
      if (copies_) into[far_end(e, near)] = {send(e, near, far_end(e, near), TransferKind::copy)};
    }
  }

  [[nodiscard]] std::uint32_t far_end(std::uint32_t e, std::uint32_t near) const {
    return edges_[e].a == near ? edges_[e].b : edges_[e].a;
  }

  const ForestTask& task_;
  bool reduces_;
  bool copies_;
  std::vector<GroupItem> items_;
  std::vector<std::size_t> item_of_;  // by item that has trees
  std::vector<StoredHop> hops_;
  std::vector<SteinerEdge> edges_;  // by hop
};

}  // namespace

void plan_group_trees(const ForestTask& task, SegmentSearch& search) {
  GroupTrees(task, true).plan(search);
  if (task.root && !search.is_spent()) GroupTrees(task, true, true).plan(search);
  if (!task.request.relays.empty()) GroupTrees(task, false).plan(search);
}

std::string groups_not_joined(const CollectiveRequest& request) {
  return request.relays.empty()
             ? "a group is not joined by links of its own; set collective.relay: true"
             : "no trees join the ranks of a group by links that lead both ways";
}

}  // namespace espalier
