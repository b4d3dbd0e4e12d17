#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <utility>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::kSmallConfig;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr const char* kTableIII = ESPALIER_SOURCE_DIR "/configs/torus_8x8.yaml";

Json area_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "area");
  arguments.insert(arguments.end(), {"--json", "-"});
  const Outcome outcome = test::espalier(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return Json::parse(outcome.out);
}

Json result_of(const std::vector<std::string>& arguments) {
  return test::run_to_json(arguments).at("results").at(0);
}

}  // namespace

TEST_CASE("area shows the paper's system at 45 and 22 nm in one call") {
  const Outcome outcome = test::espalier({"area", kTableIII, "--node", "45nm", "--node", "22nm"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("torus 8x8 (64 nodes): nangate45 at 45 nm") &&
                              Contains("torus 8x8 (64 nodes): nangate45 at 22 nm") &&
                              Contains("router.buffers") && Contains("ni.schedule_table") &&
                              Contains("NI extension") && Contains("of NI and router"));
}

TEST_CASE("area says where the formula of the dependency state is extrapolated") {
  const char* words = "ni.dependency_state of 512 places is extrapolated";
  CHECK_THAT(test::espalier({"area", kTableIII, "-s", "system.topology.dims=[16, 16]"}).out,
             Contains(words));
  CHECK_THAT(test::espalier({"area", kTableIII}).out, !Contains("places is extrapolated"));
}

TEST_CASE("The dependency state of a run has two places per node, or one for each awaited event") {
  const auto places = [](const std::string& algorithm, const std::string& segments) {
    const Json result =
        result_of({kTableIII, "-s", "system.topology.dims=[4, 4]", "-s", "collective.size=64KiB",
                   "-s", "system.flow_control.mode=message", "-s",
                   "collective.algorithm=" + algorithm, "-s", "collective.segments=" + segments});
    for (const Json& block : result.at("area").at("blocks")) {
      if (block.at("block") == "ni.dependency_state") return block.at("words").get<int>();
    }
    return 0;
  };
  CHECK(places("multitree_translated", "1") == 32);
  CHECK(places("multitree_translated", "8") > 32);
}

TEST_CASE("area --json has a system for each technology and node, with every block's origin") {
  const Json systems =
      area_json({kTableIII, "-s", "collective.algorithm=multitree", "--technology", "nangate45",
                 "--technology", "sky130hd", "--node", "45nm", "--node", "22nm", "--node", "45nm"})
          .at("systems");
  REQUIRE(systems.size() == 4);
  for (const Json& system : systems) {
    const Json& area = system.at("area");
    CHECK(area.at("router_um2").get<double>() > area.at("ni_um2").get<double>());
    CHECK(area.at("system_mm2_high").get<double>() > area.at("system_mm2").get<double>());
    double sum = 0;
    for (const Json& block : area.at("blocks")) {
      CHECK(block.at("origin") == (block.at("block") == "ni.adders" ? "published" : "formula"));
      sum += block.at("um2").get<double>();
    }
    CHECK(sum == Approx(area.at("router_um2").get<double>() + area.at("ni_um2").get<double>()));
    CHECK(area.at("system_placed_mm2").get<double>() ==
          Approx(area.at("system_mm2").get<double>() / 0.7).epsilon(1e-4));
  }
}

TEST_CASE("area --csv writes a line per block, and stdout takes one of CSV and JSON") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Outcome outcome = test::espalier({"area", config, "--csv", "-"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.rfind("config,topology,nodes,technology,node_nm,part,ports,instances,block,",
                          0) == 0);
  CHECK_THAT(outcome.out, Contains("mesh 2x2,4,nangate45,45.0,npu router,4,4,router.buffers,4,") &&
                              Contains("mesh 2x2,4,nangate45,45.0,ni,2,4,ni.buffers,2,"));
  CHECK_THAT(outcome.err, Contains("router.buffers"));
  CHECK(test::espalier({"area", config, "--csv", "-", "--json", "-"}).exit_code == 2);
  CHECK(test::espalier({"area", config, "--json", folder.file("missing/a.json")}).exit_code == 2);
}

TEST_CASE("area needs no workload, and reports mistakes as run does") {
  const TemporaryFolder folder;
  const std::string system =
      folder.write("system.yaml", "system: {topology: {type: torus, dims: [4, 4]}}\n");
  CHECK(test::espalier({"area", system}).exit_code == 0);
  const Outcome wrong = test::espalier({"area", system, "--node", "22"});
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("system.cost.node: '22' has no unit"));
}

