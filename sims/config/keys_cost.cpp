// Keys of section system.cost: technology, storage, and the user's macros.
#include <fmt/format.h>

#include "hw/cost/block_cost.h"
#include "sims/config/key_table.h"

namespace espalier {

namespace {

constexpr std::uint64_t kMicrosecond = 1'000'000;  // picoseconds

bool is_memory(CostBlock block) {
  return block == CostBlock::router_buffers || block == CostBlock::ni_buffers ||
         block == CostBlock::ni_send_queue || block == CostBlock::ni_schedule_table ||
         block == CostBlock::ni_program_memory || block == CostBlock::ni_dimension_queue;
}

// True for blocks whose uses a simulation counts (sims/experiment/event_energy.h). Only these
// blocks have energy keys.
bool has_counted_uses(CostBlock block) { return block != CostBlock::ni_readiness_table; }
// Schedule tables and programs are written before the run, so their writes are not counted.
bool has_counted_writes(CostBlock block) {
  return is_memory(block) && block != CostBlock::ni_schedule_table &&
         block != CostBlock::ni_program_memory;
}

// Condition under which a system has the block; none: every system has it.
std::optional<KeyCondition> where_it_is(const KeyTable& table, CostBlock block) {
  switch (block) {
    case CostBlock::ni_schedule_table:
    case CostBlock::ni_control:
    case CostBlock::ni_dependency_state:
    case CostBlock::ni_row_repeat:
    case CostBlock::ni_slot_counter:
    case CostBlock::ni_program_memory:
    case CostBlock::ni_program_context:
    case CostBlock::ni_scoreboard:
    case CostBlock::ni_slot_credits:
      return table.where_not_dimensional();
    case CostBlock::ni_dimension_queue:
    case CostBlock::router_adders:
      return table.where_dimensional();
    case CostBlock::ni_readiness_table:
      return table.where("coordination.mode", {"in_ni"});
    default:
      return std::nullopt;
  }
}

void add_macro_keys(KeyTable& table, CostBlock block) {
  const auto all = table.group_at(
      fmt::format("system.cost.macros.{}", to_string(block)), [block](auto& p) -> auto& {
        return p.system.cost.macro(block);
      });
  const auto where = where_it_is(table, block);
  const auto macro = where ? all.only(*where) : all;
  const bool memory = is_memory(block);
  // Most blocks have no macro, so unset macro keys are left out of the resolved configuration.
  macro.fraction("area_um2", &UserMacro::area_um2)
      .above_zero_to(1e12)
      .word("formula")
      .optional()
      .doc(memory ? "cell area of one memory" : "cell area of one instance");
  macro.time(memory ? "access" : "delay", &UserMacro::delay_ps)
      .range(1, kMicrosecond)
      .word("formula")
      .optional()
      .doc(memory ? "access time" : "critical path, wires and setup included");
  if (has_counted_uses(block)) {
    macro.fraction(memory ? "read_pj" : "use_pj", &UserMacro::read_pj)
        .above_zero_to(1e9)
        .word("formula")
        .optional()
        .doc(memory ? "energy of one read, pJ" : "energy of one use, pJ");
  }
  if (has_counted_writes(block)) {
    macro.fraction("write_pj", &UserMacro::write_pj)
        .above_zero_to(1e9)
        .word("formula")
        .optional()
        .doc("energy of one write, pJ");
  }
  macro.fraction("leakage_mW", &UserMacro::leakage_mw)
      .above_zero_to(1e9)
      .word("formula")
      .optional()
      .doc(memory ? "leakage of one memory" : "leakage of one instance");
}

// The PHY at one end of a link. Results name it in `left_out` while numbers are not given.
void add_phy_keys(KeyTable& table) {
  const auto link = table.group_at(
      "system.cost.macros.link", [](auto& p) -> auto& { return p.system.cost.link; });
  link.fraction("area_um2", &LinkMacro::area_um2)
      .above_zero_to(1e12)
      .word("none")
      .optional()
      .doc("cell area of the PHY at one end of a link, both directions; none: not given");
  link.fraction("leakage_mW", &LinkMacro::leakage_mw)
      .above_zero_to(1e9)
      .word("none")
      .optional()
      .doc("leakage, and all other power that does not depend on traffic, at one end of a link");
  link.fraction("pj_per_bit", &LinkMacro::pj_per_bit)
      .above_zero_to(1e6)
      .word("none")
      .optional()
      .doc("energy of a bit over a link, both ends and the wire, pJ");
}

}  // namespace

void add_cost_keys(KeyTable& table) {
  const auto cost = table.group("system.cost", &RunPoint::system, &SystemConfig::cost);
  const auto flat = cost.only(table.where_not_dimensional());
  const auto dimensional = cost.only(table.where_dimensional());
  cost.choice("technology", &CostSpec::library).doc("cell library (espalier list technologies)");
  cost.number(ValueType::length, "node", &CostSpec::node_nm)
      .range(5, 1000)
      .word("auto")
      .doc("feature size; areas are proportional to its square; auto: the node of the library");
  cost.time("fo4", &CostSpec::fo4_ps)
      .range(1, 10'000)
      .word("auto")
      .doc(
          "delay of an inverter that drives four equal inverters; auto: 0.55 ps per nm of the "
          "node, at least 19.5 ps");
  cost.fraction("utilization", &CostSpec::utilization)
      .above_zero_to(1)
      .doc("cell area / placed area");
  cost.fraction("wire_margin", &CostSpec::wire_margin)
      .between(0, 10)
      .doc("share of the logic delay that is added for wires and setup");
  cost.choice("buffers", &CostSpec::buffers)
      .doc(
          "memory type of the buffers of routers and NIs; auto: SRAM where even the upper end of "
          "its area is smaller");
  flat.choice("table", &CostSpec::table)
      .doc("memory type of the schedule table; auto: by the same rule as the buffers");
  flat.integer("table_entry_bits", &CostSpec::table_entry_bits)
      .range(1, 65536)
      .word("auto")
      .doc("width of a schedule-table entry; auto: the fields that the topology needs");
  dimensional.choice("queues", &CostSpec::queues)
      .doc(
          "memory type of dimension queues of order fifo; auto: by the same rule as the buffers. A "
          "queue of order scf compares all its chunks at once, so it is of flip-flops");
  dimensional.integer("queue_entries", &CostSpec::queue_entries)
      .range(1, 65536)
      .word("auto")
      .doc(
          "number of chunks that a dimension queue can hold; auto: 64, or the collective's number "
          "of chunks if that is larger");
  add_phy_keys(table);
  for (std::size_t b = 0; b < kNumCostBlocks; ++b) {
    const auto block = static_cast<CostBlock>(b);
    const bool elsewhere = block == CostBlock::ni_readiness_table || block == CostBlock::router_phy;
    if (!elsewhere) add_macro_keys(table, block);
  }
}

// These keys depend on the mode of coordination, so they come after it in the table.
void add_readiness_macro_keys(KeyTable& table) {
  add_macro_keys(table, CostBlock::ni_readiness_table);
}

}  // namespace espalier
