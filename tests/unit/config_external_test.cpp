// system.topology.external: routers and NIs that a program attaches.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "config_test_support.h"
#include "sims/config/resolved.h"
#include "sims/point/fidelity.h"

namespace espalier {

using namespace config_test;
using Catch::Matchers::Contains;

namespace {

std::string with_external(const std::string& external) {
  return "system: {topology: {type: torus, dims: [4, 4], external: {" + external + "}}}\n";
}

TEST_CASE("Vertices are named as external by name or by number") {
  const RunPoint point =
      only_point(with_external("routers: [r_1_1, 7], nis: [r_0_0]") + kGoodCollective);
  const ExternalConfig& external = point.system.topology.external;
  CHECK(external.routers == std::vector<std::string>{"r_1_1", "7"});
  CHECK(external.nis == std::vector<std::string>{"r_0_0"});
  CHECK(chosen_fidelity(point) == Fidelity::cycle);
  CHECK(resolved_json(point).at("system").at("topology").at("external").dump() ==
        R"({"routers":["r_1_1","7"],"nis":["r_0_0"]})");
}

TEST_CASE("Without the section every router and NI is built in") {
  const RunPoint point = only_point(kGoodSystem + kGoodCollective);
  CHECK_FALSE(point.system.topology.external.any());
  CHECK_FALSE(resolved_json(point).at("system").at("topology").contains("external"));
  CHECK(chosen_fidelity(point) == Fidelity::train);
}

TEST_CASE("Names and systems that do not fit external modules are refused where they stand") {
  const auto refusal = [](const std::string& text) {
    const ConfigResult result = read_run_config_text("bad.yaml", text);
    CHECK_FALSE(result.ok);
    return result.diagnostics;
  };
  CHECK_THAT(refusal(with_external("routers: [r_1_x]") + kGoodCollective),
             Contains("1:") && Contains("the network has no vertex 'r_1_x'"));
  CHECK_THAT(refusal(with_external("routers: [r_1_1, 5]") + kGoodCollective),
             Contains("'5' is given twice"));
  CHECK_THAT(refusal("system: {topology: {type: switch, nodes: 4, "
                     "external: {nis: [sw_0]}}}\n" +
                     kGoodCollective),
             Contains("which has no NI"));
  CHECK_THAT(refusal(with_external("nis: [r_0_0]") + "traffic: {pattern: uniform}\n"),
             Contains("section traffic posts messages at every NI"));
  CHECK_THAT(refusal(with_external("routers: [r_0_0]") + kGoodCollective +
                     "simulation: {fidelity: train}\n"),
             Contains("train is not exact with system.topology.external"));
}

TEST_CASE("Commands that simulate refuse modules that only a program attaches, where they stand") {
  const std::string external = with_external("nis: [r_0_0]") + kGoodCollective;
  const std::string sockets = kGoodSystem + "traffic: {pattern: sockets}\n";
  const auto read = [](const std::string& text, ConfigNeed need) {
    return read_run_config_text("own.yaml", text, {}, {}, need);
  };
  for (const ConfigNeed need : {ConfigNeed::workload, ConfigNeed::collective}) {
    const ConfigResult refused = read(external, need);
    CHECK_FALSE(refused.ok);
    CHECK_THAT(refused.diagnostics,
               Contains("own.yaml:1:") && Contains("external.nis: its modules are attached by"));
  }
  for (const ConfigNeed need : {ConfigNeed::workload, ConfigNeed::traffic}) {
    CHECK_THAT(read(sockets, need).diagnostics,
               Contains("own.yaml:") && Contains("traffic.pattern: its modules are attached by"));
  }
  for (const ConfigNeed need : {ConfigNeed::library, ConfigNeed::schedule, ConfigNeed::system}) {
    CHECK(read(external, need).ok);
  }
  CHECK(read(sockets, ConfigNeed::library).ok);
}

}  // namespace
}  // namespace espalier
