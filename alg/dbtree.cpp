// DBTREE: all-reduce over a double binary tree as in NCCL, half of the data on each tree, in
// segments: while a segment goes down, the next ones come up.
//
// A node sends and receives at most one message a step, and never for both trees at once: one tree
// has the odd steps and the other the even ones (MultiTree, section III-B). Within that, segments
// advance greedily, the earliest first. The ranks know nothing of the network, so on most of them
// messages of one step share links.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "alg/double_tree.h"
#include "alg/generator.h"
#include "alg/node_routes.h"
#include "alg/ring_line.h"

namespace espalier {
namespace {

// `segments: auto`: long enough for the serialization of a segment to cover the latency of a link
// or two (16 KiB take 1024 cycles at a flit of 16 B per cycle), and no more than keep tables small.
constexpr Bytes kSegmentBytes = 16 * 1024;
constexpr std::size_t kMostAutoSegments = 64;

std::size_t segments_per_tree(const CollectiveRequest& request) {
  if (request.segments != 0) return request.segments;
  const Bytes of_tree = (request.size + 1) / 2;
  return static_cast<std::size_t>(
      std::clamp<Bytes>((of_tree + kSegmentBytes - 1) / kSegmentBytes, 1, kMostAutoSegments));
}

// What every segment of a tree has to do: first all edges upwards, the deepest first, then all
// downwards, the highest first.
struct TreeStep {
  NodeId from;
  NodeId to;
  TransferKind kind = TransferKind::reduce;
  std::vector<std::size_t> after;  // indices of what has to have arrived at `from`
};

std::vector<TreeStep> steps_of(const RankTree& tree) {
  std::vector<std::size_t> by_depth;
  for (std::size_t r = 0; r < tree.size(); ++r) {
    if (r != tree.root) by_depth.push_back(r);
  }
  std::stable_sort(by_depth.begin(), by_depth.end(),
                   [&](std::size_t a, std::size_t b) { return tree.depth[a] < tree.depth[b]; });
  std::vector<TreeStep> steps;
  std::vector<std::vector<std::size_t>> arrived(tree.size());  // indices, by rank
  for (auto child = by_depth.rbegin(); child != by_depth.rend(); ++child) {
    const std::size_t parent = tree.parent[*child];
    arrived[parent].push_back(steps.size());
    steps.push_back({NodeId(*child), NodeId(parent), TransferKind::reduce, arrived[*child]});
  }
  for (std::size_t r = 0; r < tree.size(); ++r) {
    if (r != tree.root) arrived[r].clear();
  }
  for (const std::size_t child : by_depth) {
    const std::size_t parent = tree.parent[child];
    arrived[child].push_back(steps.size());
    steps.push_back({NodeId(parent), NodeId(child), TransferKind::copy, arrived[parent]});
  }
  return steps;
}

// Segments of one tree on their way. They pass every edge in order, so that how far an edge has
// come is a number.
class TreePipeline {
 public:
  TreePipeline(const RankTree& tree, std::size_t segments)
      : steps_(steps_of(tree)),
        segments_(segments),
        passed_(steps_.size(), 0),
        sends_(tree.size(), 0),
        receives_(tree.size(), 0) {}

  [[nodiscard]] bool done() const {
    return std::all_of(passed_.begin(), passed_.end(),
                       [&](std::size_t passed) { return passed == segments_; });
  }
  [[nodiscard]] const TreeStep& step(std::size_t index) const { return steps_[index]; }
  [[nodiscard]] std::size_t size() const { return steps_.size(); }

  struct Move {
    std::size_t segment;
    std::size_t index;  // of the TreeStep
  };
  // What goes in this timestep: at most one message from and to each node.
  std::vector<Move> advance() {
    std::vector<Move> candidates;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      std::size_t may_pass = segments_;
      for (const std::size_t before : steps_[i].after) {
        may_pass = std::min(may_pass, passed_[before]);
      }
      if (passed_[i] < may_pass) candidates.push_back({passed_[i], i});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Move& a, const Move& b) { return a.segment < b.segment; });
    ++now_;
    std::vector<Move> moves;
    for (const Move& move : candidates) {
      std::size_t& last_send = sends_[steps_[move.index].from.index()];
      std::size_t& last_receive = receives_[steps_[move.index].to.index()];
      if (last_send == now_ || last_receive == now_) continue;
      last_send = last_receive = now_;
      moves.push_back(move);
    }
    for (const Move& move : moves) ++passed_[move.index];
    return moves;
  }

 private:
  std::vector<TreeStep> steps_;
  std::size_t segments_;
  std::vector<std::size_t> passed_;  // segments, by TreeStep
  std::size_t now_ = 0;
  std::vector<std::size_t> sends_;  // by node: when it last did
  std::vector<std::size_t> receives_;
};

class DoubleTreeScheduler {
 public:
  DoubleTreeScheduler(const Topology& topology, const CollectiveRequest& request)
      : schedule_(topology),
        routes_(topology, schedule_.routes),
        segments_(segments_per_tree(request)) {
    schedule_.algorithm = "dbtree";
    schedule_.op = request.op;
    schedule_.num_nodes = topology.num_nodes();
    schedule_.size = request.size;
    // The first tree's segments, then the second's.
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
    schedule_.sort_by_step();
    schedule_.contention_free = is_contention_free(schedule_);
    return std::move(schedule_);
  }

 private:
  void add_tree(const RankTree& tree, std::size_t which) {
    TreePipeline pipeline(tree, used_segments_.at(which));
    std::vector<std::vector<TransferId>> sent(pipeline.size());  // by segment
    for (auto step = static_cast<Timestep>(1 + which); !pipeline.done(); step += 2) {
      for (const auto& move : pipeline.advance()) {
        const TreeStep& what = pipeline.step(move.index);
        const std::size_t chunk = which * segments_ + move.segment;
        const RouteId route = routes_.between(what.from, what.to);
        const Transfer transfer{what.from, what.to, FlowId(chunk), ChunkId(chunk),
                                1,         route,   step,          what.kind};
        std::vector<TransferId> after;
        for (const std::size_t before : what.after) after.push_back(sent[before][move.segment]);
        sent[move.index].push_back(schedule_.add(transfer, after));
        schedule_.num_steps = std::max(schedule_.num_steps, step);
      }
    }
  }

  Schedule schedule_;
  NodeRoutes routes_;
  std::size_t segments_;
  std::array<std::size_t, 2> used_segments_{};  // of each tree, that are not empty
};

}  // namespace

Schedule generate_dbtree(const Topology& topology, const CollectiveRequest& request) {
  return DoubleTreeScheduler(topology, request).build();
}

}  // namespace espalier
