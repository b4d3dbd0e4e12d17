// FOREST: trees at the optimal rate of any network, and an order of their messages.
// Trees, segments and rounds are chosen by planned time; alg/packing/README.md says how.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "alg/generators/generator.h"
#include "alg/generators/multitree.h"
#include "alg/packing/forest_task.h"
#include "alg/packing/shift_routes.h"
#include "alg/routes/links.h"
#include "alg/time/schedule_time.h"

namespace espalier {

namespace {

constexpr std::size_t kMostLowNodes = 144;  // for trees of least latency
// Larger networks take minutes to plan.
constexpr std::size_t kMostForestNodes = 1024;
constexpr std::size_t kMostNodesBehindSwitches = 72;
constexpr std::size_t kMostShiftNodes = 256;  // behind switches with shift_routes()

bool stores(const ForestTask& task) {
  return task.is_switched && task.request.timing.stored_bytes != 0 &&
         task.request.timing.slot_counter && task.request.relays.empty();
}

// MultiTree's trees: where no link idles in their steps, whole chunks follow each other without
// a gap. On a uniform 5x5 mesh no other trees are as fast.
void plan_multitree(const ForestTask& task, SegmentSearch& search) {
  const TreeForest steps = build_trees(task.topology, task.request);
  TreeOps trees = task.no_trees(1);
  for (const bool reversed : task.phases) {
    const PackGraph graph = pack_graph(task.topology, reversed);
    for (std::uint32_t root = 0; root < task.ranks.size(); ++root) {
      PackedTree tree;
      tree.root = root;
      for (const TreeEdge& edge : steps.trees[root]) {
        const LinkId link = steps.paths.link(edge.path, 0);
        tree.edges.push_back((reversed ? link_back(task.topology, link) : link).value());
      }
      task.add_tree(graph, tree, task.ranks[root], reversed, trees);
    }
  }
  search.consider(std::move(trees));
}

// In the order in which they are tried. A new planner is a function in alg/packing and a row here.
const ForestPlanner kPlanners[] = {
    {[](const ForestTask& task, const SegmentSearch&) {
       return task.is_switched && task.request.relays.empty() &&
              task.request.op == CollectiveOp::all_reduce;
     },
     plan_star_trees},
    {[](const ForestTask& task, const SegmentSearch&) { return task.is_switched && !task.root; },
     plan_shifts, kGoodLoss, false, true},
    {[](const ForestTask& task, const SegmentSearch&) {
       return task.is_switched && !task.root && task.request.relays.empty();
     },
     plan_timed_trees, kGoodLoss, true},
    {[](const ForestTask& task, const SegmentSearch&) {
       return !task.is_switched && task.request.op == CollectiveOp::all_reduce;
     },
     plan_undirected_trees},
    {[](const ForestTask& task, const SegmentSearch&) {
       return !task.is_switched && task.request.op == CollectiveOp::all_reduce &&
              task.ranks.size() == task.topology.num_vertices() &&
              leads_otherwise_back(task.topology);
     },
     plan_tree_pairs},
    {[](const ForestTask& task, const SegmentSearch&) {
       return task.is_switched && !task.request.relays.empty();
     },
     plan_group_trees},
    {[](const ForestTask& task, const SegmentSearch&) {
       return stores(task) && !lower_rates_at_switches(task.topology).empty();
     },
     plan_stored_trees, kGoodStoredLoss},
    {[](const ForestTask& task, const SegmentSearch&) {
       return task.is_switched && task.root && task.request.relays.empty();
     },
     plan_group_trees},
    {[](const ForestTask& task, const SegmentSearch& search) {
       return task.request.relays.empty() || search.empty();
     },
     plan_directed_trees},
    // Time slots of equal links are exact, but through several switches some stay empty.
    {[](const ForestTask& task, const SegmentSearch& search) {
       return stores(task) && lower_rates_at_switches(task.topology).empty() &&
              !task.is_near_bound(search, kGoodStoredLoss);
     },
     plan_stored_trees},
    {[](const ForestTask& task, const SegmentSearch&) {
       return !task.is_switched && task.ranks.size() <= kMostLowNodes && !task.root &&
              unsuited_for_mirrored_trees(task.topology, "forest").empty();
     },
     plan_multitree},
    {[](const ForestTask& task, const SegmentSearch&) {
       return task.is_small(task.is_switched ? 1 : kManyLatencies) &&
              task.ranks.size() <= kMostLowNodes;
     },
     plan_low_trees},
};

bool has_many_nodes(const ForestTask& task) {
  return task.is_switched && task.ranks.size() > kMostNodesBehindSwitches;
}

void plan(const ForestTask& task, SegmentSearch& search) {
  for (const ForestPlanner& planner : kPlanners) {
    if ((has_many_nodes(task) && !planner.plans_many_nodes) || !planner.suits(task, search)) {
      continue;
    }
    if (search.is_spent()) break;
    planner.plan(task, search);
    // Relays add, which is faster than two phases.
    const bool splits = planner.splits_all_reduce || !task.request.relays.empty();
    const bool ends =
        planner.good_loss != 0 && !(splits && task.request.op == CollectiveOp::all_reduce);
    if (ends && task.is_near_bound(search, planner.good_loss)) break;
  }
}

// Plans without the links that have no link back: the data of an all_reduce go there and back, and
// MultiTree's trees need both directions.
void plan_two_way_links(const ForestTask& task, SegmentSearch& search) {
  const Topology& topology = task.topology;
  std::vector<LinkId> two_way;
  std::vector<bool> lost(topology.num_links(), false);
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    if (link_back(topology, LinkId(l)).valid()) {
      two_way.emplace_back(l);
    } else {
      lost[l] = true;
    }
  }
  if (two_way.size() == topology.num_links()) return;
  const Topology part = without_parts(topology, topology.name(),
                                      std::vector<bool>(topology.num_vertices(), false), lost);
  if (part.find_disconnected().valid()) return;
  search.renumber_links(std::move(two_way));
  plan(ForestTask(part, task.request), search);
}

Schedule generate_forest(const Topology& topology, const CollectiveRequest& request) {
  const ForestTask task(topology, request);
  SegmentSearch search(topology, request);
  if (!request.groups.empty() || has_unequal_parts(request.op)) {
    plan_group_trees(task, search);
  } else {
    plan(task, search);
    if (!task.is_switched) plan_two_way_links(task, search);
  }
  if (search.empty()) {
    throw std::invalid_argument(request.groups.empty() ? "no trees fit into this network"
                                                       : groups_not_joined(request));
  }
  return search.schedule("forest");
}

std::string forest_too_large(const Topology& topology, CollectiveOp op) {
  const bool many = topology.num_switches() != 0 && topology.num_nodes() > kMostNodesBehindSwitches;
  if (!many || !is_rooted(op)) return {};
  return fmt::format("forest plans a {} behind switches on up to {} nodes", to_string(op),
                     kMostNodesBehindSwitches);
}

std::string forest_unsuited(const Topology& topology) {
  if (std::string why = unsuited_for_times(topology, "forest"); !why.empty()) return why;
  const std::size_t most =
      topology.num_switches() == 0 ? kMostForestNodes : kMostNodesBehindSwitches;
  if (topology.num_nodes() <= most) return {};
  if (topology.num_switches() != 0 && topology.num_nodes() <= kMostShiftNodes &&
      !shift_routes(topology).empty()) {
    return {};
  }
  return fmt::format("forest plans up to {} nodes{}, and this network has {}", most,
                     topology.num_switches() == 0 ? "" : " behind switches", topology.num_nodes());
}

}  // namespace

Generator forest_row() {
  Generator row;
  row.name = "forest";
  row.summary = "trees at the optimal rate of any network, in an order chosen by planned time";
  row.ops = with_unequal_parts(reduction_ops());
  row.ops.insert(row.ops.end(), {CollectiveOp::broadcast, CollectiveOp::reduce});
  row.parameters = {{"collective.segments", {}}, root_parameter(row.ops), {"collective.relay", {}}};
  row.unsuited = forest_unsuited;
  row.too_large = forest_too_large;
  row.make = generate_forest;
  row.plans_times = true;
  row.has_own_routes = true;
  row.plans_groups = true;
  return row;
}

}  // namespace espalier
