#include "alg/bounds/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "alg/bounds/max_flow.h"

namespace espalier {
namespace {

// The links that count at the border of a set.
enum class Direction : std::uint8_t { out, in };

const char* to_string(Direction direction) { return direction == Direction::out ? "out" : "in"; }

struct Ratio {
  FlowAmount numerator = 0;
  FlowAmount denominator = 1;
};

double to_double(const Ratio& r) {
  return static_cast<double>(r.numerator) / static_cast<double>(r.denominator);
}

// A set of vertices, and the direction in which its border limits the collective.
struct Cut {
  std::vector<bool> inside;  // by vertex
  Direction direction = Direction::out;
};

NodeId tail_of(const TopologyLink& link, Direction d) {
  return d == Direction::out ? link.from : link.to;
}
NodeId head_of(const TopologyLink& link, Direction d) {
  return d == Direction::out ? link.to : link.from;
}

FlowAmount border_rate(const Topology& topology, const Cut& cut) {
  FlowAmount rate = 0;
  for (const TopologyLink& link : topology.links()) {
    if (cut.inside[tail_of(link, cut.direction).index()] &&
        !cut.inside[head_of(link, cut.direction).index()]) {
      rate += link.spec.bytes_per_second;
    }
  }
  return rate;
}

// ---- Texts ----

constexpr std::size_t kMostNames = 4;

std::string border_text(const Topology& topology, const Cut& cut) {
  std::size_t links = 0;
  for (const TopologyLink& link : topology.links()) {
    if (cut.inside[tail_of(link, cut.direction).index()] &&
        !cut.inside[head_of(link, cut.direction).index()]) {
      ++links;
    }
  }
  return fmt::format("{} {} {}, {:g} GB/s", links, links == 1 ? "link" : "links",
                     to_string(cut.direction),
                     static_cast<double>(border_rate(topology, cut)) / 1e9);
}

// Names the cut by the side with fewer nodes.
std::string cut_text(const Topology& topology, Cut cut) {
  const auto nodes_inside = static_cast<std::size_t>(
      std::count(cut.inside.begin(),
                 cut.inside.begin() + static_cast<std::ptrdiff_t>(topology.num_nodes()), true));
  if (2 * nodes_inside > topology.num_nodes()) {
    cut.inside.flip();
    cut.direction = cut.direction == Direction::out ? Direction::in : Direction::out;
  }
  std::vector<std::string> names;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    if (cut.inside[n]) names.push_back(topology.vertex_name(NodeId(n)));
  }
  const std::string side = names.size() <= kMostNames
                               ? fmt::format("{{{}}}", fmt::join(names, ", "))
                               : fmt::format("{} nodes", names.size());
  return fmt::format("cut {} | rest: {}", side, border_text(topology, cut));
}

Cut single_node(const Topology& topology, NodeId node, Direction direction) {
  Cut cut{std::vector<bool>(topology.num_vertices(), false), direction};
  cut.inside[node.index()] = true;
  return cut;
}

// ---- reduce_scatter, all_gather ----

// Maximises |S| / B(S) over the sets S that lack at least one node, by Dinkelbach's iteration: a
// set with |S| - B(S) * best > 0 is better than the best one, and a minimum cut finds it.
class ScatterBound {
 public:
  ScatterBound(const Topology& topology, Direction direction)
      : topology_(topology),
        direction_(direction),
        source_(topology.num_vertices()),
        network_(topology.num_vertices() + 1) {
    for (const TopologyLink& link : topology.links()) {
      network_.add_arc(tail_of(link, direction).index(), head_of(link, direction).index());
    }
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) network_.add_arc(source_, n);
    start_with_single_nodes();
  }

