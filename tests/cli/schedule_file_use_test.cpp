#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "alg/generators/generator.h"
#include "cli_test_support.h"
#include "sims/formats/schedule_file.h"
#include "tests/support/networks.h"
#include "tests/unit/table_mutations.h"

using namespace espalier;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::Json;
using test::kSmallConfig;
using test::Outcome;
using test::TemporaryFolder;

namespace {

// Configuration and schedule file of one system, side by side.
class ScheduleFolder {
 public:
  explicit ScheduleFolder(const std::string& config_text = kSmallConfig)
      : config_(folder_.write("config.yaml", config_text)), schedule_(folder_.file("config.json")) {
    const Outcome outcome = test::espalier({"schedule", config_, "-f", "json", "-o", schedule_});
    if (outcome.exit_code != 0) throw std::runtime_error(outcome.err);
  }

  [[nodiscard]] const std::string& config() const { return config_; }
  [[nodiscard]] const std::string& schedule() const { return schedule_; }
  [[nodiscard]] Json document() const { return Json::parse(test::read_text(schedule_)); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }

 private:
  TemporaryFolder folder_;
  std::string config_;
  std::string schedule_;
};

// Refused by every command that reads schedules, with its line and column.
void check_refused(const std::string& path, const std::string& message) {
  for (const char* command : {"check", "run", "schedule"}) {
    const Outcome outcome = test::espalier({command, path});
    CAPTURE(command, outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, StartsWith(path + ":") && Contains(": error: " + message) &&
                                !StartsWith(path + ": "));
  }
}

void check_rejected(const std::string& path, const std::string& reason) {
  const Outcome checked = test::espalier({"check", path});
  CHECK(checked.exit_code == 1);
  CHECK_THAT(checked.out, Contains("REJECTED") && Contains(reason));
  const Outcome run = test::espalier({"run", path});
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Contains(reason));
}

// On a 3x3 mesh, each in a run of its own.
void run_accepted_mutants(const std::string& algorithm) {
  const Topology topology = make_mesh({3, 3}, LinkSpec{150'000, 16'000'000'000});
  CollectiveRequest request;
  request.size = 1000;  // chunks of two sizes
  const ScheduleTables tables =
      lower_to_tables(find_generator(algorithm)->generate(topology, request));
  const Json config{
      {"system", {{"topology", {{"type", "mesh"}, {"dims", {3, 3}}}}}},
      {"collective", {{"op", "all_reduce"}, {"algorithm", algorithm}, {"size", "1000B"}}}};
  const TemporaryFolder folder;
  const auto mutants = test::accepted_mutants(topology, tables);
  // There are some: waits for what is complete anyway, and ways around.
  REQUIRE_FALSE(mutants.empty());
  for (const test::TableMutant& mutant : mutants) {
    CAPTURE(mutant.what);
    std::ostringstream text;
    write_schedule_file(text, config, topology, mutant.tables);
    const Outcome outcome =
        test::espalier({"run", folder.write("mutant.json", text.str()), "--json", "-"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json result = Json::parse(outcome.out).at("results").at(0);
    CHECK(result.at("verified") == true);
    CHECK(result.at("certified") == true);
  }
}

}  // namespace

TEST_CASE("A schedule file gives the results of its configuration") {
  const std::string text = GENERATE(
      as<std::string>{}, kSmallConfig,
      "system:\n"
      "  topology: {type: mesh, dims: [3, 3]}\n"  // no cycle through all: routes of several links
      "  flow_control: {mode: packet, payload_bytes: 64}\n"
      "collective: {op: all_reduce, algorithm: ring, size: 3000B, element: 1B}\n",
      "system: {topology: {type: torus, dims: [4, 2]}}\n"
      "collective: {op: reduce_scatter, algorithm: 2d_ring, size: 4KiB}\n");
  const ScheduleFolder files(text);
  const Outcome checked = test::espalier({"check", files.schedule()});
  CHECK(checked.exit_code == 0);
  // But for the names at the beginning of the line.
  const std::string of_config = test::espalier({"check", files.config()}).out;
  CHECK(checked.out.substr(files.schedule().size()) == of_config.substr(files.config().size()));
  CHECK(test::without_origin(test::run_to_json({files.schedule()})).dump() ==
        test::without_origin(test::run_to_json({files.config()})).dump());
  for (const char* format : {"table", "json", "dot", "flits", "tree-svg"}) {
    CHECK(test::espalier({"schedule", files.schedule(), "-f", format}).out ==
          test::espalier({"schedule", files.config(), "-f", format}).out);
  }
}

TEST_CASE("The system of a schedule file may be overridden") {
  const ScheduleFolder files;
  const std::string faster = "system.link.latency=50ns";
  CHECK(test::without_origin(test::run_to_json({files.schedule(), "-s", faster})).dump() ==
        test::without_origin(test::run_to_json({files.config(), "-s", faster})).dump());
  const Outcome larger =
      test::espalier({"check", files.schedule(), "-s", "system.topology.dims=[2, 3]"});
  CHECK(larger.exit_code == 2);
  CHECK_THAT(larger.err, Contains("/nodes: found 4 tables"));
}

// Tables are of one size and one algorithm.
TEST_CASE("An override that a schedule file cannot follow is refused") {
  const ScheduleFolder files;
  for (const char* setting :
       {"collective.size=8KiB", "collective.algorithm=ring", "collective.op=all_gather"}) {
    CAPTURE(setting);
    CHECK(test::espalier({"run", files.schedule(), "-s", setting}).exit_code == 2);
  }
}

TEST_CASE("JSON that is not a schedule is not called a schedule, whatever is overridden") {
  const TemporaryFolder files;
  for (const char* text : {"{}", "{\"collectives\": [], \"gpus\": []}", "no JSON"}) {
    CAPTURE(text);
    const std::string path = files.write("other.json", text);
    const Outcome plain = test::espalier({"run", path});
    const Outcome outcome = test::espalier({"run", path, "-s", "collective.algorithm=ring"});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == plain.err);
    CHECK_THAT(outcome.err, !Contains("finished schedule"));
  }
}

