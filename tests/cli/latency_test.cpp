// `espalier latency`: curves of latency against load.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli_test_support.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;

const std::string kLoadedMesh =
    "system: {topology: {type: mesh, dims: [3, 3]}, link: {latency: 2ns}, ni: {ports: 1},\n"
    "         flow_control: {mode: packet}}\n"
    "traffic: {pattern: uniform, message: 240B, warmup_cycles: 500, measure_cycles: 1500}\n";

double mean_of(const Json& result) { return result.at("message_latency_mean_cycles"); }

TEST_CASE("latency draws a curve up to the load that saturates the network") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("mesh.yaml", kLoadedMesh);
  const Outcome outcome =
      test::espalier({"latency", config, "--json", folder.file("curve.json"), "--csv",
                      folder.file("curve.csv"), "-o", folder.file("curve.html")});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("saturates above "));
  const Json document = Json::parse(test::read_text(folder.file("curve.json")));
  REQUIRE(document.at("designs").size() == 1);
  const double saturation = document.at("designs").at(0).at("saturation_flits_per_node_cycle");
  CHECK(saturation > 0.3);
  CHECK(saturation < 1);
  double load = 0;
  double latency = 0;
  for (const Json& index : document.at("designs").at(0).at("results")) {
    const Json& result = document.at("results").at(index.get<std::size_t>());
    const double next = result.at("offered_flits_per_node_cycle");
    CHECK(next > load);
    CHECK(result.at("saturated") == (next > saturation));
    if (next < 0.8 * saturation) CHECK(mean_of(result) > 0.95 * latency);
    load = next;
    latency = mean_of(result);
  }
  CHECK(load > saturation);
  CHECK_THAT(test::read_text(folder.file("curve.csv")), Contains("message_latency_p99_cycles"));
  const std::string page = test::read_text(folder.file("curve.html"));
  CHECK_THAT(page, !Contains("fastest</strong>"));
  CHECK_THAT(page, Contains("Latency in cycles by load, mesh 3x3, uniform"));
  CHECK_THAT(page, Contains("saturates between "));
  // The document is one of `run --json`.
  CHECK(test::espalier({"report", folder.file("curve.json"), "-o", folder.file("again.html")})
            .exit_code == 0);
}

TEST_CASE("latency gives the same bytes with one job as with several") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("mesh.yaml", kLoadedMesh);
  for (const char* jobs : {"1", "3"}) {
    REQUIRE(test::espalier({"latency", config, "-s", "system.router.vcs=[1,2]", "--loads",
                            "0.1,0.4", "-j", jobs, "-o", folder.file(std::string(jobs) + ".html")})
                .exit_code == 0);
  }
  CHECK(test::read_text(folder.file("1.html")) == test::read_text(folder.file("3.html")));
}

TEST_CASE("latency compares designs, and simulates exactly the loads that the user names") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("mesh.yaml", kLoadedMesh);
  const Outcome outcome =
      test::espalier({"latency", config, "-s", "system.router.vcs=[1,4]", "-s",
                      "traffic.pattern=[uniform,tornado]", "--loads", "0.1,0.3", "--json", "-"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Json document = Json::parse(outcome.out);
  std::vector<std::string> names;
  for (const Json& design : document.at("designs")) {
    names.push_back(design.at("name"));
    CHECK(design.at("results").size() == 2);
  }
  CHECK(names == std::vector<std::string>{"vcs 1, pattern uniform", "vcs 1, pattern tornado",
                                          "vcs 4, pattern uniform", "vcs 4, pattern tornado"});
  CHECK_THAT(outcome.err, Contains("vcs 4, pattern tornado (mesh 3x3, tornado, 240 B)"));
}

TEST_CASE("latency keeps the runs of other loads and designs when a run fails") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("mesh.yaml", kLoadedMesh);
  for (const char* loop : {"open", "closed"}) {
    const std::string target = folder.file(std::string(loop) + ".json");
    // A window without a message fails.
    const Outcome outcome = test::espalier(
        {"latency", config, "-s", std::string("traffic.loop=") + loop, "-s",
         "system.router.vcs=[1,2]", "--loads", "0.0001,0.1", "-j", "1", "--json", target});
    CAPTURE(outcome.err);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err, Contains("no message is generated in the measurement window"));
    const Json document = Json::parse(test::read_text(target));
    CHECK(document.at("designs").size() == 2);
    CHECK(document.at("results").size() >= 1);
  }
}

