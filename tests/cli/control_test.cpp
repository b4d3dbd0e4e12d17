// Control messages beside a collective, as results show them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>
#include <string>

#include "cli_test_support.h"

using Catch::Matchers::Contains;
using namespace espalier;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr const char* kBeside =
    "system: {topology: {type: torus, dims: [4, 4]}, link: {latency: 20ns}}\n"
    "collective: {algorithm: multitree, size: 64KiB}\n"
    "control: {injection_rate: 0.05, vcs: [own, shared]}\n";
constexpr const char* kAlone =
    "system: {topology: {type: torus, dims: [4, 4]}, link: {latency: 20ns}}\n"
    "control: {injection_rate: 0.05, duration_cycles: 2000}\n";

}  // namespace

TEST_CASE("A result with control messages has their latencies apart from those of gradients") {
  const TemporaryFolder folder;
  const std::string file = folder.write("beside.yaml", kBeside);
  const Json results = test::run_to_json({file}).at("results");
  REQUIRE(results.size() == 2);
  for (std::size_t p = 0; p < 2; ++p) {
    const Json& result = results[p];
    CHECK(result.at("verified") == true);
    CHECK(result.at("certified") == true);
    CHECK(result.at("fidelity") == "cycle");
    const Json& control = result.at("control");
    CHECK(control.at("vcs") == (p == 0 ? "own" : "shared"));
    CHECK(control.at("pattern") == "uniform");
    CHECK(control.at("injection_rate") == 0.05);
    CHECK(control.at("message_bytes") == 16);
    CHECK(control.at("messages").get<int>() > 500);
    const auto mean = control.at("latency_mean_cycles").get<double>();
    const auto p99 = control.at("latency_p99_cycles").get<double>();
    const auto max = control.at("latency_max_cycles").get<double>();
    // One hop of 20 cycles and two flits, docs/timing.md.
    CHECK(mean > 2 + 161 - 130);
    CHECK(mean < p99);
    CHECK(p99 <= max);
    // 30 transfers per tree; no control message is one of them.
    CHECK(result.at("messages") == 16 * 30);
  }
}

TEST_CASE("A result without control messages has no fields for them") {
  const TemporaryFolder folder;
  const std::string file = folder.write("small.yaml", test::kSmallConfig);
  const Json document = test::run_to_json({file});
  for (const Json& result : document.at("results")) CHECK_FALSE(result.contains("control"));
  CHECK_FALSE(document.at("config").contains("control"));
}

TEST_CASE("The table has control messages beside gradients and alone in the same columns") {
  const TemporaryFolder folder;
  const std::string beside = folder.write("beside.yaml", kBeside);
  const std::string alone = folder.write("alone.yaml", kAlone);
  const Outcome outcome = test::espalier({"run", beside, alone});
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, Contains("flit by flit") && Contains("because of control"));
  std::istringstream lines(outcome.out);
  std::string title, own, shared, idle;
  std::getline(lines, title);
  std::getline(lines, own);
  std::getline(lines, shared);
  std::getline(lines, idle);
  CHECK_THAT(title, Contains("control VCs") && Contains("control messages") && Contains("p99"));
  CHECK_THAT(own, Contains("multitree") && Contains("own"));
  CHECK_THAT(shared, Contains("shared"));
  CHECK(idle[0] == '-');
  CHECK_THAT(idle, Contains("true"));
  const Json result = test::run_to_json({alone}).at("results").at(0);
  CHECK(result.at("verified") == true);
  CHECK(result.at("control").at("messages").get<int>() > 500);
}

TEST_CASE("The log of messages names control messages") {
  const TemporaryFolder folder;
  const std::string file = folder.write("alone.yaml", kAlone);
  REQUIRE(test::espalier({"run", file, "--messages", folder.file("log.csv")}).exit_code == 0);
  const std::string log = test::read_text(folder.file("log.csv"));
  const Json result = test::run_to_json({file}).at("results").at(0);
  std::istringstream lines(log);
  std::string line;
  std::getline(lines, line);
  int rows = 0;
  for (; std::getline(lines, line); ++rows) CHECK_THAT(line, Contains(",,control,16,"));
  CHECK(rows == result.at("control").at("messages").get<int>());
}

TEST_CASE("Two runs with control messages give the same bytes but for the host's figures") {
  const TemporaryFolder folder;
  const std::string file = folder.write("beside.yaml", kBeside);
  Json one = test::run_to_json({file});
  Json two = test::run_to_json({file});
  for (Json* document : {&one, &two}) {
    for (Json& result : document->at("results")) result.erase("host");
  }
  CHECK(one.dump() == two.dump());
}

TEST_CASE("A configuration with control messages alone has no schedule to check") {
  const TemporaryFolder folder;
  const std::string file = folder.write("alone.yaml", kAlone);
  const Outcome outcome = test::espalier({"check", file});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("missing section 'collective'"));
}
