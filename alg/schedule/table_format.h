// How wide a schedule-table entry is in hardware: MultiTree, section V-A ("each table entry needs
// 200 bits" on 64 nodes). Every field is as narrow as its values allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "alg/schedule/schedule_table.h"

namespace espalier {

struct TableFormat {
  // Bits, except for the two counts of slots.
  std::uint32_t op = 2;  // Reduce, Gather, NOP
  std::uint32_t flow = 0;
  std::uint32_t node = 0;  // of Parent and of each child: a node, or nil
  std::size_t children_slots = 0;
  std::uint32_t step = 0;
  std::uint32_t start_addr = 64;
  std::uint32_t size = 64;
  std::size_t after_slots = 0;  // flows; composed algorithms only

  [[nodiscard]] std::uint64_t entry_bits() const;
  // A node's table of `entries` entries, in bytes, rounded up.
  [[nodiscard]] std::uint64_t table_bytes(std::size_t entries) const;
};

// The narrowest format that every entry of all tables fits into.
[[nodiscard]] TableFormat table_format(const ScheduleTables& tables, std::size_t num_nodes);
// "Op 2, FlowID 6, Parent 7, Children 4 x 7, Step 6, Start Addr 64, Size 64"
[[nodiscard]] std::string to_string(const TableFormat& format);

}  // namespace espalier
