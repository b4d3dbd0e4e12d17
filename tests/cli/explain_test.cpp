// `espalier explain`: where the time of a run went, to the cycle.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr const char* kExplainTorus =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 32KiB}\n";
constexpr const char* kMesh =
    "system: {topology: {type: mesh, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 64KiB}\n";
constexpr const char* kPostedSlots =
    "system: {preset: polaris, topology: {servers: 2}, ni: {dma: {latency_cycles: 2}, program: "
    "{network_slot_cycles: 500, "
    "network_receive_cycles: 700, request: 2KiB, slot: 4KiB, requests: 2}}}\n"
    "collective: {op: all_reduce, algorithm: nccl_ring, size: 256KiB, program: {channels: 4}}\n";
constexpr const char* kThemisPlan =
    "system:\n"
    "  topology: {type: dimensions}\n"
    "  dimensions:\n"
    "    shape: [ring, switch]\n"
    "    size: [4, 4]\n"
    "    bandwidth: [32GB/s, 32GB/s]\n"
    "    latency: [50ns, 100ns]\n"
    "collective: {op: all_reduce, algorithm: themis, size: 64KiB, chunks: 8}\n";
constexpr const char* kInNetwork =
    "system:\n"
    "  topology: {type: dimensions}\n"
    "  dimensions:\n"
    "    shape: [fully_connected, switch]\n"
    "    size: [4, 4]\n"
    "    bandwidth: [32GB/s, 32GB/s]\n"
    "    latency: [50ns, 100ns]\n"
    "    algorithm: [direct, in_network]\n"
    "collective: {op: all_reduce, algorithm: themis, size: 64KiB, chunks: 4}\n";

using Settings = std::vector<std::string>;

Json explained(const std::string& config, const Settings& settings) {
  std::vector<std::string> words{"explain", config, "--json", "-"};
  for (const std::string& setting : settings) words.insert(words.end(), {"-s", setting});
  const Outcome outcome = test::espalier(words);
  CAPTURE(config, settings);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return Json::parse(outcome.out)["results"][0];
}

std::uint64_t number(const Json& json) { return json.get<std::uint64_t>(); }

bool mentions(const Settings& settings, const std::string& what) {
  return std::any_of(settings.begin(), settings.end(), [&](const std::string& setting) {
    return setting.find(what) != std::string::npos;
  });
}

// Every cycle from the first issue to the last delivery is there once, and has a cause.
void check_account(const Json& result, bool reads_slowly) {
  const Json& account = result["explanation"];
  REQUIRE(number(account["cycles"]) == number(result["cycles"]));
  CHECK_FALSE(account["totals"].contains("unexplained"));
  std::uint64_t sum = 0;
  for (const auto& [kind, cycles] : account["totals"].items()) sum += number(cycles);
  CHECK(sum == number(result["cycles"]));
  std::uint64_t by_place = 0;
  for (const Json& cause : account["causes"]) by_place += number(cause["cycles"]);
  CHECK(by_place == number(result["cycles"]));
  std::uint64_t at = number(account["first_issue_cycle"]);
  for (const Json& leg : account["path"]) {
    CHECK(number(leg["from_cycle"]) == at);
    for (const Json& segment : leg["segments"]) at += number(segment["cycles"]);
    CHECK(number(leg["to_cycle"]) == at);
  }
  CHECK(at == number(account["last_delivery_cycle"]));
  // Every message is read once, in the two cycles that it takes by default.
  CHECK((account["totals"].value("dma", 0U) <= 2 * account["path"].size() || reads_slowly));
  if (!account.contains("slack")) return;
  // Somebody decides when it is over.
  std::uint64_t least = UINT64_MAX;
  for (const Json& step : account["slack"]) least = std::min(least, number(step["least_cycles"]));
  CHECK(least == 0);
}

struct ExplainedRun {
  const char* config;
  Settings settings;
  bool only_by_flits = false;
};

