// A schedule table as loaded into an NI: what each entry waits for and sends, resolved once.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "hw/ids.h"
#include "ni/operation.h"

namespace espalier {

// What clears a dependency: a message received (identified by what its head flit says: Tree ID,
// operation, and the child or parent, Next), or one of this NI's own that has left.
struct TableEvent {
  enum class Kind : std::uint8_t { reduced, gathered, reduce_sent, gather_sent };
  FlowId flow;
  Kind kind = Kind::gathered;
  NodeId peer;

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
  std::uint32_t first_send = 0;  // into TableProgram::sends
  std::uint32_t num_sends = 0;
  std::uint32_t waits_for = 0;        // events
  std::uint32_t waits_for_flows = 0;  // those of them that complete the flows of `after`
  bool reads_back = false;  // reads a chunk whose reduction ended here: the write-back comes first
};

struct TableProgram {
  std::vector<ProgramEntry> entries;  // in table order
  std::vector<Operation> sends;
  // Sorted by event; an event that several entries wait for stands here several times.
  struct Waiter {
    TableEvent event;
    std::uint32_t entry = 0;
    bool completes_flow = false;  // as part of the entry's `after`
  };
  std::vector<Waiter> waiters;
  // Flows whose Reduces are held until the entry's `after` is complete; sorted.
  struct Hold {
    FlowId flow;
    std::uint32_t entry = 0;
  };
  std::vector<Hold> holds;
};

// One program per node, or the one that all hold (ScheduleTables::symmetry). Precondition: the
// tables pass the certifier.
[[nodiscard]] std::vector<TableProgram> load_tables(const ScheduleTables& tables);

}  // namespace espalier
