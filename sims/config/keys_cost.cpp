// The keys of section system.cost: technology, storage, and the user's macros.
#include <fmt/format.h>

#include "hw/cost/block_cost.h"
#include "sims/config/key_builders.h"

namespace espalier {

using namespace key_builders;

namespace {

constexpr const char* kFormula = "formula";
constexpr std::uint64_t kMicrosecond = 1'000'000;  // picoseconds

ValueShape fractions(double most, bool zero_allowed) {
  ValueShape shape;
  shape.max_fraction = most;
  shape.min_excluded = !zero_allowed;
  return shape;
}

// Left out of the resolved configuration where the formula stands: most blocks have none.
Key macro_key(Key key) {
  key = or_word(std::move(key), kFormula);
  key.optional = true;
  return key;
}

bool is_memory(CostBlock block) {
  return block == CostBlock::router_buffers || block == CostBlock::ni_buffers ||
         block == CostBlock::ni_schedule_table || block == CostBlock::ni_dimension_queue;
}

Key where_nis_coordinate(Key key) {
  return only_when(std::move(key), "coordination.mode", name_of(CoordinationMode::in_ni),
                   [](const RunPoint& p) {
                     return p.coordination && p.coordination->mode == CoordinationMode::in_ni;
                   });
}

// A macro of a block that the system does not have says nothing.
Key where_it_is(CostBlock block, Key key) {
  switch (block) {
    case CostBlock::ni_schedule_table:
    case CostBlock::ni_control:
    case CostBlock::ni_dependency_table:
      return not_for_dimensions(std::move(key));
    case CostBlock::ni_dimension_queue:
    case CostBlock::ni_scf_finder:
      return of_any_dimensions(std::move(key));
    case CostBlock::ni_readiness_table:
      return where_nis_coordinate(std::move(key));
    default:
      return key;
  }
}

// Whose uses a simulation counts (sims/experiment/event_energy.h): only there an energy says
// anything.
bool has_counted_uses(CostBlock block) {
  return is_memory(block) || block == CostBlock::router_crossbar ||
         block == CostBlock::router_allocators || block == CostBlock::ni_scf_finder;
}
// A table is written before the run.
bool has_counted_writes(CostBlock block) {
  return is_memory(block) && block != CostBlock::ni_schedule_table;
}

void add_macro_keys(std::vector<Key>& table, CostBlock block) {
  const std::string section = fmt::format("system.cost.macros.{}", to_string(block));
  const std::string what = is_memory(block) ? "of one memory" : "of one instance";
  const auto add = [&](Key key) { table.push_back(where_it_is(block, macro_key(std::move(key)))); };
  add(fraction_key(
      section + ".area_um2", fractions(1e12, false),
      "cells " + what, [block](auto& p) -> auto& { return p.system.cost.macro(block).area_um2; }));
  add(number_key(
      ValueType::time, section + (is_memory(block) ? ".access" : ".delay"), 1, kMicrosecond,
      is_memory(block) ? "access time" : "critical path, wires and setup included",
      [block](auto& p) -> auto& { return p.system.cost.macro(block).delay_ps; }));
  if (has_counted_uses(block)) {
    add(fraction_key(
        section + (is_memory(block) ? ".read_pj" : ".use_pj"), fractions(1e9, false),
        is_memory(block) ? "energy of one read, pJ" : "energy of one use, pJ",
        [block](auto& p) -> auto& { return p.system.cost.macro(block).read_pj; }));
  }
  if (has_counted_writes(block)) {
    add(fraction_key(
        section + ".write_pj", fractions(1e9, false),
        "energy of one write, pJ", [block](auto& p) -> auto& {
          return p.system.cost.macro(block).write_pj;
        }));
  }
}

}  // namespace

void add_cost_keys(std::vector<Key>& table) {
  table.push_back(choice_key<CellLibrary>(
      "system.cost.technology", "cell library (espalier list technologies)",
      [](auto& p) -> auto& { return p.system.cost.library; }));
  table.push_back(or_word(number_key(
                              ValueType::length, "system.cost.node", 5, 1000,
                              "feature size: areas go with its square; auto: the library's own",
                              [](auto& p) -> auto& { return p.system.cost.node_nm; }),
                          "auto"));
  table.push_back(
      or_word(number_key(
                  ValueType::time, "system.cost.fo4", 1, 10'000,
                  "delay of an inverter that drives four of its kind; auto: 0.55 ps per nm of the "
                  "node, at least 19.5 ps",
                  [](auto& p) -> auto& { return p.system.cost.fo4_ps; }),
              "auto"));
  table.push_back(fraction_key(
      "system.cost.utilization", fractions(1, false), "cell area / placed area",
      [](auto& p) -> auto& { return p.system.cost.utilization; }));
  table.push_back(fraction_key(
      "system.cost.wire_margin", fractions(10, true),
      "added to the delay of logic for wires and setup, as a part of it",
      [](auto& p) -> auto& { return p.system.cost.wire_margin; }));
  table.push_back(choice_key<Storage>(
      "system.cost.buffers",
      "of routers and NIs; auto: SRAM where even the upper end of its area is smaller",
      [](auto& p) -> auto& { return p.system.cost.buffers; }));
  table.push_back(not_for_dimensions(choice_key<Storage>(
      "system.cost.table", "schedule table; auto: as buffers",
      [](auto& p) -> auto& { return p.system.cost.table; })));
  table.push_back(not_for_dimensions(
      or_word(integer_key(
                  "system.cost.table_entry_bits", 1, 65536,
                  "width of a schedule-table entry; auto: the fields that the topology needs",
                  [](auto& p) -> auto& { return p.system.cost.table_entry_bits; }),
              "auto")));
  table.push_back(of_any_dimensions(choice_key<Storage>(
      "system.cost.queues", "dimension queues; auto: as buffers",
      [](auto& p) -> auto& { return p.system.cost.queues; })));
  table.push_back(of_any_dimensions(
      or_word(integer_key(
                  "system.cost.queue_entries", 1, 65536,
                  "chunks that a dimension queue has room for; auto: 64, or the collective's if it "
                  "has more",
                  [](auto& p) -> auto& { return p.system.cost.queue_entries; }),
              "auto")));
  table.push_back(
      or_word(fraction_key(
                  "system.cost.link_pj_per_bit", fractions(1e6, false),
                  "energy of a link, pJ per bit; none: not known, and links have no energy",
                  [](auto& p) -> auto& { return p.system.cost.link_pj_per_bit; }),
              "none"));
  for (std::size_t b = 0; b < kNumCostBlocks; ++b) {
    const auto block = static_cast<CostBlock>(b);
    if (block != CostBlock::ni_readiness_table) add_macro_keys(table, block);
  }
}

void add_readiness_macro_keys(std::vector<Key>& table) {
  add_macro_keys(table, CostBlock::ni_readiness_table);
}

}  // namespace espalier