  void improve_over_all_cuts() {
    set_capacities();
    for (std::size_t left_out = 0; left_out < topology_.num_nodes();) {
      const FlowAmount nodes = topology_.num_nodes();
      const FlowAmount least = network_.min_cut(source_, left_out);
      if (least == nodes * best_.denominator) {
        ++left_out;
        continue;
      }
      for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
        cut_.inside[v] = network_.on_source_side(v);
      }
      rate_cut();
      set_capacities();
    }
  }

  [[nodiscard]] Ratio best() const { return best_; }
  [[nodiscard]] const Cut& cut() const { return cut_; }

 private:
  // Starts with all vertices except the node with the lowest rate towards it.
  void start_with_single_nodes() {
    std::vector<FlowAmount> rate(topology_.num_vertices(), 0);
    for (const TopologyLink& link : topology_.links()) {
      rate[head_of(link, direction_).index()] += link.spec.bytes_per_second;
    }
    const auto nodes_end = rate.begin() + static_cast<std::ptrdiff_t>(topology_.num_nodes());
    const auto least = std::min_element(rate.begin(), nodes_end);
    cut_ =
        single_node(topology_, NodeId(static_cast<std::size_t>(least - rate.begin())), direction_);
    cut_.inside.flip();
    rate_cut();
  }

  void rate_cut() {
    FlowAmount nodes = 0;
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) nodes += cut_.inside[n] ? 1 : 0;
    best_ = {nodes, border_rate(topology_, cut_)};
  }

  // The cut of S has the size denominator * (N - |S|) + numerator * B(S).
  void set_capacities() {
    std::size_t arc = 0;
    for (const TopologyLink& link : topology_.links()) {
      network_.set_capacity(arc++, best_.numerator * link.spec.bytes_per_second);
    }
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
      network_.set_capacity(arc++, best_.denominator);
    }
  }

  const Topology& topology_;
  Direction direction_;
  std::size_t source_;
  FlowNetwork network_;
  Ratio best_;
  Cut cut_;
};

BandwidthBound scatter_bound(const Topology& topology, Direction direction) {
  ScatterBound bound(topology, direction);
  const bool uniform = single_nodes_bind(topology);
  if (!uniform) bound.improve_over_all_cuts();
  const auto nodes = static_cast<double>(topology.num_nodes());
  Cut left_out = bound.cut();
  left_out.inside.flip();
  left_out.direction = direction == Direction::out ? Direction::in : Direction::out;
  return {to_double(bound.best()) / nodes,
          uniform ? "each node alone: " + border_text(topology, left_out)
                  : cut_text(topology, bound.cut())};
}

// ---- all_reduce ----

// A partition of the nodes. C(P) is the sum of the rates out of the parts.
struct Partition {
  std::vector<std::size_t> part_of;  // by node: the least node of its part
  std::size_t parts = 0;
  FlowAmount rate = 0;
};

// Minimises C(P) / (p - 1) by Newton's iteration: a partition with C(P) - x (p - 1) < 0 is better
// than the ratio x. The minimum sum of B(A) - x over the parts A of any partition is the Dilworth
// truncation of this function, which a greedy algorithm computes (Cunningham 1985): each node in
// turn gets the largest potential y that keeps y(A) <= B(A) - x for all sets A of the nodes so far,
// with one minimum cut per node; sets for which equality holds are merged into parts.
class StrengthSearch {
 public:
  StrengthSearch(const Topology& topology, Direction direction)
      : topology_(topology),
        source_(topology.num_vertices()),
        sink_(topology.num_vertices() + 1),
        network_(topology.num_vertices() + 2) {
    best_.parts = topology.num_nodes();
    for (const TopologyLink& link : topology.links()) {
      network_.add_arc(tail_of(link, direction).index(), head_of(link, direction).index());
      if (!topology.is_switch(tail_of(link, direction))) best_.rate += link.spec.bytes_per_second;
    }
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
      best_.part_of.push_back(n);
      network_.add_arc(source_, n);
      network_.add_arc(n, sink_);
    }
  }

  Partition run() {
    while (true) {
      Partition better = best_partition_at(best_.rate, best_.parts - 1);
      // A single part has no border: the search ends there with C = 0.
      if (better.parts == 1 || better.rate * (best_.parts - 1) >= best_.rate * (better.parts - 1)) {
        return best_;
      }
      best_ = std::move(better);
    }
  }

 private:
  // The partition with the least C(P) - numerator / denominator * p; all scaled by denominator.
  Partition best_partition_at(const FlowAmount& numerator, const FlowAmount& denominator) {
    const std::size_t nodes = topology_.num_nodes();
    FlowAmount everything = 1;
    std::size_t arc = 0;
    for (const TopologyLink& link : topology_.links()) {
      const FlowAmount capacity = denominator * link.spec.bytes_per_second;
      network_.set_capacity(arc++, capacity);
      everything += capacity;
    }
    everything += numerator * nodes;

    std::vector<std::size_t> part_of(nodes);
    std::iota(part_of.begin(), part_of.end(), std::size_t{0});
    // Nodes that have no potential yet stay outside of every set.
    for (std::size_t n = 0; n < nodes; ++n) set_node(n, 0, everything);
    FlowAmount all_potentials = 0;
    FlowAmount positive_potentials = 0;
    for (std::size_t n = 0; n < nodes; ++n) {
      set_node(n, everything, 0);
      const FlowAmount least = network_.min_cut(source_, sink_);
      const FlowAmount potential = least - positive_potentials - numerator;
      all_potentials += potential;
      if (potential > 0) positive_potentials += potential;
      set_node(n, std::max<FlowAmount>(potential, 0), std::max<FlowAmount>(-potential, 0));
      merge_source_side(part_of, n);
    }

    Partition result;
    result.part_of = std::move(part_of);
    for (std::size_t n = 0; n < nodes; ++n) result.parts += result.part_of[n] == n ? 1U : 0U;
    result.rate = (all_potentials + numerator * result.parts) / denominator;
    return result;
  }

  void set_node(std::size_t node, const FlowAmount& from_source, const FlowAmount& to_sink) {
    const std::size_t arc = topology_.num_links() + 2 * node;
    network_.set_capacity(arc, from_source);
    network_.set_capacity(arc + 1, to_sink);
  }

  // Merges all parts that the tight set meets.
  void merge_source_side(std::vector<std::size_t>& part_of, std::size_t node) const {
    std::vector<bool> met(part_of.size(), false);
    std::size_t least = node;
    for (std::size_t n = 0; n <= node; ++n) {
      if (!network_.on_source_side(n)) continue;
      met[part_of[n]] = true;
      least = std::min(least, part_of[n]);
    }
    for (std::size_t n = 0; n <= node; ++n) {
      if (met[part_of[n]]) part_of[n] = least;
    }
  }

  const Topology& topology_;
  std::size_t source_;
  std::size_t sink_;
  FlowNetwork network_;
  Partition best_;
};