TEST_CASE("A user's macro replaces the formula, and the result names it as the source") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json area = area_json({config, "-s", "system.cost.macros.ni.schedule_table.area_um2=14058"})
                        .at("systems")
                        .at(0)
                        .at("area");
  bool seen = false;
  for (const Json& block : area.at("blocks")) {
    if (block.at("block") != "ni.schedule_table") continue;
    seen = true;
    CHECK(block.at("origin") == "user");
    CHECK(block.at("implementation") == "macro");
    CHECK(block.at("um2") == 14058.0);
    // What the user has not said is the formula's.
    CHECK(block.at("delay_origin") == "formula");
    CHECK(block.at("pj_origin") == "formula");
  }
  CHECK(seen);
}

TEST_CASE("A number that the user does not give stays the formula's") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json result = result_of({config, "-s", "system.cost.macros.router.crossbar.use_pj=7", "-s",
                                 "system.cost.macros.router.buffers.access=100ps"});
  for (const Json& block : result.at("area").at("blocks")) {
    CAPTURE(block.dump());
    const bool adds = block.at("block") == "ni.adders";  // of published numbers
    CHECK(block.at("origin") == (adds ? "published" : "formula"));
    CHECK((block.at("delay_origin") == "user") == (block.at("block") == "router.buffers"));
    CHECK((block.at("pj_origin") == "user") == (block.at("block") == "router.crossbar"));
    if (block.at("block") == "router.crossbar") CHECK(block.at("pj_read_or_use") == 7);
  }
  const Json& energy = result.at("energy");
  CHECK(energy.at("origin").at("crossbars") == "user");
  CHECK(energy.at("origin").at("buffers") == "formula");
  CHECK(energy.at("origin").at("links").is_null());
  CHECK(energy.at("uJ").at("crossbars").get<double>() ==
        Approx(7e-6 * energy.at("events").at("crossbar_traversals").get<double>()).margin(1e-6));
}

TEST_CASE("A macro that the model does not use is refused, or a warning says so") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  // A run does not count the writes of these, and the PHY has the keys of `link`.
  for (const char* key : {"ni.schedule_table.write_pj", "ni.program_memory.write_pj",
                          "router.phy.area_um2", "link.use_pj"}) {
    const Outcome outcome =
        test::espalier({"area", config, "-s", std::string("system.cost.macros.") + key + "=1"});
    CAPTURE(key);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("unknown key"));
  }
  const Outcome queues =
      test::espalier({"area", config, "-s", "system.cost.macros.ni.dimension_queue.area_um2=9"});
  CHECK(queues.exit_code == 0);
  CHECK_THAT(queues.err, Contains("system.cost.macros.ni.dimension_queue has no effect"));
}

TEST_CASE("Every kind of router and NI is shown, and the system is their sum") {
  const TemporaryFolder folder;
  for (const char* topology : {"{type: mesh, dims: [4, 3]}",
                               "{type: fat_tree, nodes_per_switch: 4, switches: 4, spines: 2}"}) {
    CAPTURE(topology);
    const std::string config =
        folder.write("system.yaml", std::string("system: {topology: ") + topology + "}\n");
    const Outcome outcome = test::espalier({"area", config, "--json", "-"});
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json area = Json::parse(outcome.out).at("systems").at(0).at("area");
    double system = 0;
    for (const char* part : {"routers", "nis"}) {
      for (const Json& kind : area.at(part)) {
        double sum = 0;
        for (const Json& block : kind.at("blocks")) sum += block.at("um2").get<double>();
        CHECK(sum == Approx(kind.at("um2").get<double>()).margin(1));
        system += sum * kind.at("count").get<double>();
      }
    }
    CHECK(system / 1e6 == Approx(area.at("system_mm2").get<double>()).epsilon(1e-4));
  }
}

