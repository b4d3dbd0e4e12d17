#include "alg/generators/multitree.h"

#include <algorithm>
#include <stdexcept>

#include "alg/routes/links.h"
#include "alg/routes/path_rule.h"

namespace espalier {

namespace {

// Pairs of a switch and a state of the path rule from which a tree found no new node in this
// timestep. Links are only taken and trees only grow, so later searches from these pairs fail too.
class DeadEnds {
 public:
  explicit DeadEnds(std::size_t num_states) : since_(num_states, 0) {}

  void begin_timestep(Timestep step) { now_ = step; }
  void add(std::size_t state) { since_[state] = now_; }
  [[nodiscard]] bool has(std::size_t state) const { return since_[state] == now_; }

 private:
  std::vector<Timestep> since_;
  Timestep now_ = 0;
};

// By vertex, the links out of it in the order in which trees try them: by port, which on a grid is
// MultiTree's preference for Y (section III-C). That suits squares. On other grids lines come
// before rings and long dimensions before short ones, since trees fill those last.
std::vector<std::vector<LinkId>> preferred_links(const Topology& topology, StepEnd step_end) {
  std::vector<std::vector<LinkId>> links;
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    links.push_back(topology.out_links(NodeId(v)));
    if (!topology.grid() || step_end == StepEnd::authors) continue;
    const auto rank = [&, &grid = *topology.grid()](LinkId link) {
      const std::size_t dim = grid_hop(topology, link).dim;
      return std::pair(!grid.wraps[dim], grid.dims[dim]);
    };
    std::stable_sort(links.back().begin(), links.back().end(),
                     [&](LinkId a, LinkId b) { return rank(a) > rank(b); });
  }
  return links;
}

// Breadth-first search from a node, through switches only, over links with a free unit in this
// timestep.
class FreePaths {
 public:
  FreePaths(const Topology& topology, StepEnd step_end)
      : topology_(topology),
        out_links_(preferred_links(topology, step_end)),
        rule_(topology),
        units_(two_way_link_units(topology)),
        reached_(topology.num_switches() * PathRule::kNumStates, 0) {}

  void begin_timestep() {
    left_ = units_;
    full_.assign(topology_.num_vertices(), 0);
  }

  // Number of pairs of a switch and a state of the path rule.
  [[nodiscard]] std::size_t num_states() const { return reached_.size(); }

  // The path over free links, tried in the order of preference, to the nearest node that `has`
  // lacks; empty if there is none. The links stay free. `dead_ends` belong to the calling tree.
  [[nodiscard]] const std::vector<LinkId>& find(NodeId from, const std::vector<bool>& has,
                                                DeadEnds& dead_ends) {
    path_.clear();
    queue_.clear();
    ++search_;
    queue_.push_back({from, PathRule::kStart, LinkId(), 0});
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const Visit at = queue_[head];
      const std::vector<LinkId>& out = out_links_[at.vertex.index()];
      std::size_t& full = full_[at.vertex.index()];
      while (full < out.size() && left_[out[full].index()] == 0) ++full;
      for (std::size_t place = full; place < out.size(); ++place) {
        const LinkId l = out[place];
        if (left_[l.index()] == 0) continue;
        const NodeId to = topology_.link(l).to;
        const bool through = topology_.is_switch(to);
        if (!through && has[to.index()]) continue;
        const auto state = rule_.after(at.state, l);
        if (!state) continue;
        if (!through) {
          path_.push_back(l);
          for (std::size_t v = head; v != 0; v = queue_[v].before) path_.push_back(queue_[v].by);
          std::reverse(path_.begin(), path_.end());
          return path_;
        }
        const std::size_t there = place_of(to, *state);
        if (reached_[there] == search_ || dead_ends.has(there)) continue;
        reached_[there] = search_;
        queue_.push_back({to, *state, l, head});
      }
    }
    for (std::size_t v = 1; v < queue_.size(); ++v) {
      dead_ends.add(place_of(queue_[v].vertex, queue_[v].state));
    }
    return path_;
  }

  void take(const std::vector<LinkId>& path) {
    for (const LinkId l : path) --left_[l.index()];
  }

