// Crossings with latency: where data from afar must pass a border of little rate.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "alg/bounds/cuts.h"

namespace espalier {

namespace {

// Bytes that have to pass between a node and the nodes far from it.
class FarData {
 public:
  FarData(const Topology& topology, const Demand& demand) : topology_(topology), demand_(demand) {}

  // An all_gather's part leaves its node once for all others; a reduce_scatter's comes in summed.
  [[nodiscard]] bool binds(Direction direction) const {
    return demand_.op !=
           (direction == Direction::out ? CollectiveOp::all_gather : CollectiveOp::reduce_scatter);
  }
  // Bytes between `node` and one that is farther than others: of its own, not shared with them.
  [[nodiscard]] double pair_bytes(std::size_t node, std::size_t far, Direction direction) const {
    const bool by_node = demand_.op == CollectiveOp::all_to_all && direction == Direction::in;
    return part(by_node ? node : far);
  }
  [[nodiscard]] bool is_shared() const { return demand_.op == CollectiveOp::all_reduce; }
  [[nodiscard]] double part(std::size_t node) const {
    if (is_shared()) return static_cast<double>(demand_.size);
    return demand_.parts.empty()
               ? static_cast<double>(demand_.size) / static_cast<double>(topology_.num_nodes())
               : static_cast<double>(demand_.parts[node]);
  }

 private:
  const Topology& topology_;
  const Demand& demand_;
};

// ---- Balls ----

struct Ball {
  double seconds = 0;  // estimate of the bound
  NodeId centre;
  NodeId other;                   // the nearest node outside
  std::uint64_t radius_ps = 0;    // the ball holds vertices up to this latency
  std::uint64_t distance_ps = 0;  // vertices from this latency on are outside
};

class BallSearch {
 public:
  BallSearch(const Topology& topology, const Demand& demand, Direction direction)
      : topology_(topology), data_(topology, demand), direction_(direction) {}

  Ball run() {
    // Where all nodes look the same, one is enough.
    const bool alike = single_nodes_bind(topology_) || topology_.dimensions();
    const std::size_t centres = alike ? 1 : topology_.num_nodes();
    for (std::size_t n = 0; n < centres; ++n) try_balls(NodeId(n));
    return best_;
  }

 private:
  void try_balls(NodeId centre) {
    // Into the centre: the way towards it.
    distance_ = latencies(topology_, {centre}, direction_);
    nearest_first_.resize(topology_.num_vertices());
    for (std::size_t v = 0; v < nearest_first_.size(); ++v) nearest_first_[v] = v;
    std::stable_sort(nearest_first_.begin(), nearest_first_.end(),
                     [&](std::size_t a, std::size_t b) { return distance_[a] < distance_[b]; });
    find_far_bytes(centre.index());
    double rate = 0;
    double least_rate = std::numeric_limits<double>::infinity();
    std::uint64_t best_radius = 0;
    inside_.assign(topology_.num_vertices(), false);
    for (std::size_t i = 0; i < nearest_first_.size();) {
      const std::uint64_t distance = distance_[nearest_first_[i]];
      if (far_bytes_[i] > 0 && least_rate < std::numeric_limits<double>::infinity()) {
        const double seconds = static_cast<double>(distance) * 1e-12 + far_bytes_[i] / least_rate;
        if (seconds > best_.seconds) {
          best_ = {seconds, centre, first_node_from(i), best_radius, distance};
        }
      }
      for (; i < nearest_first_.size() && distance_[nearest_first_[i]] == distance; ++i) {
        rate += take_in(nearest_first_[i]);
      }
      if (rate < least_rate) {
        least_rate = rate;
        best_radius = distance;
      }
    }
  }

  // By place in nearest_first_: bytes between the centre and all nodes from there on.
  void find_far_bytes(std::size_t centre) {
    far_bytes_.assign(nearest_first_.size(), 0);
    double bytes = 0;
    for (std::size_t i = nearest_first_.size(); i-- > 0;) {
      const std::size_t v = nearest_first_[i];
      if (v < topology_.num_nodes() && v != centre) {
        const double own = data_.pair_bytes(centre, v, direction_);
        bytes = data_.is_shared() ? own : bytes + own;
      }
      far_bytes_[i] = bytes;
    }
  }

  // Returns the change of the border's rate.
  double take_in(std::size_t v) {
    double change = 0;
    const auto& towards = direction_ == Direction::in ? topology_.in_links(NodeId(v))
                                                      : topology_.out_links(NodeId(v));
    for (const LinkId id : towards) {
      const TopologyLink& link = topology_.link(id);
      if (!inside_[head_of(link, direction_).index()]) {
        change += static_cast<double>(link.spec.bytes_per_second);
      }
    }
    const auto& away = direction_ == Direction::in ? topology_.out_links(NodeId(v))
                                                   : topology_.in_links(NodeId(v));
    for (const LinkId id : away) {
      const TopologyLink& link = topology_.link(id);
      if (inside_[tail_of(link, direction_).index()]) {
        change -= static_cast<double>(link.spec.bytes_per_second);
      }
    }
    inside_[v] = true;
    return change;
  }

