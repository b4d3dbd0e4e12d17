// `simulation.rtl`: Verilog that decides inside of the simulation.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cli_test_support.h"
#include "ni/rtl/rtl_sequencer.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Outcome;
using test::TemporaryFolder;

namespace {

// True where the test has to be left out; ctest reads the word.
bool is_without_rtl() {
  if (!has_rtl()) fmt::print("skipped: built without verilator\n");
  return !has_rtl();
}

test::Json without_hash(test::Json json) {
  if (json.is_object()) json.erase("config_hash");
  for (test::Json& member : json) {
    if (member.is_structured()) member = without_hash(member);
  }
  return json;
}

void run_with(const TemporaryFolder& folder, const std::vector<std::string>& settings,
              const std::string& rtl, const std::vector<std::string>& files) {
  std::vector<std::string> words{"run", folder.file("run.yaml")};
  words.insert(words.end(), files.begin(), files.end());
  for (const std::string& setting : settings) {
    words.insert(words.end(), {"-s", setting});
  }
  words.insert(words.end(), {"-s", "simulation.rtl=" + rtl});
  const Outcome outcome = test::espalier(words);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
}

std::string results_in(const TemporaryFolder& folder) {
  const test::Json document = test::Json::parse(test::read_text(folder.file("run.json")));
  return without_hash(test::without_host(document.at("results"))).dump();
}

// The result, without what may differ.
std::string result_of(const TemporaryFolder& folder, const std::vector<std::string>& settings,
                      const char* rtl) {
  run_with(folder, settings, rtl, {"--json", folder.file("run.json")});
  return results_in(folder);
}

// The same, and the time of each message.
std::string account_of(const TemporaryFolder& folder, const std::vector<std::string>& settings,
                       const char* rtl) {
  run_with(folder, settings, rtl,
           {"--messages", folder.file("messages.csv"), "--json", folder.file("run.json")});
  return test::read_text(folder.file("messages.csv")) + results_in(folder);
}

// All changes of all signals.
std::string waves_of(const TemporaryFolder& folder, const std::vector<std::string>& settings,
                     const char* rtl) {
  const std::string waves = folder.file("waves.vcd");
  run_with(folder, settings, rtl, {"--waves", waves});
  const std::string text = test::read_text(waves);
  const std::size_t begin = text.find("$enddefinitions");
  REQUIRE(begin != std::string::npos);
  CHECK(text.size() > begin + 1000);
  return text.substr(begin);
}

const std::vector<std::string> kAllModes{"system.ni.lockstep=[off, estimate, drain, full]",
                                         "system.flow_control.mode=[packet, message]"};

}  // namespace

TEST_CASE("With the sequencer's Verilog every message is delivered in the same cycle") {
  if (is_without_rtl()) return;
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: torus, dims: [4, 4]}}\n"
               "collective: {op: all_reduce, size: 16KiB, algorithm: [multitree, ring, 2d_ring, "
               "dbtree, halving_doubling, multitree_translated, forest, direct]}\n");
  const std::string fidelity = GENERATE("train", "cycle");
  std::vector<std::string> settings = kAllModes;
  settings.push_back("simulation.fidelity=" + fidelity);
  CHECK(account_of(folder, settings, "[ni_control]") == account_of(folder, settings, "none"));
}

TEST_CASE("NIs that are clocked in every cycle, switches, slots and doorbells suit the Verilog") {
  if (is_without_rtl()) return;
  const TemporaryFolder folder;
  folder.write(
      "run.yaml",
      "system: {topology: {type: fat_tree, switches: 2, nodes_per_switch: 4, spines: 2}}\n"
      "collective: {op: [all_gather, all_reduce], size: 64KiB, algorithm: [forest, multitree]}\n");
  const std::string clocked = GENERATE("true", "false");
  std::vector<std::string> settings = kAllModes;
  settings.push_back("simulation.always_clocked=" + clocked);
  CHECK(account_of(folder, settings, "[ni_control]") == account_of(folder, settings, "none"));
}

TEST_CASE(
    "Waves of a run show the same lockstep counters and stalls with the sequencer's Verilog") {
  if (is_without_rtl()) return;
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: torus, dims: [2, 2]}, ni: {lockstep: estimate}}\n"
               "collective: {op: all_reduce, algorithm: multitree, size: 4KiB}\n");
  CHECK(waves_of(folder, {}, "[ni_control]") == waves_of(folder, {}, "none"));
}

TEST_CASE("A training with overlap runs with the sequencer's Verilog") {
  if (is_without_rtl()) return;
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: torus, dims: [2, 2]}}\n"
               "collective: {algorithm: multitree}\n"
               "training: {network: alexnet, overlap: layerwise}\n");
  CHECK(account_of(folder, {}, "[ni_control]") == account_of(folder, {}, "none"));
}

namespace {

// Dimensions of each kind.
constexpr const char* kDimensions[] = {
    "{shape: [ring, switch], size: [4, 4], bandwidth: [32GB/s, 16GB/s], latency: [50ns, 100ns]}",
    "{shape: [ring, fully_connected, switch], size: [4, 3, 2], bandwidth: [32GB/s, 16GB/s, "
    "16GB/s], latency: [50ns, 100ns, 50ns]}"};

void write_plans(const TemporaryFolder& folder, const std::string& dimensions) {
  folder.write("run.yaml",
               "system: {topology: {type: dimensions}, dimensions: " + dimensions +
                   "}\n"
                   "collective: {op: [all_reduce, all_gather], size: 12KiB, chunks: 12, "
                   "algorithm: [baseline, themis]}\n");
}

void check_plans(const TemporaryFolder& folder, std::vector<std::string> settings,
                 bool enforces_order) {
  settings.insert(settings.end(),
                  {"system.ni.dimension_queue.order=[scf, fifo]",
                   "system.ni.dimension_queue.in_flight=2",
                   fmt::format("system.ni.dimension_queue.enforce_order={}", enforces_order),
                   // The next choice is often due while the NI sleeps.
                   fmt::format("system.ni.dimension_queue.arbitration_cycles={}",
                               enforces_order ? 1 : 5)});
  CHECK(account_of(folder, settings, "[dimension_queue]") == account_of(folder, settings, "none"));
}

}  // namespace

