// Trees of process groups that run at the same time, all grown by one search: the prices of links
// know what every group sends. The trees of an exchange are paths.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "alg/flow/steiner_trees.h"
#include "alg/packing/forest_task.h"
#include "alg/packing/link_order.h"
#include "alg/packing/tree_shares.h"
#include "alg/routes/stored_hops.h"

namespace espalier {

namespace {

constexpr std::uint32_t kMostTreesOfItem = 64;    // of the item with most bytes
constexpr std::uint32_t kMostTreesOfRoot = 16;    // of a broadcast or reduce without relays
constexpr std::size_t kMostTreesOfGroups = 2048;  // of all items
constexpr std::size_t kQuickTrees = 512;          // so many are always tried
constexpr std::size_t kManyParts = 64;            // of which few numbers of trees are tried
constexpr std::uint32_t kPatienceOfCounts = 6;    // of more, counts tried without such a gain
constexpr std::uint32_t kFewestShares = 16;       // trees that have shares
constexpr double kGainOfCounts = 0.003;
constexpr std::uint64_t kMostEdges = 50'000'000;  // looked at
constexpr std::uint64_t kWorkOfEdge = 40;
constexpr double kFewerGroupTreesLoss = 0.03;  // that fewer trees may cost
// Trees that fill links, trees of fewer links, and, for small data, low trees.
constexpr TreeGrowth kGrowths[] = {{}, {0.5, false}, {8, true}, {0.5, true}};
constexpr double kShortTreesLoss = 0.2;  // that shorter trees may cost, of small data
constexpr double kAnyLoss = std::numeric_limits<double>::infinity();

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
    if (request_.op == CollectiveOp::all_reduce || is_rooted(request_.op)) {
      const NodeId root = members[is_rooted(request_.op) ? request_.root : 0];
      return add_item(members, root, {}, size, members);
    }
    const std::size_t ranks = members.size();
    const std::vector<Bytes> offsets = request_.groups.empty()
                                           ? request_.part_offsets(ranks)
                                           : cut_evenly(size, ranks, request_.element_bytes);
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

class GroupTrees {
 public:
  // `more_paths`: a broadcast or reduce may also turn at switches against the up*/down* rule, as
  // long as no cycle of waits closes.
  GroupTrees(const ForestTask& task, bool own_only, bool more_paths = false)
      : task_(task),
        reduces_(task.phases.front()),
        copies_(!task.phases.back()),
        both_(reduces_ && copies_),
        few_(task.root && task.request.relays.empty()),
        items_(GroupItems(task, own_only).take()) {
    const Topology& topology = task.topology;
    for (const TopologyLink& link : topology.links()) {
      rates_.push_back(static_cast<double>(link.spec.bytes_per_second));
    }
    std::vector<bool> stores = task.request.relays;
    stores.resize(topology.num_vertices(), false);
    std::fill_n(stores.begin(), topology.num_nodes(), true);
    graph_.nodes = graph_.vertices = topology.num_vertices();
    LinkOrder order(topology);
    if (more_paths) order.admit_all();
    const auto is_unsafe = [&](LinkId a, LinkId b) { return !order.admits(a, b, false); };
    for (StoredHop& hop : stored_hops(topology, stores, both_)) {
      const auto& path = hop.there;
      const bool ordered = task.root || has_unequal_parts(task.request.op);
      if (ordered && std::adjacent_find(path.begin(), path.end(), is_unsafe) != path.end()) {
        leaves_out_paths_ = true;
        continue;
      }
      SteinerEdge edge{hop.from.value(), hop.to.value(), {}};
      add_path(hop.there, edge);
      add_path(hop.back, edge);
      if (!copies_) {  // reduces go against the tree
        std::swap(edge.a, edge.b);
        std::reverse(hop.there.begin(), hop.there.end());
      }
      graph_.edges.push_back({edge.a, edge.b, 0, std::move(hop.there)});
      if (both_) graph_.edges.push_back({edge.b, edge.a, 0, std::move(hop.back)});
      edges_.push_back(std::move(edge));
    }
  }

  // Whether paths are left out that could deadlock.
  [[nodiscard]] bool leaves_out_paths() const { return leaves_out_paths_; }

