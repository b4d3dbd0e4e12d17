#include "hw/cost/router_cost.h"

#include <algorithm>
#include <cmath>

#include "hw/cost/logic.h"
#include "hw/cost/memory_block.h"

namespace espalier {

namespace {

// The memory array has a register at its input and one at its output. A memory per input port has
// one read port. If each VC has a crossbar input, several VCs of a port are read in one cycle, so
// each VC has a memory of its own.
BlockCost price_buffers(const RouterSlice& slice, const CostSpec& spec,
                        const Technology& technology) {
  MemoryShape shape;
  shape.words = static_cast<double>(slice.input_per_vc ? 1 : slice.vcs) * slice.vc_depth_flits;
  shape.bits = slice.flit_bits;
  shape.ports = SramPorts::one_read_one_write;
  shape.registers = 2.0 * slice.flit_bits;
  BlockCost cost = memory_block(CostBlock::router_buffers, shape, spec.buffers, technology);
  cost.count = slice.crossbar_inputs();
  return cost;
}

struct CrossbarArea {
  double gates = 0;
  double wires = 0;
  double registers = 0;  // at the outputs
  [[nodiscard]] double total() const { return std::max(gates, wires) + registers; }
};

CrossbarArea crossbar_area(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t bits,
                           const Technology& technology) {
  CrossbarArea area;
  area.gates = technology.um2(logic::crossbar(inputs, outputs, bits));
  const double track = bits * technology.wire_pitch_um();
  area.wires = inputs * track * outputs * track;
  area.registers = technology.um2(logic::flip_flops(static_cast<double>(outputs) * bits));
  return area;
}

// DSENT: a 128-bit flit takes 2.13 pJ through a crossbar of five ports at 45 nm. The flit drives
// wires as long as the crossbar is wide, so the energy is proportional to the number of bits and to
// the side of the area.
double traversal_pj(const CrossbarArea& area, std::uint32_t bits, const Technology& technology) {
  const double reference = crossbar_area(5, 5, 128, technology).total();
  return technology.logic_energy_factor() * 2.13 * bits / 128 * std::sqrt(area.total() / reference);
}

BlockCost price_crossbar(const RouterSlice& slice, const Technology& technology) {
  BlockCost cost;
  cost.block = CostBlock::router_crossbar;
  const CrossbarArea area =
      crossbar_area(slice.crossbar_inputs(), slice.outputs, slice.flit_bits, technology);
  cost.each = {area.total(), area.total()};
  cost.implementation = area.wires > area.gates ? Implementation::wires : Implementation::logic;
  const std::uint32_t ports = std::max(slice.crossbar_inputs(), slice.outputs);
  cost.delay_fo4 = logic::crossbar_depth(ports, slice.flit_bits).fo4;
  cost.delay_ps = technology.ps({cost.delay_fo4});
  cost.read_pj = traversal_pj(area, slice.flit_bits, technology);
  cost.clocked_bits = static_cast<double>(slice.outputs) * slice.flit_bits;
  cost.leakage_mw =
      leakage_of(logic::crossbar(slice.crossbar_inputs(), slice.outputs, slice.flit_bits) +
                     logic::flip_flops(cost.clocked_bits),
                 technology);
  return cost;
}

// DSENT: the allocators of five ports and four VCs, 80 pairs of requesters, take 0.215 pJ per flit
// at 45 nm.
BlockCost price_allocators(const RouterSlice& slice, const Technology& technology) {
  BlockCost cost;
  cost.block = CostBlock::router_allocators;
  const std::uint32_t inputs = slice.crossbar_inputs();
  // With a crossbar input for each VC, an input has no choice among VCs.
  const std::uint32_t vcs = slice.input_per_vc ? 1 : slice.vcs;
  const Gates gates = logic::separable_allocator(inputs, slice.outputs, vcs);
  const double area = technology.um2(gates);
  cost.each = {area, area};
  cost.leakage_mw = leakage_of(gates, technology);
  const std::uint32_t ports = std::max(inputs, slice.outputs);
  cost.delay_fo4 = logic::switch_allocation_depth(ports, vcs).fo4;
  if (slice.vcs > 1) {
    cost.delay_fo4 = std::max(cost.delay_fo4, logic::vc_allocation_depth(ports, vcs).fo4);
  }
  cost.delay_ps = technology.ps({cost.delay_fo4});
  cost.read_pj = technology.logic_energy_factor() * 0.215 *
                 logic::arbiter_pairs(inputs, slice.outputs, vcs) / 80;
  return cost;
}

// Only the user knows the PHY, and each number of it by itself.
std::optional<BlockCost> price_phy(const RouterSlice& slice, const UserMacro& link) {
  if (slice.link_ends == 0 || (link.area_um2 == 0 && link.leakage_mw == 0)) return std::nullopt;
  BlockCost cost;
  cost.block = CostBlock::router_phy;
  cost.count = slice.link_ends;
  cost.each = {link.area_um2, link.area_um2};
  cost.implementation = Implementation::macro;
  if (link.leakage_mw != 0) cost.leakage_mw = link.leakage_mw;
  cost.origin = cost.delay_origin = cost.energy_origin = cost.leakage_origin = Origin::user;
  return cost;
}

}  // namespace

std::vector<BlockCost> SliceCost::blocks() const {
  std::vector<BlockCost> all{buffers,    fifo_control, crossbar,
                             allocators, output_state, credit_counters};
  if (adders) all.push_back(*adders);
  if (phy) all.push_back(*phy);
  return all;
}

SliceCost price_slice(const RouterSlice& slice, const CostSpec& spec,
                      const Technology& technology) {
  SliceCost cost;
  cost.slice = slice;
  cost.buffers = price_buffers(slice, spec, technology);
  const auto priced = [&](CostBlock block, Gates gates, Depth depth, const RtlInstance& rtl,
                          double count) {
    BlockCost logic = logic_block(block, gates, depth, rtl, spec, technology);
    logic.count = count;
    return logic;
  };
  const std::uint32_t flits = slice.vc_depth_flits;
  cost.fifo_control = priced(CostBlock::router_fifo_control, logic::fifo_control(flits),
                             logic::fifo_control_depth(flits), {RtlModule::fifo_control, flits},
                             static_cast<double>(slice.inputs) * slice.vcs);
  cost.crossbar = price_crossbar(slice, technology);
  cost.allocators = price_allocators(slice, technology);
  // hw/rtl/output_state.v has as many inputs as outputs.
  const std::uint32_t sides = std::max(slice.inputs, slice.outputs);
  const bool shared = !slice.input_per_vc;
  cost.output_state =
      priced(CostBlock::router_output_state, logic::output_state(sides, slice.vcs, shared),
             logic::output_state_depth(sides, slice.vcs, shared),
             {RtlModule::output_state, sides, slice.vcs, shared ? 1U : 0U}, 1);
  // An ejection port has no credits.
  cost.credit_counters =
      priced(CostBlock::router_credit_counters, logic::credit_counter(flits),
             logic::credit_counter_depth(flits), {RtlModule::credit_counter, flits},
             static_cast<double>(slice.link_ends) * slice.vcs);
  for (BlockCost* block : {&cost.buffers, &cost.fifo_control, &cost.crossbar, &cost.allocators,
                           &cost.output_state, &cost.credit_counters}) {
    block->dimension = slice.dimension;
    apply_macro(*block, spec.macro(block->block), technology.fo4_ps());
  }
  if (slice.adders.count != 0) {
    cost.adders = price_adders(CostBlock::router_adders, slice.adders, spec, technology);
    cost.adders->dimension = slice.dimension;
  }
  cost.phy = price_phy(slice, spec.link());
  if (cost.phy) cost.phy->dimension = slice.dimension;
  const std::uint32_t ports = std::max(slice.crossbar_inputs(), slice.outputs);
  const std::uint32_t vcs = slice.input_per_vc ? 1 : slice.vcs;
  if (spec.macro(CostBlock::router_allocators).delay_ps != 0) {
    cost.stages_ps = {cost.allocators.delay_ps};  // the user's number covers both allocations
  } else {
    // A single VC needs no VC allocation.
    if (slice.vcs > 1) cost.stages_ps = {technology.ps(logic::vc_allocation_depth(ports, vcs))};
    cost.stages_ps.push_back(technology.ps(logic::switch_allocation_depth(ports, vcs)));
  }
  cost.stages_ps.push_back(cost.buffers.delay_ps);
  cost.stages_ps.push_back(cost.crossbar.delay_ps);
  return cost;
}

}  // namespace espalier
