#include "alg/generators/rings.h"

#include <algorithm>
#include <cstddef>

#include "alg/routes/routing.h"

namespace espalier {

std::vector<std::size_t> long_dimensions(const GridShape& grid) {
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < grid.dims.size(); ++d) {
    if (grid.dims[d] > 1) dims.push_back(d);
  }
  return dims;
}

namespace {

// A grid as a matrix. The columns are the nodes of all dimensions except the last, in snake order,
// so that neighbouring columns are linked. The rows are the last dimension that has rings, or the
// last one. Dimensions of size 1 are left out.
class GridMatrix {
 public:
  explicit GridMatrix(const GridShape& grid) : grid_(grid), used_dims_(long_dimensions(grid)) {
    std::stable_partition(used_dims_.begin(), used_dims_.end(),
                          [&](std::size_t d) { return !grid.closes(d); });
    rows_ = grid.dims[used_dims_.back()];
    for (std::size_t i = 0; i + 1 < used_dims_.size(); ++i) columns_ *= grid.dims[used_dims_[i]];
  }

  [[nodiscard]] std::size_t num_dims() const { return used_dims_.size(); }
  [[nodiscard]] std::size_t row_dim() const { return used_dims_.back(); }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }

  [[nodiscard]] NodeId at(std::size_t column, std::size_t row) const {
    std::vector<std::uint32_t> coordinates(grid_.dims.size(), 0);
    coordinates[used_dims_.back()] = static_cast<std::uint32_t>(row);
    std::size_t rest = column;
    for (std::size_t i = 0; i + 1 < used_dims_.size(); ++i) {
      const std::size_t size = grid_.dims[used_dims_[i]];
      const std::size_t sweep = rest / size;
      const std::size_t offset = rest % size;
      // Every other sweep through a dimension runs backwards.
      coordinates[used_dims_[i]] =
          static_cast<std::uint32_t>(sweep % 2 == 0 ? offset : size - 1 - offset);
      rest = sweep;
    }
    return grid_.node_at(coordinates);
  }

 private:
  const GridShape& grid_;
  std::vector<std::size_t> used_dims_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 1;
};

// Precondition: an even number of lines with at least two places each. The cycle visits places 1..
// of all lines, back and forth, and returns through place 0 of each line.
template <class NodeAt>
std::vector<NodeId> comb_cycle(std::size_t lines, std::size_t places, const NodeAt& node_at) {
  std::vector<NodeId> cycle{node_at(0, 0)};
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t i = 1; i < places; ++i) {
      cycle.push_back(node_at(line, line % 2 == 0 ? i : places - i));
    }
  }
  for (std::size_t line = lines - 1; line > 0; --line) cycle.push_back(node_at(line, 0));
  return cycle;
}

// A torus with an odd number of columns: down and up the columns without the last row, back along
// the last row, and through the wrap-around link of column 0 to the start.
std::vector<NodeId> wrapped_cycle(const GridMatrix& m) {
  std::vector<NodeId> cycle;
  for (std::size_t column = 0; column < m.columns(); ++column) {
    for (std::size_t i = 0; i + 1 < m.rows(); ++i) {
      cycle.push_back(m.at(column, column % 2 == 0 ? i : m.rows() - 2 - i));
    }
  }
  for (std::size_t column = m.columns(); column-- > 0;) {
    cycle.push_back(m.at(column, m.rows() - 1));
  }
  return cycle;
}

std::vector<LinkId> grid_cycle(const Topology& topology) {
  const GridShape& grid = *topology.grid();
  const GridMatrix m(grid);
  std::vector<LinkId> links;
  const std::size_t dim = m.row_dim();
  if (m.num_dims() == 1 && grid.closes(dim)) {
    // Always the plus direction: in a ring of two nodes, the minus links stay free for the reversed
    // ring.
    for (std::size_t row = 0; row < m.rows(); ++row) {
      links.push_back(grid_link(topology, m.at(0, row), dim, true));
    }
    return links;
  }

  std::vector<NodeId> cycle;
  if (m.num_dims() == 1) {
    if (m.rows() > 2) return {};
    cycle = {m.at(0, 0), m.at(0, 1)};
  } else if (m.rows() % 2 == 0) {
    cycle = comb_cycle(m.rows(), m.columns(),
                       [&](std::size_t row, std::size_t column) { return m.at(column, row); });
  } else if (m.columns() % 2 == 0) {
    cycle = comb_cycle(m.columns(), m.rows(),
                       [&](std::size_t column, std::size_t row) { return m.at(column, row); });
  } else if (grid.closes(dim)) {
    cycle = wrapped_cycle(m);
  } else {
    return {};  // a mesh is bipartite: no cycle visits an odd number of nodes
  }
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    links.push_back(topology.link_between(cycle[i], cycle[(i + 1) % cycle.size()]));
  }
  return links;
}

