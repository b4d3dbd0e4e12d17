// `espalier explain` of one part: an NI, a link, a timestep, a message.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

using Words = std::vector<std::string>;

constexpr const char* kAskedTorus =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 32KiB}\n";
constexpr const char* kAskedDimensions =
    "system:\n"
    "  topology: {type: dimensions}\n"
    "  dimensions: {shape: [ring, switch], size: [4, 4], bandwidth: [32GB/s, 32GB/s],\n"
    "    latency: [50ns, 100ns]}\n"
    "collective: {op: all_reduce, algorithm: themis, size: 64KiB, chunks: 8}\n";
constexpr const char* kAskedProgram =
    "system: {topology: {type: torus, dims: [2, 4]}, ni: {send_queue: 1, ports: 1,\n"
    "  program: {slot: 1000B, request: 400B, requests: 3}}}\n"
    "collective: {op: all_reduce, algorithm: gc3_ring, size: 20000B}\n";
constexpr const char* kAskedGraph =
    "nodes: [a0, a1, b0, b1]\n"
    "links:\n"
    "  - {between: [a0, a1]}\n"
    "  - {between: [a1, b1], bandwidth: 4GB/s}\n"
    "  - {between: [b1, b0]}\n";

Words words_of(const std::string& config, const Words& settings, const Words& questions) {
  Words words{"explain", config, "-q"};
  for (const std::string& setting : settings) words.insert(words.end(), {"-s", setting});
  words.insert(words.end(), questions.begin(), questions.end());
  return words;
}

Json asked(const std::string& config, const Words& settings, const Words& questions) {
  Words words = words_of(config, settings, questions);
  words.insert(words.end(), {"--json", "-"});
  const Outcome outcome = test::espalier(words);
  CAPTURE(words);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return Json::parse(outcome.out)["results"][0]["explanation"];
}

std::uint64_t sum_of(const Json& rows, const char* field) {
  std::uint64_t sum = 0;
  for (const Json& row : rows) sum += row[field].get<std::uint64_t>();
  return sum;
}

// The span from cycle `at` on has every cycle once, and each has a cause.
void check_span(const Json& part, std::uint64_t at) {
  const auto cycles = part["cycles"].get<std::uint64_t>();
  const std::uint64_t end = at + cycles;
  CHECK_FALSE(part["totals"].contains("unexplained"));
  std::uint64_t total = 0;
  for (const auto& [kind, of_kind] : part["totals"].items()) total += of_kind.get<std::uint64_t>();
  CHECK(total == cycles);
  CHECK(sum_of(part["causes"], "cycles") == cycles);
  for (const Json& leg : part["path"]) {
    CHECK(leg["from_cycle"] == at);
    at += sum_of(leg["segments"], "cycles");
    CHECK(leg["to_cycle"] == at);
  }
  CHECK(at == end);
}

void check_parts(const Json& parts) {
  for (const Json& part : parts) {
    CAPTURE(part.dump().substr(0, 200));
    if (part.contains("worked_cycles")) {
      CHECK(part["worked_cycles"] <= part["cycles"]);
      check_span(part, 0);
    } else if (part.contains("uses")) {
      CHECK(part["busy_cycles"] <= part["cycles"]);
      CHECK(sum_of(part["uses"], "cycles") == part["busy_cycles"]);
      std::set<std::string> messages;  // each has one row
      for (const Json& use : part["uses"]) messages.insert(use["message"]["id"].dump());
      CHECK(messages.size() == part["uses"].size());
    } else if (part.contains("route")) {
      check_span(part, part["ready_cycle"].get<std::uint64_t>());
      CHECK(part["ready_cycle"] <= part["issued_cycle"]);
      CHECK(part["path"].back()["to_cycle"] == part["delivered_cycle"]);
      std::uint64_t before = part["issued_cycle"].get<std::uint64_t>();
      for (const Json& hop : part["route"]) {
        CHECK(hop["first_flit_cycle"] >= before);
        CHECK(hop["last_flit_cycle"] >= hop["first_flit_cycle"]);
        before = hop["first_flit_cycle"].get<std::uint64_t>();
      }
    }
  }
}

// Asks about the messages on the critical path, too.
void check_in_both_fidelities(const std::string& config, const Words& settings, Words questions) {
  const Json alone = asked(config, settings, {});
  for (std::size_t leg = 0; leg < std::min<std::size_t>(alone["path"].size(), 20); ++leg) {
    if (!alone["path"][leg].contains("message")) continue;
    questions.insert(questions.end(), {"--message", alone["path"][leg]["message"]["id"].dump()});
  }
  Words train = settings;
  train.emplace_back("simulation.fidelity=train");
  Words cycle = settings;
  cycle.emplace_back("simulation.fidelity=cycle");
  Json account = asked(config, train, questions);
  CHECK(account == asked(config, cycle, questions));
  REQUIRE(account.contains("parts"));
  check_parts(account["parts"]);
  account.erase("parts");
  CHECK(account == alone);
}

}  // namespace