const std::vector<ExplainedRun>& many_runs() {
  static const std::vector<ExplainedRun> runs{
      {kExplainTorus, {}},
      {kExplainTorus, {"system.ni.lockstep=off"}},
      {kExplainTorus, {"system.ni.lockstep=drain"}},
      {kExplainTorus, {"system.ni.lockstep=full"}},
      {kExplainTorus, {"collective.algorithm=ring"}},
      {kExplainTorus, {"collective.algorithm=ring", "system.flow_control.mode=packet"}},
      {kExplainTorus, {"collective.algorithm=ring", "system.preset=isca21"}},
      {kExplainTorus, {"collective.algorithm=2d_ring"}},
      {kExplainTorus, {"collective.algorithm=2d_ring", "system.ni.lockstep=off"}},
      {kExplainTorus,
       {"collective.algorithm=2d_ring", "system.ni.rules=authors", "system.ni.lockstep=off"}},
      {kExplainTorus, {"collective.algorithm=dbtree"}},
      {kExplainTorus, {"collective.algorithm=dbtree", "system.ni.lockstep=off"}},
      {kExplainTorus, {"collective.algorithm=dbtree", "system.router.vc_depth_flits=40"}},
      {kExplainTorus, {"collective.algorithm=dbtree", "system.link.bandwidth=7GB/s"}},
      {kExplainTorus,
       {"collective.algorithm=dbtree", "system.flow_control.mode=packet", "system.router.vcs=2"}},
      {kExplainTorus, {"collective.algorithm=halving_doubling"}},
      {kExplainTorus, {"collective.algorithm=multitree", "system.ni.dma.bandwidth=20GB/s"}},
      {kExplainTorus, {"system.ni.send_queue=1", "collective.algorithm=dbtree"}},
      {kExplainTorus, {"system.ni.ports=1", "system.ni.lockstep=off"}},
      {kExplainTorus,
       {"system.ni.reduction.mode=after_message", "system.ni.reduction.bytes_per_cycle=4"}},
      {kExplainTorus, {"system.ni.reduction.bytes_per_cycle=3", "system.ni.lockstep=off"}},
      {kExplainTorus, {"collective.op=reduce_scatter"}},
      {kExplainTorus, {"collective.op=all_gather"}},
      {kMesh, {}},
      {kMesh, {"system.ni.lockstep=off"}},
      {kMesh, {"system.ni.lockstep=off", "system.flow_control.mode=packet"}},
      {kMesh, {"collective.algorithm=dbtree", "system.router.hold=flit"}, true},
      {kPostedSlots, {}},
      {kPostedSlots, {"collective.algorithm=nccl_tree", "system.ni.program.slots=1"}},
      {kThemisPlan, {}},
      {kThemisPlan, {"simulation.fold=off"}},
      {kThemisPlan, {"collective.algorithm=baseline", "simulation.fold=off"}},
      {kThemisPlan, {"system.ni.dimension_queue.in_flight=1"}},
      {kThemisPlan,
       {"system.ni.dimension_queue.enforce_order=false",
        "system.ni.dimension_queue.arbitration_cycles=3"}},
      // Fewer elements than NPUs: stages and steps in which some have no bytes.
      {kThemisPlan, {"collective.size=4B", "collective.chunks=1", "simulation.fold=off"}},
      {kThemisPlan, {"collective.size=20B", "collective.chunks=2", "simulation.fold=off"}},
      {kThemisPlan,
       {"collective.size=12B", "collective.op=reduce_scatter", "collective.algorithm=baseline",
        "simulation.fold=off"}},
      {kInNetwork, {"collective.size=12B", "simulation.fold=off"}},
      {kInNetwork, {"simulation.fold=off"}},
      {kInNetwork, {}},
  };
  return runs;
}

}  // namespace

TEST_CASE(
    "The segments of a critical path add up to the collective's cycles, and all have a cause") {
  const TemporaryFolder folder;
  for (const ExplainedRun& run : many_runs()) {
    CAPTURE(run.config, run.settings);
    check_account(explained(folder.write("run.yaml", run.config), run.settings),
                  mentions(run.settings, "dma"));
  }
}

TEST_CASE("explain gives the same result for trains and flits") {
  const TemporaryFolder folder;
  for (const ExplainedRun& run : many_runs()) {
    CAPTURE(run.config, run.settings);
    const std::string config = folder.write("run.yaml", run.config);
    Settings train = run.settings;
    train.emplace_back("simulation.fidelity=train");
    Settings cycle = run.settings;
    cycle.emplace_back("simulation.fidelity=cycle");
    if (run.only_by_flits) continue;
    CHECK(explained(config, train)["explanation"] == explained(config, cycle)["explanation"]);
  }
}

