// A schedule table as loaded into an NI: what each entry waits for and sends, resolved once.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/schedule_table.h"
#include "hw/ids.h"
#include "ni/operation.h"

namespace espalier {

// Identifies a received message by what its head flit says: Tree ID, operation, and the child or
// parent (Next).
struct ArrivalKey {
  FlowId flow;
  TransferKind kind = TransferKind::copy;
  NodeId from;

  friend bool operator<(const ArrivalKey& a, const ArrivalKey& b) {
    if (a.flow != b.flow) return a.flow < b.flow;
    if (a.kind != b.kind) return a.kind < b.kind;
    return a.from < b.from;
  }
  friend bool operator==(const ArrivalKey& a, const ArrivalKey& b) {
    return a.flow == b.flow && a.kind == b.kind && a.from == b.from;
  }
};

struct ProgramEntry {
  TableOp op = TableOp::nop;
  FlowId flow;
  Timestep step = 1;
  std::uint32_t first_send = 0;  // into TableProgram::sends
  std::uint32_t num_sends = 0;
  std::uint32_t waits_for = 0;  // arrivals
  bool reads_back = false;  // reads a chunk whose reduction ended here: the write-back comes first
};

struct TableProgram {
  std::vector<ProgramEntry> entries;  // in table order
  std::vector<Operation> sends;
  // Arrivals that entries wait for, sorted by key; waiters[i]: the entry that arrival_keys[i]
  // clears. A key that several entries wait for stands there several times.
  std::vector<ArrivalKey> arrival_keys;
  std::vector<std::uint32_t> waiters;
  std::uint32_t expected_arrivals = 0;  // messages that this node will receive in all
};

// One program per node. Precondition: the tables pass the certifier.
[[nodiscard]] std::vector<TableProgram> load_tables(const ScheduleTables& tables);

// Largest message of each step over all nodes (index 0 is step 1): what the step time is estimated
// from.
[[nodiscard]] std::vector<Bytes> step_bytes(const ScheduleTables& tables);

}  // namespace espalier
