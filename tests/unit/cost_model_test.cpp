#include <catch2/catch.hpp>
#include <cmath>

#include "hw/cost/logic.h"
#include "hw/cost/memory_block.h"
#include "hw/cost/system_cost.h"

using namespace espalier;

namespace {

const CostSpec kNangate45;

RouterSlice slice_of_five() {
  RouterSlice slice;
  slice.inputs = slice.outputs = 5;
  slice.vcs = 4;
  slice.vc_depth_flits = 318;
  slice.flit_bits = 128;
  return slice;
}

NiShape paper_ni() {
  NiShape ni;
  NiPorts ports;
  ports.count = 4;
  ports.buffer_flits = 318;
  ports.flit_bits = 128;
  ni.ports.push_back(ports);
  ScheduleTableShape table;
  table.entries = 128;
  table.entry_bits = 200;
  table.step_bits = 8;
  table.places = 128;
  ni.table = table;
  return ni;
}

const BlockCost& block(const NiCost& ni, CostBlock wanted) {
  for (const BlockCost& cost : ni.blocks) {
    if (cost.block == wanted) return cost;
  }
  throw std::logic_error("no such block");
}

}  // namespace

TEST_CASE("A memory is of flip-flops while these are smaller, and of SRAM then") {
  const Technology technology(kNangate45);
  const auto built_of = [&](double words, double bits, Storage storage = Storage::automatic) {
    return memory_block(CostBlock::ni_schedule_table, {words, bits}, storage, technology)
        .implementation;
  };
  CHECK(built_of(4, 8) == Implementation::flip_flop);
  CHECK(built_of(128, 200) == Implementation::sram);
  CHECK(built_of(4, 8, Storage::sram) == Implementation::sram);
  CHECK(built_of(128, 200, Storage::flip_flop) == Implementation::flip_flop);
}

TEST_CASE("The schedule table is fifteen times as large in flip-flops as in SRAM") {
  const Technology technology(kNangate45);
  const auto area = [&](Storage storage) {
    return memory_block(CostBlock::ni_schedule_table, {128, 200}, storage, technology).area().low;
  };
  CHECK(area(Storage::flip_flop) == Approx(208e3).epsilon(0.01));
  CHECK(area(Storage::flip_flop) / area(Storage::sram) == Approx(15).epsilon(0.05));
}

TEST_CASE("Wide words are spread over macros side by side") {
  const Technology technology(kNangate45);
  const SramCost whole = sram_macro({64, 512, SramPorts::one_read_write}, technology);
  const SramCost part = sram_macro({64, 128, SramPorts::one_read_write}, technology);
  CHECK(whole.area.low == Approx(4 * part.area.low));
  CHECK(whole.access_ps == Approx(part.access_ps));
}

TEST_CASE("No memory becomes smaller by a bit or a word more") {
  for (const SramPorts ports : {SramPorts::one_read_write, SramPorts::one_read_one_write}) {
    for (const double words : {32.0, 63.0, 128.0, 1272.0}) {
      double before = 0;
      for (double bits = 8; bits < 1200; ++bits) {
        const double area = sram_macro({words, bits, ports}, Technology(kNangate45)).area.low;
        CAPTURE(words, bits);
        REQUIRE(area >= before);
        before = area;
      }
    }
    double before = 0;
    for (double words = 4; words < 600; ++words) {
      const double area = sram_macro({words, 200, ports}, Technology(kNangate45)).area.low;
      CAPTURE(words);
      REQUIRE(area >= before);
      // Nor does one word more make a fifth more.
      if (words > 33) CHECK(area < 1.06 * before);
      before = area;
    }
  }
}