namespace {

// How a fault must be named: the largest cause on the critical path, or the channel whose rate
// decided most.
struct Named {
  std::string kind;   // empty: any, as long as `where` held it up
  std::string where;  // channel or NI; empty: anywhere
};

bool names(const Json& cause, const std::string& where) {
  return (cause.contains("channel") && cause["channel"] == where) ||
         (cause.contains("ni") && cause["ni"] == where);
}

void check_named(const Json& account, const Named& named) {
  INFO(account["causes"][0].dump(2) << account["bottlenecks"].dump());
  if (named.kind.empty()) {
    CHECK(account["bottlenecks"][0]["channel"] == named.where);
    return;
  }
  CHECK(account["causes"][0]["kind"] == named.kind);
  if (!named.where.empty()) CHECK(names(account["causes"][0], named.where));
}

struct Fault {
  const char* config;
  Settings settings;
  Named named;
};

}  // namespace

TEST_CASE("Rows that repeat and do not issue are a kind of their own on the path") {
  const TemporaryFolder folder;
  const std::string config = folder.write("run.yaml", kExplainTorus);
  for (const char* fidelity : {"simulation.fidelity=train", "simulation.fidelity=cycle"}) {
    CAPTURE(fidelity);
    const Json result = explained(config, {"collective.algorithm=forest", "collective.size=256KiB",
                                           "system.ni.table_repeat=true", fidelity});
    const Json& totals = result["explanation"]["totals"];
    CHECK(totals.value("passed_rows", 0U) > 0);
    CHECK_FALSE(totals.contains("unexplained"));
  }
}

TEST_CASE("Every cycle of NIs with the authors' rules has a cause") {
  const TemporaryFolder folder;
  const std::string config = folder.write("run.yaml", kExplainTorus);
  const Settings any{"collective.algorithm=multitree", "collective.size=64KiB"};
  for (const Settings& more :
       std::vector<Settings>{{"system.ni.rules=authors", "system.ni.lockstep=nop"},
                             {"system.ni.rules=authors_linked", "system.ni.lockstep=nop"},
                             {"system.ni.rules=authors", "system.ni.lockstep=off"},
                             {"system.ni.rules=authors_linked", "system.ni.lockstep=off"},
                             {"system.preset=isca21_authors"}}) {
    for (const char* topology : {"torus", "mesh"}) {
      Settings settings = any;
      settings.insert(settings.end(), more.begin(), more.end());
      settings.push_back(std::string("system.topology.type=") + topology);
      CAPTURE(settings);
      check_account(explained(config, settings), false);
    }
  }
}