  [[nodiscard]] NodeId first_node_from(std::size_t place) const {
    while (nearest_first_[place] >= topology_.num_nodes()) ++place;
    return NodeId(nearest_first_[place]);
  }

  const Topology& topology_;
  FarData data_;
  Direction direction_;
  Ball best_;
  std::vector<std::uint64_t> distance_;  // between the centre and each vertex
  std::vector<std::size_t> nearest_first_;
  std::vector<double> far_bytes_;
  std::vector<bool> inside_;
};

std::string ball_text(const Topology& topology, const Ball& ball, const Cut& cut) {
  const auto nodes =
      std::count(cut.inside.begin(),
                 cut.inside.begin() + static_cast<std::ptrdiff_t>(topology.num_nodes()), true);
  const std::string& centre = topology.vertex_name(ball.centre);
  return fmt::format(
      "{}: {}, and {:g} ns {} {}",
      ball.radius_ps == 0 && nodes == 1
          ? centre
          : fmt::format("the {} {} within {:g} ns of {}", nodes, nodes == 1 ? "node" : "nodes",
                        static_cast<double>(ball.radius_ps) * 1e-3, centre),
      border_text(topology, cut), static_cast<double>(ball.distance_ps) * 1e-3,
      cut.direction == Direction::in ? "from" : "to", topology.vertex_name(ball.other));
}

// ---- Cuts with latency ----

// Distances of a cut that are tried; with more of them, every so many.
constexpr std::size_t kMostLevels = 24;

}  // namespace

std::vector<Proposal> ball_proposals(const Topology& topology, const Demand& demand) {
  std::vector<Proposal> proposals;
  const FarData data(topology, demand);
  for (const Direction direction : {Direction::in, Direction::out}) {
    if (!data.binds(direction)) continue;
    const Ball ball = BallSearch(topology, demand, direction).run();
    if (!ball.centre.valid()) continue;  // no node has data
    const auto distance = latencies(topology, {ball.centre}, direction);
    Cut cut{std::vector<bool>(topology.num_vertices(), false), direction};
    std::vector<NodeId> far;
    for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
      cut.inside[v] = distance[v] <= ball.radius_ps;
      if (v < topology.num_nodes() && distance[v] >= ball.distance_ps &&
          data.pair_bytes(ball.centre.index(), v, direction) > 0) {
        far.emplace_back(v);
      }
    }
    // An element of an all_reduce waits for the farthest node, whichever that is.
    if (data.is_shared()) far = {ball.other};
    CrossingCertificate crossing;
    crossing.into = direction == Direction::in ? cut.inside : other_side(cut).inside;
    crossing.from = far;
    crossing.to = {ball.centre};
    if (direction == Direction::out) std::swap(crossing.from, crossing.to);
    proposals.push_back({std::move(crossing), ball_text(topology, ball, cut)});
  }
  return proposals;
}

std::vector<Proposal> cut_proposals(const Topology& topology, const Demand& demand,
                                    const CrossingCertificate& cut, const std::string& text) {
  std::vector<Proposal> proposals{{cut, text}};
  if (demand.op == CollectiveOp::all_to_all || single_nodes_bind(topology)) return proposals;
  // One node of the side that needs everything (all_gather: receives it) is enough: the one
  // farthest from the other side.
  const bool gathers = demand.op != CollectiveOp::reduce_scatter;
  const FarData data(topology, demand);
  const auto farthest = [&](const std::vector<NodeId>& nodes,
                            const std::vector<std::uint64_t>& distance) {
    return *std::max_element(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
      return distance[a.index()] < distance[b.index()];
    });
  };
  const Direction ahead = gathers ? Direction::out : Direction::in;
  const std::vector<NodeId>& givers = gathers ? cut.from : cut.to;
  const std::vector<NodeId>& takers = gathers ? cut.to : cut.from;
  const NodeId deep = farthest(takers, latencies(topology, givers, ahead));
  const auto distance = latencies(topology, {deep}, opposite(ahead));
  const auto propose = [&](std::vector<NodeId> from) {
    CrossingCertificate crossing{cut.into, std::move(from), {deep}};
    if (!gathers) std::swap(crossing.from, crossing.to);
    proposals.push_back({std::move(crossing), text});
  };
  if (data.is_shared()) {
    propose({farthest(givers, distance)});
    return proposals;
  }
  std::vector<NodeId> nearest_first;
  std::copy_if(givers.begin(), givers.end(), std::back_inserter(nearest_first),
               [&](NodeId n) { return data.part(n.index()) > 0; });
  std::stable_sort(nearest_first.begin(), nearest_first.end(),
                   [&](NodeId a, NodeId b) { return distance[a.index()] < distance[b.index()]; });
  std::vector<std::size_t> begins;  // of each distance
  for (std::size_t i = 0; i < nearest_first.size(); ++i) {
    if (i == 0 || distance[nearest_first[i].index()] != distance[nearest_first[i - 1].index()]) {
      begins.push_back(i);
    }
  }
  const std::size_t stride = 1 + begins.size() / kMostLevels;
  for (std::size_t level = 0; level < begins.size(); level += stride) {
    propose(
        {nearest_first.begin() + static_cast<std::ptrdiff_t>(begins[level]), nearest_first.end()});
  }
  return proposals;
}

}  // namespace espalier
