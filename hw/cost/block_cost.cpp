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

namespace {

struct Published {
  double um2;  // at 45 nm
  double pj;   // of an addition
};
constexpr double kPublishedAtNm = 45;
constexpr Published kInt8{36, 0.03};
constexpr Published kFp16{1360, 0.4};
constexpr Published kFp32{4184, 0.9};

struct Format {
  std::uint32_t exponent_bits;
  std::uint32_t fraction_bits;
};
constexpr Format kFp32Format{8, 23};

Format format_of(std::uint32_t element_bytes) {
  if (element_bytes == 2) return {5, 10};
  return element_bytes == 4 ? kFp32Format : Format{11, 52};
}

// Of 8 integer bits: eight full adders of Nangate45, and their carries.
constexpr Gates kInt8Gates{8 * 4.256 / 0.798};
constexpr Depth kInt8Depth{12};

Published number_of(std::uint32_t element_bytes) {
  if (element_bytes == 1) return kInt8;
  if (element_bytes == 2) return kFp16;
  if (element_bytes == 4) return kFp32;
  const double more = logic::fp_adder(format_of(element_bytes).fraction_bits).value /
                      logic::fp_adder(kFp32Format.fraction_bits).value;
  return {more * kFp32.um2, more * kFp32.pj};
}

BlockCost unit_of(CostBlock block, std::uint32_t element_bytes, const CostSpec& spec,
                  const Technology& technology) {
  if (element_bytes == 1) {
    return logic_block(block, kInt8Gates, kInt8Depth, std::nullopt, spec, technology);
  }
  const auto [exponent, fraction] = format_of(element_bytes);
  return logic_block(block, logic::fp_adder(fraction), logic::fp_adder_depth(exponent, fraction),
                     RtlInstance{RtlModule::fp_adder, exponent, fraction}, spec, technology);
}

}  // namespace

Adders adders_for(std::uint64_t bytes, std::uint32_t element_bytes) {
  std::uint32_t width = 8;
  while (element_bytes % width != 0) width /= 2;
  const std::uint64_t count = std::max<std::uint64_t>(1, (bytes + width - 1) / width);
  return {static_cast<std::uint32_t>(count), width};
}

BlockCost price_adders(CostBlock block, const Adders& adders, const CostSpec& spec,
                       const Technology& technology) {
  BlockCost cost = unit_of(block, adders.element_bytes, spec, technology);
  cost.count = adders.count;
  const Published published = number_of(adders.element_bytes);
  const Origin origin = adders.element_bytes == 8 ? Origin::formula : Origin::published;
  // The energy stays the published one where a synthesis tool has measured the area.
  cost.read_pj = technology.logic_energy_factor() * published.pj;
  cost.energy_origin = origin;
  if (cost.origin == Origin::formula) {
    const double scale = technology.node_nm() / kPublishedAtNm;
    const double area = scale * scale * published.um2;
    cost.each = {area, area};
    cost.origin = origin;
  }
  apply_macro(cost, spec.macro(block), technology.fo4_ps());
  return cost;
}

}  // namespace espalier
