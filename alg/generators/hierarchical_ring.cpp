// HIERARCHICAL RING: a reduce-scatter along rings in each dimension, then an all-gather back, or an
// exchange in each, as on the multi-dimensional systems of ASTRA-sim (Rashidi et al., ISPASS 2020)
// and in BlueConnect (Cho et al., MLSys 2019). A dimension moves only the block that the dimensions
// before it have left at the node. Rings are unidirectional and whole data go one way: no dimension
// waits for another.
#include <vector>

#include "alg/generators/generator.h"
#include "alg/generators/rings.h"
#include "alg/routes/routing.h"

namespace espalier {
namespace {

// Of a process group, which has no dimensions of its own, one ring in the order of its list.
std::vector<std::uint32_t> sizes_of(const Topology& topology) {
  if (topology.shape().outside.empty() || !topology.shape().near_by_number) {
    return dimension_sizes(topology);
  }
  return {static_cast<std::uint32_t>(topology.num_nodes())};
}

class HierarchicalRing {
 public:
  HierarchicalRing(const Topology& topology, const CollectiveRequest& request)
      : topology_(topology),
        sizes_(sizes_of(topology)),
        is_list_(dimension_sizes(topology).empty()),
        schedule_(empty_schedule("hierarchical_ring", topology, request)),
        nodes_(topology.num_nodes()),
        block_(nodes_, {0, static_cast<std::uint32_t>(nodes_)}),
        completed_(nodes_) {
    const auto offsets = cut_evenly(request.size, nodes_, request.element_bytes);
    for (std::size_t c = 0; c < nodes_; ++c) {
      schedule_.chunks.push_back({offsets[c], offsets[c + 1] - offsets[c], owner_of(c)});
    }
    schedule_.ni_ports = 1;
  }

  Schedule exchange(const CollectiveRequest& request) {
    std::vector<std::size_t> order;
    for (std::size_t c = 0; c < nodes_; ++c) order.push_back(owner_of(c).index());
    RingExchange exchange(schedule_, request, order);
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      if (sizes_[d] == 1) continue;
      std::vector<RingLine> lines;
      std::vector<std::size_t> place_of;
      for (std::size_t n = 0; n < nodes_; ++n) {
        const auto at = coordinates(NodeId(n));
        place_of.push_back(at[d]);
        if (at[d] == 0) lines.push_back(line_of(at, d));
      }
      exchange.add(lines, place_of);
    }
    return finished(std::move(schedule_));
  }

  Schedule generate() {
    const bool scatters = schedule_.op != CollectiveOp::all_gather;
    const bool gathers = schedule_.op != CollectiveOp::reduce_scatter;
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      if (scatters) add_phase(d, TransferKind::reduce);
      narrow(d);
    }
    for (std::size_t d = sizes_.size(); gathers && d-- > 0;) {
      add_phase(d, TransferKind::copy);
      for (auto& [first, count] : block_) {
        count *= sizes_[d];
        first -= first % count;
      }
    }
    return finished(std::move(schedule_));
  }

 private:
  // A block of chunks: the first one and their number.
  using Block = std::pair<std::size_t, std::uint32_t>;

  [[nodiscard]] std::vector<std::uint32_t> coordinates(NodeId node) const {
    if (is_list_) return {node.value()};
    return coordinates_of(topology_, node);
  }
  [[nodiscard]] NodeId node_at(const std::vector<std::uint32_t>& at) const {
    if (topology_.grid()) return topology_.grid()->node_at(at);
    std::size_t node = 0;
    for (std::size_t d = sizes_.size(); d-- > 0;) node = node * sizes_[d] + at[d];
    return NodeId(node);
  }
  // Chunks are numbered with the first dimension's coordinate as the highest digit.
  [[nodiscard]] NodeId owner_of(std::size_t chunk) const {
    std::vector<std::uint32_t> at(sizes_.size());
    for (std::size_t d = sizes_.size(); d-- > 0; chunk /= sizes_[d]) {
      at[d] = static_cast<std::uint32_t>(chunk % sizes_[d]);
    }
    return node_at(at);
  }

  // Each node keeps its part of its block in dimension `d`.
  void narrow(std::size_t d) {
    for (std::size_t n = 0; n < nodes_; ++n) {
      auto& [first, count] = block_[n];
      count /= sizes_[d];
      first += std::size_t{count} * coordinates(NodeId(n))[d];
    }
  }

