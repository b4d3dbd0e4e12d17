// What `forest` plans, and what its planners have in common. The table of planners is in
// alg/generators/forest.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "alg/packing/link_order.h"
#include "alg/packing/pack_graph.h"
#include "alg/packing/segment_search.h"
#include "alg/packing/tree_packing.h"
#include "alg/schedule/collective_request.h"

namespace espalier {

struct ForestTask {
  ForestTask(const Topology& the_topology, const CollectiveRequest& the_request);

  const Topology& topology;
  const CollectiveRequest& request;
  bool is_switched = false;
  std::vector<std::size_t> ranks;     // by node
  std::vector<bool> phases;           // true: reduces over the reversed network; false: copies
  std::optional<std::uint32_t> root;  // of a broadcast or a reduce

  // No trees of equal shares take less, phase by phase.
  [[nodiscard]] double bound_seconds() const;
  // No other trees can gain more than `loss`.
  [[nodiscard]] bool is_near_bound(const SegmentSearch& search, double loss) const;
  // Whether `times` the latencies there and back, at the slowest link's, take longer than the data
  // on the fastest link. With 1, hops count more than rates.
  [[nodiscard]] bool is_small(double times) const;
  // A path from every node to every other one. Which paths there are matters here, not how many
  // trees they carry.
  [[nodiscard]] PackGraph paths_of_pairs(bool reversed, LinkOrder& order) const;

  [[nodiscard]] TreeOps no_trees(std::uint32_t per_root) const;
  // Adds a unit of a phase: reduces towards the root in a reversed graph, copies away from it
  // otherwise. Copies wait for the unit's reduces into the root.
  void add_tree(const PackGraph& graph, const PackedTree& tree, std::size_t unit, bool reversed,
                TreeOps& trees) const;
  // `reversed`: the edges of the graph are reversed links; otherwise the links back are used.
  void add_reduces(const PackGraph& graph, const PackedTree& tree, std::size_t unit, bool reversed,
                   TreeOps& trees) const;
  void add_copies(const PackGraph& graph, const PackedTree& tree, std::size_t unit,
                  TreeOps& trees) const;
};

// A way to plan a collective: trees, and the order of their messages.
struct ForestPlanner {
  // On this task, after the plans that planners above found.
  bool (*suits)(const ForestTask& task, const SegmentSearch& search);
  // Offers plans to `search`, which keeps the fastest.
  void (*plan)(const ForestTask& task, SegmentSearch& search);
  // If the best plan then loses no more than this of the bound's rate, no other planner is tried.
  double good_loss = 0;
  // One phase of an all_reduce follows the other. Other planners overlap them, so they are tried.
  bool splits_all_reduce = false;
  bool plans_many_nodes = false;  // behind switches, where others would take minutes
};

// Every node sends to every other node directly, step by step.
void plan_shifts(const ForestTask& task, SegmentSearch& search);
// Trees that grow in time, of more and more pieces of the data until they take longer.
void plan_timed_trees(const ForestTask& task, SegmentSearch& search);
// Undirected trees that reduce to their centre and broadcast back.
void plan_undirected_trees(const ForestTask& task, SegmentSearch& search);
// Trees to a root, and other trees from there.
void plan_tree_pairs(const ForestTask& task, SegmentSearch& search);
// Some link leads one way, or at another rate back.
[[nodiscard]] bool leads_otherwise_back(const Topology& topology);
// Trees of several groups at the same time, or of one over relays; paths of an exchange.
void plan_group_trees(const ForestTask& task, SegmentSearch& search);
// Why it may have found none, for the user.
[[nodiscard]] std::string groups_not_joined(const CollectiveRequest& request);
// Out-trees at the best rate; of messages that switches store.
void plan_directed_trees(const ForestTask& task, SegmentSearch& search);
void plan_stored_trees(const ForestTask& task, SegmentSearch& search);
// Direct messages to and from owners, where slow nodes behind switches own less.
void plan_star_trees(const ForestTask& task, SegmentSearch& search);
// One tree per root, of least latency.
void plan_low_trees(const ForestTask& task, SegmentSearch& search);

// The rates at switches whose links differ, without each such switch's highest.
[[nodiscard]] std::set<std::uint64_t> lower_rates_at_switches(const Topology& topology);

constexpr double kManyLatencies = 16;     // of small data; if off: 1.2 % slower
constexpr double kGoodLoss = 0.005;       // of the rate, then no more trees; if off: 1.6 % slower
constexpr double kGoodStoredLoss = 0.02;  // of the bound's, stored plans; if off: 1.6 % slower

}  // namespace espalier
