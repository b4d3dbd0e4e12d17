#include "alg/schedule/schedule_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

const char* to_string(TableOp op) {
  switch (op) {
    case TableOp::reduce:
      return "Reduce";
    case TableOp::gather:
      return "Gather";
    case TableOp::nop:
      return "NOP";
  }
  return "?";
}

namespace {

// The number of bits that can represent `values` different values.
std::uint32_t bits_for(std::uint64_t values) {
  std::uint32_t bits = 0;
  while ((std::uint64_t{1} << bits) < values) ++bits;
  return bits;
}

}  // namespace

std::uint64_t TableFormat::entry_bits() const {
  return op + flow + node * (1 + children_slots) + step + start_addr + size + after_slots * flow +
         slot;
}

std::uint64_t TableFormat::table_bytes(std::size_t entries) const {
  return (entries * entry_bits() + 7) / 8;
}

TableFormat table_format(const ScheduleTables& tables, std::size_t num_nodes) {
  TableFormat format;
  std::size_t flows = 1;
  std::uint64_t last_slot_ps = 0;
  for (const auto& table : tables.nodes) {
    for (const TableEntry& entry : table) {
      if (entry.op == TableOp::nop) continue;
      flows = std::max(flows, entry.flow.index() + 1);
      format.children_slots = std::max(format.children_slots, entry.children.size());
      format.after_slots = std::max(format.after_slots, entry.after.size());
      last_slot_ps = std::max(last_slot_ps, entry.not_before_ps);
    }
  }
  if (tables.symmetry) flows = tables.chunks.size();  // all roots, although only one is written
  format.flow = bits_for(flows);
  format.node = bits_for(num_nodes + 1);
  constexpr std::uint64_t kSlotUnit = 1000;
  if (last_slot_ps != 0) format.slot = bits_for(last_slot_ps / kSlotUnit + 2);
  format.step = bits_for(std::uint64_t{tables.num_steps} + 1);  // counted from 1
  return format;
}

std::string to_string(const TableFormat& format) {
  std::string text =
      fmt::format("Op {}, FlowID {}, Parent {}, Children {} x {}, Step {}, Start Addr {}, Size {}",
                  format.op, format.flow, format.node, format.children_slots, format.node,
                  format.step, format.start_addr, format.size);
  if (format.after_slots > 0)
    text += fmt::format(", After {} x {}", format.after_slots, format.flow);
  if (format.slot > 0) text += fmt::format(", Slot {}", format.slot);
  return text;
}

}  // namespace espalier