TEST_CASE("A schedule file of a network from a file can be used from where it is written") {
  const ScheduleFolder files;
  static_cast<void>(files.write("triangle.yaml",
                                "nodes: [a, b, c]\n"
                                "links:\n"
                                "  - {between: [a, b]}\n"
                                "  - {between: [b, c]}\n"
                                "  - {between: [c, a]}\n"));
  const std::string config = files.write("graph.yaml",
                                         "system: {topology: {type: file, file: triangle.yaml}}\n"
                                         "collective: {algorithm: multitree, size: 3KiB}\n");
  const std::string beside = files.write("beside.json", "");
  REQUIRE(test::espalier({"schedule", config, "-f", "json", "-o", beside}).exit_code == 0);
  CHECK(test::espalier({"check", beside}).exit_code == 0);
  CHECK(test::without_origin(test::run_to_json({beside})) ==
        test::without_origin(test::run_to_json({config})));
}

TEST_CASE("A schedule file of a network from a file can be used from another folder") {
  const ScheduleFolder files;
  static_cast<void>(files.write("pair.yaml", "nodes: [a, b]\nlinks: [{between: [a, b]}]\n"));
  const std::string config = files.write("graph.yaml",
                                         "system: {topology: {type: file, file: pair.yaml}}\n"
                                         "collective: {algorithm: multitree, size: 3KiB}\n");
  const TemporaryFolder elsewhere;
  const std::string schedule = elsewhere.file("graph.json");
  REQUIRE(test::espalier({"schedule", config, "-f", "json", "-o", schedule}).exit_code == 0);
  CHECK(test::espalier({"check", schedule}).exit_code == 0);
}

TEST_CASE("A corrupted schedule file exits with 2, the place and the value as a JSON pointer") {
  const ScheduleFolder files;
  const auto corrupted = [&](auto change) {
    Json document = files.document();
    change(document);
    return files.write("corrupted.json", document.dump());
  };
  check_refused(corrupted([](Json& d) { d["nodes"][1][2]["flow"] = "x"; }), "/nodes/1/2/flow:");
  check_refused(corrupted([](Json& d) { d["nodes"][1][2]["flow"] = -1; }), "/nodes/1/2/flow:");
  check_refused(corrupted([](Json& d) { d["nodes"][1][2].erase("step"); }), "/nodes/1/2:");
  check_refused(corrupted([](Json& d) { d["nodes"][1][2]["stepp"] = 1; }),
                "/nodes/1/2: unknown key \"stepp\"");
  check_refused(corrupted([](Json& d) { d["nodes"][0][0]["op"] = "Scatter"; }), "/nodes/0/0/op:");
  // Nodes 0 and 3 are opposite corners.
  check_refused(corrupted([](Json& d) { d["nodes"][0][0]["parent"] = 3; }), "/nodes/0/0/parent:");
  check_refused(corrupted([](Json& d) { d["nodes"][3][3]["children"][1] = 4; }),
                "/nodes/3/3/children/1:");
  check_refused(corrupted([](Json& d) { d["nodes"].erase(3); }), "/nodes:");
  check_refused(corrupted([](Json& d) { d["chunks"][2] = Json::array({0, 1024}); }), "/chunks/2:");
  check_refused(corrupted([](Json& d) { d["version"] = 2; }), "");
  check_refused(files.write("empty.json", ""), "");
  const std::string text = test::read_text(files.schedule());
  check_refused(files.write("half.json", text.substr(0, text.size() / 2)), "not JSON");
  // A configuration, or results, are no schedule.
  check_refused(files.write("other.json", files.document()["config"].dump()), "");
}

