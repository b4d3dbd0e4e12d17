// The partition that binds an all_reduce, and the cut where a vertex has unequal rates in and out.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "alg/bounds/cuts.h"

namespace espalier {

namespace {

constexpr std::size_t kMostPartsNamed = 4;

// A partition of the nodes. C(P) is the sum of the rates out of the parts.
struct Partition {
  std::vector<std::size_t> part_of;  // by node: the least node of its part
  std::size_t parts = 0;
  WideAmount rate = 0;
  PartitionCertificate certificate;
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
        direction_(direction),
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
        place_switches();
        return best_;
      }
      best_ = std::move(better);
    }
  }

 private:
  // The partition with the least C(P) - numerator / denominator * p; all scaled by denominator.
  Partition best_partition_at(WideAmount numerator, WideAmount denominator) {
    const std::size_t nodes = topology_.num_nodes();
    WideAmount everything = 1;
    std::size_t arc = 0;
    for (const TopologyLink& link : topology_.links()) {
      const WideAmount capacity = denominator * link.spec.bytes_per_second;
      network_.set_capacity(arc++, capacity);
      everything += capacity;
    }
    everything += numerator * nodes;

    std::vector<std::size_t> part_of(nodes);
    std::iota(part_of.begin(), part_of.end(), std::size_t{0});
    // Nodes that have no potential yet stay outside of every set.
    for (std::size_t n = 0; n < nodes; ++n) set_node(n, 0, everything);
    WideAmount all_potentials = 0;
    WideAmount positive_potentials = 0;
    for (std::size_t n = 0; n < nodes; ++n) {
      set_node(n, everything, 0);
      const WideAmount least = network_.max_flow(source_, sink_);
      const WideAmount potential = least - positive_potentials - numerator;
      all_potentials += potential;
      if (potential > 0) positive_potentials += potential;
      set_node(n, std::max<WideAmount>(potential, 0), std::max<WideAmount>(-potential, 0));
      merge_source_side(part_of, n);
    }

    Partition result;
    result.part_of = std::move(part_of);
    for (std::size_t n = 0; n < nodes; ++n) result.parts += result.part_of[n] == n ? 1U : 0U;
    result.rate = (all_potentials + numerator * result.parts) / denominator;
    return result;
  }

  // Every part takes the switches that leave it the least rate.
  void place_switches() {
    std::size_t arc = 0;
    WideAmount everything = 1;
    for (const TopologyLink& link : topology_.links()) {
      network_.set_capacity(arc++, link.spec.bytes_per_second);
      everything += link.spec.bytes_per_second;
    }
    best_.certificate.outwards = direction_ == Direction::out;
    for (std::size_t part = 0; part < topology_.num_nodes(); ++part) {
      if (best_.part_of[part] != part) continue;
      std::vector<NodeId> vertices;
      for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
        const bool inside = best_.part_of[n] == part;
        set_node(n, inside ? everything : 0, inside ? 0 : everything);
        if (inside) vertices.emplace_back(n);
      }
      if (topology_.num_switches() != 0) {
        network_.max_flow(source_, sink_);
        for (std::size_t v = topology_.num_nodes(); v < topology_.num_vertices(); ++v) {
          if (network_.on_source_side(v)) vertices.emplace_back(v);
        }
      }
      best_.certificate.parts.push_back(std::move(vertices));
    }
  }

  void set_node(std::size_t node, WideAmount from_source, WideAmount to_sink) {
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
  Direction direction_;
  std::size_t source_;
  std::size_t sink_;
  WideFlow network_;
  Partition best_;
};

bool is_balanced(const Topology& topology) {
  std::vector<WideAmount> surplus(topology.num_vertices(), 0);
  for (const TopologyLink& link : topology.links()) {
    surplus[link.from.index()] += link.spec.bytes_per_second;
    surplus[link.to.index()] -= link.spec.bytes_per_second;
  }
  return std::all_of(surplus.begin(), surplus.end(), [](WideAmount s) { return s == 0; });
}

// The cut between two nodes with the lowest rate in one direction. Node 0 may be inside or outside.
Cut least_cut(const Topology& topology) {
  WideFlow network(topology.num_vertices());
  for (const TopologyLink& link : topology.links()) {
    network.add_arc(link.from.index(), link.to.index(), link.spec.bytes_per_second);
  }
  Cut best;
  WideAmount least = 0;
  for (std::size_t n = 1; n < topology.num_nodes(); ++n) {
    for (const auto& [source, sink] :
         {std::pair{std::size_t{0}, n}, std::pair{n, std::size_t{0}}}) {
      const WideAmount rate = network.max_flow(source, sink);
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
  sizes.resize(std::min(partition.parts, kMostPartsNamed));
  return fmt::format("partition into {} parts of {}{} nodes: {:g} GB/s {}", partition.parts,
                     fmt::join(sizes, ", "), partition.parts > kMostPartsNamed ? ", ..." : "",
                     static_cast<double>(partition.rate) / 1e9, to_string(direction));
}

}  // namespace

BandwidthBound all_reduce_bound(const Topology& topology) {
  BandwidthBound bound;
  const auto take_partition = [&](const Partition& p, Direction direction) {
    const double seconds = 2.0 * static_cast<double>(p.parts - 1) / static_cast<double>(p.rate);
    if (seconds > bound.seconds_per_byte) {
      bound = {seconds, partition_text(topology, p, direction), p.certificate};
    }
  };
  if (single_nodes_bind(topology)) {
    Partition single_nodes;
    single_nodes.parts = topology.num_nodes();
    for (const TopologyLink& link : topology.links()) {
      single_nodes.rate += link.spec.bytes_per_second;
    }
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
      single_nodes.certificate.parts.push_back({NodeId(n)});
    }
    take_partition(single_nodes, Direction::out);
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
    if (seconds > bound.seconds_per_byte) {
      bound = {seconds, cut_text(topology, cut), crossing_of(topology, cut)};
    }
  }
  return bound;
}

}  // namespace espalier
