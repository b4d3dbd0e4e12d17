// MULTITREE with one tree, which is built once and translated to every root. By symmetry it is free
// of contention, and it has the fewest timesteps possible (find_translated_tree).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "alg/generators/generator.h"
#include "alg/generators/multitree.h"
#include "alg/routes/links.h"
#include "alg/schedule/translations.h"
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

// Ports, each as often as it carries chunks in a step.
std::vector<std::uint32_t> slots_of(const Translations& group,
                                    const std::vector<std::uint32_t>& units) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t port = 0; port < group.generators().size(); ++port) {
    slots.insert(slots.end(), units.empty() ? 1 : units[port], port);
  }
  return slots;
}

// How a search breaks ties among the children of a step, and which parents it allows.
struct Variant {
  std::uint64_t seed = 0;  // 0: by place
  bool fewest_options_first = true;
  bool shortest_paths_only = true;
};

class TreeSearch {
 public:
  TreeSearch(const Translations& group, const std::vector<std::uint32_t>& distance,
             std::vector<std::uint32_t> slots)
      : group_(group),
        distance_(distance),
        slots_(std::move(slots)),
        diameter_(*std::max_element(distance.begin(), distance.end())),
        before_(group.num_nodes() * slots_.size()) {
    for (std::size_t v = 0; v < group.num_nodes(); ++v) {
      for (std::size_t slot = 0; slot < ports(); ++slot) {
        before_[v * ports() + slot] = group.subtract(NodeId(v), group.generators()[slots_[slot]]);
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
        tree.edges.push_back({parent, child, slots_[port], tree.num_steps});
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

  // Below, a port is a slot.
  [[nodiscard]] std::size_t ports() const { return slots_.size(); }
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
    const auto& places = group_.grid().place_of_node;
    for (std::size_t v = 1; v < group_.num_nodes(); ++v) {
      if (step_of_[v] != kUnknown) continue;
      std::uint32_t options = 0;
      for (std::size_t port = 0; port < ports(); ++port) {
        options += may_be_parent(before(NodeId(v), port), NodeId(v), step) ? 1U : 0U;
      }
      if (options == 0) continue;
      const std::uint64_t place = places.empty() ? v : places[v];
      candidates_.push_back({distance_[v], variant_.fewest_options_first ? options : 0,
                             variant_.seed == 0 ? place : mix(variant_.seed, place), NodeId(v)});
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
  std::vector<std::uint32_t> slots_;
  std::uint32_t diameter_;
  std::vector<NodeId> before_;  // by node and port: node - generator
  Variant variant_;
  std::vector<std::uint32_t> step_of_;  // by node: the step in which it joined the tree
  std::vector<std::uint32_t> depth_;
  std::vector<Candidate> candidates_;
  std::vector<NodeId> child_by_port_;
  std::vector<bool> tried_;
};

}  // namespace

Timestep ball_bound(const Translations& group, const std::vector<std::uint32_t>& units) {
  const std::size_t degree = slots_of(group, units).size();
  std::vector<std::size_t> at_distance;
  for (const std::uint32_t d : distances(group)) {
    if (d >= at_distance.size()) at_distance.resize(d + 1, 0);
    ++at_distance[d];
  }
  std::size_t bound = 0;
  std::size_t inside = 0;
  for (std::size_t s = 0; s < at_distance.size(); ++s) {
    inside += at_distance[s];
    bound = std::max(bound, s + (group.num_nodes() - inside + degree - 1) / degree);
  }
  return static_cast<Timestep>(bound);
}

TranslatedTree find_translated_tree(const Translations& group,
                                    const std::vector<std::uint32_t>& units) {
  const auto distance = distances(group);
  const std::vector<std::uint32_t> slots = slots_of(group, units);
  const Timestep bound = ball_bound(group, units);
  TreeSearch search(group, distance, slots);
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

namespace {

constexpr const char* kName = "multitree_translated";

// A rotation of the coordinates that maps the network to itself: on k x k by 90 degrees, (x, y,
// ...) -> (-last, x, y, ...). It permutes the ports. Pieces of a chunk that follow rotated trees
// therefore balance the ports that a single tree leaves idle.
class Rotation {
 public:
  Rotation(const Topology& topology, const Translations& group) : group_(group) {
    const auto& dims = group.grid().dims;
    const auto& ports = topology.out_links(NodeId(0));
    possible_ = std::all_of(dims.begin(), dims.end(),
                            [&](std::uint32_t size) { return size == dims.front(); }) &&
                std::all_of(ports.begin(), ports.end(), [&](LinkId l) {
                  return topology.link(l).spec == topology.link(ports.front()).spec;
                });
    for (std::size_t j = 0; possible_ && j < group.generators().size(); ++j) {
      ports_.push_back(port_of(turned(group.generators()[j]), j));
      possible_ = ports_.back() < group.generators().size();
    }
  }

  // The identity if the network has no such rotation.
  [[nodiscard]] NodeId node(NodeId v, std::size_t times) const {
    for (; possible_ && times > 0; --times) v = turned(v);
    return v;
  }
  [[nodiscard]] std::uint32_t port(std::uint32_t p, std::size_t times) const {
    for (; possible_ && times > 0; --times) p = ports_[p];
    return p;
  }

 private:
  [[nodiscard]] NodeId turned(NodeId v) const {
    std::vector<std::uint32_t> at = group_.grid().coordinates(v);
    const std::uint32_t size = group_.grid().dims.front();
    std::rotate(at.begin(), at.end() - 1, at.end());
    at.front() = (size - at.front()) % size;
    return group_.grid().node_at(at);
  }
  // The first port with this generator that is not yet the image of another port.
  [[nodiscard]] std::uint32_t port_of(NodeId generator, std::size_t taken) const {
    const auto& generators = group_.generators();
    for (std::uint32_t p = 0; p < generators.size(); ++p) {
      const auto end = ports_.begin() + static_cast<std::ptrdiff_t>(taken);
      if (generators[p] == generator && std::find(ports_.begin(), end, p) == end) return p;
    }
    return static_cast<std::uint32_t>(generators.size());
  }

  const Translations& group_;
  bool possible_ = true;
  std::vector<std::uint32_t> ports_;
};

TreeForest translated_to_all_roots(const Topology& topology, const Translations& group,
                                   const TranslatedTree& tree) {
  TreeForest forest(topology);
  forest.num_steps = tree.num_steps;
  forest.trees.resize(topology.num_nodes());
  for (std::size_t root = 0; root < topology.num_nodes(); ++root) {
    for (const RelativeEdge& edge : tree.edges) {
      const NodeId parent = group.add(edge.parent, NodeId(root));
      forest.trees[root].push_back({parent, group.add(edge.child, NodeId(root)),
                                    RouteSet::single(topology.out_links(parent)[edge.port]),
                                    edge.step});
    }
  }
  return forest;
}

// The flows of root 0, one for each segment. The flows of the other roots are their translates.
class SymmetricScheduler {
 public:
  SymmetricScheduler(const Topology& topology, const CollectiveRequest& request,
                     const Translations& group, const TranslatedTree& tree, std::size_t segments)
      : topology_(topology),
        request_(request),
        group_(group),
        tree_(tree),
        segments_(segments),
        schedule_(empty_schedule(kName, topology, request)) {}

  Schedule build() {
    const bool both = request_.op == CollectiveOp::all_reduce;
    phase_steps_ = static_cast<Timestep>(tree_.num_steps * segments_);
    schedule_.num_steps = phase_steps_ * (both ? 2 : 1);
    schedule_.ni_ports = static_cast<std::uint32_t>(group_.generators().size());
    schedule_.symmetry = group_;
    const auto offsets =
        cut_evenly(request_.size, group_.num_nodes() * segments_, request_.element_bytes);
    for (std::size_t c = 0; c + 1 < offsets.size(); ++c) {
      schedule_.chunks.push_back({offsets[c], offsets[c + 1] - offsets[c], NodeId(c / segments_)});
    }
    const Rotation rotation(topology_, group_);
    for (std::size_t segment = 0; segment < segments_; ++segment) {
      turn_tree(rotation, segment);
      arrivals_.assign(group_.num_nodes(), {});
      if (request_.op != CollectiveOp::all_gather) add_reduce_scatter(segment);
      if (request_.op != CollectiveOp::reduce_scatter) add_all_gather(segment, both);
    }
    schedule_.sort_by_step();
    return std::move(schedule_);
  }

 private:
  // The step in which a segment passes an edge of the all-gather; segments follow each other.
  [[nodiscard]] Timestep step_of(const RelativeEdge& edge, std::size_t segment) const {
    return static_cast<Timestep>((edge.step - 1) * segments_ + segment + 1);
  }

  void turn_tree(const Rotation& rotation, std::size_t segment) {
    edges_ = tree_.edges;
    for (RelativeEdge& edge : edges_) {
      edge.parent = rotation.node(edge.parent, segment);
      edge.child = rotation.node(edge.child, segment);
      edge.port = rotation.port(edge.port, segment);
    }
  }

  void add_reduce_scatter(std::size_t segment) {
    for (auto edge = edges_.rbegin(); edge != edges_.rend(); ++edge) {
      Transfer t = transfer(edge->child, edge->parent, segment);
      t.route = RouteSet::single(link_back(topology_, link_of(*edge)));
      t.kind = TransferKind::reduce;
      // Segments follow each other in the reduction too: segments are mirrored one by one.
      const Timestep mirrored = step_of(*edge, segments_ - 1 - segment);
      t.step = phase_steps_ - mirrored + 1;
      arrivals_[edge->parent.index()].push_back(schedule_.add(t, arrivals_[edge->child.index()]));
    }
  }

  void add_all_gather(std::size_t segment, bool after_reduce_scatter) {
    for (std::size_t n = 1; n < arrivals_.size(); ++n) arrivals_[n].clear();
    for (const RelativeEdge& edge : edges_) {
      Transfer t = transfer(edge.parent, edge.child, segment);
      t.route = RouteSet::single(link_of(edge));
      t.step = (after_reduce_scatter ? phase_steps_ : 0) + step_of(edge, segment);
      arrivals_[edge.child.index()].push_back(schedule_.add(t, arrivals_[edge.parent.index()]));
    }
  }

  [[nodiscard]] LinkId link_of(const RelativeEdge& edge) const {
    return topology_.out_links(edge.parent)[edge.port];
  }

  [[nodiscard]] static Transfer transfer(NodeId from, NodeId to, std::size_t segment) {
    Transfer t;
    t.from = from;
    t.to = to;
    t.flow = FlowId(segment);
    t.first_chunk = ChunkId(segment);
    return t;
  }

  const Topology& topology_;
  const CollectiveRequest& request_;
  const Translations& group_;
  const TranslatedTree& tree_;
  std::size_t segments_;
  Timestep phase_steps_ = 0;
  Schedule schedule_;
  std::vector<RelativeEdge> edges_;                // of the segment being added
  std::vector<std::vector<TransferId>> arrivals_;  // by node, of the segment being added
};

std::string unsuited_for_multitree_translated(const Topology& topology) {
  if (!Translations::find(topology)) {
    return fmt::format(
        "{} needs a network that looks the same from every node: a torus, a ring, a hypercube, a "
        "fully connected network",
        kName);
  }
  return unsuited_for_mirrored_trees(topology, kName);
}

// Pieces of a chunk of `bytes`. Small ones hide the latency of a step behind the next piece, but a
// piece shorter than a packet is all head; pieces of large chunks balance the links, because
// rotated trees leave other links idle. Calibrated on the cycles of 1, 2, 4, 8 and 16 pieces on
// tori of 16, 64 and 256 nodes at the default link (tests/model/translated_segments_test.cpp).
std::size_t segments_by_size(Bytes bytes) {
  if (bytes <= 512) return 1;
  if (bytes <= 2048) return 8;
  if (bytes <= 8192) return 4;
  if (bytes <= 32 << 10) return 2;
  if (bytes <= 128 << 10) return 8;
  return 16;
}

Schedule generate_multitree_translated(const Topology& topology, const CollectiveRequest& request) {
  if (!request.rank_order.empty()) {
    throw std::invalid_argument(
        "multitree_translated: one table stands for all nodes, so ranks cannot be ordered");
  }
  const Translations group = *Translations::find(topology);
  const std::vector<std::uint32_t> units_of_links = two_way_link_units(topology);
  std::vector<std::uint32_t> units;  // by port
  for (const LinkId l : topology.out_links(NodeId(0))) units.push_back(units_of_links[l.index()]);
  const TranslatedTree tree = find_translated_tree(group, units);
  const std::size_t nodes = topology.num_nodes();
  const Bytes elements = request.size / request.element_bytes;
  const std::size_t asked =
      request.segments != 0 ? request.segments : segments_by_size(request.size / nodes);
  // Few enough that no segment is empty.
  const std::size_t segments =
      std::clamp<std::size_t>(asked, 1, std::max<std::size_t>(1, elements / nodes));
  // If some roots have no data, or data of other sizes, their schedules differ, so symmetry cannot
  // be used.
  if (elements < nodes || request.op == CollectiveOp::all_to_all) {
    return schedule_trees(topology, request, translated_to_all_roots(topology, group, tree), kName);
  }
  return SymmetricScheduler(topology, request, group, tree, segments).build();
}

}  // namespace

Generator multitree_translated_row() {
  Generator row(
      kName,
      "one tree with the fewest steps, translated to every root; runs on tori, hypercubes and "
      "fully connected networks",
      {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather,
       CollectiveOp::all_to_all},
      unsuited_for_multitree_translated, generate_multitree_translated);
  row.parameters = {{"collective.segments", {CollectiveOp::all_to_all}}};
  row.has_own_routes = true;
  row.fixed_ranks = "one table stands for all nodes";
  row.look = 3;
  return row;
}

}  // namespace espalier
