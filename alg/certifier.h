// Proves a schedule before anything is simulated, in time linear in its transfers (times N/64 for the contribution
// sets). Plain functions over the IR; nothing here trusts a generator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/schedule.h"
#include "alg/schedule_table.h"

namespace espalier {

enum class ViolationKind : std::uint8_t {
  malformed,        // out-of-range id, route that does not lead from sender to receiver, dependency on a later step...
  postcondition,    // an output chunk misses a contribution, or holds one twice
  read_before_write,  // a transfer may read or overwrite data that is still being written or read
  deadlock,         // a cycle of dependencies and table order, or of VC channels
  contention,       // two transfers of one step on one link although the schedule claims otherwise
  capacity,         // a table or its children field is too small
};
[[nodiscard]] const char* to_string(ViolationKind kind);

struct Violation {
  ViolationKind kind;
  std::string what;  // names the transfers or entries; for a deadlock the whole cycle, for contention the pair
};

struct CertifierLimits {
  std::size_t table_entries = 0;   // 0: as many as the schedule needs
  std::size_t children_slots = 0;  // 0: as many as the schedule needs
};

struct Certificate {
  std::vector<Violation> violations;  // at most a handful of each kind, in a deterministic order
  std::size_t transfers = 0;
  bool contention_free = false;     // proven, whatever the schedule claims
  std::size_t most_table_entries = 0;  // of one node, NOPs not counted (0 where only the IR was checked)
  std::size_t most_children = 0;
  [[nodiscard]] bool ok() const { return violations.empty(); }
};

[[nodiscard]] Certificate certify(const Topology& topology, const Schedule& schedule);
// Raises the tables and certifies the result together with the order in which each NI takes its entries.
[[nodiscard]] Certificate certify(const Topology& topology, const ScheduleTables& tables,
                                  const CertifierLimits& limits = {});

}  // namespace espalier