 private:
  struct Visit {
    NodeId vertex;
    PathRule::State state;
    LinkId by;
    std::size_t before;  // index in the queue
  };
  // Switches are numbered after the nodes.
  [[nodiscard]] std::size_t place_of(NodeId at_switch, PathRule::State state) const {
    return (at_switch.index() - topology_.num_nodes()) * PathRule::kNumStates + state;
  }

  const Topology& topology_;
  const std::vector<std::vector<LinkId>> out_links_;
  const PathRule rule_;
  const std::vector<std::uint32_t> units_;
  std::vector<std::uint32_t> left_;     // by link
  std::vector<std::size_t> full_;       // by vertex: so many first links out have no unit left
  std::vector<std::uint64_t> reached_;  // by switch and state: the last search that came there
  std::uint64_t search_ = 0;
  std::vector<Visit> queue_;
  std::vector<LinkId> path_;
};

// One tree under construction.
class GrowingTree {
 public:
  GrowingTree(NodeId root, const Topology& topology, std::size_t num_states)
      : topology_(topology),
        has_(topology.num_nodes(), false),
        dead_ends_(num_states),
        frontier_{root} {
    has_[root.index()] = true;
  }

  [[nodiscard]] bool complete() const { return edges_.size() + 1 == topology_.num_nodes(); }
  [[nodiscard]] const std::vector<TreeEdge>& edges() const { return edges_; }

  // Nodes that are added from now on become parents only in later timesteps. A member without
  // neighbours outside the tree can never become a parent again and leaves the frontier.
  void begin_timestep(Timestep step) {
    dead_ends_.begin_timestep(step);
    const auto enclosed = [&](NodeId p) {
      const auto& out = topology_.out_links(p);
      return std::all_of(out.begin(), out.end(), [&](LinkId l) {
        const NodeId to = topology_.link(l).to;
        return !topology_.is_switch(to) && has_[to.index()];
      });
    };
    frontier_.erase(std::remove_if(frontier_.begin(), frontier_.end(), enclosed), frontier_.end());
    candidates_ = frontier_.size();
    next_candidate_ = 0;
  }

  // One turn: connects one node over links that are still free, or returns false. A parent without
  // a free useful path will not find one later in the timestep (links are only taken, and only this
  // tree adds nodes to itself), so the search resumes where the last one stopped.
  bool take_turn(FreePaths& free_paths, Timestep step, RouteSet& paths) {
    if (complete()) return false;
    for (; next_candidate_ < candidates_; ++next_candidate_) {
      const NodeId parent = frontier_[next_candidate_];
      const std::vector<LinkId>& path = free_paths.find(parent, has_, dead_ends_);
      if (path.empty()) continue;
      free_paths.take(path);
      const NodeId child = topology_.link(path.back()).to;
      has_[child.index()] = true;
      frontier_.push_back(child);
      edges_.push_back({parent, child, paths.add(topology_, path), step});
      return true;
    }
    return false;
  }

  // The largest distance, in links, from the tree to a node outside it (section III-C2's priority
  // for irregular networks).
  [[nodiscard]] std::uint32_t remaining_height() const {
    std::vector<bool> reached = has_;
    reached.resize(topology_.num_vertices(), false);
    std::vector<NodeId> level;
    for (std::size_t n = 0; n < has_.size(); ++n) {
      if (has_[n]) level.emplace_back(n);
    }
    std::size_t missing = has_.size() - level.size();
    std::uint32_t height = 0;
    for (; missing != 0; ++height) {
      std::vector<NodeId> next;
      for (const NodeId v : level) {
        for (const LinkId l : topology_.out_links(v)) {
          const NodeId w = topology_.link(l).to;
          if (reached[w.index()]) continue;
          reached[w.index()] = true;
          if (!topology_.is_switch(w)) --missing;
          next.push_back(w);
        }
      }
      level = std::move(next);
    }
    return height;
  }

 private:
  const Topology& topology_;
  std::vector<bool> has_;
  DeadEnds dead_ends_;
  // Members that may still become parents, in the order in which they were added.
  std::vector<NodeId> frontier_;
  std::vector<TreeEdge> edges_;
  std::size_t candidates_ = 0;  // frontier_[0, candidates_) were added in earlier timesteps
  std::size_t next_candidate_ = 0;
};

