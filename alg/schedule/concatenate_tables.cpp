#include "alg/schedule/schedule_table.h"

#include <algorithm>

namespace espalier {

namespace {

// Appends the parts one after the other.
class Appending {
 public:
  Appending(const Topology& topology, ScheduleTables& target)
      : topology_(topology), target_(target) {}

  void append(const ScheduleTables& part) {
    if (part.symmetry) return append(expand_symmetry(topology_, part));
    rename_routes(part.routes);
    for (std::size_t n = 0; n < part.nodes.size(); ++n) {
      auto& table = target_.nodes[n];
      for (const TableEntry& entry : part.nodes[n]) table.push_back(moved(entry));
    }
    for (Chunk chunk : part.chunks) {
      chunk.offset += target_.size;
      target_.chunks.push_back(chunk);
    }
    target_.size += part.size;
    target_.num_steps += part.num_steps;
    target_.contention_free &= part.contention_free;
    target_.listed_order |= part.listed_order;
    target_.ni_ports = std::max(target_.ni_ports, part.ni_ports);
    first_flow_ = next_flow_;
  }

 private:
  // Equal routes of two parts become one route.
  void rename_routes(const RouteSet& routes) {
    routes_.clear();
    std::vector<LinkId> links;
    for (std::size_t r = 0; r < routes.size(); ++r) {
      links.clear();
      for (std::size_t hop = 0; hop < routes.hops(RouteId(r)); ++hop) {
        links.push_back(routes.link(RouteId(r), hop));
      }
      routes_.push_back(links.size() == 1 ? RouteSet::single(links.front())
                                          : target_.routes.add(topology_, links));
    }
  }

  [[nodiscard]] FlowId moved(FlowId flow) {
    const std::size_t renamed = first_flow_ + flow.index();
    next_flow_ = std::max(next_flow_, renamed + 1);
    return FlowId(renamed);
  }
  [[nodiscard]] TablePeer moved(TablePeer peer) const {
    if (peer.route.valid()) peer.route = routes_[peer.route.index()];
    return peer;
  }
  [[nodiscard]] TableEntry moved(TableEntry entry) {
    entry.step += target_.num_steps;
    if (entry.op == TableOp::nop) return entry;
    entry.flow = moved(entry.flow);
    entry.parent = moved(entry.parent);
    for (TablePeer& child : entry.children) child = moved(child);
    for (FlowId& flow : entry.after) flow = moved(flow);
    entry.start_addr += target_.size;
    return entry;
  }

  const Topology& topology_;
  ScheduleTables& target_;
  std::vector<RouteId> routes_;  // by the part's route
  std::size_t first_flow_ = 0;   // of the current part
  std::size_t next_flow_ = 0;
};

}  // namespace

TableSequence concatenate(const Topology& topology,
                          const std::vector<const ScheduleTables*>& parts) {
  TableSequence sequence{ScheduleTables(topology), {}, {}};
  ScheduleTables& tables = sequence.tables;
  tables.algorithm = parts.front()->algorithm;
  tables.op = parts.front()->op;
  tables.scope = parts.front()->scope;
  tables.nodes.resize(topology.num_nodes());
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    std::size_t entries = 0;
    for (const ScheduleTables* part : parts) {
      entries += part->symmetry ? part->nodes.front().size() : part->nodes[n].size();
    }
    tables.nodes[n].reserve(entries);
  }
  Appending appending(topology, tables);
  for (const ScheduleTables* part : parts) {
    sequence.first_step.push_back(tables.num_steps + 1);
    sequence.first_chunk.emplace_back(tables.chunks.size());
    appending.append(*part);
  }
  return sequence;
}

}  // namespace espalier