TEST_CASE("The schedule table that is priced holds the schedule that is simulated") {
  const TemporaryFolder folder;
  // On a mesh some nodes need more than two entries per node.
  const std::string config =
      folder.write("mesh.yaml",
                   "system: {topology: {type: mesh, dims: [4, 4]}}\n"
                   "collective: {op: all_reduce, algorithm: multitree, size: 16KiB}\n");
  const auto words = [](const Json& result) {
    for (const Json& block : result.at("area").at("blocks")) {
      if (block.at("block") == "ni.schedule_table") return block.at("words").get<int>();
    }
    return 0;
  };
  const Json result = result_of({config});
  REQUIRE(result.at("table_entries_max").get<int>() > 32);
  CHECK(words(result) == result.at("table_entries_max").get<int>());
  CHECK(words(result_of({config, "-s", "system.ni.table_entries=64"})) == 64);
}

TEST_CASE("area prices the table that a run of the configuration needs, and names its schedules") {
  const TemporaryFolder folder;
  const std::string network = "system: {topology: {type: torus, dims: [4, 4]}}\n";
  const std::string config =
      folder.write("torus.yaml", network +
                                     "collective: {op: all_reduce, size: 1MiB, algorithm: [ring, "
                                     "multitree, forest, gc3_ring]}\n");
  const Json results = test::run_to_json({config}).at("results");
  Json systems = area_json({config}).at("systems");
  REQUIRE(systems.size() == 3);
  CHECK(systems[0].at("tables_of") ==
        Json({"ring of 1 MiB (message)", "multitree of 1 MiB (message)"}));
  CHECK(systems[1].at("tables_of") == Json({"forest of 1 MiB (message)"}));
  const std::size_t runs[] = {0, 2, 3};
  for (std::size_t s = 0; s < 3; ++s) {
    const Json& of_run = results.at(runs[s]).at("area");
    for (const char* number : {"ni_um2", "ni_extension_um2", "ni_extension_share", "system_mm2"}) {
      CAPTURE(s, number);
      CHECK(systems[s].at("area").at(number) == of_run.at(number));
    }
  }
  CHECK_THAT(
      test::espalier({"area", config}).out,
      Contains("tables of NIs as needed by ring of 1 MiB (message), multitree of 1 MiB (message)"));
  CHECK_THAT(test::espalier({"area", folder.write("system.yaml", network)}).out,
             Contains("no schedule is configured, so two table entries per node are assumed"));
}

TEST_CASE("A file of several modes has a system for each schedule table, and one without a table") {
  const auto tables = [](const Json& area) {
    std::vector<std::pair<int, int>> found;
    for (const Json& block : area.at("blocks")) {
      if (block.at("block") != "ni.readiness_table") continue;
      CHECK(block.at("origin") == "formula");
      CHECK(block.at("implementation") == "logic");
      CHECK(block.at("pj_write").is_null());
      CHECK(block.at("pj_read_or_use").get<double>() > 0);
      found.emplace_back(block.at("words").get<int>(), block.at("bits").get<int>());
    }
    return found;
  };
  const std::string config = ESPALIER_SOURCE_DIR "/configs/coordination/coordinator.yaml";
  const Json systems = area_json({config}).at("systems");
  REQUIRE(systems.size() == 3);
  CHECK(tables(systems[0].at("area")).empty());
  CHECK(tables(systems[1].at("area")) == std::vector<std::pair<int, int>>{{161, 9}});
  CHECK(tables(systems[2].at("area")) == std::vector<std::pair<int, int>>{{5, 9}});
  CHECK(systems[0].at("area").at("ni_extension_um2").get<double>() <
        systems[2].at("area").at("ni_extension_um2").get<double>());
  // A run is priced with the same.
  for (const char* mode : {"in_ni", "cached"}) {
    CAPTURE(mode);
    const Json result =
        result_of({config, "-s", std::string("coordination.mode=") + mode, "-s",
                   "coordination.num_groups=5", "-s", "coordination.data_plane=closed_form"});
    CHECK(tables(result.at("area")).size() == (std::string(mode) == "in_ni" ? 1 : 0));
  }
}

