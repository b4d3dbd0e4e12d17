// Checks one table for all nodes. A translation maps the network and the whole schedule to
// themselves, so a proof about root 0's flows holds for every root. Two properties involve several
// roots and need checks of their own: links, and the order of the tables.
#include <fmt/format.h>

#include "alg/certify/certifier_parts.h"
#include "alg/routes/links.h"
#include "alg/schedule/schedule_table.h"
#include "alg/schedule/schedule_text.h"

namespace espalier::certifier {

namespace {

bool is_same_group(const Translations& a, const Translations& b) {
  return a.grid().dims == b.grid().dims && a.grid().twist == b.grid().twist &&
         a.grid().node_of_place == b.grid().node_of_place && a.generators() == b.generators();
}

// Returns an empty text if the entry can be translated to any node.
std::string problem_of(const Topology& topology, const ScheduleTables& tables,
                       const TableEntry& entry) {
  if (entry.op == TableOp::nop) return {};
  if (!entry.flow.valid() || entry.flow.index() >= tables.chunks.size()) {
    return fmt::format("its flow does not exist; flows are 0 to {}", tables.chunks.size() - 1);
  }
  if (!entry.after.empty())
    return "its field After names other flows, which a table for all nodes cannot do";
  const auto peer_problem = [&](const TablePeer& peer) -> std::string {
    if (!peer.node.valid()) return {};
    if (peer.node.index() >= topology.num_nodes())
      return fmt::format("{} is not a node of this network; nodes are 0 to {}", peer.node.value(),
                         topology.num_nodes() - 1);
    if (peer.route.valid() && peer.route.index() >= topology.num_links()) {
      return "a route in a table for all nodes must be a single link";
    }
    return {};
  };
  std::string problem = peer_problem(entry.parent);
  for (const TablePeer& child : entry.children) {
    if (problem.empty()) problem = peer_problem(child);
  }
  return problem;
}

}  // namespace

bool check_symmetry(const Topology& topology, const ScheduleTables& tables, Findings& findings) {
  const auto malformed = [&](const std::string& what) {
    findings.add(ViolationKind::malformed, "{}", what);
  };
  const auto group = Translations::find(topology);
  if (!group || !is_same_group(*group, *tables.symmetry)) {
    malformed(
        "one table stands for all nodes, but the network does not look the same from every node");
    return false;
  }
  if (tables.nodes.size() != 1 || tables.chunks.empty() ||
      tables.chunks.size() % group->num_nodes() != 0) {
    malformed(
        fmt::format("a schedule with one table for all nodes needs 1 table and the same number of "
                    "chunks for each of the {} nodes; found {} tables and {} chunks",
                    group->num_nodes(), tables.nodes.size(), tables.chunks.size()));
    return false;
  }
  check_chunks(tables.chunks, tables.size, tables.op, tables.scope, topology.num_nodes(), findings);
  for (std::size_t c = 0; c < tables.chunks.size(); ++c) {
    const Chunk& chunk = tables.chunks[c];
    if (chunk.size == 0)
      malformed(fmt::format(
          "chunk {} is empty; in a schedule with one table for all nodes every chunk has bytes",
          c));
    if (tables.op != CollectiveOp::all_reduce && chunk.owner != NodeId(c / tables.per_root())) {
      malformed(fmt::format("chunk {} belongs to node {}, but its root is node {}", c,
                            chunk.owner.value(), c / tables.per_root()));
    }
  }
  const auto& entries = tables.nodes.front();
  for (std::size_t e = 0; e < entries.size(); ++e) {
    std::string problem = problem_of(topology, tables, entries[e]);
    if (problem.empty() && e != 0 && entries[e].step < entries[e - 1].step) {
      problem = fmt::format(
          "its step is {}, but the entry before it has step {}; entries must be sorted by step",
          entries[e].step, entries[e - 1].step);
    }
    if (!problem.empty()) {
      malformed(fmt::format("{}: {}", describe(tables, NodeId(0), e), problem));
    }
  }
  return findings.count(ViolationKind::malformed) == 0;
}

bool check_symmetric_contention(const Topology& topology, const ScheduleTables& tables,
                                Findings& findings) {
  // In a step, all nodes send through the same port as node 0.
  const std::vector<std::uint32_t> units = link_units(topology);
  std::vector<Timestep> last_use(topology.num_links(), 0);
  std::vector<std::uint32_t> uses(topology.num_links(), 0);
  bool free = true;
  const auto& entries = tables.nodes.front();
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const auto use = [&](const TablePeer& peer) {
      if (!peer.route.valid()) return;
      Timestep& last = last_use[peer.route.index()];
      std::uint32_t& used = uses[peer.route.index()];
      used = last == entries[e].step ? used + 1 : 1;
      if (used > units[peer.route.index()]) {
        free = false;
        if (tables.contention_free) {
          findings.add_described(ViolationKind::contention, [&] {
            return fmt::format("in step {} link {} carries {} transfers; one of them comes from {}",
                               last, link_name(topology, LinkId(peer.route.index())),
                               used == 2 ? "two" : fmt::to_string(used),
                               describe(tables, NodeId(0), e));
          });
        }
      }
      last = entries[e].step;
    };
    if (entries[e].op == TableOp::reduce) use(entries[e].parent);
    if (entries[e].op == TableOp::gather) {
      for (const TablePeer& child : entries[e].children) use(child);
    }
  }
  return free;
}

void check_symmetric_order(const Schedule& first_root, Findings& findings) {
  for (std::size_t t = 0; t < first_root.transfers.size(); ++t) {
    for (const TransferId d : first_root.dependencies_of(TransferId(t))) {
      if (first_root.transfers[d.index()].step < first_root.transfers[t].step) continue;
      findings.add_described(ViolationKind::deadlock, [&] {
        return fmt::format(
            "the {} waits for the {}, which must have an earlier step, because entries of other "
            "roots may stand between the two in every table",
            describe(first_root.transfers[t]), describe(first_root.transfers[d.index()]));
      });
    }
  }
}

}  // namespace espalier::certifier