TEST_CASE(
    "What a part waited and worked is its time, in both fidelities, and asking changes nothing") {
  const TemporaryFolder folder;
  const std::string torus = folder.write("torus.yaml", kAskedTorus);
  const Words tables{"--ni", "0",      "--ni",           "1_3",    "--ni", "net.ni_3_3", "--link",
                     "0->1", "--link", "r_1_1 -> r_1_0", "--step", "1"};
  for (const Words& settings : std::vector<Words>{
           {},
           {"system.ni.lockstep=off"},
           {"system.ni.lockstep=full", "faults.clock_skew=[{node: 15, cycles: 40, per_step: 25}]"},
           {"system.ni.rules=authors", "system.ni.lockstep=nop"},
           {"system.ni.rules=authors_linked", "system.ni.lockstep=off"},
           {"collective.algorithm=dbtree", "system.link.bandwidth=7GB/s"},
           {"collective.algorithm=ring", "collective.ranks=[0, 1, 2, 3, 4, 5]"},
           {"faults.slow_links=[{from: 0, to: 1, bandwidth: 1GB/s}]", "system.ni.ports=1"},
           {"collective.algorithm=forest", "collective.size=256KiB"},
           {"collective.algorithm=dbtree", "system.flow_control.mode=packet"}}) {
    CAPTURE(settings);
    check_in_both_fidelities(torus, settings, tables);
  }
  const std::string plan = folder.write("plan.yaml", kAskedDimensions);
  check_in_both_fidelities(plan, {}, {"--ni", "5"});
  check_in_both_fidelities(plan, {"faults.late_nis=[{node: 7, cycles: 9000}]"},
                           {"--ni", "5", "--ni", "7", "--link", "0->1"});
  const std::string program = folder.write("program.yaml", kAskedProgram);
  check_in_both_fidelities(program, {}, {"--ni", "0", "--ni", "7", "--link", "0->1"});
  check_in_both_fidelities(program, {"collective.algorithm=gc3_allpairs"}, {"--ni", "3"});
  folder.write("graph.yaml", kAskedGraph);
  const std::string graph =
      folder.write("own.yaml",
                   "system: {topology: {type: file, file: graph.yaml}}\n"
                   "collective: {op: all_reduce, algorithm: multitree, size: 64KiB}\n");
  check_in_both_fidelities(graph, {}, {"--ni", "b1", "--link", "a1->b1", "--step", "2"});
  const std::string training = folder.write(
      "training.yaml",
      "system: {topology: {type: torus, dims: [2, 4]}, flow_control: {mode: message}}\n"
      "collective: {op: all_reduce, algorithm: multitree}\n"
      "training: {file: net.csv, overlap: layerwise}\n");
  folder.write("net.csv",
               test::read_text(std::string(ESPALIER_SOURCE_DIR) + "/configs/training_small.csv"));
  check_in_both_fidelities(training, {}, {"--ni", "5", "--step", "1", "--link", "0->1"});
}

TEST_CASE("A planted clock skew is called a clock skew") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kAskedTorus);
  const Words skew{"faults.clock_skew=[{node: 13, cycles: 40, per_step: 25}]",
                   "collective.size=1MiB"};
  const Json account = asked(config, skew, {"--ni", "13", "--step", "3"});
  const auto verdict = account["verdict"].get<std::string>();
  CHECK_THAT(verdict, Contains("The clock skew of r_3_1 is not on the critical path"));
  CHECK_THAT(verdict, !Contains("late start"));
  // The start, and the down-counter of each step that decides when the NI goes on.
  const auto skewed = account["parts"][0]["totals"]["clock_skew"].get<std::uint64_t>();
  CHECK(skewed >= 40 + 25);
  CHECK((skewed - 40) % 25 == 0);
  const Json& last = account["parts"][1]["nis"][0];
  CHECK(last["ni"] == "net.ni_3_1");
  CHECK(last["cause"]["kind"] == "clock_skew");
  CHECK(last["cause_cycles"] == 25);
  CHECK(last["after_plan_cycles"] == 40 + 2 * 25);

  const Words large{"faults.clock_skew=[{node: 13, cycles: 30000}]"};
  CHECK_THAT(asked(config, large, {})["verdict"].get<std::string>(),
             Contains("The clock skew of net.ni_3_1 takes 30000 cycles of the") &&
                 !Contains("late start"));
  const Words both{"faults.clock_skew=[{node: 13, cycles: 1}]",
                   "faults.late_nis=[{node: 2, cycles: 30000}]"};
  CHECK_THAT(asked(config, both, {})["verdict"].get<std::string>(),
             Contains("The late start of net.ni_0_2 takes") && Contains("The clock skew of r_3_1"));
}