bool is_balanced(const Topology& topology) {
  std::vector<FlowAmount> surplus(topology.num_vertices(), 0);
  for (const TopologyLink& link : topology.links()) {
    surplus[link.from.index()] += link.spec.bytes_per_second;
    surplus[link.to.index()] -= link.spec.bytes_per_second;
  }
  return std::all_of(surplus.begin(), surplus.end(), [](const FlowAmount& s) { return s == 0; });
}

// The cut between two nodes with the lowest rate in one direction. Node 0 may be inside or outside.
Cut least_cut(const Topology& topology) {
  FlowNetwork network(topology.num_vertices());
  for (const TopologyLink& link : topology.links()) {
    network.set_capacity(network.add_arc(link.from.index(), link.to.index()),
                         link.spec.bytes_per_second);
  }
  Cut best;
  FlowAmount least = 0;
  for (std::size_t n = 1; n < topology.num_nodes(); ++n) {
    for (const auto& [source, sink] :
         {std::pair{std::size_t{0}, n}, std::pair{n, std::size_t{0}}}) {
      const FlowAmount rate = network.min_cut(source, sink);
      if (!best.inside.empty() && rate >= least) continue;
      least = rate;
      best.inside.clear();
      for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
        best.inside.push_back(network.on_source_side(v));
      }
    }
  }
  return best;
}

std::string partition_text(const Topology& topology, const Partition& partition,
                           Direction direction) {
  if (partition.parts == topology.num_nodes()) {
    return fmt::format("partition into {} single nodes", partition.parts);
  }
  if (partition.parts == 2 && topology.num_switches() == 0) {
    Cut cut{std::vector<bool>(topology.num_vertices(), false), direction};
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
      cut.inside[n] = partition.part_of[n] == partition.part_of[0];
    }
    return cut_text(topology, std::move(cut));
  }
  std::vector<std::size_t> sizes(topology.num_nodes(), 0);
  for (const std::size_t part : partition.part_of) ++sizes[part];
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  sizes.resize(std::min(partition.parts, kMostNames));
  return fmt::format("partition into {} parts of {}{} nodes: {:g} GB/s {}", partition.parts,
                     fmt::join(sizes, ", "), partition.parts > kMostNames ? ", ..." : "",
                     static_cast<double>(partition.rate) / 1e9, to_string(direction));
}

BandwidthBound all_reduce_bound(const Topology& topology) {
  BandwidthBound bound;
  const auto take_partition = [&](const Partition& p, Direction direction) {
    const double seconds = 2.0 * static_cast<double>(p.parts - 1) / static_cast<double>(p.rate);
    if (seconds > bound.seconds_per_byte) {
      bound = {seconds, partition_text(topology, p, direction)};
    }
  };
  if (single_nodes_bind(topology)) {
    FlowAmount rate = 0;
    for (const TopologyLink& link : topology.links()) rate += link.spec.bytes_per_second;
    take_partition({{}, topology.num_nodes(), rate}, Direction::out);
    return bound;
  }
  take_partition(StrengthSearch(topology, Direction::out).run(), Direction::out);
  // Every link between two parts leaves one part and enters the other, so only switches outside of
  // all parts can make the two directions differ.
  if (topology.num_switches() != 0) {
    take_partition(StrengthSearch(topology, Direction::in).run(), Direction::in);
  }
  // If every vertex has equal rates in and out, so has every set, and partitions in two parts cover
  // this case.
  if (!is_balanced(topology)) {
    const Cut cut = least_cut(topology);
    const double seconds = 1.0 / static_cast<double>(border_rate(topology, cut));
    if (seconds > bound.seconds_per_byte) bound = {seconds, cut_text(topology, cut)};
  }
  return bound;
}

