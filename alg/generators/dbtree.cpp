// DBTREE: all-reduce over a double binary tree as in NCCL, half of the data on each tree, in
// segments: while a segment goes down, the next ones come up.
//
// A node sends and receives at most one message a step, and never for both trees at once: one tree
// has the odd steps and the other the even ones (MultiTree, section III-B). A node with two
// children sends three messages per segment, one up and two down, so a tree takes three of its
// steps per segment, the fewest under these rules. The ranks ignore the network, so on most
// networks messages of one step share links.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/generators/node_routes.h"
#include "alg/generators/rank_shapes.h"

namespace espalier {
namespace {

// `segments: auto`: close to the fastest choice from 32 KiB to 1 MiB on tori and fat-trees (a
// segment of 8 KiB, 512 flits of 16 B, covers the latency of two or three links), with a limit that
// keeps tables small.
constexpr Bytes kSegmentBytes = Bytes{8} * 1024;
constexpr std::size_t kMostAutoSegments = 64;

std::uint32_t segments_per_tree(const CollectiveRequest& request) {
  if (request.segments != 0) return request.segments;
  const Bytes of_tree = (request.size + 1) / 2;
  return static_cast<std::uint32_t>(
      std::clamp<Bytes>((of_tree + kSegmentBytes - 1) / kSegmentBytes, 1, kMostAutoSegments));
}

constexpr std::size_t kPeriod = 3;  // steps of a tree for each segment

// When the first segment passes each edge, counted in steps of the tree. An edge uses one time slot
// of the period for both directions; the edges to a node's children use the next two time slots. So
// a node never sends two messages at once (up in its own time slot, down in its children's time
// slots), never receives two at once, and messages wait only at the root.
struct TreeTimes {
  std::vector<std::size_t> up;    // by child
  std::vector<std::size_t> down;  // by child
};

TreeTimes times_of(const RankTree& tree) {
  const std::size_t ranks = tree.size();
  std::vector<std::vector<std::size_t>> children(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r != tree.root) children[tree.parent[r]].push_back(r);
  }
  // Steps from a node's send until the top edge, and from the top edge until the node receives.
  std::vector<std::size_t> before(ranks, 0);
  std::vector<std::size_t> after(ranks, 0);
  const std::size_t top = children[tree.root].front();
  std::vector<std::size_t> queue{top};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::size_t parent = queue[head];
    std::size_t time_slot = 1;
    for (const std::size_t child : children[parent]) {
      before[child] = before[parent] + kPeriod - time_slot;
      after[child] = after[parent] + time_slot;
      ++time_slot;
      queue.push_back(child);
    }
  }
  TreeTimes times{std::vector<std::size_t>(ranks, 0), std::vector<std::size_t>(ranks, 0)};
  const std::size_t top_up = 1 + *std::max_element(before.begin(), before.end());
  const std::size_t top_down = top_up + (children[top].empty() ? 1 : kPeriod);
  for (const std::size_t r : queue) {
    times.up[r] = top_up - before[r];
    times.down[r] = top_down + after[r];
  }
  return times;
}

class DoubleTreeScheduler {
 public:
  DoubleTreeScheduler(const Topology& topology, const CollectiveRequest& request)
      : request_(request),
        schedule_(empty_schedule("dbtree", topology, request)),
        routes_(topology, schedule_.routes),
        segments_(segments_per_tree(request)) {
    // The segments of the first tree, then the segments of the second tree.
    const auto halves = cut_evenly(request.size, 2, request.element_bytes);
    for (std::size_t t = 0; t < 2; ++t) {
      const auto cuts = cut_evenly(halves[t + 1] - halves[t], segments_, request.element_bytes);
      for (std::size_t s = 0; s < segments_; ++s) {
        if (cuts[s + 1] != cuts[s]) used_segments_.at(t) = s + 1;
        schedule_.chunks.push_back({halves[t] + cuts[s], cuts[s + 1] - cuts[s], NodeId()});
      }
    }
  }

  Schedule build() {
    const auto trees = make_double_tree(schedule_.num_nodes);
    for (std::size_t t = 0; t < 2; ++t) add_tree(trees.at(t), t);
    return finished(std::move(schedule_));
  }

 private:
  void add_tree(const RankTree& tree, std::size_t which) {
    const TreeTimes times = times_of(tree);
    // Deepest ranks first, so that children are handled before their parents.
    std::vector<std::size_t> upwards;
    for (std::size_t r = 0; r < tree.size(); ++r) {
      if (r != tree.root) upwards.push_back(r);
    }
    std::stable_sort(upwards.begin(), upwards.end(),
                     [&](std::size_t a, std::size_t b) { return tree.depth[a] > tree.depth[b]; });
    for (std::size_t s = 0; s < used_segments_.at(which); ++s) {
      const std::size_t chunk = which * segments_ + s;
      const auto send = [&](std::size_t from, std::size_t to, std::size_t time, TransferKind kind,
                            const std::vector<TransferId>& after) {
        const auto step = static_cast<Timestep>(2 * (time + s * kPeriod) - 1 + which);
        schedule_.num_steps = std::max(schedule_.num_steps, step);
        const NodeId sender = request_.node_of(from);
        const NodeId receiver = request_.node_of(to);
        return schedule_.add({sender, receiver, FlowId(chunk), ChunkId(chunk), 1,
                              routes_.between(sender, receiver), step, kind},
                             after);
      };
      std::vector<std::vector<TransferId>> arrived(tree.size());
      for (const std::size_t child : upwards) {
        const std::size_t parent = tree.parent[child];
        arrived[parent].push_back(
            send(child, parent, times.up[child], TransferKind::reduce, arrived[child]));
      }
      for (auto child = upwards.rbegin(); child != upwards.rend(); ++child) {
        const std::size_t parent = tree.parent[*child];
        arrived[*child] = {
            send(parent, *child, times.down[*child], TransferKind::copy, arrived[parent])};
      }
    }
  }

  const CollectiveRequest& request_;
  Schedule schedule_;
  NodeRoutes routes_;
  std::size_t segments_;
  std::array<std::size_t, 2> used_segments_{};  // by tree: segments that are not empty
};

Schedule generate_dbtree(const Topology& topology, const CollectiveRequest& request) {
  return DoubleTreeScheduler(topology, request).build();
}

}  // namespace

Generator dbtree_row() {
  Generator row("dbtree", "double binary tree as in NCCL, pipelined in collective.segments",
                {CollectiveOp::all_reduce}, unsuited_for_routes, generate_dbtree);
  row.auto_segments = segments_per_tree;
  row.parameters = {{"collective.segments", {}}};
  row.order_model = OrderModel::dbtree;
  row.look = 5;
  return row;
}

}  // namespace espalier