TEST_CASE("Control messages count in buffers, links and NIs") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("control.yaml",
                   "system: {topology: {type: torus, dims: [4, 4]}}\n"
                   "collective: {op: all_reduce, algorithm: multitree, size: 16KiB}\n"
                   "control: {pattern: uniform, injection_rate: 0.02, message: 16B}\n");
  const Json result = result_of({config});
  const Json& events = result.at("energy").at("events");
  CHECK(result.at("control").at("messages").get<int>() > 0);
  CHECK(events.at("buffer_writes") == result.at("flit_hops"));
  // A flit passes a router after its injection and one after each link.
  CHECK(events.at("ni_buffer_flits").get<int>() + events.at("link_flits").get<int>() ==
        result.at("flit_hops").get<int>());
}

TEST_CASE("Area follows what a schedule needs and not how much it sends; energy follows both") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json small = result_of({config});
  const Json large = result_of({config, "-s", "collective.size=64KiB"});
  const Json ring = result_of({config, "-s", "collective.algorithm=ring"});
  CHECK(large.at("area") == small.at("area"));
  // On four nodes a ring's tables are not larger than 2N either.
  CHECK(ring.at("area") == small.at("area"));
  CHECK(area_json({config}).at("systems").at(0).at("area").at("blocks") ==
        small.at("area").at("blocks"));
  // 16 times the data; leakage and clock tree follow the time, which has a fixed part.
  const auto of_events = [](const Json& result) {
    const Json& energy = result.at("energy");
    return energy.at("priced_uJ").get<double>() - energy.at("uJ").at("leakage").get<double>() -
           energy.at("uJ").at("clock_tree").get<double>();
  };
  CHECK(of_events(large) > 15 * of_events(small));
}

TEST_CASE("Energy counts what the routers did") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json result = result_of({config});
  const Json& events = result.at("energy").at("events");
  CHECK(events.at("buffer_writes") == result.at("flit_hops"));
  CHECK(events.at("buffer_reads") == result.at("flit_hops"));
  CHECK(events.at("crossbar_traversals") == result.at("flit_hops"));
  // Four tables of the paper's Fig. 5, NOPs included.
  CHECK(events.at("table_reads").get<int>() >= 4 * result.at("table_entries_max").get<int>());
  // One link per message: two routers each.
  CHECK(events.at("link_flits").get<int>() * 2 == result.at("flit_hops").get<int>());
  CHECK(result.at("energy").at("uJ").at("links").is_null());
  double sum = 0;
  for (const auto& [name, part] : result.at("energy").at("uJ").items()) {
    if (part.is_number()) sum += part.get<double>();
  }
  CHECK(sum == Approx(result.at("energy").at("priced_uJ").get<double>()).margin(1e-5));
}

TEST_CASE("A run's total is named only when no part of routers, NIs and links is left out") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const auto energy = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{config};
    for (const std::string& one : more) arguments.insert(arguments.end(), {"-s", one});
    return result_of(arguments).at("energy");
  };
  const std::string per_bit = "system.cost.macros.link.pj_per_bit=5";
  const std::string idle = "system.cost.macros.link.leakage_mW=2";
  CHECK(energy({}).at("left_out") == Json({"links", "leakage of links"}));
  CHECK(energy({}).at("total_uJ").is_null());
  CHECK(energy({per_bit}).at("left_out") == Json({"leakage of links"}));
  CHECK(energy({per_bit}).at("total_uJ").is_null());
  const Json whole = energy({per_bit, idle});
  CHECK(whole.at("left_out").empty());
  CHECK(whole.at("total_uJ") == whole.at("priced_uJ"));
  CHECK(whole.at("covers").size() == whole.at("uJ").size());
  // There are no data of leakage for 65 nm.
  const Json coarse = energy({per_bit, idle, "system.cost.node=65nm"});
  CHECK(coarse.at("left_out") == Json({"leakage"}));
  CHECK(coarse.at("uJ").at("leakage").is_null());
  CHECK(coarse.at("total_uJ").is_null());
}

