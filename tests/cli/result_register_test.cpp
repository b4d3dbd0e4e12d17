// The register of results against what runs write.
#include "sims/experiment/result_register.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include <cmath>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "cli_test_support.h"

using namespace espalier;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

// Names of all members of a result, objects and lists included, in the register's spelling:
// "links[].from".
void add_names(const Json& value, const std::string& prefix, std::vector<std::string>& names) {
  if (value.is_array()) {
    for (const Json& entry : value) add_names(entry, prefix + "[]", names);
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    add_names(member, name, names);
  }
}

constexpr const char* kPlan =
    "system:\n"
    "  topology: {type: dimensions}\n"
    "  dimensions:\n"
    "    shape: [ring, switch]\n"
    "    size: [4, 4]\n"
    "    bandwidth: [32GB/s, 16GB/s]\n"
    "    latency: [50ns, 50ns]\n"
    "collective: {op: all_reduce, algorithm: themis, size: 64KiB, chunks: 4}\n";
constexpr const char* kTraffic =
    "system: {topology: {type: mesh, dims: [2, 2]}}\n"
    "traffic: {pattern: uniform, injection_rate: 0.2}\n";

// The result of a point. Its process may fail: the result says why.
Json result_of(const std::string& config, const std::vector<std::string>& more = {},
               std::size_t point = 0) {
  std::vector<std::string> arguments{"run", config, "--json", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = test::espalier(arguments);
  INFO(outcome.err);
  REQUIRE_FALSE(outcome.out.empty());
  return Json::parse(outcome.out).at("results").at(point);
}

std::set<std::string> names_of_register() {
  std::set<std::string> names;
  for (const ResultField& field : result_register()) names.emplace(field.name);
  return names;
}

}  // namespace

TEST_CASE("The register names every field of a result of every kind of run") {
  const TemporaryFolder folder;
  const std::string configs = std::string(ESPALIER_SOURCE_DIR) + "/configs/";
  const std::string small = folder.write("small.yaml", test::kSmallConfig);
  const std::string plan = folder.write("plan.yaml", kPlan);
  const std::string traffic = folder.write("traffic.yaml", kTraffic);
  const std::vector<std::string> stalled{"-s", "simulation.stall_probability=0.9999", "-s",
                                         "simulation.watchdog_cycles=200"};
  std::vector<std::pair<std::string, Json>> results{
      {"collective", result_of(small, {"-s", "simulation.link_utilization=true"})},
      {"collective", result_of(small, stalled)},
      {"collective", result_of(small, {"-s", "control.injection_rate=0.01"})},
      {"collective", result_of(small, {"--explain"})},
      {"collective", result_of(configs + "topologies/data_center.yaml")},
      {"plan", result_of(plan)},
      {"plan", result_of(plan, stalled)},
      {"traffic", result_of(traffic)},
      {"control", result_of(configs + "control_idle.yaml")},
      {"job", result_of(configs + "coordination/deadlock.yaml")},
      {"program", result_of(configs + "programs/from_xml.yaml", {}, 1)},
      {"program", result_of(configs + "programs/hierarchical.yaml", {}, 1)},
      {"training", result_of(configs + "training_file.yaml", {}, 1)},
      {"workload", result_of(configs + "workloads/themis.yaml", {}, 1)}};
  for (const auto& [kind, result] : results) {
    std::vector<std::string> names;
    add_names(result, "", names);
    for (const std::string& name : names) {
      if (name == "set" || name.rfind("set.", 0) == 0) continue;
      INFO(kind << ": " << name);
      const ResultField* field = find_result_field(name);
      REQUIRE(field != nullptr);
      CHECK((field->runs == "all" || field->runs.find(kind) != std::string_view::npos));
    }
  }
}

TEST_CASE("The register names no field twice, and says what each field means") {
  CHECK(names_of_register().size() == result_register().size());
  for (const ResultField& field : result_register()) {
    INFO(field.name);
    CHECK_FALSE(field.meaning.empty());
    std::istringstream runs{std::string(field.runs)};
    for (std::string kind; std::getline(runs >> std::ws, kind, ',');) {
      CHECK(std::set<std::string>{"all", "collective", "control", "job", "plan", "program",
                                  "traffic", "training", "workload"}
                .count(kind) == 1);
    }
    CHECK(std::set<std::string_view>{"bound", "certifier", "cost model", "generator", "given",
                                     "host", "simulation"}
              .count(field.from) == 1);
    CHECK(std::set<std::string_view>{"", kNotEnded, kNotChecked, kNoTrains, kFoldable}.count(
              field.void_if) == 1);
  }
}

