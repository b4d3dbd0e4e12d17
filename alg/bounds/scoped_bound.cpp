// Bounds of broadcast, reduce and all_to_allv.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "alg/bounds/bounds.h"
#include "alg/bounds/max_flow.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

constexpr double kSecondsPerPs = 1e-12;

// By vertex, the latency of the nearest way from `node`, or to it if `towards`, in picoseconds.
std::vector<std::uint64_t> latencies_of(const Topology& topology, NodeId node, bool towards) {
  using Entry = std::pair<std::uint64_t, std::size_t>;
  std::vector<std::uint64_t> latency(topology.num_vertices(),
                                     std::numeric_limits<std::uint64_t>::max());
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> frontier;
  latency[node.index()] = 0;
  frontier.emplace(0, node.index());
  while (!frontier.empty()) {
    const auto [at, v] = frontier.top();
    frontier.pop();
    if (at != latency[v]) continue;
    for (const LinkId id : towards ? topology.in_links(NodeId(v)) : topology.out_links(NodeId(v))) {
      const TopologyLink& link = topology.link(id);
      const std::size_t next = (towards ? link.from : link.to).index();
      if (at + link.spec.latency_ps >= latency[next]) continue;
      latency[next] = at + link.spec.latency_ps;
      frontier.emplace(latency[next], next);
    }
  }
  return latency;
}

// The rate of all links into the vertex, or out of it.
std::uint64_t rate_at(const Topology& topology, NodeId vertex, bool out) {
  std::uint64_t rate = 0;
  for (const LinkId l : out ? topology.out_links(vertex) : topology.in_links(vertex)) {
    rate += topology.link(l).spec.bytes_per_second;
  }
  return rate;
}

double in_gb(double bytes_per_second) { return bytes_per_second / 1e9; }

// Keeps the largest of three bounds and its reason.
class BoundParts {
 public:
  template <class Describe>
  void bandwidth(double seconds, Describe describe) {
    if (seconds <= bound_.bandwidth_seconds * kClearlyMore) return;
    bound_.bandwidth_seconds = seconds;
    take(seconds, describe);
  }
  void latency(const Topology& topology, NodeId from, NodeId to, std::uint64_t picoseconds) {
    const double seconds = static_cast<double>(picoseconds) * kSecondsPerPs;
    if (seconds <= latency_seconds_) return;
    latency_seconds_ = seconds;
    take(seconds, [&] {
      return fmt::format("distance from {} to {}: {:g} ns", topology.vertex_name(from),
                         topology.vertex_name(to), seconds * 1e9);
    });
  }
  // `bytes` pass the node's links, and what passes last (first) has `picoseconds` to (from) `other`
  // before it.
  void node(const Topology& topology, NodeId node, NodeId other, bool out, double bytes,
            std::uint64_t picoseconds) {
    const auto rate = static_cast<double>(rate_at(topology, node, out));
    const double seconds = bytes / rate + static_cast<double>(picoseconds) * kSecondsPerPs;
    if (seconds <= node_seconds_) return;
    node_seconds_ = seconds;
    take(seconds, [&] {
      return fmt::format("{}: {:g} GB/s {}, and {:g} ns {} {}", topology.vertex_name(node),
                         in_gb(rate), out ? "out" : "in", static_cast<double>(picoseconds) * 1e-3,
                         out ? "to" : "from", topology.vertex_name(other));
    });
  }
  [[nodiscard]] CollectiveBound take() { return std::move(bound_); }

 private:
  static constexpr double kClearlyMore = 1 + 1e-12;  // of equal bounds, the first is reported
  template <class Describe>
  void take(double seconds, Describe describe) {
    if (seconds <= bound_.seconds) return;
    bound_.seconds = seconds;
    bound_.binding = describe();
  }
  CollectiveBound bound_;
  double latency_seconds_ = 0;
  double node_seconds_ = 0;
};

CollectiveBound rooted_bound(const Topology& topology, CollectiveOp op, Bytes size,
                             const Scope& scope) {
  const bool gathers = op == CollectiveOp::broadcast;
  const NodeId root = scope.root;
  const auto bytes = static_cast<double>(size);
  FlowNetwork network(topology.num_vertices());
  for (const TopologyLink& link : topology.links()) {
    network.set_capacity(network.add_arc(link.from.index(), link.to.index()),
                         link.spec.bytes_per_second);
  }
  const std::vector<std::uint64_t> latency = latencies_of(topology, root, !gathers);
  BoundParts parts;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId node(n);
    if (node == root || !scope.has(node)) continue;
    const FlowAmount flow =
        gathers ? network.min_cut(root.index(), n) : network.min_cut(n, root.index());
    const auto rate = static_cast<double>(flow);
    parts.bandwidth(bytes / rate, [&] {
      return fmt::format("cut from {} to {}: {:g} GB/s",
                         topology.vertex_name(gathers ? root : node),
                         topology.vertex_name(gathers ? node : root), in_gb(rate));
    });
    parts.latency(topology, gathers ? root : node, gathers ? node : root, latency[n]);
    parts.node(topology, node, root, !gathers, bytes, latency[n]);
    parts.node(topology, root, node, gathers, bytes, latency[n]);
  }
  return parts.take();
}

