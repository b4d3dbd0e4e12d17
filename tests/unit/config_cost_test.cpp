#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "config_test_support.h"
#include "sims/config/keys.h"
#include "sims/config/resolved.h"
#include "sims/model/system_shape.h"
#include "tests/support/resolved_yaml.h"

using namespace espalier;
using namespace config_test;
using Catch::Matchers::Contains;

namespace {

const std::string kPoint = kGoodSystem + kGoodCollective;

std::string diagnostics_of(const std::string& text,
                           const std::vector<std::string>& overrides = {}) {
  const ConfigResult result = read_run_config_text("bad.yaml", text, "", overrides);
  CHECK_FALSE(result.ok);
  return result.diagnostics;
}

const std::string kThemis =
    "system:\n"
    "  topology: {type: dimensions}\n"
    "  dimensions: {shape: [ring, switch], size: [4, 4], bandwidth: [200Gb/s, 100Gb/s], latency: "
    "[700ns, 700ns]}\n"
    "collective: {algorithm: themis, size: 16MiB}\n";

const std::string kCoordinated =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "training: {network: resnet50, mini_batch: 64, overlap: layerwise}\n"
    "collective: {op: all_reduce, algorithm: ring}\n";

}  // namespace

TEST_CASE("The cost section has the reference technology by default") {
  const CostSpec cost = only_point(kPoint).system.cost;
  CHECK(cost.library == CellLibrary::nangate45);
  CHECK(cost.node_nm == 0);
  CHECK(cost.utilization == 0.7);
  CHECK(cost.link().read_pj == 0);
}

TEST_CASE("Every key of the cost section is read") {
  const CostSpec cost =
      only_point(
          "system:\n"
          "  topology: {type: torus, dims: [4, 4]}\n"
          "  cost:\n"
          "    technology: sky130hd\n"
          "    node: 0.065um\n"
          "    fo4: 30ps\n"
          "    utilization: 0.8\n"
          "    wire_margin: 0.5\n"
          "    buffers: flip_flop\n"
          "    table: sram\n"
          "    table_entry_bits: 256\n"
          "    macros:\n"
          "      link: {area_um2: 90000, leakage_mW: 4.5, pj_per_bit: 5.5}\n"
          "      router:\n"
          "        buffers: {area_um2: 150000, access: 300ps, read_pj: 12, write_pj: 14.5}\n"
          "        crossbar: {delay: 250ps, use_pj: 2, leakage_mW: 0.5}\n" +
          kGoodCollective)
          .system.cost;
  CHECK(cost.library == CellLibrary::sky130hd);
  CHECK(cost.node_nm == 65);
  CHECK(cost.fo4_ps == 30);
  CHECK(cost.utilization == 0.8);
  CHECK(cost.wire_margin == 0.5);
  CHECK(cost.buffers == Storage::flip_flop);
  CHECK(cost.table == Storage::sram);
  CHECK(cost.table_entry_bits == 256);
  CHECK(cost.link().area_um2 == 90000);
  CHECK(cost.link().leakage_mw == 4.5);
  CHECK(cost.link().read_pj == 5.5);
  CHECK(cost.macro(CostBlock::router_buffers).area_um2 == 150000);
  CHECK(cost.macro(CostBlock::router_buffers).delay_ps == 300);
  CHECK(cost.macro(CostBlock::router_buffers).read_pj == 12);
  CHECK(cost.macro(CostBlock::router_buffers).write_pj == 14.5);
  CHECK(cost.macro(CostBlock::router_crossbar).delay_ps == 250);
  CHECK(cost.macro(CostBlock::router_crossbar).read_pj == 2);
  CHECK(cost.macro(CostBlock::router_crossbar).leakage_mw == 0.5);
  CHECK(cost.macro(CostBlock::ni_control).area_um2 == 0);
}

TEST_CASE("Mistakes in the cost section are reported at their place, with a hint") {
  const auto [with_mark, message, hint] = GENERATE(
      std::make_tuple("cost: {technology: @nangate}", "'nangate' is not a valid name for this key",
                      "nangate45"),
      std::make_tuple("cost: {node: @45}", "'45' has no unit", "45nm"),
      std::make_tuple("cost: {node: @45ps}", "'ps' is not a unit of length", "nm um"),
      std::make_tuple("cost: {node: @0.5nm}", "'0.5nm' is not a whole number of nanometres", ""),
      std::make_tuple("cost: {utilization: @1.5}", "1.5 is out of range", "0 (excluded) to 1"),
      std::make_tuple("cost: {utilisation@: 0.7}", "", ""),
      std::make_tuple("cost: {buffers: @dram}", "'dram' is not a valid name for this key", "sram"),
      std::make_tuple("cost: {macros: {link: {pj_per_bit: @0}}}", "0 is out of range", "or none"),
      std::make_tuple("cost: {macros: {router: {@bufers: {area_um2: 1}}}}", "bufers", "buffers"),
      std::make_tuple("cost: {macros: {router: {crossbar: {@write_pj: 1}}}}", "write_pj", ""));
  CAPTURE(with_mark);
  const Marked marked = unmark(std::string("system:\n  topology: {type: torus, dims: [4, 4]}\n  ") +
                               with_mark + "\n" + kGoodCollective);
  const std::string text = diagnostics_of(marked.text);
  if (std::string(message).empty()) {
    CHECK_THAT(text, Contains("did you mean 'utilization'?"));
    return;
  }
  const auto printed = parse_diagnostics(text);
  const Printed* found = find_at(printed, marked, message);
  INFO(text);
  REQUIRE(found != nullptr);
  CHECK_THAT(found->hint, Contains(hint));
}