// Depth-first search for a cycle through all nodes. The neighbour with the fewest unvisited
// neighbours is tried first, because it would be the first to become unreachable.
class CycleSearch {
 public:
  explicit CycleSearch(const Topology& topology) : topology_(topology) {
    const std::size_t nodes = topology.num_nodes();
    next_.resize(nodes);
    around_.resize(nodes);
    visited_.assign(nodes, false);
    for (std::size_t n = 0; n < nodes; ++n) {
      for (const LinkId link : topology.out_links(NodeId(n))) {
        append_new(next_[n], topology.link(link).to);
        append_new(around_[n], topology.link(link).to);
      }
      for (const LinkId link : topology.in_links(NodeId(n))) {
        append_new(around_[n], topology.link(link).from);
      }
    }
  }

  // Links of the cycle, from node 0.
  [[nodiscard]] std::vector<LinkId> run() {
    const std::size_t nodes = topology_.num_nodes();
    if (nodes < 2) return {};
    for (const auto& around : around_) {
      if (around.empty() || (nodes > 2 && around.size() < 2)) return {};
    }
    push(scarcest_node());
    std::size_t steps_left = kMaxVisits / nodes;
    while (!path_.empty()) {
      if (path_.size() == nodes && topology_.link_between(path_.back(), path_.front()).valid()) {
        return links_from_node_0();
      }
      auto& choices = choices_.back();
      if (choices.empty()) {
        visited_[path_.back().index()] = false;
        path_.pop_back();
        choices_.pop_back();
        continue;
      }
      if (steps_left-- == 0) return {};
      const NodeId choice = choices.back();
      choices.pop_back();
      if (strands_a_node(choice)) continue;
      push(choice);
      if (!can_still_close()) choices_.back().clear();
    }
    return {};
  }

 private:
  // Limit of visited nodes over all steps: well below a second.
  static constexpr std::size_t kMaxVisits = 20'000'000;

  static void append_new(std::vector<NodeId>& list, NodeId node) {
    if (std::find(list.begin(), list.end(), node) == list.end()) list.push_back(node);
  }

  [[nodiscard]] NodeId scarcest_node() const {
    NodeId best(0);
    for (std::size_t n = 1; n < next_.size(); ++n) {
      if (next_[n].size() < next_[best.index()].size()) best = NodeId(n);
    }
    return best;
  }

  [[nodiscard]] std::size_t ways_on(NodeId node) const {
    const auto& next = next_[node.index()];
    return static_cast<std::size_t>(std::count_if(
        next.begin(), next.end(), [&](NodeId other) { return !visited_[other.index()]; }));
  }

  void push(NodeId node) {
    visited_[node.index()] = true;
    path_.push_back(node);
    std::vector<NodeId> choices;
    for (const NodeId next : next_[node.index()]) {
      if (!visited_[next.index()]) choices.push_back(next);
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [&](NodeId a, NodeId b) { return ways_on(a) < ways_on(b); });
    std::reverse(choices.begin(), choices.end());  // choices are taken from the back
    choices_.push_back(std::move(choices));
  }

  // True if the step to `to` makes a cycle impossible: an unvisited neighbour of the current end of
  // the path needs two other neighbours on the cycle.
  [[nodiscard]] bool strands_a_node(NodeId to) const {
    if (path_.size() < 2) return false;
    for (const NodeId left : around_[path_.back().index()]) {
      if (left == to || visited_[left.index()]) continue;
      const auto& around = around_[left.index()];
      const auto usable = std::count_if(around.begin(), around.end(), [&](NodeId other) {
        return !visited_[other.index()] || other == path_.front();
      });
      if (usable < 2) return true;
    }
    return false;
  }