TEST_CASE("An injected fault is what the critical path spent most time on, by name and place") {
  const TemporaryFolder folder;
  // Node 5 of a 4x4 torus is r_1_1, node 6 is r_1_2, east of it.
  const std::vector<Fault> faults{
      {kExplainTorus,
       {"collective.algorithm=ring", "faults.slow_links=[{from: 0, to: 1, bandwidth: 1GB/s}]"},
       {"", "net.r_0_1.in_w"}},
      {kExplainTorus,
       {"system.ni.lockstep=off", "faults.slow_links=[{from: 5, to: 6, bandwidth: 500MB/s}]"},
       {"", "net.r_1_2.in_w"}},
      {kExplainTorus,
       {"collective.algorithm=dbtree", "faults.slow_links=[{from: 6, to: 5, bandwidth: 500MB/s}]"},
       {"", "net.r_1_1.in_e"}},
      {kExplainTorus,
       {"collective.size=2KiB", "faults.slow_links=[{from: 5, to: 6, latency: 4us}]"},
       {"link_latency", "net.r_1_2.in_w"}},
      {kExplainTorus, {"faults.late_nis=[{node: 6, cycles: 30000}]"}, {"late_start", "net.ni_1_2"}},
      {kExplainTorus,
       {"collective.algorithm=ring", "faults.late_nis=[{node: 3, cycles: 100000}]"},
       {"late_start", "net.ni_0_3"}},
      {kThemisPlan, {"faults.late_nis=[{node: 7, cycles: 9000}]"}, {"late_start", "net.ni_3_1"}},
      {kExplainTorus,
       {"faults.clock_skew=[{node: 9, cycles: 30000}]"},
       {"clock_skew", "net.ni_2_1"}},
      {kExplainTorus,
       {"faults.clock_skew=[{node: 9, per_step: 4000}]"},
       {"clock_skew", "net.ni_2_1"}},
      {kExplainTorus,
       {"system.ni.lockstep=off", "faults.dma_jitter.max_cycles=20000", "faults.dma_jitter.seed=3",
        "faults.dma_jitter.nodes=[5]"},
       {"dma", "net.ni_1_1"}},
      {kThemisPlan,
       {"faults.dma_jitter.max_cycles=5000", "faults.dma_jitter.nodes=[5]"},
       {"dma", "net.ni_1_1"}},
      {kExplainTorus,
       {"collective.algorithm=ring", "collective.size=1MiB", "system.router.vc_depth_flits=17",
        "system.router.vcs=2"},
       {"credit_stall", ""}},
      {kExplainTorus,
       {"system.ni.reduction.bytes_per_cycle=1", "system.ni.lockstep=off",
        "collective.op=reduce_scatter"},
       {"reduction", ""}},
      {kExplainTorus, {"system.ni.lockstep=full", "collective.size=4KiB"}, {"lockstep_wait", ""}},
      {kExplainTorus, {"system.ni.dma.bandwidth=1GB/s", "system.ni.lockstep=off"}, {"dma", ""}},
      {kExplainTorus, {"system.ni.turnaround_cycles=9000"}, {"dependency_wait", ""}},
      {kExplainTorus,
       {"system.ni.ports=1", "system.ni.lockstep=off", "collective.size=1MiB"},
       {"ni_queue", ""}},
      {kThemisPlan,
       {"system.ni.dimension_queue.in_flight=1", "system.ni.dimension_queue.arbitration_cycles=900",
        "simulation.fold=off"},
       {"dimension_queue", ""}},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.settings);
    const Json result = explained(folder.write("run.yaml", fault.config), fault.settings);
    check_account(result, mentions(fault.settings, "dma"));
    check_named(result["explanation"], fault.named);
  }
}

TEST_CASE("The worst slip names the NI that waited, for which message, and what kept that") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kExplainTorus);
  const Json slow = explained(
      config, {"collective.size=2KiB", "faults.slow_links=[{from: 5, to: 6, latency: 3us}]"});
  const Json& slip = slow["explanation"]["slips"][0];
  CHECK(slip["ni"] == "net.ni_1_2");
  CHECK(number(slip["late_cycles"]) > 2800);
  CHECK(slip["waited_for"]["from"] == "net.ni_1_1");
  CHECK(slip["waited_for"]["to"] == "net.ni_1_2");
  CHECK(slip["cause"]["kind"] == "link_latency");
  CHECK(slip["cause"]["channel"] == "net.r_1_2.in_w");
  CHECK(slip["cause_cycles"] == 2850);

  // A message that nobody waits for slips too.
  const std::string last =
      folder.write("last.yaml",
                   "system: {topology: {type: fully_connected, nodes: 4}}\n"
                   "collective: {op: all_gather, algorithm: multitree, size: 64KiB}\n"
                   "faults: {slow_links: [{from: 0, to: 1, bandwidth: 1GB/s}]}\n");
  const Json last_result = explained(last, {});
  CHECK(last_result["explanation"]["slips"][0]["cause"]["kind"] == "serialization");

  // Its neighbours' flows take their turns on the link.
  const Json met = explained(config, {"collective.algorithm=dbtree"});
  bool lost = false;
  for (const Json& each : met["explanation"]["slips"]) {
    if (!each.contains("cause") || each["cause"]["kind"] != "arbitration_loss") continue;
    lost = true;
    CHECK(each["cause"]["other"].contains("flow"));
    CHECK(each["cause"]["other"]["flow"].is_number());
    CHECK(each["cause"].contains("router"));
  }
  CHECK(lost);
}