class ExchangeBound {
 public:
  ExchangeBound(const Topology& topology, const std::vector<Bytes>& counts)
      : topology_(topology), counts_(counts), nodes_(topology.num_nodes()) {}

  CollectiveBound run() {
    for (std::size_t n = 0; n < nodes_; ++n) {
      try_node(n, true);
      try_node(n, false);
    }
    const bool small = topology_.num_vertices() <= kMostPricedVertices;
    for (std::size_t n = 0; n < nodes_; ++n) try_balls(n, small);
    if (topology_.grid()) try_slices();
    if (small && std::any_of(counts_.begin(), counts_.end(), [](Bytes b) { return b != 0; })) {
      parts_.bandwidth(all_to_allv_prices(topology_, counts_).seconds,
                       [] { return std::string("prices of links: all paths together"); });
    }
    return parts_.take();
  }

 private:
  [[nodiscard]] Bytes count(std::size_t from, std::size_t to) const {
    return from == to ? 0 : counts_[from * nodes_ + to];
  }

  // What node n sends (out) or receives, the farthest first.
  void try_node(std::size_t n, bool out) {
    const std::vector<std::uint64_t> latency = latencies_of(topology_, NodeId(n), !out);
    std::vector<std::size_t> others;
    for (std::size_t m = 0; m < nodes_; ++m) {
      if ((out ? count(n, m) : count(m, n)) != 0) others.push_back(m);
    }
    std::stable_sort(others.begin(), others.end(),
                     [&](std::size_t a, std::size_t b) { return latency[a] > latency[b]; });
    double bytes = 0;
    for (const std::size_t m : others) {
      bytes += static_cast<double>(out ? count(n, m) : count(m, n));
      parts_.node(topology_, NodeId(n), NodeId(m), out, bytes, latency[m]);
      if (out) parts_.latency(topology_, NodeId(n), NodeId(m), latency[m]);
    }
  }

  template <class Describe>
  void try_cut(const std::vector<bool>& inside, Describe describe) {
    double out_bytes = 0;
    double in_bytes = 0;
    for (std::size_t from = 0; from < nodes_; ++from) {
      for (std::size_t to = 0; to < nodes_; ++to) {
        if (inside[from] == inside[to]) continue;
        (inside[from] ? out_bytes : in_bytes) += static_cast<double>(count(from, to));
      }
    }
    double out_rate = 0;
    double in_rate = 0;
    for (const TopologyLink& link : topology_.links()) {
      if (inside[link.from.index()] == inside[link.to.index()]) continue;
      (inside[link.from.index()] ? out_rate : in_rate) +=
          static_cast<double>(link.spec.bytes_per_second);
    }
    const auto offer = [&](double bytes, double rate, const char* direction) {
      if (bytes == 0) return;
      parts_.bandwidth(bytes / rate, [&] {
        return fmt::format("{}: {:g} GB/s {}", describe(), in_gb(rate), direction);
      });
    };
    offer(out_bytes, out_rate, "out");
    offer(in_bytes, in_rate, "in");
  }

  void try_balls(std::size_t n, bool larger) {
    const std::vector<std::size_t> distance = distances_from(topology_, NodeId(n));
    const std::size_t farthest = *std::max_element(distance.begin(), distance.end());
    for (std::size_t radius = 0; radius < (larger ? farthest : 1); ++radius) {
      std::vector<bool> inside;
      for (const std::size_t d : distance) inside.push_back(d <= radius);
      try_cut(inside, [&] {
        return radius == 0 ? fmt::format("node {} alone", topology_.vertex_name(NodeId(n)))
                           : fmt::format("the nodes within {} links of {}", radius,
                                         topology_.vertex_name(NodeId(n)));
      });
    }
  }

  void try_slices() {
    const GridShape& grid = *topology_.grid();
    for (std::size_t dim = 0; dim < grid.dims.size(); ++dim) {
      for (std::uint32_t border = 1; border < grid.dims[dim]; ++border) {
        std::vector<bool> inside;
        for (std::size_t n = 0; n < nodes_; ++n) {
          inside.push_back(grid.coordinates(NodeId(n))[dim] < border);
        }
        try_cut(inside, [&] { return fmt::format("cut across dimension {}", dim); });
      }
    }
  }

  const Topology& topology_;
  const std::vector<Bytes>& counts_;
  std::size_t nodes_;
  BoundParts parts_;
};

}  // namespace

CollectiveBound scoped_bound(const Topology& topology, CollectiveOp op, Bytes size,
                             const Scope& scope) {
  CollectiveBound bound;
  if (is_rooted(op) && size != 0) bound = rooted_bound(topology, op, size, scope);
  if (op == CollectiveOp::all_to_allv) bound = ExchangeBound(topology, scope.counts).run();
  if (bound.seconds == 0) bound.binding = "nothing to send";
  return bound;
}

}  // namespace espalier
