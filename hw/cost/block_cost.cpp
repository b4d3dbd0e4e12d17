#include "hw/cost/block_cost.h"

#include <algorithm>
#include <array>

#include "hw/cost/logic.h"

namespace espalier {

const char* to_string(Origin origin) {
  constexpr std::array kNames{"formula", "published", "synthesized", "user"};
  return kNames.at(static_cast<std::size_t>(origin));
}

const char* to_string(Implementation implementation) {
  constexpr std::array kNames{"logic", "flip_flop", "sram", "wires", "macro"};
  return kNames.at(static_cast<std::size_t>(implementation));
}

namespace {

struct BlockRow {
  const char* name;
  BlockKind kind;
};
// In the order of CostBlock.
constexpr std::array<BlockRow, kNumCostBlocks> kBlocks{{
    {"router.buffers", BlockKind::memory},
    {"router.fifo_control", BlockKind::logic},
    {"router.crossbar", BlockKind::logic},
    {"router.allocators", BlockKind::logic},
    {"router.output_state", BlockKind::logic},
    {"router.credit_counters", BlockKind::logic},
    {"router.adders", BlockKind::logic},
    {"router.phy", BlockKind::phy},
    {"ni.buffers", BlockKind::memory},
    {"ni.fifo_control", BlockKind::logic},
    {"ni.send_queue", BlockKind::memory},
    {"ni.dma_engine", BlockKind::logic},
    {"ni.packetizer", BlockKind::logic},
    {"ni.ejection_registers", BlockKind::logic},
    {"ni.message_table", BlockKind::logic},
    {"ni.adders", BlockKind::logic},
    {"ni.schedule_table", BlockKind::table},
    {"ni.control", BlockKind::logic},
    {"ni.dependency_state", BlockKind::logic},
    {"ni.row_repeat", BlockKind::logic},
    {"ni.slot_counter", BlockKind::logic},
    {"ni.dimension_queue", BlockKind::memory},
    {"ni.program_memory", BlockKind::table},
    {"ni.program_context", BlockKind::logic},
    {"ni.scoreboard", BlockKind::logic},
    {"ni.slot_credits", BlockKind::logic},
    {"ni.readiness_table", BlockKind::uncounted},
}};
static_assert(kBlocks.back().name != nullptr, "every block has a row");

}  // namespace

BlockKind kind_of(CostBlock block) { return kBlocks.at(static_cast<std::size_t>(block)).kind; }

const char* to_string(CostBlock block) { return kBlocks.at(static_cast<std::size_t>(block)).name; }

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
