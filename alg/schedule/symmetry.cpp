// Networks that look the same from every node, and schedules and tables in which the part of one
// root describes the parts of all roots.
#include <utility>

#include "alg/schedule/translations.h"

#include "alg/schedule/schedule_table.h"

namespace espalier {

NodeId Translations::combine(NodeId a, NodeId b, bool minus) const {
  if (!grid_.twist.empty() || !grid_.node_of_place.empty()) {
    const std::vector<std::uint32_t> place_of_b = grid_.coordinates(b);
    std::vector<std::int64_t> hops(place_of_b.begin(), place_of_b.end());
    for (std::int64_t& hop : hops) hop = minus ? -hop : hop;
    return grid_.node_after(a, hops);
  }
  std::uint32_t rest_a = a.value();
  std::uint32_t rest_b = b.value();
  std::uint32_t place = 1;
  std::uint32_t result = 0;
  for (const std::uint32_t size : grid_.dims) {
    const std::uint32_t x = rest_a % size;
    const std::uint32_t y = rest_b % size;
    const std::uint32_t sum = minus ? x + size - y : x + y;
    result += place * (sum >= size ? sum - size : sum);
    place *= size;
    rest_a /= size;
    rest_b /= size;
  }
  return NodeId(result);
}

std::optional<Translations> Translations::find(const Topology& topology) {
  const std::size_t nodes = topology.num_nodes();
  if (topology.num_switches() != 0 || nodes < 2) return std::nullopt;
  // Without coordinates, only the cyclic group is tried.
  Translations group(
      topology.grid() ? *topology.grid() : GridShape({static_cast<std::uint32_t>(nodes)}, true),
      nodes);
  for (const LinkId l : topology.out_links(NodeId(0))) {
    group.generators_.push_back(topology.link(l).to);
  }
  group.place_of_link_.resize(topology.num_links());
  for (std::size_t v = 0; v < nodes; ++v) {
    const auto& out = topology.out_links(NodeId(v));
    if (out.size() != group.generators_.size()) return std::nullopt;
    for (std::size_t port = 0; port < out.size(); ++port) {
      const TopologyLink& link = topology.link(out[port]);
      const LinkSpec& first = topology.link(topology.out_links(NodeId(0))[port]).spec;
      if (link.to != group.add(NodeId(v), group.generators_[port]) || !(link.spec == first)) {
        return std::nullopt;
      }
      group.place_of_link_[out[port].index()] = group.link_at_.size();
      group.link_at_.push_back(out[port]);
    }
  }
  return group;
}

namespace {

// The entry translated by `by`. Precondition: routes are single links.
TableEntry translated(const TableEntry& entry, const Translations& group, std::size_t per_root,
                      NodeId by) {
  TableEntry result = entry;
  if (entry.op == TableOp::nop) return result;
  const auto move = [&](TablePeer& peer) {
    if (peer.node.valid()) peer.node = group.add(peer.node, by);
    if (peer.route.valid()) {
      peer.route = RouteSet::single(group.translate(LinkId(peer.route.index()), by));
    }
  };
  result.flow = group.translate_root(entry.flow, per_root, by);
  move(result.parent);
  for (TablePeer& child : result.children) move(child);
  return result;
}

NodeId root_of(FlowId flow, std::size_t per_root) { return NodeId(flow.index() / per_root); }

}  // namespace

Schedule fold_onto_first_node(const Schedule& schedule) {
  const Translations& group = *schedule.symmetry;
  const std::size_t per_root = schedule.chunks.size() / group.num_nodes();
  Schedule folded = schedule;
  folded.transfers.clear();
  folded.dependency_begin = {0};
  folded.dependencies.clear();
  const auto moved = [&](const Transfer& t, NodeId to_first) {
    const NodeId by = group.negative(to_first);
    Transfer result = t;
    result.from = group.add(t.from, by);
    result.to = group.add(t.to, by);
    result.flow = group.translate_root(t.flow, per_root, by);
    result.route = RouteSet::single(group.translate(LinkId(t.route.index()), by));
    return result;
  };
  // Transfer t becomes transfer 2 t, which node 0 sends, and 2 t + 1, which node 0 receives.
  std::vector<TransferId> waits;
  for (std::size_t t = 0; t < schedule.transfers.size(); ++t) {
    waits.clear();
    for (const TransferId d : schedule.dependencies_of(TransferId(t))) {
      waits.emplace_back(2 * d.index() + 1);
    }
    const Transfer& transfer = schedule.transfers[t];
    folded.add(moved(transfer, transfer.from), waits);
    folded.add(moved(transfer, transfer.to), {});
  }
  return folded;
}

ScheduleTables tables_of_first_root(const ScheduleTables& tables) {
  const Translations& group = *tables.symmetry;
  ScheduleTables result = tables;
  result.symmetry.reset();
  result.repeated.clear();
  result.chunks.resize(tables.per_root());
  result.size = result.chunks.back().offset + result.chunks.back().size;
  // The tables of one root do not show whether two roots share a link.
  result.contention_free = false;
  result.nodes.assign(group.num_nodes(), {});
  for (const TableEntry& entry : tables.nodes.front()) {
    if (entry.op == TableOp::nop) continue;
    // The node at which this entry belongs to root 0.
    const NodeId at = group.negative(root_of(entry.flow, tables.per_root()));
    result.nodes[at.index()].push_back(translated(entry, group, tables.per_root(), at));
  }
  return result;
}

ScheduleTables expand_symmetry(const Topology& topology, ScheduleTables tables) {
  if (!tables.symmetry) return tables;
  const Translations group = *tables.symmetry;
  const std::size_t per_root = tables.per_root();
  const std::vector<TableEntry> first = std::move(tables.nodes.front());
  tables.nodes.assign(topology.num_nodes(), {});
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    tables.nodes[n].reserve(first.size());
    for (const TableEntry& entry : first) {
      TableEntry moved = translated(entry, group, per_root, NodeId(n));
      if (entry.op != TableOp::nop) {
        // The corresponding chunks in another root's data.
        const std::size_t first_of_root = root_of(moved.flow, per_root).index() * per_root;
        std::size_t begin = 0;
        while (tables.chunks[begin].offset != entry.start_addr) ++begin;
        std::size_t end = begin;
        while (tables.chunks[end].offset + tables.chunks[end].size <
               entry.start_addr + entry.size) {
          ++end;
        }
        const Chunk& last = tables.chunks[first_of_root + end];
        moved.start_addr = tables.chunks[first_of_root + begin].offset;
        moved.size = last.offset + last.size - moved.start_addr;
      }
      tables.nodes[n].push_back(std::move(moved));
    }
  }
  tables.symmetry.reset();
  tables.repeated.clear();
  return tables;
}

}  // namespace espalier
