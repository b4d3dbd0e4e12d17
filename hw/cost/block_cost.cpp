#include "hw/cost/block_cost.h"

#include <algorithm>

#include "hw/cost/logic.h"

namespace espalier {

const char* to_string(Origin origin) {
  switch (origin) {
    case Origin::formula:
      return "formula";
    case Origin::published:
      return "published";
    case Origin::synthesized:
      return "synthesized";
    case Origin::user:
      break;
  }
  return "user";
}

const char* to_string(Implementation implementation) {
  switch (implementation) {
    case Implementation::logic:
      return "logic";
    case Implementation::flip_flop:
      return "flip_flop";
    case Implementation::sram:
      return "sram";
    case Implementation::wires:
      return "wires";
    case Implementation::macro:
      break;
  }
  return "macro";
}

const char* to_string(CostBlock block) {
  switch (block) {
    case CostBlock::router_buffers:
      return "router.buffers";
    case CostBlock::router_fifo_control:
      return "router.fifo_control";
    case CostBlock::router_crossbar:
      return "router.crossbar";
    case CostBlock::router_allocators:
      return "router.allocators";
    case CostBlock::router_output_state:
      return "router.output_state";
    case CostBlock::router_credit_counters:
      return "router.credit_counters";
    case CostBlock::router_adders:
      return "router.adders";
    case CostBlock::router_phy:
      return "router.phy";
    case CostBlock::ni_buffers:
      return "ni.buffers";
    case CostBlock::ni_fifo_control:
      return "ni.fifo_control";
    case CostBlock::ni_send_queue:
      return "ni.send_queue";
    case CostBlock::ni_dma_engine:
      return "ni.dma_engine";
    case CostBlock::ni_packetizer:
      return "ni.packetizer";
    case CostBlock::ni_ejection_registers:
      return "ni.ejection_registers";
    case CostBlock::ni_message_table:
      return "ni.message_table";
    case CostBlock::ni_adders:
      return "ni.adders";
    case CostBlock::ni_schedule_table:
      return "ni.schedule_table";
    case CostBlock::ni_control:
      return "ni.control";
    case CostBlock::ni_dependency_state:
      return "ni.dependency_state";
    case CostBlock::ni_row_repeat:
      return "ni.row_repeat";
    case CostBlock::ni_slot_counter:
      return "ni.slot_counter";
    case CostBlock::ni_dimension_queue:
      return "ni.dimension_queue";
    case CostBlock::ni_program_memory:
      return "ni.program_memory";
    case CostBlock::ni_program_context:
      return "ni.program_context";
    case CostBlock::ni_scoreboard:
      return "ni.scoreboard";
    case CostBlock::ni_slot_credits:
      return "ni.slot_credits";
    case CostBlock::ni_readiness_table:
      break;
  }
  return "ni.readiness_table";
}

std::string BlockCost::name() const {
  std::string text = to_string(block);
  if (dimension != 0) text.insert(text.find('.'), ".dim" + std::to_string(dimension));
  return text;
}

AreaRange area_of(const std::vector<BlockCost>& blocks) {
  AreaRange sum;
  for (const BlockCost& block : blocks) sum = sum + block.area();
  return sum;
}

BlockCost logic_block(CostBlock block, Gates gates, Depth depth,
                      const std::optional<RtlInstance>& rtl, const CostSpec& spec,
                      const Technology& technology) {
  BlockCost cost;
  cost.block = block;
  cost.rtl = rtl;
  const auto found = std::find_if(spec.synthesized.begin(), spec.synthesized.end(),
                                  [&](const SynthesizedLogic& s) { return rtl == s.instance; });
  if (found != spec.synthesized.end()) {
    gates = {found->gates};
    cost.origin = cost.energy_origin = Origin::synthesized;
    if (found->ps != 0) depth = {found->ps / technology.fo4_ps()};
    if (found->fo4 != 0) depth = {found->fo4};
    if (found->ps != 0 || found->fo4 != 0) cost.delay_origin = Origin::synthesized;
  }
  const double area = technology.um2(gates);
  cost.each = {area, area};
  cost.delay_fo4 = depth.fo4;
  cost.delay_ps = technology.ps(depth);
  if (rtl) cost.clocked_bits = logic::flip_flops_of(*rtl);
  cost.leakage_mw = leakage_of(gates, technology);
  // Estimate: the energy per gate of DSENT's allocators, 0.215 pJ for 1600 gates at 45 nm.
  cost.read_pj = technology.logic_energy_factor() * 0.215 / 1600 * gates.value;
  if (found != spec.synthesized.end() && found->leakage_uw) {
    cost.leakage_mw = *found->leakage_uw / 1000;
    cost.leakage_origin = Origin::synthesized;
  }
  return cost;
}

std::optional<double> leakage_of(Gates gates, const Technology& technology) {
  const auto each = technology.leakage_mw_per_gate();
  if (!each) return std::nullopt;
  return *each * gates.value;
}

void apply_macro(BlockCost& cost, const UserMacro& macro, double fo4_ps) {
  if (macro.area_um2 != 0) {
    cost.each = {macro.area_um2, macro.area_um2};
    cost.implementation = Implementation::macro;
    cost.origin = Origin::user;
  }
  if (macro.delay_ps != 0) {
    cost.delay_ps = static_cast<double>(macro.delay_ps);
    cost.delay_fo4 = cost.delay_ps / fo4_ps;
    cost.delay_origin = Origin::user;
  }
  if (macro.leakage_mw != 0) {
    cost.leakage_mw = macro.leakage_mw;
    cost.leakage_origin = Origin::user;
  }
  if (macro.read_pj != 0) cost.read_pj = macro.read_pj;
  if (macro.write_pj != 0) cost.write_pj = macro.write_pj;
  // Results state one origin for read and write energy: the user, if either number is the user's.
  if (macro.read_pj != 0 || macro.write_pj != 0) cost.energy_origin = Origin::user;
}

}  // namespace espalier
