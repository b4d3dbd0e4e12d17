// `simulation.rtl`: Verilog that decides inside of the simulation.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Outcome;
using test::TemporaryFolder;

namespace {

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

constexpr const char* kBoth = "[ni_control, dependency_state]";

const std::vector<std::string> kAllModes{"system.ni.lockstep=[off, estimate, drain, full]",
                                         "system.flow_control.mode=[packet, message]"};

// Routers that hold outputs differently.
const std::vector<std::vector<std::string>> kHolds{
    {"system.router.hold=packet", "system.router.vc_order=rotating"},
    {"system.router.hold=packet", "system.router.crossbar_inputs=vc"},
    {"system.router.hold=flit"},
    {"system.router.hold=flit", "system.router.crossbar_inputs=vc",
     "system.router.vc_order=rotating"},
    {"system.router.hold=flit", "system.router.switching=wormhole"},
};
void check_holds(const TemporaryFolder& folder) {
  for (std::vector<std::string> settings : kHolds) {
    settings.insert(settings.end(),
                    {"simulation.fidelity=cycle", "system.flow_control.mode=[packet, message]"});
    CAPTURE(fmt::format("{}", fmt::join(settings, " ")));
    CHECK(account_of(folder, settings, "[output_hold]") == account_of(folder, settings, "none"));
  }
}

}  // namespace

TEST_CASE("With the Verilog of NIs every message is delivered in the same cycle") {
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: torus, dims: [4, 4]}}\n"
               "collective: {op: all_reduce, size: 16KiB, algorithm: [multitree, ring, 2d_ring, "
               "dbtree, halving_doubling, multitree_translated, forest, direct]}\n");
  const std::string fidelity = GENERATE("train", "cycle");
  std::vector<std::string> settings = kAllModes;
  settings.push_back("simulation.fidelity=" + fidelity);
  CHECK(account_of(folder, settings, kBoth) == account_of(folder, settings, "none"));
}

TEST_CASE("Each block of Verilog suits the other's model") {
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: torus, dims: [4, 4]}}\n"
               "collective: {op: all_reduce, size: 16KiB, algorithm: [multitree, 2d_ring]}\n");
  const std::string model = account_of(folder, kAllModes, "none");
  CHECK(account_of(folder, kAllModes, "[ni_control]") == model);
  CHECK(account_of(folder, kAllModes, "[dependency_state]") == model);
}

TEST_CASE("NIs that are clocked in every cycle, switches, slots and doorbells suit the Verilog") {
  const TemporaryFolder folder;
  folder.write(
      "run.yaml",
      "system: {topology: {type: fat_tree, switches: 2, nodes_per_switch: 4, spines: 2}}\n"
      "collective: {op: [all_gather, all_reduce], size: 64KiB, algorithm: [forest, multitree]}\n");
  const std::string clocked = GENERATE("true", "false");
  std::vector<std::string> settings = kAllModes;
  settings.push_back("simulation.always_clocked=" + clocked);
  CHECK(account_of(folder, settings, kBoth) == account_of(folder, settings, "none"));
}

TEST_CASE("A training with overlap runs with the Verilog of NIs") {
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: torus, dims: [2, 2]}}\n"
               "collective: {algorithm: multitree}\n"
               "training: {network: alexnet, overlap: layerwise}\n");
  CHECK(account_of(folder, {}, kBoth) == account_of(folder, {}, "none"));
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
  settings.insert(
      settings.end(),
      {"system.ni.dimension_queue.order=[scf, fifo]", "system.ni.dimension_queue.in_flight=2",
       fmt::format("system.ni.dimension_queue.enforce_order={}", enforces_order),
       // The next choice is often due while the NI sleeps.
       fmt::format("system.ni.dimension_queue.arbitration_cycles={}", enforces_order ? 1 : 5)});
  CHECK(account_of(folder, settings, "[dimension_queue]") == account_of(folder, settings, "none"));
}

}  // namespace

TEST_CASE("With the dimension queue's Verilog every message is delivered in the same cycle") {
  const TemporaryFolder folder;
  write_plans(folder, GENERATE(kDimensions[0], kDimensions[1]));
  const std::string fidelity = GENERATE("train", "cycle");
  check_plans(folder, {"simulation.fidelity=" + fidelity}, GENERATE(true, false));
}