  // Offers the trees that fill links best, and fewer ones that are almost as good; of small data
  // also one tree of every item, and trees of fewer links.
  void plan(SegmentSearch& search) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!items_[i].tree) continue;
      wanted_.push_back(*items_[i].tree);
      item_of_.push_back(i);
    }
    if (wanted_.empty()) return search.consider(no_trees());
    SteinerTrees steiner(graph_.vertices, rates_, edges_, wanted_, !both_);
    const bool is_small = task_.is_small(kManyLatencies);
    // The trees of one owner are found quickly.
    const std::size_t growths = is_small                       ? std::size(kGrowths)
                                : wanted_.size() == 1 && !few_ ? 2
                                                               : 1;
    for (std::size_t g = 0; g < growths; ++g) {
      const TreeGrowth& growth = kGrowths[g];
      const std::uint64_t before_search = steiner.work();
      const std::vector<Found> found = find(steiner, growth);
      search.budget().spend(kWorkOfEdge * (steiner.work() - before_search));
      if (found.empty()) return;
      double least = kAnyLoss;
      for (const Found& trees : found) least = std::min(least, trees.seconds);
      const Found* before = nullptr;
      for (const double loss : {kAnyLoss, kShortTreesLoss, kFewerGroupTreesLoss, 0.0}) {
        if (loss > kFewerGroupTreesLoss && !is_small) continue;
        std::size_t i = 0;
        while (found[i].seconds > least * (1 + loss)) ++i;
        if (&found[i] == before) continue;
        before = &found[i];
        search.consider(ops_of(found[i].counts, found[i].trees));
      }
      if (search.is_spent()) return;
    }
  }

 private:
  struct Found {
    std::vector<std::uint32_t> counts;  // by item that has trees
    std::vector<SteinerTrees::Tree> trees;
    double seconds = 0;
  };

  [[nodiscard]] static std::size_t sum(const std::vector<std::uint32_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  }

  // More and more trees, until more gain nothing. Empty if some tree does not exist.
  std::vector<Found> find(SteinerTrees& steiner, const TreeGrowth& growth) const {
    double most = 1;
    for (const SteinerItem& item : wanted_) most = std::max(most, item.bytes);
    const double bound = bound_seconds();
    std::vector<Found> found;
    double least = kAnyLoss;
    std::uint32_t without_gain = 0;
    const std::uint32_t most_trees = few_ ? kMostTreesOfRoot : kMostTreesOfItem;
    const auto counts_of = [&](std::uint32_t k) {
      std::vector<std::uint32_t> counts;
      for (const SteinerItem& item : wanted_) {
        counts.push_back(
            std::max(1U, static_cast<std::uint32_t>(std::lround(item.bytes / most * k))));
      }
      return counts;
    };
    // Many small parts have a tree each, beside which several trees of the large ones cost little.
    const bool many = wanted_.size() > kManyParts && !task_.is_small(kManyLatencies);
    std::uint32_t first = 1;
    while (many && first < most_trees && sum(counts_of(2 * first)) < 2 * wanted_.size()) first *= 2;
    for (std::uint32_t k = first; k <= most_trees; k += k < 16 ? 1 : k / 8) {
      Found next;
      next.counts = counts_of(k);
      const std::size_t all = sum(next.counts);
      const bool is_good = all > kQuickTrees || least <= bound * (1 + kFewerGroupTreesLoss);
      const bool is_slow = is_good && without_gain >= kPatienceOfCounts;
      const bool is_short = most < static_cast<double>(kLeastMessage * k);
      const bool is_spent = steiner.work() >= kMostEdges;
      if ((all > kMostTreesOfGroups || is_slow || is_short || is_spent) && !found.empty()) break;
      next.trees = steiner.find(next.counts, growth, kMostEdges);
      if (next.trees.empty()) return {};
      next.seconds = steiner.busiest() * wanted_[0].bytes / next.counts[0];
      without_gain = next.seconds < least * (1 - kGainOfCounts) ? 0 : without_gain + 1;
      least = std::min(least, next.seconds);
      found.push_back(std::move(next));
      if (least <= bound * (1 + kGainOfCounts)) return found;
    }
    if (wanted_.size() == 1 && !few_ && found.size() >= kFewestShares) add_shares(found);
    return found;
  }

  // All trees found so far, the ones with large shares several times.
  void add_shares(std::vector<Found>& found) const {
    LinkLists all;  // edges
    for (const Found& some : found) {
      for (const SteinerTrees::Tree& tree : some.trees) {
        all.push_back(tree.edges);
        std::sort(all.back().begin(), all.back().end());
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    LinkLists links(all.size());
    for (std::size_t t = 0; t < all.size(); ++t) {
      for (const std::uint32_t e : all[t]) {
        links[t].insert(links[t].end(), edges_[e].links.begin(), edges_[e].links.end());
      }
    }
    const std::vector<double> share = shares_of(links, rates_);
    for (std::uint32_t count = kFewestShares; count <= 2 * kMostTreesOfItem; count += count / 8) {
      Found next;
      LinkLists chosen;
      for (const std::size_t t : repeated(share, count)) {
        next.trees.push_back({0, all[t]});
        chosen.push_back(links[t]);
      }
      if (chosen.empty()) continue;
      next.counts.push_back(static_cast<std::uint32_t>(chosen.size()));
      next.seconds = seconds_of(chosen, rates_) * wanted_.front().bytes;
      found.push_back(std::move(next));
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
      return a.trees.size() < b.trees.size();
    });
  }

  // No trees of one group's equal parts take less; 0: not known.
  [[nodiscard]] double bound_seconds() const {
    const bool known = task_.request.groups.empty() && !both_ && !is_exchange(task_.request.op) &&
                       !has_unequal_parts(task_.request.op);
    return known ? task_.bound_seconds() : 0;
  }

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

  // A switch passes a packet at the rate of the slower of its two links.
  void add_path(const std::vector<LinkId>& path, SteinerEdge& edge) const {
    double slowest = std::numeric_limits<double>::infinity();
    for (const LinkId l : path) slowest = std::min(slowest, rates_[l.index()]);
    for (const LinkId l : path) {
      edge.links.push_back(l.value());
      edge.hold.push_back(rates_[l.index()] / slowest);
    }
  }

  [[nodiscard]] TreeOps no_trees() const {
    TreeOps ops(task_.topology, 0, 0);
    for (const GroupItem& item : items_) ops.owned.push_back(item.owned);
    return ops;
  }

  void add(const SteinerTrees::Tree& tree, const SteinerItem& item, std::size_t unit,
           TreeOps& ops) const {
    std::vector<std::uint32_t> edges;
    for (const std::uint32_t e : tree.edges) {
      if (both_) edges.insert(edges.end(), {2 * e, 2 * e + 1});
      if (!both_) edges.push_back(e);
    }
    const EdgesOut out = edges_out(graph_, edges);
    const PackedTree rooted =
        both_ ? root_at_centre(graph_, out) : tree_from(item.terminals.back(), graph_, out).first;
    if (reduces_) task_.add_reduces(graph_, rooted, unit, !copies_, ops);
    if (copies_) task_.add_copies(graph_, rooted, unit, ops);
  }

  const ForestTask& task_;
  bool reduces_;
  bool copies_;
  bool both_;
  bool few_;  // trees of one root through switches
  bool leaves_out_paths_ = false;
  std::vector<GroupItem> items_;
  std::vector<SteinerItem> wanted_;   // that have trees
  std::vector<std::size_t> item_of_;  // by wanted one
  std::vector<SteinerEdge> edges_;    // hops
  PackGraph graph_;                   // by hop: an edge, or one in each direction
  std::vector<double> rates_;         // by link
};

}  // namespace

void plan_group_trees(const ForestTask& task, SegmentSearch& search) {
  GroupTrees own(task, true);
  own.plan(search);
  if (own.leaves_out_paths() && !search.is_spent()) GroupTrees(task, true, true).plan(search);
  if (!task.request.relays.empty()) GroupTrees(task, false).plan(search);
}

std::string groups_not_joined(const CollectiveRequest& request) {
  return request.relays.empty()
             ? "a group is not joined by links of its own; set collective.relay: true"
             : "no trees join the ranks of a group by links that lead both ways";
}

}  // namespace espalier
