// A schedule table as loaded into an NI: the events that each entry waits for and the operations
// that it sends, resolved once.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "hw/ids.h"
#include "ni/operation.h"

namespace espalier {

// An event that clears a dependency: a message was received, or a message of this NI has left. The
// head flit of a received message names Tree ID, operation, and the child or parent (Next).
struct TableEvent {
  enum class Kind : std::uint8_t { reduced, gathered, reduce_sent, gather_sent };
  FlowId flow;
  Kind kind = Kind::gathered;
  NodeId peer;

  // A message of this NI has left.
  [[nodiscard]] bool is_send() const {
    return kind == Kind::reduce_sent || kind == Kind::gather_sent;
  }
  // The message is a Reduce, not a Gather.
  [[nodiscard]] bool is_reduce() const {
    return kind == Kind::reduced || kind == Kind::reduce_sent;
  }
  friend bool operator<(const TableEvent& a, const TableEvent& b) {
    if (a.flow != b.flow) return a.flow < b.flow;
    if (a.kind != b.kind) return a.kind < b.kind;
    return a.peer < b.peer;
  }
  friend bool operator==(const TableEvent& a, const TableEvent& b) {
    return a.flow == b.flow && a.kind == b.kind && a.peer == b.peer;
  }
};

struct ProgramEntry {
  TableOp op = TableOp::nop;
  FlowId flow;
  Timestep step = 1;
  std::uint64_t not_before_ps = 0;  // the entry's slot, counted from the NI's entry into the step
  std::uint32_t first_send = 0;     // index into TableProgram::sends
  std::uint32_t num_sends = 0;
  std::uint32_t rows_passed = 0;      // of the table memory, since the entry before
  std::uint32_t waits_for = 0;        // number of events
  std::uint32_t waits_for_flows = 0;  // number of events that complete the flows of `after`
  std::uint32_t through = 0;          // number of places of this entry and all entries before it
  // The entry reads a chunk whose reduction ended at this node, so the write-back must come first.
  bool reads_back = false;
};

struct TableProgram {
  std::vector<ProgramEntry> entries;  // in table order
  std::vector<Operation> sends;
  // The NI keeps a bit for each event that has come. Places are numbered in the order in which the
  // table first waits for them. A later entry finds the event there, because entries issue in table
  // order, unless only the later one reads the data back: then the event has a place for it too.
  static constexpr std::uint32_t kNoPlace = 0xffff'ffff;
  // Sorted by event. An event has one waiter for each entry that waits for it.
  struct Waiter {
    TableEvent event;
    std::uint32_t entry = 0;
    bool completes_flow = false;  // as part of the entry's `after`
    std::uint32_t place = kNoPlace;
  };
  std::vector<Waiter> waiters;
  // Flows whose Reduces are held until the entry's `after` is complete; sorted.
  struct Hold {
    FlowId flow;
    std::uint32_t entry = 0;
  };
  std::vector<Hold> holds;

  [[nodiscard]] std::uint32_t num_places() const {
    return entries.empty() ? 0 : entries.back().through;
  }
};

// Numbers the places of the events. Precondition: the waiters are sorted.
void number_places(TableProgram& program);

// The most places that a node's program has.
[[nodiscard]] std::uint32_t most_places(const ScheduleTables& tables);

// Numbers the messages that each receiver gets in each timestep (Operation::arrival), in ascending
// order of their flows' roots, flows, and ports of the receiver's router towards the senders.
// `programs` were loaded from `tables`.
void number_arrivals(const Topology& topology, const ScheduleTables& tables,
                     std::vector<TableProgram>& programs);

// One program per node, or a single one for all nodes (ScheduleTables::symmetry). Precondition: the
// tables pass the certifier.
[[nodiscard]] std::vector<TableProgram> load_tables(const ScheduleTables& tables);

// All nodes of a symmetric system hold the same table (ScheduleTables::symmetry). The frame
// translates the table's names into one node's names. In hardware this takes adders between the
// table and the rest of the NI.
class NodeFrame {
 public:
  // For a node with a table of its own: translates nothing.
  NodeFrame() = default;
  // `tables` must outlive the frame. Without symmetry, the frame translates nothing.
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
    // The corresponding chunk in another root's data.
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