TEST_CASE("What a synthesis tool found takes the formula's place, and the user's macro both") {
  CostSpec spec = kNangate45;
  spec.synthesized.push_back({{RtlModule::ni_control, 8, 16, 1, 0, 0}, 300, 25, 0, {}});
  NiShape shape;
  shape.table = ScheduleTableShape{128, 200, 8, 16, 12, 16};
  const auto control = [&] {
    for (const BlockCost& block : price_ni(shape, spec, Technology(spec)).blocks) {
      if (block.block == CostBlock::ni_control) return block;
    }
    return BlockCost{};
  };
  CHECK(control().origin == Origin::synthesized);
  CHECK(control().delay_origin == Origin::synthesized);
  CHECK(control().each.low == Approx(300 * 0.798));
  CHECK(control().delay_fo4 == 25);
  spec.macro(CostBlock::ni_control).area_um2 = 111;
  CHECK(control().origin == Origin::user);
  CHECK(control().delay_origin == Origin::synthesized);
  // Of another size nothing was measured.
  shape.table->step_bits = 9;
  spec.macros = {};
  CHECK(control().origin == Origin::formula);
}

TEST_CASE("With a crossbar input for each VC, VCs have memories of their own") {
  RouterSlice slice;
  slice.inputs = slice.outputs = 5;
  slice.vcs = 4;
  slice.vc_depth_flits = 318;
  slice.flit_bits = 128;
  const BlockCost shared = price_slice(slice, kNangate45, Technology(kNangate45)).buffers;
  CHECK(shared.count == 5);
  CHECK(shared.words == 4 * 318);
  slice.input_per_vc = true;
  const BlockCost apart = price_slice(slice, kNangate45, Technology(kNangate45)).buffers;
  CHECK(apart.count == 20);
  CHECK(apart.words == 318);
  CHECK(apart.area().low > shared.area().low);
}

TEST_CASE("Areas go with the square of the node") {
  CostSpec fine = kNangate45;
  fine.node_nm = 22;
  const double ratio = 22.0 * 22 / 45 / 45;
  const auto cost = [](const CostSpec& spec) {
    return price_ni(paper_ni(), spec, Technology(spec)).area().low;
  };
  CHECK(cost(fine) == Approx(ratio * cost(kNangate45)));
}

TEST_CASE("FO4 is what was measured at 180 nm and 7 nm, and never shorter") {
  CostSpec spec;
  spec.library = CellLibrary::osu018;
  CHECK(Technology(spec).fo4_ps() == Approx(99));
  spec.library = CellLibrary::asap7;
  CHECK(Technology(spec).fo4_ps() == Approx(19.5));
  spec.fo4_ps = 15;
  CHECK(Technology(spec).fo4_ps() == 15);
}

TEST_CASE("Stages share a cycle while they fit it, and longer ones take several") {
  CHECK(cycles_of({300, 300, 300}, 1000) == 1);
  CHECK(cycles_of({600, 600}, 1000) == 2);
  CHECK(cycles_of({1000}, 1000) == 1);
  CHECK(cycles_of({1001}, 1000) == 2);
  CHECK(cycles_of({2500, 400}, 1000) == 3);
  CHECK(cycles_of({2500, 600}, 1000) == 4);
  CHECK(cycles_of({}, 1000) == 1);
  CHECK(shortest_period_ps({600, 600}, 2) == Approx(600));
  CHECK(shortest_period_ps({600, 600}, 1) == Approx(1200));
  CHECK(shortest_period_ps({2500}, 2) == Approx(1250));
}