TEST_CASE("A key of schedule tables has no effect where there are dimension queues") {
  const ConfigResult result =
      read_run_config_text("themis.yaml", kThemis, "", {"system.cost.table_entry_bits=100"});
  CHECK(result.ok);
  CHECK_THAT(result.diagnostics, Contains("system.cost.table_entry_bits has no effect"));
}

TEST_CASE("The resolved configuration has the technology, and of macros only what is given") {
  const auto plain = resolved_json(only_point(kPoint)).at("system").at("cost");
  CHECK(plain.at("technology") == "nangate45");
  CHECK(plain.at("node") == "auto");
  CHECK_FALSE(plain.contains("macros"));
  const RunPoint with_macro =
      only_point(kPoint, {"system.cost.macros.ni.schedule_table.area_um2=14000"});
  CHECK(resolved_json(with_macro)
            .at("system")
            .at("cost")
            .at("macros")
            .at("ni")
            .at("schedule_table")
            .at("area_um2") == 14000);
  const RunPoint again = only_point(resolved_yaml(with_macro));
  CHECK(again.system.cost.macro(CostBlock::ni_schedule_table).area_um2 == 14000);
  CHECK(config_hash(again) == config_hash(with_macro));
  CHECK(config_hash(with_macro) != config_hash(only_point(kPoint)));
}

TEST_CASE("An override of one number of a macro leaves the file's other numbers") {
  const std::string file =
      "system:\n"
      "  topology: {type: torus, dims: [4, 4]}\n"
      "  cost: {macros: {router: {buffers: {area_um2: 150000, access: 300ps}}}}\n" +
      kGoodCollective;
  const auto buffers = [&](const std::string& override) {
    return only_point(file, {override}).system.cost.macro(CostBlock::router_buffers);
  };
  const UserMacro one = buffers("system.cost.macros.router.buffers.access=250ps");
  CHECK(one.area_um2 == 150000);
  CHECK(one.delay_ps == 250);
  CHECK(buffers("system.cost.macros.router.buffers.access=formula").delay_ps == 0);
  const UserMacro other =
      buffers("system.cost.macros={router: {buffers: {read_pj: 2}}, link: {pj_per_bit: 5}}");
  CHECK(other.area_um2 == 0);
  CHECK(other.read_pj == 2);
  CHECK(buffers("system.cost.macros=formula").area_um2 == 0);
}

TEST_CASE("A wrong override of a macro names the nearest right one") {
  const auto [override, message, hint] = GENERATE(
      std::make_tuple("system.cost.macros.router.bufers.area_um2=1", "unknown key",
                      "did you mean 'system.cost.macros.router.buffers.area_um2'?"),
      std::make_tuple("system.cost.macros.router=1", "is a section, not a key", "buffers"),
      std::make_tuple("system.cost.macros={router: {bufers: {area_um2: 1}}}",
                      "unknown key 'bufers' in 'system.cost.macros.router'",
                      "did you mean 'buffers'?"),
      std::make_tuple("system.cost.macros=17", "system.cost.macros: expected a mapping of keys",
                      "link, router, ni"),
      std::make_tuple("system.cost.macros.link.pj_per_bit=0",
                      "system.cost.macros.link.pj_per_bit: 0 is out of range", "or none"));
  CAPTURE(override);
  const std::string text = diagnostics_of(kPoint, {override});
  CHECK_THAT(text, Contains(message) && Contains(hint));
}

TEST_CASE("A router pipeline left to the cost model follows the clock") {
  const auto cycles = [](const std::string& clock, const std::string& bandwidth) {
    return only_point(kPoint, {"system.router.pipeline_cycles=auto", "system.router.clock=" + clock,
                               "system.link.bandwidth=" + bandwidth})
        .system.router.pipeline_cycles;
  };
  const Cycle at_1_ghz = cycles("1GHz", "16GB/s");
  CHECK(at_1_ghz == 3);
  CHECK(cycles("250MHz", "4GB/s") == 1);
  CHECK(cycles("2GHz", "32GB/s") > at_1_ghz);
}