TEST_CASE("A late NI's account begins with its host, and names the neighbours that it waited for") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kAskedTorus);
  const Words late{"faults.late_nis=[{node: 6, cycles: 3000}]"};
  const Json parts = asked(config, late, {"--ni", "6", "--ni", "2"})["parts"];
  CHECK(parts[0]["totals"]["late_start"] == 3000);
  CHECK(parts[0]["path"][0]["segments"][0]["kind"] == "late_start");
  // Node 2 is a neighbour: it works long before, and then waits for the late host.
  CHECK(parts[1]["totals"]["late_start"].get<std::uint64_t>() > 0);
  bool named = false;
  for (const Json& cause : parts[1]["causes"]) {
    named |= cause["kind"] == "late_start" && cause["ni"] == "net.ni_1_2";
  }
  CHECK(named);
}

TEST_CASE("A message's route is the links between its ends, and a slow one holds the others up") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kAskedTorus);
  const Words slow{"collective.algorithm=dbtree", "system.ni.lockstep=off",
                   "faults.slow_links=[{from: 6, to: 5, bandwidth: 500MB/s}]"};
  const Json link = asked(config, slow, {"--link", "6->5"})["parts"][0];
  CHECK(link["place"] == "link r_1_2 -> r_1_1");
  CHECK(2 * link["busy_cycles"].get<std::uint64_t>() > link["cycles"].get<std::uint64_t>());
  REQUIRE_FALSE(link["waits"].empty());
  REQUIRE(link["uses"].size() > 1);
  for (const Json& wait : link["waits"]) CHECK(wait["message"]["id"] != wait["other"]["id"]);
  const std::string id = link["uses"].back()["message"]["id"].dump();
  const Json message = asked(config, slow, {"--message", id})["parts"][0];
  CHECK(message["message"] == link["uses"].back()["message"]);
  const Json& route = message["route"];
  REQUIRE(route.size() > 1);
  CHECK(route[0]["channel"].get<std::string>().find(".in_ni") != std::string::npos);
  // Each link begins where the one before ends.
  std::string at = message["message"]["from"].get<std::string>().substr(7);
  bool passes = false;
  for (std::size_t h = 1; h < route.size(); ++h) {
    const auto place = route[h]["place"].get<std::string>();
    CHECK_THAT(place, Contains("link r_" + at + " -> r_"));
    at = place.substr(place.rfind("r_") + 2);
    passes |= place == "link r_1_2 -> r_1_1";
  }
  CHECK(passes);
  CHECK(message["message"]["to"] == "net.ni_" + at);
}

TEST_CASE("Answers about parts are tables for people, and may be asked for together") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kAskedTorus);
  const Outcome outcome = test::espalier(
      words_of(config, {}, {"--ni", "13", "--link", "0->1", "--step", "2", "--message", "3"}));
  REQUIRE(outcome.exit_code == 0);
  for (const char* text :
       {"net.ni_3_1: ", "its own work", "other party", "link r_0_0 -> r_0_1 (net.r_0_1.in_w)",
        "idle for", "Messages that waited for it", "Timestep 2, planned from cycle", "after plan",
        "message 3, ", "first flit at its end", "ready in cycle"}) {
    CHECK_THAT(outcome.out, Contains(text));
  }
  CHECK_THAT(outcome.out, !Contains("The worst slips"));
}

TEST_CASE("A part that the run does not have is a mistake, with the names that are near") {
  const TemporaryFolder folder;
  const std::string torus = folder.write("torus.yaml", kAskedTorus);
  const std::string plan = folder.write("plan.yaml", kAskedDimensions);
  const std::string program = folder.write("program.yaml", kAskedProgram);
  struct Mistake {
    std::string config;
    Words questions;
    const char* error;
  };
  for (const Mistake& mistake : std::vector<Mistake>{
           {torus, {"--ni", "r_3_9"}, "--ni: the network has no node 'r_3_9'\nhint: did you mean"},
           {torus, {"--ni", "16"}, "write a node's number from 0 to 15"},
           {torus, {"--link", "0"}, "--link 0: expected two nodes or switches"},
           {torus, {"--link", "0->r_0_8"}, "no node 'r_0_8'\nhint: did you mean"},
           {torus, {"--link", "0->10"}, "links from r_0_0 lead to r_0_1, r_0_3, r_1_0, r_3_0"},
           {torus, {"--step", "0"}, "--step 0: the schedule has timesteps 1 to "},
           {torus, {"--step", "99"}, "--step 99: the schedule has timesteps 1 to "},
           {torus, {"--message", "99999"}, "expected a message of the collective, from 0 to "},
           {plan, {"--step", "1"}, "--step: only schedule tables have timesteps"},
           {plan, {"--link", "0->1"}, "--link: one NPU stands for all"},
           {program, {"--step", "1"}, "--step: only schedule tables have timesteps"},
           {torus,
            {"--ni", "1", "-s", "collective.algorithm=[ring, multitree]"},
            "--ni shows one run, but there are 2 points"}}) {
    CAPTURE(mistake.questions);
    const Outcome outcome = test::espalier(words_of(mistake.config, {}, mistake.questions));
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, Contains(mistake.error));
  }
}