TEST_CASE("Leakage and clock tree take energy in proportion to the time of a run") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  // The depth of VCs would follow the pipeline.
  const Json fast = result_of({config, "-s", "system.preset=papers"});
  const Json slow =
      result_of({config, "-s", "system.preset=papers", "-s", "system.router.pipeline_cycles=40"});
  const double more = slow.at("cycles").get<double>() / fast.at("cycles").get<double>();
  REQUIRE(more > 1.1);
  for (const char* part : {"leakage", "clock_tree"}) {
    CAPTURE(part);
    CHECK(slow.at("energy").at("uJ").at(part).get<double>() ==
          Approx(more * fast.at("energy").at("uJ").at(part).get<double>()).epsilon(1e-3));
  }
  CHECK(slow.at("energy").at("uJ").at("adders") == fast.at("energy").at("uJ").at("adders"));
  const double seconds = fast.at("cycles").get<double>() / 1e9;
  CHECK(
      fast.at("energy").at("uJ").at("leakage").get<double>() ==
      Approx(fast.at("area").at("system_leakage_mW").get<double>() * seconds * 1e3).epsilon(1e-3));
}

TEST_CASE("An all-reduce adds every element once less than there are ranks") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  for (const char* algorithm : {"ring", "multitree", "gc3_ring"}) {
    CAPTURE(algorithm);
    const Json energy = result_of({config, "-s", "collective.size=12000B", "-s",
                                   std::string("collective.algorithm=") + algorithm})
                            .at("energy");
    CHECK(energy.at("events").at("additions") == 3 * 12000 / 4);
    CHECK(energy.at("uJ").at("adders").get<double>() == Approx(9000 * 0.9e-6).epsilon(1e-3));
    CHECK(energy.at("origin").at("adders") == "published");
  }
}

TEST_CASE("A program is priced as contexts, and its reads are instruction fetches") {
  const std::string config = ESPALIER_SOURCE_DIR "/configs/programs/from_trace.yaml";
  const Json result = result_of({config});
  std::set<std::string> blocks;
  for (const Json& block : result.at("area").at("blocks")) {
    blocks.insert(block.at("block").get<std::string>());
    if (block.at("block") == "ni.program_context") {
      CHECK(block.at("count") == result.at("contexts_max"));
    }
  }
  for (const char* block :
       {"ni.program_memory", "ni.program_context", "ni.scoreboard", "ni.slot_credits"}) {
    CHECK(blocks.count(block) == 1);
  }
  for (const char* block : {"ni.schedule_table", "ni.control", "ni.dependency_state"}) {
    CHECK(blocks.count(block) == 0);
  }
  const Json& energy = result.at("energy");
  CHECK_FALSE(energy.at("events").contains("table_reads"));
  CHECK(energy.at("events").at("instruction_fetches").get<int>() > 0);
  CHECK(energy.at("uJ").at("instructions").get<double>() > 0);
  // Without a run, the file names the same program.
  CHECK(area_json({config}).at("systems").at(0).at("area").at("blocks") ==
        result.at("area").at("blocks"));
}

