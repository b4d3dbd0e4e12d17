#include "alg/schedule/schedule_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "hw/bits.h"

namespace espalier {

const char* to_string(TableOp op) {
  if (op == TableOp::nop) return "NOP";
  if (op == TableOp::gather) return "Gather";
  return op == TableOp::reduce ? "Reduce" : "?";
}

namespace {

// Adds the fields that make a row repeat. A stride is stored with its sign.
void add_repeat(const std::vector<RepeatedTable>& tables, TableFormat& format) {
  std::uint64_t pass = 0;
  std::uint64_t count = 1;
  Bytes size = 0;
  std::uint64_t strides[4] = {};
  const auto widen = [](std::uint64_t& widest, std::int64_t stride) {
    const auto size_of = static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
    widest = std::max(widest, size_of);
  };
  constexpr std::int64_t kTimeSlotUnit = 1000;
  for (const RepeatedTable& table : tables) {
    for (const auto& loop : table.loops) {
      for (const RepeatedRow& row : loop) {
        pass = std::max<std::uint64_t>(pass, row.first_pass);
        count = std::max<std::uint64_t>(count, row.count);
        size = std::max(size, row.last_size);
        widen(strides[0], row.flow_stride);
        widen(strides[1], row.address_stride);
        widen(strides[2], row.step_stride);
        widen(strides[3], row.not_before_stride_ps / kTimeSlotUnit);
      }
    }
  }
  format.repeat = bits_for(pass + 1) + bits_for(count + 1) + bits_for(size + 1);
  for (const std::uint64_t stride : strides) {
    format.repeat += stride == 0 ? 0 : bits_for(stride + 1) + 1;
  }
  format.repeat_field = std::max(
      {format.flow, format.step, format.time_slot, bits_for(pass + 1), bits_for(count + 1)});
}

}  // namespace

std::size_t stored_rows(const ScheduleTables& tables, std::size_t node) {
  if (!tables.repeated.empty()) return tables.repeated[node].rows();
  const std::vector<TableEntry>& table = tables.nodes[node];
  return static_cast<std::size_t>(std::count_if(
      table.begin(), table.end(), [](const TableEntry& e) { return e.op != TableOp::nop; }));
}

void repeat_all_rows(ScheduleTables& tables) {
  tables.repeated.clear();
  for (const auto& table : tables.nodes) tables.repeated.push_back(repeat_rows(table));
}

std::uint64_t TableFormat::entry_bits() const {
  return op + flow + node * (1 + children_fields) + step + start_addr + size + after_fields * flow +
         time_slot + repeat;
}

std::uint64_t TableFormat::table_bytes(std::size_t entries) const {
  return (entries * entry_bits() + 7) / 8;
}

TableFormat table_format(const ScheduleTables& tables, std::size_t num_nodes) {
  TableFormat format;
  std::size_t flows = 1;
  std::uint64_t last_time_slot_ps = 0;
  for (const auto& table : tables.nodes) {
    for (const TableEntry& entry : table) {
      if (entry.op == TableOp::nop) continue;
      flows = std::max(flows, entry.flow.index() + 1);
      format.children_fields = std::max(format.children_fields, entry.children.size());
      format.after_fields = std::max(format.after_fields, entry.after.size());
      last_time_slot_ps = std::max(last_time_slot_ps, entry.not_before_ps);
    }
  }
  if (tables.symmetry) flows = tables.chunks.size();  // all roots, although only one is written
  format.flow = bits_for(flows);
  format.node = bits_for(num_nodes + 1);
  constexpr std::uint64_t kTimeSlotUnit = 1000;
  if (last_time_slot_ps != 0) format.time_slot = bits_for(last_time_slot_ps / kTimeSlotUnit + 2);
  format.step = bits_for(std::uint64_t{tables.num_steps} + 1);  // counted from 1
  if (!tables.repeated.empty()) add_repeat(tables.repeated, format);
  return format;
}

std::string to_string(const TableFormat& format) {
  std::string text =
      fmt::format("Op {}, FlowID {}, Parent {}, Children {} x {}, Step {}, Start Addr {}, Size {}",
                  format.op, format.flow, format.node, format.children_fields, format.node,
                  format.step, format.start_addr, format.size);
  if (format.after_fields > 0)
    text += fmt::format(", After {} x {}", format.after_fields, format.flow);
  if (format.time_slot > 0) text += fmt::format(", Slot {}", format.time_slot);
  if (format.repeat > 0) text += fmt::format(", Repeat {}", format.repeat);
  return text;
}

}  // namespace espalier