TEST_CASE("An NI may be late by its slack, and not by a cycle more") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kExplainTorus);
  const auto end_of = [](const Json& result) {
    return number(result["explanation"]["last_delivery_cycle"]);
  };
  const std::vector<Settings> runs{
      {"collective.algorithm=dbtree", "system.ni.lockstep=full"},
      {"collective.algorithm=ring", "system.ni.lockstep=off"},
      {"collective.algorithm=2d_ring", "system.ni.lockstep=drain"},
      {"system.topology.type=mesh", "system.ni.lockstep=drain"},
      {"system.ni.lockstep=off"},
      {"system.ni.lockstep=full"},
  };
  for (const Settings& run : runs) {
    // Additions of more than one cycle hold a step that would begin while they are under way.
    Settings settings = run;
    settings.push_back("system.preset=papers");
    const Json on_time = explained(config, settings);
    for (const int node : {0, 3, 8, 9, 15}) {
      const std::string ni = "net.ni_" + std::to_string(node / 4) + "_" + std::to_string(node % 4);
      const auto slack = number(on_time["explanation"]["slack"][0]["cycles_by_ni"][ni]);
      for (const std::uint64_t late : {slack, slack + 1}) {
        if (late == 0) continue;
        CAPTURE(settings, ni, slack, late);
        Settings with = settings;
        with.push_back("faults.late_nis=[{node: " + std::to_string(node) +
                       ", cycles: " + std::to_string(late) + "}]");
        CHECK(end_of(explained(config, with)) == end_of(on_time) + (late - slack));
      }
    }
  }
}

TEST_CASE("A late message costs at most the rest of an addition beside what its slack says") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kExplainTorus);
  const Settings settings{"collective.algorithm=dbtree", "system.ni.lockstep=full"};
  const Json on_time = explained(config, settings);
  const auto rest = number(on_time["area"]["reduction_cycles"]) - 1;
  const auto last = number(on_time["explanation"]["last_delivery_cycle"]);
  REQUIRE(rest == 3);
  for (const int node : {0, 3, 8, 9, 15}) {
    const std::string ni = "net.ni_" + std::to_string(node / 4) + "_" + std::to_string(node % 4);
    const auto slack = number(on_time["explanation"]["slack"][0]["cycles_by_ni"][ni]);
    for (const std::uint64_t late : {slack, slack + 1}) {
      if (late == 0) continue;
      Settings with = settings;
      with.push_back("faults.late_nis=[{node: " + std::to_string(node) +
                     ", cycles: " + std::to_string(late) + "}]");
      const auto end = number(explained(config, with)["explanation"]["last_delivery_cycle"]);
      CHECK(end >= last + (late - slack));
      CHECK(end <= last + (late - slack) + rest);
    }
  }
}

TEST_CASE("A schedule does not slip if each timestep waits for the whole previous one") {
  const TemporaryFolder folder;
  const Json result =
      explained(folder.write("torus.yaml", kExplainTorus), {"system.ni.lockstep=full"});
  CHECK(result["explanation"]["slips"].empty());
  // Nor where all NIs do the same.
  const std::string mesh = folder.write("mesh.yaml", test::kSmallConfig);
  CHECK(explained(mesh, {})["explanation"]["slips"].empty());
}

TEST_CASE("The text of explain names the causes and the slack") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kExplainTorus);
  const Outcome outcome = test::espalier(
      {"explain", config, "--all", "-s", "faults.late_nis=[{node: 6, cycles: 30000}]"});
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("Where the time went"));
  CHECK_THAT(outcome.out, Contains("late start at net.ni_1_2"));
  CHECK_THAT(outcome.out, Contains("Slack"));
}

TEST_CASE("explain is brief unless it is asked for all") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kExplainTorus);
  const Outcome brief = test::espalier({"explain", config});
  const Outcome all = test::espalier({"explain", config, "--all"});
  REQUIRE(brief.exit_code == 0);
  CHECK(std::count(brief.out.begin(), brief.out.end(), '\n') < 36);
  CHECK_THAT(brief.out, !Contains("Slack:") && Contains("explain --all"));
  CHECK_THAT(all.out, Contains("The critical path, message by message") && Contains("Slack:"));
  // Channels have names for people, too.
  CHECK_THAT(brief.out, Contains("link r_") || Contains("the injection port of the NI at r_"));
}

TEST_CASE("explain says of a late host that it is not on the critical path") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kExplainTorus);
  const auto verdict = [&](const std::string& cycles) {
    const Json result =
        explained(config, {"faults.late_nis=[{node: 6, cycles: " + cycles + "}]",
                           "faults.slow_links=[{from: r_0_0, to: r_0_1, bandwidth: 1GB/s}]",
                           "system.ni.lockstep=off"});
    return result["explanation"]["verdict"].get<std::string>();
  };
  CHECK_THAT(verdict("1"), Contains("The late start of r_1_2 is not on the critical path"));
  CHECK_THAT(verdict("1"), Contains("(faults.slow_links)"));
}

