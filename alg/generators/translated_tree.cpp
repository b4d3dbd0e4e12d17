#include "alg/generators/translated_tree.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "hw/hash.h"

namespace espalier {

namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kShuffles = 40;

std::vector<std::uint32_t> distances(const Translations& group) {
  std::vector<std::uint32_t> distance(group.num_nodes(), kUnknown);
  std::vector<NodeId> queue{NodeId(0)};
  distance[0] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const NodeId g : group.generators()) {
      const NodeId to = group.add(queue[head], g);
      if (distance[to.index()] != kUnknown) continue;
      distance[to.index()] = distance[queue[head].index()] + 1;
      queue.push_back(to);
    }
  }
  return distance;
}

// How a search breaks ties among the children of a step, and which parents it allows.
struct Variant {
  std::uint64_t seed = 0;  // 0: by id
  bool fewest_options_first = true;
  bool shortest_paths_only = true;
};

class TreeSearch {
 public:
  TreeSearch(const Translations& group, const std::vector<std::uint32_t>& distance)
      : group_(group),
        distance_(distance),
        diameter_(*std::max_element(distance.begin(), distance.end())),
        before_(group.num_nodes() * group.generators().size()) {
    for (std::size_t v = 0; v < group.num_nodes(); ++v) {
      for (std::size_t port = 0; port < ports(); ++port) {
        before_[v * ports() + port] = group.subtract(NodeId(v), group.generators()[port]);
      }
    }
  }

  // Gives up after `most_steps` steps and returns a tree that does not span.
  TranslatedTree run(const Variant& variant, Timestep most_steps) {
    variant_ = variant;
    step_of_.assign(group_.num_nodes(), kUnknown);
    depth_.assign(group_.num_nodes(), 0);
    step_of_[0] = 0;
    TranslatedTree tree;
    std::size_t missing = group_.num_nodes() - 1;
    while (missing != 0 && tree.num_steps < most_steps) {
      ++tree.num_steps;
      match(tree.num_steps);
      std::size_t added = 0;
      for (std::uint32_t port = 0; port < ports(); ++port) {
        const NodeId child = child_by_port_[port];
        if (!child.valid()) continue;
        const NodeId parent = before(child, port);
        tree.edges.push_back({parent, child, port, tree.num_steps});
        step_of_[child.index()] = tree.num_steps;
        depth_[child.index()] = depth_[parent.index()] + 1;
        ++added;
      }
      if (added == 0) break;
      missing -= added;
    }
    return tree;
  }

 private:
  struct Candidate {
    std::uint32_t distance;
    std::uint32_t options;
    std::uint64_t order;
    NodeId node;
  };

  [[nodiscard]] std::size_t ports() const { return group_.generators().size(); }
  [[nodiscard]] NodeId before(NodeId v, std::size_t port) const {
    return before_[v.index() * ports() + port];
  }

  [[nodiscard]] bool may_be_parent(NodeId parent, NodeId child, Timestep step) const {
    // KUnknown for nodes that are not in the tree.
    if (step_of_[parent.index()] >= step) return false;
    return variant_.shortest_paths_only ? distance_[parent.index()] + 1 == distance_[child.index()]
                                        : depth_[parent.index()] < diameter_;
  }

  void match(Timestep step) {
    candidates_.clear();
    for (std::size_t v = 1; v < group_.num_nodes(); ++v) {
      if (step_of_[v] != kUnknown) continue;
      std::uint32_t options = 0;
      for (std::size_t port = 0; port < ports(); ++port) {
        options += may_be_parent(before(NodeId(v), port), NodeId(v), step) ? 1U : 0U;
      }
      if (options == 0) continue;
      candidates_.push_back({distance_[v], variant_.fewest_options_first ? options : 0,
                             variant_.seed == 0 ? v : mix(variant_.seed, v), NodeId(v)});
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(a.distance, a.options, a.order, a.node) <
             std::tie(b.distance, b.options, b.order, b.node);
    });
    child_by_port_.assign(ports(), NodeId());
    std::size_t matched = 0;
    for (const Candidate& candidate : candidates_) {
      if (matched == ports()) break;
      tried_.assign(ports(), false);
      if (augment(candidate.node, step)) ++matched;
    }
  }

  // Kuhn's augmenting path: finds a port for `child`, if necessary by moving other children to
  // other ports.
  bool augment(NodeId child, Timestep step) {
    for (std::size_t port = 0; port < ports(); ++port) {
      if (tried_[port] || !may_be_parent(before(child, port), child, step)) continue;
      tried_[port] = true;
      if (!child_by_port_[port].valid() || augment(child_by_port_[port], step)) {
        child_by_port_[port] = child;
        return true;
      }
    }
    return false;
  }

  const Translations& group_;
  const std::vector<std::uint32_t>& distance_;
  std::uint32_t diameter_;
  std::vector<NodeId> before_;  // by node and port: node - generator
  Variant variant_;
  std::vector<std::uint32_t> step_of_;  // by node: the step in which it joined the tree
  std::vector<std::uint32_t> depth_;
  std::vector<Candidate> candidates_;
  std::vector<NodeId> child_by_port_;
  std::vector<bool> tried_;
};

Timestep ball_bound(const Translations& group, const std::vector<std::uint32_t>& distance) {
  std::vector<std::size_t> at_distance;
  for (const std::uint32_t d : distance) {
    if (d >= at_distance.size()) at_distance.resize(d + 1, 0);
    ++at_distance[d];
  }
  const std::size_t degree = group.generators().size();
  std::size_t bound = 0;
  std::size_t inside = 0;
  for (std::size_t s = 0; s < at_distance.size(); ++s) {
    inside += at_distance[s];
    bound = std::max(bound, s + (group.num_nodes() - inside + degree - 1) / degree);
  }
  return static_cast<Timestep>(bound);
}

}  // namespace

Timestep ball_bound(const Translations& group) { return ball_bound(group, distances(group)); }

TranslatedTree find_translated_tree(const Translations& group) {
  const auto distance = distances(group);
  const Timestep bound = ball_bound(group, distance);
  TreeSearch search(group, distance);
  TranslatedTree best;
  auto most_steps = static_cast<Timestep>(group.num_nodes());  // as many as a path needs
  // Returns true if the tree cannot be improved.
  const auto attempt = [&](const Variant& variant) {
    TranslatedTree tree = search.run(variant, most_steps);
    if (tree.edges.size() + 1 != group.num_nodes()) return false;
    if (best.edges.empty() || tree.num_steps < best.num_steps) best = std::move(tree);
    most_steps = best.num_steps - 1;
    return best.num_steps <= bound;
  };
  for (const bool shortest : {true, false}) {
    for (const bool fewest : {true, false}) {
      for (std::uint64_t seed = 0; seed <= kShuffles; ++seed) {
        if (attempt({seed, fewest, shortest})) return best;
      }
    }
  }
  return best;
}

}  // namespace espalier
