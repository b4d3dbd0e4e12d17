// Every single-field corruption of schedule tables, so that the certifier and the simulated
// hardware can be asked about the same ones.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "alg/certify/certifier.h"
#include "alg/schedule/schedule_table.h"
#include "alg/schedule/schedule_text.h"
#include "hw/topology/topology.h"
#include "tests/support/share_of_cases.h"

namespace espalier::test {

enum class MutatedField { op, flow, parent, children, step, start_addr, size, after, route };

struct TableMutant {
  MutatedField field;
  std::string what;  // for people
  ScheduleTables tables;
};

// Calls visit(field, what, tables) for each corruption of each entry; `tables` is only valid during
// the call.
template <class Visit>
class TableMutator {
 public:
  TableMutator(const Topology& topology, const ScheduleTables& tables, Visit& visit)
      : topology_(topology), tables_(tables), visit_(visit) {}

  void run() {
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      for (std::size_t e = 0; e < tables_.nodes[n].size(); ++e) {
        node_ = NodeId(n);
        index_ = e;
        mutate_entry();
      }
    }
  }

 private:
  ShareOfCases share_{3};

  TableEntry& entry() { return tables_.nodes[node_.index()][index_]; }

  template <class Change>
  void with(MutatedField field, const std::string& what, Change change) {
    if (!share_.take()) return;
    const std::string name = describe(tables_, node_, index_) + ": " + what;
    const std::vector<TableEntry> kept = tables_.nodes[node_.index()];
    change(entry());
    visit_(field, name, static_cast<const ScheduleTables&>(tables_));
    tables_.nodes[node_.index()] = kept;
  }

  // As the corrupted hardware would: along the direct link if there is one, else still where it
  // sent before.
  RouteId route_to(NodeId peer, RouteId before) const {
    const LinkId link = topology_.link_between(node_, peer);
    return link.valid() ? RouteSet::single(link) : before;
  }

  void mutate_entry() {
    mutate_op();
    mutate_step();
    mutate_flow();
    if (entry().op == TableOp::nop) return;
    mutate_parent();
    mutate_children();
    mutate_range();
    mutate_routes();
    for (std::size_t flow = 0; flow < tables_.nodes.size(); ++flow) {
      if (FlowId(flow) == entry().flow) continue;
      with(MutatedField::after, "after flow " + std::to_string(flow),
           [&](TableEntry& e) { e.after.emplace_back(flow); });
    }
  }

  // Each other op as it is, and with all the routes that the other op needs: a corruption that
  // means something.
  void mutate_op() {
    for (const TableOp op : {TableOp::reduce, TableOp::gather, TableOp::nop}) {
      if (op == entry().op) continue;
      const std::string name = std::string("op ") + to_string(op);
      with(MutatedField::op, name, [&](TableEntry& e) { e.op = op; });
      if (entry().op == TableOp::nop) continue;
      with(MutatedField::op, name + " in full", [&](TableEntry& e) {
        e.op = op;
        if (op == TableOp::nop) {
          const Timestep step = e.step;
          e = TableEntry();
          e.step = step;
          return;
        }
        if (op == TableOp::gather && e.children.empty()) e.children.push_back(e.parent);
        if (op == TableOp::gather && e.children.front().node == e.parent.node)
          e.parent = TablePeer();
        if (op == TableOp::reduce && !e.parent.node.valid()) {
          e.parent = e.children.front();
          e.children.erase(e.children.begin());
        }
        if (e.parent.node.valid()) e.parent.route = route_to(e.parent.node, e.parent.route);
        for (TablePeer& child : e.children) child.route = route_to(child.node, child.route);
      });
    }
  }

  // In place, and moved to where the table stays sorted by step.
  void mutate_step() {
    const Timestep step = entry().step;
    for (const Timestep other : {step - 1, step + 1}) {
      const std::string name = "step " + std::to_string(other);
      with(MutatedField::step, name, [&](TableEntry& e) { e.step = other; });
      with(MutatedField::step, name + " in order", [&](TableEntry& e) {
        e.step = other;
        auto& entries = tables_.nodes[node_.index()];
        std::stable_sort(entries.begin(), entries.end(),
                         [](const TableEntry& a, const TableEntry& b) { return a.step < b.step; });
      });
    }
  }

  void mutate_flow() {
    for (const std::uint32_t add : {1U, 0xffffffffU}) {
      const FlowId flow(std::size_t{entry().flow.value() + add});
      with(MutatedField::flow, "flow " + std::to_string(flow.value()),
           [&](TableEntry& e) { e.flow = flow; });
    }
  }