TEST_CASE("An error in the configuration of a schedule file is one of the configuration") {
  const ScheduleFolder files;
  Json document = files.document();
  document["config"]["system"]["router"]["vcss"] = 4;
  const auto error_in = [&](std::string text) {
    const Outcome outcome = test::espalier({"check", files.write("bad.json", text)});
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("unknown key 'vcss' in 'system.router'") &&
                                Contains("did you mean 'vcs'?"));
    const std::size_t at = text.find("\"vcss\"");
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t before = text.rfind('\n', at);
    const std::size_t column = before == std::string::npos ? at + 1 : at - before;
    CHECK_THAT(outcome.err, Contains(fmt::format("bad.json:{}:{}: error: ", line + 1, column)));
  };
  error_in(document.dump());
  error_in(document.dump(1, '\t'));
  error_in("\n\n  " + document.dump(4));
}

TEST_CASE("Chunks without an owner are rejected, and unchecked they bound nothing") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("scatter.yaml",
                   "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                   "collective: {op: reduce_scatter, algorithm: multitree, size: 4KiB}\n");
  const std::string file = folder.file("scatter.json");
  REQUIRE(test::espalier({"schedule", config, "-f", "json", "-o", file}).exit_code == 0);
  Json document = Json::parse(test::read_text(file));
  for (Json& chunk : document["chunks"]) chunk[2] = nullptr;
  const std::string wrong = folder.write("wrong.json", document.dump());
  const Outcome checked = test::espalier({"run", wrong});
  CHECK(checked.exit_code == 1);
  CHECK_THAT(checked.err, Contains("the owner of chunk 0 is not a node"));
  const std::string results = folder.file("results.json");
  const Outcome unchecked =
      test::espalier({"run", wrong, "-s", "simulation.check=false", "--json", results});
  CHECK(unchecked.exit_code == 0);
  const Json result = Json::parse(test::read_text(results))["results"][0];
  CHECK(result["certified"].is_null());
  CHECK(result["bound_ns"] == 0.0);
}

TEST_CASE("A wrong table is rejected with its entry named, before anything is simulated") {
  const ScheduleFolder files;
  Json document = files.document();
  // Flow 3 then no longer passes node 1 on its way from node 0 to its root.
  document["nodes"][0][0]["parent"] = 2;
  check_rejected(files.write("wrong.json", document.dump()),
                 "entry 2 of node 1 (Reduce of flow 3 in step 2) waits for a Reduce of flow 3 that "
                 "node 0 never sends to it");
  document = files.document();
  document["nodes"][3].erase(4);
  check_rejected(files.write("wrong.json", document.dump()),
                 "chunk 1 at rank 2 misses the contribution of ranks 0, 1, 3");
}

TEST_CASE("check counts no transfers of a table that it could not examine") {
  const ScheduleFolder files;
  const std::string good = test::espalier({"check", files.schedule()}).out;
  CHECK_THAT(good, Contains(" transfers in "));
  Json document = files.document();
  // Node 0 would wait for itself.
  document["nodes"][0][0]["parent"] = 0;
  const Outcome outcome = test::espalier({"check", files.write("wrong.json", document.dump())});
  CHECK(outcome.exit_code != 0);
  CHECK_THAT(outcome.out, !Contains(" 0 transfers in"));
}

TEST_CASE(
    "Corruptions of a MULTITREE schedule that the certifier accepts run to verified results") {
  run_accepted_mutants("multitree");
}

TEST_CASE("Corruptions of a RING schedule that the certifier accepts run to verified results") {
  run_accepted_mutants("ring");
}

TEST_CASE("Corruptions of a 2D-RING schedule that the certifier accepts run to verified results") {
  run_accepted_mutants("2d_ring");
}