TEST_CASE("Of a list and a later value of one key, the value counts") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("mesh.yaml", kLoadedMesh);
  const Outcome outcome = test::espalier({"latency", config, "-s", "system.router.vcs=[1, 2]", "-s",
                                          "system.router.vcs=4", "--loads", "0.1", "--json", "-"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Json document = Json::parse(outcome.out);
  REQUIRE(document.at("designs").size() == 1);
  CHECK_THAT(document.at("config").dump() + document.at("points").dump(), Contains("\"vcs\":4"));
}

TEST_CASE("latency takes a graph in place of a configuration") {
  const Outcome outcome = test::espalier(
      {"latency", std::string(ESPALIER_SOURCE_DIR) + "/configs/graphs/lab.yaml", "-s",
       "system.ni.ports=[1,2]", "--loads", "0.02", "-s", "traffic.measure_cycles=2000"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("ports 1 (lab, uniform, 256 B)"));
}

TEST_CASE("latency of a closed loop states what the network accepts") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("mesh.yaml", kLoadedMesh);
  const Outcome outcome = test::espalier({"latency", config, "-s", "traffic.loop=closed", "-s",
                                          "traffic.outstanding=2", "--loads", "0.1,4"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("closed loop, with at most 2 requests of a node outstanding"));
}

TEST_CASE("latency refuses what has no curve, with the reason") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("mesh.yaml", kLoadedMesh);
  const std::string collective =
      folder.write("collective.yaml",
                   "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                   "collective: {op: all_reduce, algorithm: ring, size: 64KiB}\n");
  const auto error_of = [](const std::vector<std::string>& words) {
    const Outcome outcome = test::espalier(words);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  CHECK_THAT(error_of({"latency", collective}), Contains("a curve needs drawn traffic"));
  const std::string nothing =
      folder.write("nothing.yaml", "system: {topology: {type: mesh, dims: [2, 2]}}\n");
  CHECK_THAT(error_of({"latency", nothing}), Contains("missing section 'traffic'"));
  CHECK_THAT(error_of({"latency", config, "--loads", "0.1,,0.2"}), Contains("'' is not a load"));
  CHECK_THAT(error_of({"latency", config, "--loads", "17"}), Contains("generate at most 16 flits"));
  CHECK_THAT(error_of({"latency", config, "--csv", config}), Contains("mesh.yaml"));
}

TEST_CASE("Traffic that does not fit its network is refused with the reason") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("mesh.yaml", kLoadedMesh);
  struct Row {
    std::vector<std::string> settings;
    const char* error;
  };
  for (const Row& row :
       {Row{{"traffic.pattern=shuffle"}, "shuffle needs a number of nodes that is a power of two"},
        Row{{"traffic.pattern=bit_reverse"}, "bit_reverse needs a number of nodes"},
        Row{{"system.topology.dims=[2, 3]", "traffic.pattern=transpose"},
            "transpose needs a square torus or mesh"},
        Row{{"traffic.pattern=hotspot"}, "traffic.hotspots"},
        Row{{"traffic.pattern=hotspot", "traffic.hotspots=[1, 9]"}, "there is no node 9"},
        Row{{"traffic.injection_rate=17"}, "at most one message per cycle, which is 16 flits"},
        Row{{"traffic.injection_rate=1", "traffic.burst_messages=4"},
            "a burst is one flit per cycle"},
        Row{{"traffic.measure_cycles=0"}, "traffic.measure_cycles"},
        Row{{"traffic.pattern=uniformly"}, "uniform"},
        Row{{"system.router.vc_order=rotating", "simulation.fidelity=train"},
            "system.router.vc_order: rotating"}}) {
    std::vector<std::string> words{"run", config};
    for (const std::string& setting : row.settings) words.insert(words.end(), {"-s", setting});
    CAPTURE(words);
    const Outcome outcome = test::espalier(words);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains(row.error));
  }
  // A window without a message measures nothing.
  const Outcome empty = test::espalier({"run", config, "-s", "traffic.injection_rate=0.000001"});
  CHECK(empty.exit_code == 1);
  CHECK_THAT(empty.err + empty.out, Contains("no message is generated in the measurement window"));
}

}  // namespace
}  // namespace espalier