TEST_CASE("Every column of the tables that run prints is a field of results") {
  std::istringstream lines(
      test::read_text(std::string(ESPALIER_SOURCE_DIR) + "/sims/cli/columns.txt"));
  std::size_t columns = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line.substr(line.rfind('|') + 1));
    for (std::string field; fields >> field; ++columns) {
      INFO(line);
      CHECK(find_result_field(field) != nullptr);
    }
  }
  CHECK(columns > 50);
}

TEST_CASE("schema --results says unit, meaning, kinds of runs and when a field is void") {
  const std::string text = test::espalier({"schema", "--results"}).out;
  CHECK(text == result_register_text());
  CHECK_THAT(text, Catch::Matchers::Contains("cycles [cycles]\n") &&
                       Catch::Matchers::Contains("void if: the run did not end"));
}

TEST_CASE("schema --results --json lists every field with its unit and its source") {
  const Outcome outcome = test::espalier({"schema", "--results", "--json"});
  CHECK(outcome.exit_code == 0);
  const Json list = Json::parse(outcome.out);
  REQUIRE(list.size() == result_register().size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    CHECK(list[i].at("name") == result_register()[i].name);
    CHECK(list[i].at("unit") == result_register()[i].unit);
    CHECK(list[i].at("from") == result_register()[i].from);
  }
  CHECK(list.at(0) == Json::parse(R"({"name": "workload", "unit": "",
      "meaning": "name of the training workload", "from": "given", "runs": "workload",
      "void_if": ""})"));
}

TEST_CASE("A plan that does not end has no utilization of its dimensions") {
  const TemporaryFolder folder;
  const Json result = result_of(
      folder.write("plan.yaml", kPlan),
      {"-s", "simulation.stall_probability=0.9999", "-s", "simulation.watchdog_cycles=200"});
  REQUIRE(result.at("verified") == false);
  CHECK(result.at("utilization").is_null());
  CHECK(result.at("dimensions").at("dim1").at("utilization").is_null());
  CHECK(result.at("dimensions").at("dim2").at("size") == 4);
}

TEST_CASE("Traffic that does not end has neither cycles nor a time") {
  const TemporaryFolder folder;
  const Json result = result_of(
      folder.write("traffic.yaml", kTraffic),
      {"-s", "simulation.stall_probability=0.9999", "-s", "simulation.watchdog_cycles=200"});
  REQUIRE(result.at("verified") == false);
  for (const char* name :
       {"cycles", "time_ns", "link_utilization_mean", "accepted_flits_per_node_cycle"}) {
    INFO(name);
    CHECK(result.at(name).is_null());
  }
}

TEST_CASE("Whether messages are listed does not change the conflicts of a plan") {
  const TemporaryFolder folder;
  const std::string plan = folder.write("plan.yaml", kPlan);
  const Json folded = result_of(plan);
  const Json listed = result_of(plan, {"--messages", folder.file("messages.csv")});
  REQUIRE(folded.at("folded") == true);
  REQUIRE(listed.at("folded") == false);
  CHECK(folded.at("link_conflicts") == listed.at("link_conflicts"));
  CHECK(folded.at("cycles") == listed.at("cycles"));
}

TEST_CASE("The speed of a folded run counts the hops of the NPU that was simulated") {
  const TemporaryFolder folder;
  const Json result = result_of(folder.write("plan.yaml", kPlan));
  REQUIRE(result.at("folded") == true);
  const Json& host = result.at("host");
  const double hops =
      host.at("flit_hops_per_cpu_s").get<double>() * host.at("engine_cpu_s").get<double>();
  CHECK(std::abs(hops - result.at("flit_hops").get<double>() / 16) < 1);
}

TEST_CASE("Only packet trains have a share that went packet by packet") {
  const TemporaryFolder folder;
  const std::string plan = folder.write("plan.yaml", kPlan);
  const auto share = [&](const std::string& fidelity) {
    return result_of(plan, {"-s", "simulation.fidelity=" + fidelity})
        .at("host")
        .at("packet_by_packet_share");
  };
  CHECK(share("train") >= 0);
  CHECK(share("train") < 0.1);
  CHECK(share("cycle").is_null());
}