TEST_CASE("explain is refused for a run without a schedule") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("traffic.yaml",
                   "system: {topology: {type: mesh, dims: [4, 3]}}\n"
                   "traffic: {pattern: uniform, injection_rate: 0.1, warmup_cycles: 0, "
                   "measure_cycles: 500, drain_cycles: 0}\n");
  const Outcome outcome = test::espalier({"explain", config});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("traffic.yaml: error: explain needs the schedule of a "
                                   "collective; it cannot explain traffic"));
}

TEST_CASE("No output may use the file of another output or of the configuration") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kExplainTorus);
  const std::string file = folder.file("out.json");
  const auto error = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words{"explain", config};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = test::espalier(words);
    CHECK(outcome.exit_code == 2);
    return outcome.err;
  };
  CHECK_THAT(error({"--json", file, "--timeline", file}), Contains("is also the --json file"));
  CHECK_THAT(error({"--json", config}), Contains("is also the configuration file"));
  CHECK(test::read_text(config) == kExplainTorus);
}

TEST_CASE("explain shows several runs one after the other") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kExplainTorus);
  const Outcome outcome = test::espalier(
      {"explain", config, "-s", "collective.algorithm=[ring, multitree]", "--json", "-"});
  REQUIRE(outcome.exit_code == 0);
  const Json results = Json::parse(outcome.out)["results"];
  REQUIRE(results.size() == 2);
  for (const Json& result : results) check_account(result, false);
}

TEST_CASE("A save file of all signals shows the channels of the critical path after the NIs") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kExplainTorus);
  const std::string waves = folder.file("run.vcd");
  const Outcome outcome =
      test::espalier({"explain", config, "--waves", waves, "--json", folder.file("run.json")});
  REQUIRE(outcome.exit_code == 0);
  const Json document = Json::parse(test::read_text(folder.file("run.json")));
  std::vector<std::string> on_path;
  for (const Json& leg : document["results"][0]["explanation"]["path"]) {
    for (const Json& segment : leg["segments"]) {
      if (!segment.contains("channel")) continue;
      const auto name = segment["channel"].get<std::string>();
      if (std::find(on_path.begin(), on_path.end(), name) == on_path.end()) on_path.push_back(name);
    }
  }
  // Groups are opened in the order of the file.
  std::vector<std::string> shown;
  std::istringstream save(test::read_text(waves + ".gtkw"));
  for (std::string line; std::getline(save, line);) {
    const std::string name = line.substr(1);
    const bool is_group = !line.empty() && line[0] == '-';
    if (is_group && name.find("net.r_") == 0 && name.find(".vc") == std::string::npos &&
        std::find(shown.begin(), shown.end(), name) == shown.end()) {
      shown.push_back(name);
    }
  }
  REQUIRE(shown.size() >= on_path.size());
  shown.resize(on_path.size());
  CHECK(shown == on_path);
}

TEST_CASE("explain opens with the slow link that decides, and names its rate and the usual one") {
  const Outcome outcome = test::espalier(
      {"explain", std::string(ESPALIER_SOURCE_DIR) + "/configs/faults/slow_link.yaml", "-s",
       "system.ni.lockstep=off", "--json", "-"});
  REQUIRE(outcome.exit_code == 0);
  const Json explanation = Json::parse(outcome.out)["results"][0]["explanation"];
  CHECK_THAT(
      explanation["verdict"].get<std::string>(),
      Catch::Matchers::EndsWith("of the time is decided by link r_3_3 -> r_4_3, which runs "
                                "at 4 GB/s (faults.slow_links) where most links run at 16 GB/s."));
  CHECK_FALSE(explanation.contains("without_lockstep"));
}

TEST_CASE("The verdict of a run at the bound is the bound, not the place where it waits") {
  const auto explanation_of = [](const std::string& algorithm) {
    const Outcome outcome =
        test::espalier({"explain", std::string(ESPALIER_SOURCE_DIR) + "/configs/torus_8x8.yaml",
                        "-s", "system.flow_control.mode=message", "-s",
                        "collective.algorithm=" + algorithm, "--json", "-"});
    REQUIRE(outcome.exit_code == 0);
    return Json::parse(outcome.out)["results"][0]["explanation"];
  };
  const Json at = explanation_of("multitree_translated");
  CHECK(at["verdict"] == "The run is at the bound, which is 99.2 % of its time.");
  CHECK(at["limit"]["kind"] == "bound");
  CHECK(at["limit"]["share"].get<double>() == Approx(0.992).margin(0.001));
  CHECK_FALSE(at.contains("without_lockstep"));
  CHECK(explanation_of("2d_ring")["limit"]["kind"] != "bound");
}