std::vector<std::size_t> turn_order(const std::vector<GrowingTree>& trees,
                                    const CollectiveRequest& request) {
  std::vector<std::size_t> turns;
  turns.reserve(trees.size());
  for (std::size_t rank = 0; rank < trees.size(); ++rank) {
    turns.push_back(request.node_of(rank).index());
  }
  if (request.tree_order == CollectiveRequest::TreeOrder::remaining_height) {
    std::vector<std::uint32_t> height;
    height.reserve(trees.size());
    for (const GrowingTree& tree : trees) height.push_back(tree.remaining_height());
    std::stable_sort(turns.begin(), turns.end(),
                     [&](std::size_t a, std::size_t b) { return height[a] > height[b]; });
  }
  return turns;
}

// Trees take turns until none can grow any more. Returns whether any tree has grown.
bool grow_all(std::vector<GrowingTree>& trees, std::vector<std::size_t> turns,
              FreePaths& free_paths, Timestep step, RouteSet& paths) {
  bool grown = false;
  while (!turns.empty()) {
    turns.erase(std::remove_if(turns.begin(), turns.end(),
                               [&](std::size_t t) {
                                 const bool adds = trees[t].take_turn(free_paths, step, paths);
                                 grown |= adds;
                                 return !adds;
                               }),
                turns.end());
  }
  return grown;
}

// StepEnd::authors: the order after the first round of all. On a mesh, trees whose roots are in the
// outer rows go first; otherwise the order is reversed.
std::vector<std::size_t> later_turns(const Topology& topology, std::vector<std::size_t> turns) {
  std::reverse(turns.begin(), turns.end());
  const auto& grid = topology.grid();
  if (!grid || grid->dims.size() < 2) return turns;
  if (std::count(grid->wraps.begin(), grid->wraps.end(), true) != 0) return turns;
  const auto to_farthest_row = [&](std::size_t root) {
    const std::uint32_t row = grid->coordinates(NodeId(root)).at(1);
    return std::max(row, grid->dims[1] - 1 - row);
  };
  std::stable_sort(turns.begin(), turns.end(), [&](std::size_t a, std::size_t b) {
    return to_farthest_row(a) > to_farthest_row(b);
  });
  return turns;
}

// StepEnd::authors. Only the first round of all has the order `first`.
bool grow_while_last_grows(std::vector<GrowingTree>& trees, const std::vector<std::size_t>& first,
                           const std::vector<std::size_t>& later, FreePaths& free_paths,
                           Timestep step, RouteSet& paths) {
  bool grown = false;
  bool last_grew = true;
  for (std::uint64_t round = 0; last_grew; ++round) {
    for (const std::size_t t : step == 1 && round == 0 ? first : later) {
      last_grew = trees[t].take_turn(free_paths, step, paths);
      grown |= last_grew;
    }
  }
  return grown;
}

}  // namespace

TreeForest build_trees(const Topology& topology, const CollectiveRequest& request) {
  TreeForest forest(topology);
  FreePaths free_paths(topology, request.step_end);
  std::vector<GrowingTree> trees;
  trees.reserve(topology.num_nodes());
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    trees.emplace_back(NodeId(n), topology, free_paths.num_states());
  }
  const auto incomplete = [](const GrowingTree& tree) { return !tree.complete(); };
  const std::vector<std::size_t> first = turn_order(trees, request);
  const std::vector<std::size_t> later = later_turns(topology, first);
  while (std::any_of(trees.begin(), trees.end(), incomplete)) {
    const Timestep step = ++forest.num_steps;
    free_paths.begin_timestep();
    for (GrowingTree& tree : trees) tree.begin_timestep(step);
    const bool grown =
        request.step_end == StepEnd::paper
            ? grow_all(trees, turn_order(trees, request), free_paths, step, forest.paths)
            : grow_while_last_grows(trees, first, later, free_paths, step, forest.paths);
    if (!grown) {
      throw std::invalid_argument("some node cannot be reached by a path that is free of deadlock");
    }
  }
  forest.trees.reserve(trees.size());
  for (const GrowingTree& tree : trees) forest.trees.push_back(tree.edges());
  return forest;
}

}  // namespace espalier