TEST_CASE("A switch that adds has adders, and its sums count") {
  const TemporaryFolder folder;
  const std::string config = folder.write(
      "switch.yaml",
      "system:\n"
      "  topology: {type: dimensions}\n"
      "  dimensions: {shape: [switch], size: [4], bandwidth: [100Gb/s], latency: [700ns], "
      "algorithm: [in_network]}\n"
      "collective: {algorithm: baseline, size: 64KiB, chunks: 4}\n");
  const Json result = result_of({config});
  double of_switch = 0;
  double of_node = 0;
  const Json document = area_json({config});
  for (const Json& router : document.at("systems").at(0).at("area").at("routers")) {
    for (const Json& block : router.at("blocks")) {
      if (block.at("block") != "router.dim1.adders") continue;
      (router.at("of") == "switch" ? of_switch : of_node) += block.at("um2").get<double>();
    }
  }
  CHECK(of_switch > 0);
  CHECK(of_node == 0);
  CHECK(result.at("energy").at("events").at("additions").get<int>() > 0);
  CHECK(result.at("area").at("left_out") == Json({"link PHYs", "memory of switches that add"}));
}

TEST_CASE("A PHY that is given changes the totals, and one that is not is named beside them") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Outcome without = test::espalier({"area", config});
  CHECK_THAT(without.out, Contains("not given, and in no total: link PHYs"));
  const std::string given = "system.cost.macros.link.area_um2=50000";
  CHECK_THAT(test::espalier({"area", config, "-s", given}).out, !Contains("in no total"));
  const Json before = area_json({config}).at("systems").at(0).at("area");
  const Json after = area_json({config, "-s", given}).at("systems").at(0).at("area");
  // Four routers with two links each.
  CHECK(after.at("system_mm2").get<double>() ==
        Approx(before.at("system_mm2").get<double>() + 4 * 2 * 0.05).epsilon(1e-4));
  CHECK(after.at("ni_um2") == before.at("ni_um2"));
  CHECK(before.at("left_out") == Json({"link PHYs"}));
  CHECK(after.at("left_out").empty());
}

TEST_CASE("Results have the energy of links if the configuration gives the energy per bit") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json result = result_of({config, "-s", "system.cost.macros.link.pj_per_bit=5"});
  const double flits = result.at("energy").at("events").at("link_flits").get<double>();
  CHECK(result.at("energy").at("uJ").at("links").get<double>() ==
        Approx(flits * 128 * 5 / 1e6).margin(1e-6));
}

TEST_CASE("Energy and its events are the same in both fidelities") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string setting = GENERATE(
      "system.topology.type=torus", "system.flow_control.mode=packet",
      "system.topology.dims=[4, 2]", "collective.algorithm=ring", "collective.size=12345B");
  CAPTURE(setting);
  const std::vector<std::string> common{config, "-s", "collective.element=1B", "-s", setting};
  const auto in = [&](const std::string& fidelity) {
    std::vector<std::string> arguments = common;
    arguments.insert(arguments.end(), {"-s", "simulation.fidelity=" + fidelity});
    return result_of(arguments).at("energy").dump();
  };
  CHECK(in("train") == in("cycle"));
}

TEST_CASE("Energy is the same whether one NPU is simulated for all or each by itself") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("themis.yaml",
                   "system:\n"
                   "  topology: {type: dimensions}\n"
                   "  dimensions: {shape: [ring, switch, fully_connected], size: [4, 4, 2], "
                   "bandwidth: [200Gb/s, 100Gb/s, 100Gb/s], latency: [700ns, 700ns, 700ns]}\n"
                   "collective: {algorithm: themis, size: 1MiB, chunks: 8}\n");
  const auto folded = [&](const std::string& how) {
    const Json result = result_of({config, "-s", "simulation.fold=" + how});
    CHECK(result.at("folded") == (how == "on"));
    return std::make_pair(result.at("energy").dump(), result.at("area").dump());
  };
  const auto one = folded("on");
  const auto all = folded("off");
  CHECK(one.first == all.first);
  CHECK(one.second == all.second);
  const Json energy = Json::parse(one.first);
  // Each of 32 NPUs has 8 chunks of three reduce-scatters and three all-gathers.
  CHECK(energy.at("events").at("queue_picks") == 32 * 8 * 6);
}