TEST_CASE("Plans of more chunks take larger Verilog queues, with the same messages", "[slow]") {
  const TemporaryFolder folder;
  write_plans(folder, kDimensions[0]);
  check_plans(folder, {"collective.size=96KiB", "collective.chunks=[70, 200]"},
              GENERATE(true, false));
  const Outcome outcome =
      test::espalier({"run", folder.file("run.yaml"), "-s", "simulation.rtl=[dimension_queue]",
                      "-s", "collective.size=96KiB", "-s", "collective.chunks=257"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             Contains("dimension_queue.v has 256 chunks here, but this point needs 257"));
}

TEST_CASE(
    "Tie rules, keys, always clocked NIs and NPUs that stand for all suit the Verilog queue") {
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
  const TemporaryFolder folder;
  folder.write("run.yaml", std::string("system: {topology: {type: dimensions}, dimensions: ") +
                               kDimensions[0] +
                               "}\nworkload: {name: [resnet152, dlrm], iterations: 1}\n");
  CHECK(result_of(folder, {}, "[dimension_queue]") == result_of(folder, {}, "none"));
}

TEST_CASE("An 8x8 torus of 256 KiB has the same messages with the Verilog of NIs", "[slow]") {
  const TemporaryFolder folder;
  folder.write(
      "run.yaml",
      "system: {topology: {type: torus, dims: [8, 8]}}\n"
      "collective: {op: all_reduce, size: 256KiB, algorithm: [multitree, 2d_ring, forest, ring, "
      "dbtree, halving_doubling, direct]}\n");
  CHECK(account_of(folder, kAllModes, kBoth) == account_of(folder, kAllModes, "none"));
}

TEST_CASE("Data that roots read back wait for any turnaround that the Verilog can count") {
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: torus, dims: [4, 4]}}\n"
               "collective: {op: all_reduce, size: 16KiB, algorithm: [multitree, 2d_ring]}\n");
  const std::string turnaround = GENERATE("0", "1", "4");
  const std::vector<std::string> settings{"system.ni.turnaround_cycles=" + turnaround};
  CHECK(account_of(folder, settings, kBoth) == account_of(folder, settings, "none"));
  const Outcome outcome =
      test::espalier({"run", folder.file("run.yaml"), "-s", "system.ni.turnaround_cycles=5", "-s",
                      "simulation.rtl=[dependency_state]"});
  CHECK(outcome.exit_code != 0);
  CHECK_THAT(outcome.err, Contains("dependency_state.v has 4 cycles of turnaround here"));
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
  CHECK_THAT(torus.err, Contains("a multi-dimensional system, and this run has none"));
  const Outcome plan = test::espalier({"run", ESPALIER_SOURCE_DIR "/configs/themis/2d_sw_sw.yaml",
                                       "-s", "simulation.rtl=[ni_control]"});
  CHECK(plan.exit_code == 1);
  CHECK_THAT(plan.err, Contains("schedule tables"));
  const Outcome unknown =
      test::espalier({"run", folder.file("run.yaml"), "-s", "simulation.rtl=[crossbar]"});
  CHECK(unknown.exit_code != 0);
  CHECK_THAT(unknown.err, Contains("ni_control") && Contains("dimension_queue"));
}

TEST_CASE("With the Verilog of routers every message of a collective is delivered as without") {
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: torus, dims: [4, 4]}}\n"
               "collective: {op: all_reduce, size: 16KiB, algorithm: [multitree, ring, 2d_ring, "
               "dbtree, halving_doubling, direct]}\n");
  const std::vector<std::string> settings{"simulation.fidelity=cycle",
                                          "system.flow_control.mode=[packet, message]"};
  const std::string model = account_of(folder, settings, "none");
  CHECK(account_of(folder, settings, "[output_hold]") == model);
  CHECK(account_of(folder, settings, "[output_hold, ni_control, dependency_state]") == model);
}

TEST_CASE("With the Verilog of routers every message of random traffic is delivered as without") {
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: torus, dims: [4, 4]}}\n"
               "traffic: {pattern: uniform, injection_rate: 0.3, warmup_cycles: 500, "
               "measure_cycles: 1500}\n");
  check_holds(folder);
}

TEST_CASE(
    "The Verilog of routers suits links of other rates, switches and clocks that never rest") {
  const TemporaryFolder folder;
  folder.write(
      "run.yaml",
      "system: {topology: {type: fat_tree, switches: 2, nodes_per_switch: 4, spines: 2}, link: "
      "{bandwidth: 11GB/s}}\n"
      "collective: {op: all_reduce, size: 16KiB, algorithm: forest}\n"
      "simulation: {always_clocked: true}\n");
  check_holds(folder);
}

TEST_CASE("8x8 tori have the same messages with the Verilog of routers", "[slow]") {
  const TemporaryFolder folder;
  const std::string work = GENERATE(
      "collective: {op: all_reduce, size: 256KiB, algorithm: [multitree, 2d_ring, ring]}\n",
      "traffic: {pattern: uniform, injection_rate: 0.3}\n");
  folder.write("run.yaml", "system: {topology: {type: torus, dims: [8, 8]}}\n" + work);
  const std::vector<std::string> settings{"simulation.fidelity=cycle",
                                          "system.flow_control.mode=[packet, message]"};
  CHECK(account_of(folder, settings, "[output_hold]") == account_of(folder, settings, "none"));
}

TEST_CASE("Routers that the Verilog does not have are refused by name") {
  const TemporaryFolder folder;
  folder.write("run.yaml",
               "system: {topology: {type: torus, dims: [2, 2]}}\n"
               "collective: {op: all_reduce, algorithm: ring, size: 4KiB}\n"
               "simulation: {rtl: [output_hold]}\n");
  const auto refusal = [&](const std::string& setting) {
    const Outcome outcome = test::espalier({"run", folder.file("run.yaml"), "-s", setting});
    CHECK(outcome.exit_code == 2);
    return outcome.err;
  };
  CHECK_THAT(refusal("simulation.fidelity=train"),
             Contains("train is not exact with simulation.rtl: output_hold"));
  CHECK_THAT(refusal("control.injection_rate=0.01"),
             Contains("output_hold has no lane for control"));
  CHECK_THAT(refusal("system.router.vcs=20"),
             Contains("output_hold.v has 16 VCs here, but this point needs 20"));
  folder.write("run.yaml",
               "system: {topology: {type: switch, nodes: 20}}\n"
               "collective: {op: all_reduce, algorithm: ring, size: 4KiB}\n");
  CHECK_THAT(refusal("simulation.rtl=[output_hold]"),
             Contains("16 ports of a router here, but this point needs 20"));
}