TEST_CASE("With the dimension queue's Verilog every message is delivered in the same cycle") {
  if (is_without_rtl()) return;
  const TemporaryFolder folder;
  write_plans(folder, GENERATE(kDimensions[0], kDimensions[1]));
  const std::string fidelity = GENERATE("train", "cycle");
  check_plans(folder, {"simulation.fidelity=" + fidelity}, GENERATE(true, false));
}

TEST_CASE("Plans of more chunks take larger Verilog queues, with the same messages", "[slow]") {
  if (is_without_rtl()) return;
  const TemporaryFolder folder;
  write_plans(folder, kDimensions[0]);
  check_plans(folder, {"collective.size=96KiB", "collective.chunks=[70, 300]"},
              GENERATE(true, false));
  const Outcome outcome =
      test::espalier({"run", folder.file("run.yaml"), "-s", "simulation.rtl=[dimension_queue]", "-s",
                      "collective.size=96KiB", "-s", "collective.chunks=1025"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("up to 1024 chunks"));
}

TEST_CASE("Tie rules, keys, always clocked NIs and NPUs that stand for all suit the Verilog queue") {
  if (is_without_rtl()) return;
  const TemporaryFolder folder;
  write_plans(folder, kDimensions[0]);
  const std::string clocked = GENERATE("true", "false");
  const std::vector<std::string> settings{
      "system.ni.dimension_queue.key=" + std::string(clocked == "true" ? "before" : "after"),
      "system.ni.dimension_queue.ties=" + std::string(clocked == "true" ? "oldest" : "newest"),
      "system.ni.dimension_queue.enforce_order=false",
      "system.ni.dimension_queue.arbitration_cycles=3",
      "simulation.always_clocked=" + clocked,
      "collective.chunks=9",
  };
  CHECK(result_of(folder, settings, "[dimension_queue]") == result_of(folder, settings, "none"));
  CHECK(account_of(folder, settings, "[ni_control, dimension_queue]") ==
        account_of(folder, settings, "none"));
}

TEST_CASE("A workload on a multi-dimensional system runs with the dimension queue's Verilog") {
  if (is_without_rtl()) return;
  const TemporaryFolder folder;
  folder.write("run.yaml",
               std::string("system: {topology: {type: dimensions}, dimensions: ") +
                   kDimensions[0] + "}\nworkload: {name: [resnet152, dlrm], iterations: 1}\n");
  CHECK(result_of(folder, {}, "[dimension_queue]") == result_of(folder, {}, "none"));
}

TEST_CASE("Waves of a plan show the same queues, choices and places with the Verilog queue") {
  if (is_without_rtl()) return;
  const TemporaryFolder folder;
  write_plans(folder, kDimensions[0]);
  const std::string enforces = GENERATE("true", "false");
  const std::vector<std::string> settings{
      "collective.op=all_reduce",
      "collective.algorithm=themis",
      "collective.chunks=9",
      "simulation.fold=off",
      "system.ni.dimension_queue.in_flight=2",
      "system.ni.dimension_queue.arbitration_cycles=3",
      "system.ni.dimension_queue.enforce_order=" + enforces,
  };
  CHECK(waves_of(folder, settings, "[dimension_queue]") == waves_of(folder, settings, "none"));
}

TEST_CASE("An 8x8 torus of 1 MiB has the same messages with the sequencer's Verilog", "[slow]") {
  if (is_without_rtl()) return;
  const TemporaryFolder folder;
  folder.write(
      "run.yaml",
      "system: {topology: {type: torus, dims: [8, 8]}}\n"
      "collective: {op: all_reduce, size: 1MiB, algorithm: [multitree, 2d_ring, forest]}\n");
  CHECK(account_of(folder, kAllModes, "[ni_control]") == account_of(folder, kAllModes, "none"));
}

TEST_CASE("Verilog of a block that a run does not have is refused") {
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: mesh, dims: [2, 2]}}\n"
               "traffic: {pattern: uniform, injection_rate: 0.1}\n"
               "simulation: {rtl: [ni_control]}\n");
  const Outcome outcome = test::espalier({"run", folder.file("run.yaml")});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("simulation.rtl: "));
  // Each block in a run that has only the other one.
  const Outcome torus =
      test::espalier({"run", ESPALIER_SOURCE_DIR "/configs/torus_8x8.yaml", "-s",
                      "collective.algorithm=ring", "-s", "simulation.rtl=[dimension_queue]"});
  CHECK(torus.exit_code == 1);
  CHECK_THAT(torus.err, Contains(has_rtl() ? "a multi-dimensional system, and this run has none"
                                           : "without verilator"));
  const Outcome plan = test::espalier({"run", ESPALIER_SOURCE_DIR "/configs/themis/2d_sw_sw.yaml",
                                       "-s", "simulation.rtl=[ni_control]"});
  CHECK(plan.exit_code == 1);
  CHECK_THAT(plan.err, Contains(has_rtl() ? "schedule tables" : "without verilator"));
  const Outcome unknown =
      test::espalier({"run", folder.file("run.yaml"), "-s", "simulation.rtl=[crossbar]"});
  CHECK(unknown.exit_code != 0);
  CHECK_THAT(unknown.err, Contains("ni_control") && Contains("dimension_queue"));
}