TEST_CASE("A latency left to the cost model stays auto in the resolved configuration") {
  const RunPoint point = only_point(kPoint, {"system.router.pipeline_cycles=auto"});
  CHECK(resolved_json(point).at("system").at("router").at("pipeline_cycles") == "auto");
  const RunPoint again = only_point(resolved_yaml(point));
  CHECK(again.system.router.pipeline_cycles == point.system.router.pipeline_cycles);
  CHECK(config_hash(again) == config_hash(point));
  // 0 cycles are a number, not the word.
  const RunPoint none = only_point(kPoint, {"system.router.pipeline_cycles=0"});
  CHECK(none.system.router.pipeline_cycles == 0);
  CHECK(resolved_json(none).at("system").at("router").at("pipeline_cycles") == 0);
}

TEST_CASE("An SCF arbitration left to the cost model takes its queue's cycles, a FIFO's one") {
  const auto cycles = [](const std::string& order) {
    return only_point(kThemis, {"system.ni.dimension_queue.arbitration_cycles=auto",
                                "system.ni.dimension_queue.order=" + order})
        .system.ni.dimension_queue.arbitration_cycles;
  };
  CHECK(cycles("scf") == 5);
  CHECK(cycles("fifo") == 1);
  const ConfigResult both =
      read_run_config_text("both.yaml", kThemis, "",
                           {"system.ni.dimension_queue.arbitration_cycles=auto",
                            "system.ni.dimension_queue.order=[fifo, scf]"});
  REQUIRE(both.points.size() == 2);
  CHECK(both.points[0].system.ni.dimension_queue.arbitration_cycles == 1);
  CHECK(both.points[1].system.ni.dimension_queue.arbitration_cycles == 5);
}

TEST_CASE("An implied router pipeline shortens a dimension's links, not its latency") {
  const ConfigResult given =
      read_run_config_text("given.yaml", kThemis, "", {"system.router.pipeline_cycles=auto"});
  REQUIRE(given.ok);
  const Cycle implied = given.points.front().system.router.pipeline_cycles;
  const ConfigResult same = read_run_config_text(
      "same.yaml", kThemis, "", {"system.router.pipeline_cycles=" + std::to_string(implied)});
  REQUIRE(same.ok);
  CHECK(given.topology->links().front().spec == same.topology->links().front().spec);
}

TEST_CASE("A schedule-table entry at 64 nodes of four links has the paper's 200 bits") {
  CHECK(table_entry_bits(64, 4) == 200);
  CHECK(table_entry_bits(1024, 4) > 200);
}

TEST_CASE("A mesh's corners have fewer ports, and every vertex is counted once") {
  const ConfigResult mesh = read_run_config_text(
      "mesh.yaml", "system: {topology: {type: mesh, dims: [4, 4]}}\n" + kGoodCollective);
  const SystemShape shape = system_shape(mesh.points.front().system, *mesh.topology);
  REQUIRE(shape.routers.size() == 3);
  std::vector<std::size_t> counts(3);
  for (const std::size_t kind : shape.router_of) ++counts[kind];
  std::vector<std::uint32_t> ports;
  for (const auto& slices : shape.routers) ports.push_back(slices.front().inputs);
  // Corner, edge, inside; two, three and four links with an NI port each.
  CHECK(ports == std::vector<std::uint32_t>{4, 6, 8});
  CHECK(counts == std::vector<std::size_t>{4, 8, 4});
}

TEST_CASE("A multi-dimensional system's routers have a part for each dimension's flits") {
  const ConfigResult themis = read_run_config_text("themis.yaml", kThemis);
  const SystemShape shape = system_shape(themis.points.front().system, *themis.topology);
  const std::vector<RouterSlice>& npu = shape.routers[shape.router_of.front()];
  REQUIRE(npu.size() == 2);
  CHECK(npu[0].inputs == 4);  // two links of the ring, and their NI ports
  CHECK(npu[1].inputs == 2);
  CHECK(npu[0].flit_bits == 200);
  CHECK(npu[1].flit_bits == 104);
  const std::vector<RouterSlice>& last = shape.routers[shape.router_of.back()];
  REQUIRE(last.size() == 1);
  CHECK(last[0].dimension == 2);
  CHECK(last[0].inputs == 4);
  CHECK(shape.nis.front().queues.size() == 2);
  CHECK_FALSE(shape.nis.front().table);
}