TEST_CASE("A latency left to the cost model is simulated, and the result says which it is") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json result = result_of({config, "-s", "system.router.pipeline_cycles=auto", "-s",
                                 "system.ni.reduction.latency_cycles=auto"});
  const Json& area = result.at("area");
  const Json same =
      result_of({config, "-s", "system.router.pipeline_cycles=" + area.at("pipeline_cycles").dump(),
                 "-s", "system.ni.reduction.latency_cycles=" + area.at("reduction_cycles").dump()});
  CHECK(area.at("reduction_cycles") > 1);
  CHECK(area.at("clock_met") == true);
  CHECK(result.at("cycles") == same.at("cycles"));
  CHECK(area == same.at("area"));
}

TEST_CASE("The default system meets its clock, and a table says once what another one misses") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const auto table = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"run", config, "-s", "collective.size=[4KiB, 8KiB, 16KiB]"});
    return test::espalier(words).out;
  };
  CHECK_THAT(table({}), !Contains("clock"));
  const std::string slow = table({"-s", "system.ni.reduction.latency_cycles=1"});
  const std::string limit =
      "clock not met: ni.adders at 45 nm allows at most 325 MHz; "
      "set system.ni.reduction.latency_cycles: auto\n";
  REQUIRE_THAT(slow, Contains(limit));
  CHECK_THAT(slow.substr(slow.find(limit) + limit.size()), !Contains("clock"));
  CHECK_THAT(table({"-s", "system.router.clock=2GHz", "-s", "system.link.bandwidth=32GB/s"}),
             Contains(" and cannot be pipelined; set a finer system.cost.node, or "
                      "system.router.clock: 1032MHz with flits that"));
}

TEST_CASE("Traffic, training and control messages have area and energy, workloads area") {
  const TemporaryFolder folder;
  const std::string configs = ESPALIER_SOURCE_DIR "/configs/";
  for (const std::string& name :
       {std::string("traffic_file.yaml"), std::string("control_idle.yaml")}) {
    CAPTURE(name);
    const Json result = result_of({configs + name});
    CHECK(result.at("area").at("router_um2").get<double>() > 0);
    CHECK(result.at("energy").at("priced_uJ").get<double>() > 0);
    CHECK(result.at("energy").at("events").at("arbitrations").get<int>() > 0);
  }
}

TEST_CASE("Technologies are listed") {
  const Outcome outcome = test::espalier({"list", "technologies"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("nangate45") && Contains("45 nm, NAND2 0.798 um2"));
}

TEST_CASE("The documents state what area --summary prints for the default system") {
  const Outcome outcome =
      test::espalier({"area", kTableIII, "-s", "collective.algorithm=multitree", "--node", "45nm",
                      "--node", "32nm", "--node", "22nm", "--summary"});
  REQUIRE(outcome.exit_code == 0);
  const std::string page = test::read_text(std::string(ESPALIER_SOURCE_DIR) + "/docs/cost.md");
  const std::string begin =
      "<!-- begin of espalier area configs/torus_8x8.yaml -s collective.algorithm=multitree --node "
      "45nm --node 32nm --node 22nm --summary -->\n";
  const std::size_t at = page.find(begin);
  REQUIRE(at != std::string::npos);
  const std::size_t first = at + begin.size();
  CHECK(page.substr(first, page.find("<!-- end", first) - first) == outcome.out);
  // The README's sentence.
  const Json area =
      area_json({kTableIII, "-s", "collective.algorithm=multitree"}).at("systems").at(0).at("area");
  std::string readme = test::read_text(std::string(ESPALIER_SOURCE_DIR) + "/README.md");
  std::replace(readme.begin(), readme.end(), '\n', ' ');
  const auto percent = [](const Json& share) {
    return fmt::format("{:.1f} %", 100 * share.get<double>());
  };
  CHECK_THAT(readme,
             Contains("is " + percent(area.at("ni_extension_share")) + " of router and NI") &&
                 Contains("and " + percent(area.at("ni_extension_and_adders_share")) +
                          " with the FP32 adders"));
}
