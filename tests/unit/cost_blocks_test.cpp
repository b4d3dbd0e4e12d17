// Adders, the NI's data path, program contexts, PHYs, and the power of a system.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "hw/cost/block_cost.h"
#include "hw/cost/logic.h"
#include "hw/cost/system_cost.h"

using namespace espalier;

namespace {

const CostSpec kAt45nm;

NiShape ni_with_table() {
  NiShape ni;
  NiPorts ports;
  ports.count = 4;
  ports.buffer_flits = 318;
  ports.flit_bits = 128;
  ports.send_queue = 16;
  ports.descriptor_bits = 140;
  ports.vcs = 4;
  ports.credits = 318;
  ports.packet_flits = 17;
  ports.payload_bytes = 256;
  ports.ejection_registers = 1;
  ports.adders = {16, 4};
  ni.ports.push_back(ports);
  ni.messages = {16, 12, 16};
  ScheduleTableShape table;
  table.entries = 128;
  table.entry_bits = 200;
  table.step_bits = 8;
  table.places = 128;
  ni.table = table;
  return ni;
}

NiShape ni_with_program(std::uint32_t contexts) {
  NiShape ni = ni_with_table();
  ni.table.reset();
  ni.program = ProgramContextsShape{contexts, 16, 40, 8, 8};
  return ni;
}

SystemShape system_of(const NiShape& ni) {
  RouterSlice slice;
  slice.inputs = slice.outputs = 8;
  slice.vcs = 4;
  slice.vc_depth_flits = 318;
  slice.flit_bits = 128;
  slice.link_ends = 4;
  SystemShape shape;
  shape.routers.push_back({slice});
  shape.router_of = {0, 0};
  shape.nis.push_back(ni);
  shape.ni_of = {0, 0};
  return shape;
}

const BlockCost* find(const std::vector<BlockCost>& blocks, CostBlock wanted) {
  const auto found = std::find_if(blocks.begin(), blocks.end(),
                                  [&](const BlockCost& block) { return block.block == wanted; });
  return found == blocks.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("Adders have the published area and energy, scaled to the node") {
  const auto adder = [](std::uint32_t element, std::uint64_t node) {
    CostSpec spec;
    spec.node_nm = node;
    return price_adders(CostBlock::ni_adders, {1, element}, spec, Technology(spec));
  };
  CHECK(adder(4, 45).each.low == Approx(4184));
  CHECK(adder(4, 45).read_pj == Approx(0.9));
  CHECK(adder(4, 45).origin == Origin::published);
  CHECK(adder(4, 45).energy_origin == Origin::published);
  CHECK(adder(2, 45).each.low == Approx(1360));
  CHECK(adder(2, 45).read_pj == Approx(0.4));
  CHECK(adder(1, 45).each.low == Approx(36));
  CHECK(adder(4, 90).each.low == Approx(4 * 4184));
  CHECK(adder(4, 22).read_pj == Approx(0.9 * 2.30 / 8.93));
  // Nobody published FP64: it is scaled.
  CHECK(adder(8, 45).origin == Origin::formula);
  CHECK(adder(8, 45).each.low > 2 * 4184);
}

TEST_CASE("A reduction unit has an adder for each element that comes in a cycle") {
  CHECK(adders_for(16, 4) == Adders{4, 4});
  CHECK(adders_for(16, 2) == Adders{8, 2});
  CHECK(adders_for(16, 8) == Adders{2, 8});
  CHECK(adders_for(16, 1) == Adders{16, 1});
  CHECK(adders_for(18, 4) == Adders{5, 4});
  CHECK(adders_for(2, 4) == Adders{1, 4});
  // Vectors of smaller elements.
  CHECK(adders_for(16, 64) == Adders{2, 8});
  CHECK(adders_for(16, 12) == Adders{4, 4});
  CHECK(adders_for(16, 3) == Adders{16, 1});
}

TEST_CASE("A user's macro of an adder wins, and a measured one wins over the published area") {
  CostSpec spec;
  spec.synthesized.push_back({{RtlModule::fp_adder, 8, 23, 0, 0, 0}, 2000, 80, 0, {}});
  const Technology technology(spec);
  const BlockCost measured = price_adders(CostBlock::ni_adders, {4, 4}, spec, technology);
  CHECK(measured.origin == Origin::synthesized);
  CHECK(measured.each.low == Approx(2000 * 0.798));
  CHECK(measured.energy_origin == Origin::published);
  spec.macro(CostBlock::ni_adders) = {5000, 700, 1.5, 0, 0.25};
  const BlockCost own = price_adders(CostBlock::ni_adders, {4, 4}, spec, technology);
  CHECK(own.area().low == 20000);
  CHECK(own.delay_ps == 700);
  CHECK(own.read_pj == 1.5);
  CHECK(*own.leakage_mw == 0.25);
  CHECK(own.leakage_origin == Origin::user);
}

TEST_CASE("An NI of collective programs has contexts in place of a schedule table") {
  const NiCost ni = price_ni(ni_with_program(8), kAt45nm, Technology(kAt45nm));
  CHECK(find(ni.blocks, CostBlock::ni_schedule_table) == nullptr);
  CHECK(find(ni.blocks, CostBlock::ni_control) == nullptr);
  CHECK(find(ni.blocks, CostBlock::ni_dependency_state) == nullptr);
  for (const CostBlock block :
       {CostBlock::ni_program_memory, CostBlock::ni_program_context, CostBlock::ni_slot_credits}) {
    const BlockCost* found = find(ni.blocks, block);
    CAPTURE(to_string(block));
    REQUIRE(found != nullptr);
    CHECK(found->count == 8);
    CHECK(is_extension(block));
  }
  REQUIRE(find(ni.blocks, CostBlock::ni_scoreboard) != nullptr);
  CHECK(find(ni.blocks, CostBlock::ni_scoreboard)->count == 1);
  const NiCost single = price_ni(ni_with_program(1), kAt45nm, Technology(kAt45nm));
  CHECK(find(single.blocks, CostBlock::ni_scoreboard) == nullptr);
}

TEST_CASE("Adders are in the NI's area and not in its extension") {
  const NiCost ni = price_ni(ni_with_table(), kAt45nm, Technology(kAt45nm));
  CHECK(ni.adders().low == Approx(16 * 4184));
  NiShape without = ni_with_table();
  without.ports[0].adders = {};
  const NiCost bare = price_ni(without, kAt45nm, Technology(kAt45nm));
  CHECK(ni.area().low == Approx(bare.area().low + 16 * 4184));
  CHECK(ni.extension().low == Approx(bare.extension().low));
}

TEST_CASE("Adders limit the clock by their latency, and the other blocks by themselves") {
  SystemShape shape = system_of(ni_with_table());
  shape.router_cycles = 4;
  const SystemCost one = price_system(shape, kAt45nm);
  CHECK(one.clock.block == CostBlock::ni_adders);
  CHECK(one.clock.period_ps > one.clock_without_adders.period_ps);
  const Cycle cycles = implied_cycles(shape, kAt45nm, 1'000'000'000).reduction;
  CHECK(cycles > 1);
  shape.reduction_cycles = cycles;
  const SystemCost pipelined = price_system(shape, kAt45nm);
  CHECK(pipelined.clock_without_adders.period_ps == one.clock_without_adders.period_ps);
  CHECK(pipelined.clock.period_ps <= 1000);
}

TEST_CASE("A PHY changes totals by itself only, and none is priced unless the user gives one") {
  const SystemShape shape = system_of(ni_with_table());
  const SystemCost without = price_system(shape, kAt45nm);
  CHECK(find(without.routers[0].blocks(), CostBlock::router_phy) == nullptr);
  CostSpec spec;
  spec.macro(CostBlock::router_phy) = {50000, 0, 5, 0, 12};
  const SystemCost with = price_system(shape, spec);
  const std::vector<BlockCost> blocks = with.routers[0].blocks();
  const BlockCost* phy = find(blocks, CostBlock::router_phy);
  REQUIRE(phy != nullptr);
  CHECK(phy->count == 4);
  CHECK(phy->origin == Origin::user);
  CHECK(with.area.low == Approx(without.area.low + 2 * 4 * 50000));
  CHECK(*with.leakage_mw == Approx(*without.leakage_mw + 2 * 4 * 12));
  CHECK(with.nis[0].cost.area().low == without.nis[0].cost.area().low);
}

TEST_CASE("Leakage is known from 11 to 45 nm, and unknown elsewhere unless the user gives it") {
  for (const std::uint64_t node : {11U, 22U, 45U}) {
    CostSpec spec;
    spec.node_nm = node;
    CHECK(price_system(system_of(ni_with_table()), spec).leakage_mw);
  }
  for (const std::uint64_t node : {7U, 65U, 180U}) {
    CostSpec spec;
    spec.node_nm = node;
    CHECK_FALSE(price_system(system_of(ni_with_table()), spec).leakage_mw);
    for (UserMacro& macro : spec.macros) macro.leakage_mw = 1;
    CHECK(price_system(system_of(ni_with_table()), spec).leakage_mw);
  }
}

TEST_CASE("A block with state has clocked flip-flops") {
  for (const NiShape& shape : {ni_with_table(), ni_with_program(4)}) {
    for (const BlockCost& block : price_ni(shape, kAt45nm, Technology(kAt45nm)).blocks) {
      const bool has_none = block.implementation == Implementation::sram ||
                            block.block == CostBlock::ni_adders ||
                            (block.implementation == Implementation::flip_flop && !block.rtl &&
                             block.block != CostBlock::ni_ejection_registers);
      CAPTURE(block.name());
      CHECK((block.clocked_bits > 0) != has_none);
    }
  }
}
