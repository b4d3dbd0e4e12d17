#include <catch2/catch.hpp>
#include <set>

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

TEST_CASE("One command shows the paper's system at 45 and 22 nm") {
  const Outcome outcome = test::espalier({"area", kTableIII, "--node", "45nm", "--node", "22nm"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("torus 8x8 (64 nodes): nangate45 at 45 nm") &&
                              Contains("torus 8x8 (64 nodes): nangate45 at 22 nm") &&
                              Contains("router.buffers") && Contains("ni.schedule_table") &&
                              Contains("NI extension") && Contains("of NI and router"));
}

TEST_CASE("area --json has a system for each technology and node, with every block's origin") {
  const Json systems = area_json({kTableIII, "--technology", "nangate45", "--technology",
                                  "sky130hd", "--node", "45nm", "--node", "22nm"})
                           .at("systems");
  REQUIRE(systems.size() == 4);
  for (const Json& system : systems) {
    const Json& area = system.at("area");
    CHECK(area.at("router_um2").get<double>() > area.at("ni_um2").get<double>());
    CHECK(area.at("system_mm2_high").get<double>() > area.at("system_mm2").get<double>());
    double sum = 0;
    for (const Json& block : area.at("blocks")) {
      CHECK(block.at("origin") == "formula");
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
  CHECK(outcome.out.rfind("config,topology,nodes,technology,node_nm,block,count,", 0) == 0);
  CHECK_THAT(outcome.out, Contains("mesh 2x2,4,nangate45,45.0,router.buffers,4,"));
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

TEST_CASE("A user's macro is taken, and says so") {
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
  }
  CHECK(seen);
}

TEST_CASE("Area does not depend on what is run, and energy does") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json small = result_of({config});
  const Json large = result_of({config, "-s", "collective.size=64KiB"});
  const Json ring = result_of({config, "-s", "collective.algorithm=ring"});
  CHECK(large.at("area") == small.at("area"));
  CHECK(ring.at("area") == small.at("area"));
  CHECK(area_json({config}).at("systems").at(0).at("area") == small.at("area"));
  CHECK(large.at("energy").at("total_uJ").get<double>() >
        10 * small.at("energy").at("total_uJ").get<double>());
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
  CHECK(sum == Approx(result.at("energy").at("total_uJ").get<double>()).margin(1e-5));
}

TEST_CASE("Links have energy where the user says what a bit costs") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json result = result_of({config, "-s", "system.cost.link_pj_per_bit=5"});
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
  const Json result = result_of({config, "-s", "system.router.pipeline_cycles=auto"});
  const Json& pipeline = result.at("area").at("pipeline_cycles");
  const Json same = result_of({config, "-s", "system.router.pipeline_cycles=" + pipeline.dump()});
  CHECK(result.at("cycles") == same.at("cycles"));
  CHECK(result.at("area") == same.at("area"));
}

TEST_CASE("Traffic, training and control messages have area and energy, workloads area") {
  const TemporaryFolder folder;
  const std::string configs = ESPALIER_SOURCE_DIR "/configs/";
  for (const std::string& name :
       {std::string("traffic_file.yaml"), std::string("control_idle.yaml")}) {
    CAPTURE(name);
    const Json result = result_of({configs + name});
    CHECK(result.at("area").at("router_um2").get<double>() > 0);
    CHECK(result.at("energy").at("total_uJ").get<double>() > 0);
    CHECK(result.at("energy").at("events").at("arbitrations").get<int>() > 0);
  }
}

TEST_CASE("Technologies are listed") {
  const Outcome outcome = test::espalier({"list", "technologies"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("nangate45") && Contains("45 nm, NAND2 0.798 um2"));
}
