// What a table that all nodes hold alike means at one of them (ScheduleTables::symmetry): adders
// between the table and the rest of the NI.
#pragma once

#include "alg/schedule/schedule_table.h"
#include "hw/ids.h"
#include "ni/engines/table_program.h"
#include "ni/operation.h"

namespace espalier {

class NodeFrame {
 public:
  // A table of the node's own: everything is as written.
  NodeFrame() = default;
  // `tables` must outlive the frame. Without symmetry the same as above.
  NodeFrame(const ScheduleTables& tables, NodeId node)
      : tables_(tables.symmetry ? &tables : nullptr), node_(node) {}

  [[nodiscard]] RouteId route_in_network(RouteId route) const {
    if (tables_ == nullptr) return route;
    return RouteSet::single(group().translate(LinkId(route.index()), node_));
  }
  [[nodiscard]] Operation in_network(Operation op) const {
    if (tables_ == nullptr) return op;
    const std::size_t per_root = tables_->per_root();
    op.from = group().add(op.from, node_);
    op.to = group().add(op.to, node_);
    op.route = route_in_network(op.route);
    op.flow = group().translate_root(op.flow, per_root, node_);
    // The same places in another root's data.
    op.first_chunk = ChunkId(op.flow.index() / per_root * per_root + op.first_chunk.index());
    const Chunk& first = tables_->chunks[op.first_chunk.index()];
    const Chunk& last = tables_->chunks[op.first_chunk.index() + op.num_chunks - 1];
    op.bytes = last.offset + last.size - first.offset;
    return op;
  }
  [[nodiscard]] TableEvent in_network(TableEvent event) const { return moved(event, node_); }
  [[nodiscard]] TableEvent in_table(TableEvent event) const {
    return tables_ == nullptr ? event : moved(event, group().negative(node_));
  }
  [[nodiscard]] FlowId in_table(FlowId flow) const {
    if (tables_ == nullptr) return flow;
    return group().translate_root(flow, tables_->per_root(), group().negative(node_));
  }

 private:
  [[nodiscard]] const Translations& group() const { return *tables_->symmetry; }
  [[nodiscard]] TableEvent moved(TableEvent event, NodeId by) const {
    if (tables_ == nullptr) return event;
    event.flow = group().translate_root(event.flow, tables_->per_root(), by);
    event.peer = group().add(event.peer, by);
    return event;
  }

  const ScheduleTables* tables_ = nullptr;
  NodeId node_;
};

}  // namespace espalier