// ---- distance ----

struct Distance {
  NodeId from;
  NodeId to;
  std::uint64_t picoseconds = 0;
};

// By vertex, the latency of the nearest way from `node` (out) or to it (in), in picoseconds.
std::vector<std::uint64_t> distances(const Topology& topology, NodeId node, Direction direction) {
  using Entry = std::pair<std::uint64_t, std::size_t>;
  std::vector<std::uint64_t> distance(topology.num_vertices(),
                                      std::numeric_limits<std::uint64_t>::max());
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> frontier;
  distance[node.index()] = 0;
  frontier.emplace(0, node.index());
  while (!frontier.empty()) {
    const auto [picoseconds, v] = frontier.top();
    frontier.pop();
    if (picoseconds != distance[v]) continue;
    const auto& links =
        direction == Direction::out ? topology.out_links(NodeId(v)) : topology.in_links(NodeId(v));
    for (const LinkId id : links) {
      const TopologyLink& link = topology.link(id);
      const std::size_t next = head_of(link, direction).index();
      const std::uint64_t arrival = picoseconds + link.spec.latency_ps;
      if (arrival >= distance[next]) continue;
      distance[next] = arrival;
      frontier.emplace(arrival, next);
    }
  }
  return distance;
}

// The farthest node that has a part, or the farthest of all nodes if `parts` is empty.
Distance farthest_from(const Topology& topology, NodeId from, const std::vector<Bytes>& parts) {
  const std::vector<std::uint64_t> distance = distances(topology, from, Direction::out);
  Distance farthest{from, from, 0};
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    if (!parts.empty() && parts[n] == 0) continue;
    if (distance[n] > farthest.picoseconds) farthest = {from, NodeId(n), distance[n]};
  }
  return farthest;
}

Distance farthest_pair(const Topology& topology) {
  const std::size_t sources = single_nodes_bind(topology) ? 1 : topology.num_nodes();
  Distance farthest{NodeId(0), NodeId(0), 0};
  for (std::size_t n = 0; n < sources; ++n) {
    const Distance candidate = farthest_from(topology, NodeId(n), {});
    if (candidate.picoseconds > farthest.picoseconds) farthest = candidate;
  }
  return farthest;
}

// Considers pairs of nodes between which data must pass: an all_gather's data come from nodes with
// a part; the data of other operations go to nodes with a part.
Distance farthest_pair(const Topology& topology, CollectiveOp op, const std::vector<Bytes>& parts) {
  const bool from_parts = op == CollectiveOp::all_gather;
  Distance farthest{NodeId(0), NodeId(0), 0};
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    if (from_parts && parts[n] == 0) continue;
    const Distance candidate =
        farthest_from(topology, NodeId(n), from_parts ? std::vector<Bytes>{} : parts);
    if (candidate.picoseconds > farthest.picoseconds) farthest = candidate;
  }
  return farthest;
}

// ---- distance and rate together ----

// A node's links carry what comes from a distance only after that distance, and what goes there
// only that long before the end.
struct NodeTime {
  double seconds = 0;
  NodeId node;
  NodeId other;  // at the distance
  std::uint64_t distance_ps = 0;
  Direction direction = Direction::out;
};

// Every other node sends `part` bytes to `node` (in), or is sent `part` bytes by it (out): those at
// distance d or more pass the node's links in the time without d. `part` is a node's own for each
// of the others, or, if `common`, one that all of them wait for or add to.
NodeTime node_time(const Topology& topology, NodeId node, Direction direction, double part,
                   bool common) {
  const std::vector<std::uint64_t> distance = distances(topology, node, direction);
  const auto rate =
      static_cast<double>(border_rate(topology, single_node(topology, node, direction)));
  std::vector<std::size_t> farthest_first;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    if (n != node.index()) farthest_first.push_back(n);
  }
  std::stable_sort(farthest_first.begin(), farthest_first.end(),
                   [&](std::size_t a, std::size_t b) { return distance[a] > distance[b]; });
  NodeTime worst;
  double bytes = 0;
  for (const std::size_t n : farthest_first) {
    bytes = common ? part : bytes + part;
    const double seconds = static_cast<double>(distance[n]) * 1e-12 + bytes / rate;
    if (seconds > worst.seconds) worst = {seconds, node, NodeId(n), distance[n], direction};
  }
  return worst;
}