  [[nodiscard]] RingLine line_of(const std::vector<std::uint32_t>& start, std::size_t d) {
    RingLine line;
    auto at = start;
    for (at[d] = 0; at[d] < sizes_[d]; ++at[d]) line.nodes.push_back(node_at(at));
    for (std::size_t i = 0; i < line.size(); ++i) {
      const NodeId next = line.nodes[(i + 1) % line.size()];
      line.hops.push_back(
          schedule_.routes.add(topology_, route_packet(topology_, line.nodes[i], next)));
    }
    return line;
  }

  // All rings of dimension `d`. Before a reduce-scatter all nodes of a ring have the same block and
  // each is the root of a part; in an all-gather each is the root of its own block.
  void add_phase(std::size_t d, TransferKind kind) {
    std::vector<std::vector<TransferId>> completed(nodes_);
    for (std::size_t n = 0; n < nodes_; ++n) {
      const auto start = coordinates(NodeId(n));
      if (start[d] != 0 || sizes_[d] == 1) continue;
      const RingLine line = line_of(start, d);
      RingWaits waits;
      for (const NodeId node : line.nodes) waits.push_back(completed_[node.index()]);
      for (std::size_t root = 0; root < line.size(); ++root) {
        const NodeId at_root = line.nodes[root];
        auto [first, count] = block_[at_root.index()];
        if (kind == TransferKind::reduce) {
          count /= sizes_[d];
          first += std::size_t{count} * root;
        }
        add_flows(line, root, first, count, kind, waits, completed);
      }
    }
    if (sizes_[d] == 1) return;
    next_step_ = static_cast<Timestep>(next_step_ + sizes_[d] - 1);
    schedule_.num_steps = next_step_ - 1;
    for (std::size_t n = 0; n < nodes_; ++n) {
      completed_[n].insert(completed_[n].end(), completed[n].begin(), completed[n].end());
    }
  }

  void add_flows(const RingLine& line, std::size_t root, std::size_t first, std::uint32_t count,
                 TransferKind kind, const RingWaits& waits,
                 std::vector<std::vector<TransferId>>& completed) {
    const RingFlow flow{FlowId(next_flow_++), root, ChunkId(first), count};
    const Chunk& last = schedule_.chunks[first + count - 1];
    if (last.offset + last.size == schedule_.chunks[first].offset) return;  // no bytes
    if (kind == TransferKind::reduce) {
      completed[line.nodes[root].index()].push_back(
          add_reduce_chain(schedule_, line, flow, next_step_, waits));
      return;
    }
    const auto arrived = add_gather_chain(schedule_, line, flow, next_step_, waits[root]);
    for (std::size_t place = 0; place < line.size(); ++place) {
      if (place != root) completed[line.nodes[place].index()].push_back(arrived[place]);
    }
  }

  const Topology& topology_;
  std::vector<std::uint32_t> sizes_;
  bool is_list_;  // of ranks, without dimensions
  Schedule schedule_;
  std::size_t nodes_;
  std::vector<Block> block_;                        // by node: what it works on
  std::vector<std::vector<TransferId>> completed_;  // by node: what completed its block
  Timestep next_step_ = 1;
  std::size_t next_flow_ = 0;
};

std::string unsuited_for_hierarchical_ring(const Topology& topology) {
  if (!sizes_of(topology).empty()) return {};
  return topology.shape().outside.empty()
             ? "hierarchical_ring needs dimensions: a torus, mesh or grid, or a network.yml of "
               "ASTRA-sim"
             : "a process group has no dimensions; ring is hierarchical_ring's one ring";
}

Schedule generate_hierarchical_ring(const Topology& topology, const CollectiveRequest& request) {
  HierarchicalRing rings(topology, request);
  return is_exchange(request.op) ? rings.exchange(request) : rings.generate();
}

}  // namespace

Generator hierarchical_ring_row() {
  Generator row("hierarchical_ring",
                "a reduce-scatter in one dimension after the other, then all-gathers back",
                reduction_ops(), unsuited_for_hierarchical_ring, generate_hierarchical_ring);
  row.ops.push_back(CollectiveOp::all_to_all);
  row.too_large = exchange_too_large;
  row.exchanges_slowly = true;
  row.fixed_ranks = "its parts follow the coordinates of nodes";
  return row;
}

}  // namespace espalier