TEST_CASE("A choice among more chunks or at a faster clock takes more cycles") {
  SystemShape shape;
  NiShape ni;
  ni.queues.push_back({1, 16, 32, true});
  shape.nis.push_back(ni);
  shape.ni_of.push_back(0);
  // 78 FO4 of 24.75 ps and 30 % for wires: 2.5 ns. What arrives in the first cycle of several is
  // compared from the next one on.
  CHECK(implied_cycles(shape, kNangate45, 400'000'000).arbitration == 3);
  CHECK(implied_cycles(shape, kNangate45, 398'000'000).arbitration == 1);
  CHECK(implied_cycles(shape, kNangate45, 1'000'000'000).arbitration == 4);
  shape.nis[0].queues[0].entries = 64;
  CHECK(implied_cycles(shape, kNangate45, 1'000'000'000).arbitration == 5);
  shape.nis[0].queues[0].finds_smallest = false;
  CHECK(implied_cycles(shape, kNangate45, 1'000'000'000).arbitration == 1);
}

TEST_CASE(
    "A queue that finds the smallest chunk is of flip-flops, and several cycles let it be slow") {
  NiShape ni;
  ni.queues.push_back({1, 64, 32, true});
  CostSpec spec;
  spec.queues = Storage::sram;  // which only a queue in order of arrival can be
  const BlockCost smallest =
      block(price_ni(ni, spec, Technology(spec)), CostBlock::ni_dimension_queue);
  CHECK(smallest.implementation == Implementation::flip_flop);
  CHECK(smallest.area().low == smallest.area().high);
  CHECK(smallest.rtl == RtlInstance{RtlModule::dimension_queue, 64, 32, 6});
  SystemShape shape;
  shape.nis.push_back(ni);
  shape.ni_of.push_back(0);
  const auto period = [&](Cycle arbitration) {
    shape.arbitration_cycles = arbitration;
    return price_system(shape, spec).clock.period_ps;
  };
  CHECK(period(1) == Approx(smallest.delay_ps));
  CHECK(period(2) == Approx(period(1)));
  CHECK(period(5) == Approx(period(1) / 4));
  ni.queues[0].finds_smallest = false;
  const BlockCost oldest =
      block(price_ni(ni, spec, Technology(spec)), CostBlock::ni_dimension_queue);
  CHECK(oldest.implementation == Implementation::sram);
}

TEST_CASE("Each context of an NI has a table, control and dependencies of its own") {
  NiShape four = paper_ni();
  four.table->contexts = 4;
  const NiCost one = price_ni(paper_ni(), kNangate45, Technology(kNangate45));
  const NiCost ni = price_ni(four, kNangate45, Technology(kNangate45));
  REQUIRE(ni.blocks.size() == one.blocks.size());
  for (std::size_t b = 0; b < ni.blocks.size(); ++b) {
    const CostBlock kind = ni.blocks[b].block;
    const bool is_own = kind == CostBlock::ni_schedule_table || kind == CostBlock::ni_control ||
                        kind == CostBlock::ni_dependency_state ||
                        kind == CostBlock::ni_slot_counter || kind == CostBlock::ni_row_repeat;
    CAPTURE(to_string(kind));
    CHECK(ni.blocks[b].area().low == Approx((is_own ? 4 : 1) * one.blocks[b].area().low));
  }
}

TEST_CASE("A user's macro wins over the formula, where it says something") {
  CostSpec spec;
  spec.macro(CostBlock::ni_schedule_table) = {20000, 400, 6, 0};
  const NiCost ni = price_ni(paper_ni(), spec, Technology(spec));
  const BlockCost& table = block(ni, CostBlock::ni_schedule_table);
  CHECK(table.origin == Origin::user);
  CHECK(table.implementation == Implementation::macro);
  CHECK(table.area().low == 20000);
  CHECK(table.area().high == 20000);
  CHECK(table.delay_ps == 400);
  CHECK(table.read_pj == 6);
  const NiCost plain = price_ni(paper_ni(), kNangate45, Technology(kNangate45));
  CHECK(table.write_pj == block(plain, CostBlock::ni_schedule_table).write_pj);
  CHECK(block(ni, CostBlock::ni_control).origin == Origin::formula);
}

TEST_CASE("A user's macro of one input port counts once per port") {
  CostSpec spec;
  spec.macro(CostBlock::router_buffers).area_um2 = 200000;
  const SliceCost cost = price_slice(slice_of_five(), spec, Technology(spec));
  CHECK(cost.buffers.area().low == 1'000'000);
}

TEST_CASE("The NI extension leaves out the buffers and packetizers that any NI has") {
  const NiCost ni = price_ni(paper_ni(), kNangate45, Technology(kNangate45));
  const double buffers = block(ni, CostBlock::ni_buffers).area().low +
                         block(ni, CostBlock::ni_fifo_control).area().low +
                         block(ni, CostBlock::ni_packetizer).area().low;
  CHECK(ni.extension().low == Approx(ni.area().low - buffers));
}

TEST_CASE("A readiness table grows with its units and its children as its bits do") {
  const auto table = [](std::uint32_t units, std::uint32_t children) {
    NiShape ni = paper_ni();
    ni.readiness = ReadinessShape{units, children};
    return block(price_ni(ni, kNangate45, Technology(kNangate45)), CostBlock::ni_readiness_table);
  };
  const auto area = [&](std::uint32_t units, std::uint32_t children) {
    return table(units, children).area().low;
  };
  // Twice the units twice the bits; twice the children somewhat less, as each unit has logic that
  // it has once.
  CHECK(area(128, 8) / area(64, 8) == Approx(2).epsilon(0.05));
  CHECK(area(64, 16) / area(64, 8) == Approx(17.0 / 9).epsilon(0.10));
  CHECK(area(64, 16) / area(64, 8) < 17.0 / 9);
  // Never less than the flip-flops, nor smaller by one more of either.
  for (std::uint32_t units = 1; units < 300; ++units) {
    CAPTURE(units);
    CHECK(area(units, 8) > 4.522 * units * 9);
    CHECK(area(units + 1, 8) > area(units, 8));
    CHECK(area(16, units + 1) > area(16, units));
    CHECK(table(units + 1, 8).delay_ps >= table(units, 8).delay_ps);
  }
  CHECK(table(161, 8).words == 161);
  CHECK(table(161, 8).bits == 9);
  CHECK(table(161, 8).rtl == RtlInstance{RtlModule::readiness_table, 161, 8});
}

TEST_CASE("A readiness table is part of the NI's extension, and an NI without one has none") {
  NiShape shape = paper_ni();
  const NiCost without = price_ni(shape, kNangate45, Technology(kNangate45));
  CHECK_THROWS(block(without, CostBlock::ni_readiness_table));
  shape.readiness = ReadinessShape{5, 8};
  const NiCost with = price_ni(shape, kNangate45, Technology(kNangate45));
  CHECK(with.extension().low - without.extension().low ==
        Approx(block(with, CostBlock::ni_readiness_table).area().low));
  CostSpec spec;
  spec.macro(CostBlock::ni_readiness_table).area_um2 = 321;
  const NiCost macro = price_ni(shape, spec, Technology(spec));
  CHECK(block(macro, CostBlock::ni_readiness_table).area().low == 321);
  CHECK(block(macro, CostBlock::ni_readiness_table).origin == Origin::user);
}

TEST_CASE("A clock slow enough for every block is one that the model permits") {
  SystemShape shape;
  shape.routers.push_back({slice_of_five()});
  shape.router_of = {0, 0};
  shape.nis.push_back(paper_ni());
  shape.ni_of = {0, 0};
  shape.router_cycles = 3;
  const SystemCost cost = price_system(shape, kNangate45);
  const double hertz = 1e12 / cost.clock.period_ps;
  CHECK(implied_cycles(shape, kNangate45, static_cast<std::uint64_t>(hertz) - 1).router <= 3);
  CHECK(cost.area.low == Approx(2 * (cost.routers[0].area().low + cost.nis[0].cost.area().low)));
}

TEST_CASE("A crossbar of many wide ports is as large as its wires") {
  RouterSlice slice = slice_of_five();
  const Technology technology(kNangate45);
  CHECK(price_slice(slice, kNangate45, technology).crossbar.implementation ==
        Implementation::wires);
  slice.flit_bits = 16;
  CHECK(price_slice(slice, kNangate45, technology).crossbar.implementation ==
        Implementation::logic);
}