  void mutate_parent() {
    if (entry().parent.node.valid()) {
      with(MutatedField::parent, "parent nil", [](TableEntry& e) { e.parent = TablePeer(); });
    }
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      if (NodeId(n) == entry().parent.node) continue;
      with(MutatedField::parent, "parent " + std::to_string(n), [&](TableEntry& e) {
        e.parent.node = NodeId(n);
        if (e.op == TableOp::reduce) e.parent.route = route_to(NodeId(n), e.parent.route);
      });
    }
  }

  void mutate_children() {
    const bool sends = entry().op == TableOp::gather;
    const std::size_t count = entry().children.size();
    for (std::size_t c = 0; c < count; ++c) {
      const std::string name = "child " + std::to_string(entry().children[c].node.value());
      with(MutatedField::children, name + " removed", [&](TableEntry& e) {
        e.children.erase(e.children.begin() + static_cast<std::ptrdiff_t>(c));
      });
      for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
        if (NodeId(n) == entry().children[c].node) continue;
        with(MutatedField::children, name + " replaced by " + std::to_string(n),
             [&](TableEntry& e) {
               e.children[c].node = NodeId(n);
               if (sends) e.children[c].route = route_to(NodeId(n), e.children[c].route);
             });
      }
    }
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      with(MutatedField::children, "child " + std::to_string(n) + " added", [&](TableEntry& e) {
        const RouteId other = e.children.empty() ? RouteId() : e.children.front().route;
        e.children.push_back({NodeId(n), sends ? route_to(NodeId(n), other) : RouteId()});
      });
    }
  }

  void mutate_range() {
    for (const Chunk& chunk : tables_.chunks) {
      if (chunk.size == 0 || chunk.offset == entry().start_addr) continue;
      with(MutatedField::start_addr, "start " + std::to_string(chunk.offset),
           [&](TableEntry& e) { e.start_addr = chunk.offset; });
      // A whole other chunk, where chunks differ in size.
      with(MutatedField::start_addr, "chunk at " + std::to_string(chunk.offset),
           [&](TableEntry& e) {
             e.start_addr = chunk.offset;
             e.size = chunk.size;
           });
      if (chunk.offset == entry().start_addr + entry().size) {
        with(MutatedField::size, "next chunk too", [&](TableEntry& e) { e.size += chunk.size; });
      }
    }
    with(MutatedField::start_addr, "start one element later",
         [](TableEntry& e) { e.start_addr += kDefaultElementBytes; });
    with(MutatedField::size, "an element more",
         [](TableEntry& e) { e.size += kDefaultElementBytes; });
    with(MutatedField::size, "an element less",
         [](TableEntry& e) { e.size -= kDefaultElementBytes; });
    with(MutatedField::size, "none", [](TableEntry& e) { e.size = 0; });
  }

  // Every other link of the node, and every way of three links to the right place.
  void mutate_routes() {
    const bool reduces = entry().op == TableOp::reduce;
    const std::size_t peers = reduces ? 1 : entry().children.size();
    for (std::size_t p = 0; p < peers; ++p) {
      const auto set = [&](const std::string& name, RouteId route) {
        with(MutatedField::route, name,
             [&](TableEntry& e) { (reduces ? e.parent : e.children[p]).route = route; });
      };
      const TablePeer peer = reduces ? entry().parent : entry().children[p];
      set("no route", RouteId());
      for (const LinkId first : topology_.out_links(node_)) {
        if (RouteSet::single(first) != peer.route) {
          set("route " + link_name(topology_, first), RouteSet::single(first));
        }
        for (const LinkId second : topology_.out_links(topology_.link(first).to)) {
          for (const LinkId third : topology_.out_links(topology_.link(second).to)) {
            if (topology_.link(third).to != peer.node) continue;
            set("route by way of " + link_name(topology_, first) + " and " +
                    link_name(topology_, second),
                tables_.routes.add(topology_, {first, second, third}));
          }
        }
      }
    }
  }

  const Topology& topology_;
  ScheduleTables tables_;
  Visit& visit_;
  NodeId node_;
  std::size_t index_ = 0;
};

template <class Visit>
void for_each_mutant(const Topology& topology, const ScheduleTables& tables, Visit visit) {
  TableMutator<Visit>(topology, tables, visit).run();
}

// Those that the certifier lets pass: hardware that runs them must still compute the right result.
[[nodiscard]] inline std::vector<TableMutant> accepted_mutants(const Topology& topology,
                                                               const ScheduleTables& tables,
                                                               const CertifierLimits& limits = {}) {
  std::vector<TableMutant> accepted;
  for_each_mutant(topology, tables,
                  [&](MutatedField field, const std::string& what, const ScheduleTables& mutant) {
                    if (certify(topology, mutant, limits).ok())
                      accepted.push_back({field, what, mutant});
                  });
  return accepted;
}

}  // namespace espalier::test