TEST_CASE("A dimension queue, and the choice that is waited for, hold the collective's chunks") {
  const auto system_of = [](const std::vector<std::string>& more) {
    std::vector<std::string> overrides{"collective.chunks=512",
                                       "system.ni.dimension_queue.arbitration_cycles=auto"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    const ConfigResult themis = read_run_config_text("themis.yaml", kThemis, "", overrides);
    INFO(themis.diagnostics);
    REQUIRE(themis.ok);
    const RunPoint& point = themis.points.front();
    return std::make_pair(
        system_shape(point.system, *themis.topology, configured_need(point)).nis.front().queues[0],
        point.system.ni.dimension_queue.arbitration_cycles);
  };
  const auto [queue, cycles] = system_of({});
  CHECK(queue.entries == 512);
  const auto [short_queue, fewer_cycles] = system_of({"system.cost.queue_entries=64"});
  CHECK(short_queue.entries == 64);
  CHECK(fewer_cycles < cycles);
}

TEST_CASE("Only NIs that coordinate a job have a readiness table, of its units and children") {
  const auto readiness = [](const std::string& coordination) {
    const ConfigResult job =
        read_run_config_text("job.yaml", kCoordinated + "coordination: {" + coordination + "}\n");
    INFO(job.diagnostics);
    REQUIRE(job.ok);
    const RunPoint& point = job.points.front();
    return system_shape(point.system, *job.topology, configured_need(point)).nis.front().readiness;
  };
  for (const char* mode : {"none", "coordinator", "hierarchical", "cached"}) {
    CAPTURE(mode);
    CHECK_FALSE(readiness(std::string("mode: ") + mode));
  }
  // ResNet-50 has 53 convolutions and a fully connected layer; 161 tensors with batch norm.
  CHECK(readiness("mode: in_ni") == ReadinessShape{54, 8});
  CHECK(readiness("mode: in_ni, tensors: batch_norm") == ReadinessShape{161, 8});
  CHECK(readiness("mode: in_ni, tensors: batch_norm, arity: 2") == ReadinessShape{161, 2});
  CHECK(readiness("mode: in_ni, tensors: batch_norm, num_groups: 5") == ReadinessShape{5, 8});
  CHECK(readiness("mode: in_ni, tensors: batch_norm, num_groups: 200") == ReadinessShape{161, 8});
  CHECK_FALSE(configured_need(only_point(kPoint)).readiness);
}

TEST_CASE("A list of modes has a readiness table at those points that use it") {
  const ConfigResult job = read_run_config_text(
      "job.yaml",
      kCoordinated + "coordination: {mode: [cached, in_ni, coordinator], num_groups: [0, 5]}\n");
  INFO(job.diagnostics);
  REQUIRE(job.ok);
  REQUIRE(job.points.size() == 6);
  for (const RunPoint& point : job.points) {
    const bool in_ni = point.coordination->mode == CoordinationMode::in_ni;
    const auto readiness = configured_need(point).readiness;
    REQUIRE(readiness.has_value() == in_ni);
    if (in_ni) CHECK(readiness->units == (point.coordination->num_groups == 5 ? 5 : 54));
  }
}

TEST_CASE("A pipeline left to the cost model is the same with readiness tables as without") {
  const auto cycles = [](const std::string& mode) {
    return only_point(kCoordinated + "coordination: {mode: " + mode + "}\n",
                      {"system.router.pipeline_cycles=auto"})
        .system.router.pipeline_cycles;
  };
  CHECK(cycles("in_ni") == cycles("cached"));
}

TEST_CASE(
    "A macro of a readiness table is read where NIs coordinate, and has no effect elsewhere") {
  const std::string key = "system.cost.macros.ni.readiness_table.area_um2=5000";
  const auto read = [&](const std::string& coordination) {
    const ConfigResult job =
        read_run_config_text("job.yaml", kCoordinated + coordination, "", {key});
    INFO(job.diagnostics);
    REQUIRE(job.ok);
    return job;
  };
  const ConfigResult in_ni = read("coordination: {mode: in_ni}\n");
  CHECK(in_ni.diagnostics.empty());
  const RunPoint& point = in_ni.points.front();
  CHECK(point.system.cost.macro(CostBlock::ni_readiness_table).area_um2 == 5000);
  CHECK(config_hash(only_point(resolved_yaml(point))) == config_hash(point));
  for (const char* other : {"coordination: {mode: cached}\n", ""}) {
    CAPTURE(other);
    const ConfigResult job = read(other);
    CHECK_THAT(job.diagnostics, Contains("macros.ni.readiness_table has no effect"));
    CHECK(job.points.front().system.cost.macro(CostBlock::ni_readiness_table).area_um2 == 0);
  }
}

TEST_CASE("The schema shows the cost section") {
  const std::string schema = schema_text();
  CHECK_THAT(schema,
             Contains("technology: one of osu050") && Contains(" nm um\n") &&
                 Contains("macros: mapping of link, router, ni, or formula; default formula"));
}