NodeTime worst_node_time(const Topology& topology, CollectiveOp op, Bytes size, double part) {
  const bool common = op == CollectiveOp::all_reduce;
  if (part == 0 && !common) return {};  // then even the distance binds some nodes only
  const std::size_t nodes = single_nodes_bind(topology) ? 1 : topology.num_nodes();
  NodeTime worst;
  for (const Direction direction : {Direction::in, Direction::out}) {
    // An all_gather's part leaves its node once for all others; a reduce_scatter's comes in summed.
    if (op == CollectiveOp::all_gather && direction == Direction::out) continue;
    if (op == CollectiveOp::reduce_scatter && direction == Direction::in) continue;
    for (std::size_t n = 0; n < nodes; ++n) {
      const NodeTime time = node_time(topology, NodeId(n), direction,
                                      common ? static_cast<double>(size) : part, common);
      if (time.seconds > worst.seconds) worst = time;
    }
  }
  return worst;
}

void check_preconditions(const Topology& topology) {
  if (topology.num_nodes() < 2 || topology.find_disconnected().valid()) {
    throw std::invalid_argument("bounds need a connected network of at least two nodes");
  }
  for (const TopologyLink& link : topology.links()) {
    if (link.spec.bytes_per_second == 0) {
      throw std::invalid_argument("bounds need a bandwidth on every link");
    }
  }
}

}  // namespace

BandwidthBound bandwidth_bound(const Topology& topology, CollectiveOp op) {
  check_preconditions(topology);
  switch (op) {
    case CollectiveOp::all_reduce:
      return all_reduce_bound(topology);
    case CollectiveOp::reduce_scatter:
      return scatter_bound(topology, Direction::in);
    case CollectiveOp::all_gather:
      return scatter_bound(topology, Direction::out);
    case CollectiveOp::all_to_all:
      return all_to_all_bound(topology);
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
    case CollectiveOp::custom:
    case CollectiveOp::all_to_allv:
      break;
  }
  throw std::invalid_argument("no bound is proven for this collective");
}

CollectiveBound collective_bound(const Topology& topology, CollectiveOp op, Bytes size,
                                 const std::vector<Bytes>& parts) {
  CollectiveBound bound;
  if (size == 0) {
    bound.binding = "nothing to send";
    return bound;
  }
  const BandwidthBound bandwidth = bandwidth_bound(topology, op);
  const bool has_parts = op != CollectiveOp::all_reduce && !parts.empty();
  const Bytes smallest = has_parts ? *std::min_element(parts.begin(), parts.end()) : 0;
  // N times the number of bytes that every node has at least.
  const Bytes even = has_parts ? smallest * topology.num_nodes() : size;
  const Distance farthest =
      has_parts && smallest == 0 ? farthest_pair(topology, op, parts) : farthest_pair(topology);
  bound.bandwidth_seconds = bandwidth.seconds_per_byte * static_cast<double>(even);
  bound.latency_seconds = static_cast<double>(farthest.picoseconds) * 1e-12;
  if (bound.latency_seconds > bound.bandwidth_seconds) {
    bound.seconds = bound.latency_seconds;
    bound.binding =
        fmt::format("distance from {} to {}: {:g} ns", topology.vertex_name(farthest.from),
                    topology.vertex_name(farthest.to), bound.latency_seconds * 1e9);
  } else {
    bound.seconds = bound.bandwidth_seconds;
    bound.binding = bandwidth.cut;
  }
  const double part = static_cast<double>(even) / static_cast<double>(topology.num_nodes());
  const NodeTime node = worst_node_time(topology, op, size, part);
  bound.node_seconds = node.seconds;
  if (node.seconds > bound.seconds) {
    bound.seconds = node.seconds;
    bound.binding = fmt::format(
        "{}: {}, and {:g} ns {} {}", topology.vertex_name(node.node),
        border_text(topology, single_node(topology, node.node, node.direction)),
        static_cast<double>(node.distance_ps) * 1e-3,
        node.direction == Direction::in ? "from" : "to", topology.vertex_name(node.other));
  }
  return bound;
}

}  // namespace espalier