  // The rest of the cycle is a path from the current end through all unvisited nodes to the start.
  // So these nodes must be connected, and the start must be next to one of them.
  [[nodiscard]] bool can_still_close() {
    seen_.assign(visited_.begin(), visited_.end());
    frontier_.assign(1, path_.back());
    std::size_t reached = path_.size();
    bool start_reached = reached == visited_.size();
    while (!frontier_.empty()) {
      const NodeId node = frontier_.back();
      frontier_.pop_back();
      for (const NodeId next : next_[node.index()]) {
        if (next == path_.front() && node != path_.back()) start_reached = true;
        if (seen_[next.index()]) continue;
        seen_[next.index()] = true;
        ++reached;
        frontier_.push_back(next);
      }
    }
    return start_reached && reached == visited_.size();
  }

  [[nodiscard]] std::vector<LinkId> links_from_node_0() const {
    auto nodes = path_;
    std::rotate(nodes.begin(), std::find(nodes.begin(), nodes.end(), NodeId(0)), nodes.end());
    std::vector<LinkId> links;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      links.push_back(topology_.link_between(nodes[i], nodes[(i + 1) % nodes.size()]));
    }
    return links;
  }

  const Topology& topology_;
  std::vector<std::vector<NodeId>> next_;    // distinct neighbours in port order
  std::vector<std::vector<NodeId>> around_;  // linked in either direction
  std::vector<bool> visited_;
  std::vector<bool> seen_;
  std::vector<NodeId> frontier_;
  std::vector<NodeId> path_;
  std::vector<std::vector<NodeId>> choices_;
};

// Visits the vertices from node 0: at every vertex first the nodes, then the switches next to it,
// both in port order. So the nodes of a switch follow each other, and so do leaves that share a
// spine; on a BiGraph the two sides alternate.
std::vector<NodeId> depth_first_order(const Topology& topology) {
  std::vector<bool> seen(topology.num_vertices(), false);
  std::vector<NodeId> order;
  std::vector<NodeId> stack{NodeId(0)};
  while (!stack.empty()) {
    const NodeId v = stack.back();
    stack.pop_back();
    if (seen[v.index()]) continue;
    seen[v.index()] = true;
    if (!topology.is_switch(v)) order.push_back(v);
    std::vector<NodeId> around;
    for (const LinkId link : topology.out_links(v)) around.push_back(topology.link(link).to);
    std::stable_partition(around.begin(), around.end(),
                          [&](NodeId other) { return !topology.is_switch(other); });
    stack.insert(stack.end(), around.rbegin(), around.rend());
  }
  return order;
}

std::vector<NodeId> id_order(const Topology& topology) {
  std::vector<NodeId> order;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) order.emplace_back(n);
  return order;
}

bool is_fully_connected(const Topology& topology) {
  const std::size_t nodes = topology.num_nodes();
  std::vector<std::size_t> linked_from(nodes, nodes);
  for (std::size_t n = 0; n < nodes; ++n) {
    std::size_t neighbours = 0;
    for (const LinkId link : topology.out_links(NodeId(n))) {
      std::size_t& last = linked_from[topology.link(link).to.index()];
      if (last != n) ++neighbours;
      last = n;
    }
    if (neighbours + 1 != nodes) return false;
  }
  return nodes > 1;
}

std::vector<LinkId> cycle_in_id_order(const Topology& topology) {
  std::vector<LinkId> links;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    links.push_back(topology.link_between(NodeId(n), NodeId((n + 1) % topology.num_nodes())));
  }
  return links;
}

}  // namespace

std::vector<LinkId> hamiltonian_cycle(const Topology& topology) {
  if (topology.grid()) return grid_cycle(topology);
  if (is_fully_connected(topology)) return cycle_in_id_order(topology);
  return CycleSearch(topology).run();
}

NodeRing find_node_ring(const Topology& topology) {
  NodeRing ring;
  // In networks with switches most hops pass a switch in any case.
  const bool by_number = topology.shape().near_by_number;
  const auto cycle = topology.num_switches() == 0 && !by_number ? hamiltonian_cycle(topology)
                                                                : std::vector<LinkId>{};
  if (!cycle.empty()) {
    ring.hamiltonian = true;
    for (const LinkId link : cycle) {
      ring.nodes.push_back(topology.link(link).from);
      ring.hops.push_back({link});
    }
    return ring;
  }
  ring.nodes = by_number ? id_order(topology) : depth_first_order(topology);
  for (std::size_t i = 0; i < ring.nodes.size(); ++i) {
    ring.hops.push_back(
        route_packet(topology, ring.nodes[i], ring.nodes[(i + 1) % ring.nodes.size()]));
  }
  return ring;
}

}  // namespace espalier