TEST_CASE("explain sees through lockstep's counters by a run without lockstep") {
  const std::string lab = std::string(ESPALIER_SOURCE_DIR) + "/configs/lab.yaml";
  const Outcome outcome =
      test::espalier({"explain", lab, "-s", "collective.algorithm=multitree", "--json", "-"});
  REQUIRE(outcome.exit_code == 0);
  const Json result = Json::parse(outcome.out)["results"][0];
  const Json& explanation = result["explanation"];
  const Outcome off = test::espalier({"run", lab, "-s", "collective.algorithm=multitree", "-s",
                                      "system.ni.lockstep=off", "--json", "-"});
  CHECK(explanation["without_lockstep"]["cycles"] == Json::parse(off.out)["results"][0]["cycles"]);
  const auto verdict = explanation["verdict"].get<std::string>();
  CHECK_THAT(verdict, Contains("NIs wait for lockstep's down-counters"));
  CHECK_THAT(verdict, Contains("ithout lockstep the run takes " +
                               explanation["without_lockstep"]["cycles"].dump() + " cycles"));
}

TEST_CASE("explain's run without lockstep has a skewed clock, too") {
  const TemporaryFolder folder;
  const std::string config = folder.write(
      "skew.yaml",
      "system: {topology: {type: torus, dims: [4, 4]}}\n"
      "collective: {op: all_reduce, algorithm: multitree, size: 1MiB}\n"
      "faults: {clock_skew: [{node: 13, cycles: 40, per_step: 25}, {node: 2, per_step: 1}]}\n");
  const Outcome outcome = test::espalier({"explain", config, "--json", "-"});
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.find("warning") == std::string::npos);
  const Outcome off =
      test::espalier({"run", config, "-s", "faults.clock_skew=[{node: 13, cycles: 40}]", "-s",
                      "system.ni.lockstep=off", "--json", "-"});
  REQUIRE(off.exit_code == 0);
  CHECK(Json::parse(outcome.out)["results"][0]["explanation"]["without_lockstep"]["cycles"] ==
        Json::parse(off.out)["results"][0]["cycles"]);
}

TEST_CASE("explain names a host that starts late, and by how much") {
  const Outcome outcome = test::espalier(
      {"explain", std::string(ESPALIER_SOURCE_DIR) + "/configs/themis/late_node.yaml", "--json",
       "-"});
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(Json::parse(outcome.out)["results"][0]["explanation"]["verdict"].get<std::string>(),
             Contains("The late start of net.ni_1_1 takes 2000 cycles of the"));
}

TEST_CASE("A save file begins with the NI of the critical path, and its marker is the worst slip") {
  const TemporaryFolder folder;
  // A slow link between two NIs in the middle, and a late NI: groups in number order begin with 0.
  const std::string config =
      folder.write("mesh.yaml",
                   "system: {topology: {type: mesh, dims: [6, 6]}}\n"
                   "collective: {op: all_reduce, algorithm: multitree, size: 64KiB}\n"
                   "faults:\n"
                   "  slow_links: [{from: r_2_2, to: r_2_3, bandwidth: 4GB/s}]\n"
                   "  late_nis: [{node: 7, cycles: 3000}]\n");
  const std::string waves = folder.file("run.vcd");
  REQUIRE(test::espalier({"run", config, "--waves", waves}).exit_code == 0);
  std::istringstream save(test::read_text(waves + ".gtkw"));
  std::string line;
  std::string first_group;
  std::int64_t marker = -1;
  while (std::getline(save, line)) {
    if (line[0] == '*') marker = std::stoll(line.substr(line.find(' ')));
    if (first_group.empty() && line.rfind("-net", 0) == 0) first_group = line;
  }
  CHECK(first_group == "-net.ni_2_2");
  const Json slips = explained(config, {})["explanation"]["slips"];
  REQUIRE_FALSE(slips.empty());
  CHECK(marker == slips[0]["at_cycle"].get<std::int64_t>());
}
