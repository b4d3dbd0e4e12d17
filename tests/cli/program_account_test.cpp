// `espalier explain` of collective programs: from the host's call to the end of the last context.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

using Settings = std::vector<std::string>;

constexpr const char* kServer =
    "system: {topology: {type: gpu_cluster, servers: 1, gpus_per_server: 4}}\n"
    "collective: {op: all_reduce, algorithm: gc3_ring, size: 64KiB}\n";
constexpr const char* kServers =
    "system:\n"
    "  topology: {type: gpu_cluster, servers: 2, gpus_per_server: 3,\n"
    "    nic_link: {bandwidth: 4GB/s, latency: 500ns}}\n"
    "  link: {latency: 100ns}\n"
    "  ni: {program: {doorbell_cycles: 5000, load_cycles_per_step: 2, fence_cycles: 100}}\n"
    "collective: {op: all_reduce, algorithm: gc3_hierarchical, size: 64KiB}\n";
// Everything that a context can wait for, in one.
constexpr const char* kNarrow =
    "system:\n"
    "  topology: {type: torus, dims: [2, 4]}\n"
    "  ni:\n"
    "    send_queue: 1\n"
    "    ports: 1\n"
    "    program: {slot: 1000B, request: 400B, requests: 3, memory_bytes_per_cycle: 24}\n"
    "collective: {op: all_reduce, algorithm: gc3_allpairs, size: 20000B}\n";

Json accounted(const std::string& config, const Settings& settings) {
  std::vector<std::string> words{"explain", config, "--json", "-"};
  for (const std::string& setting : settings) words.insert(words.end(), {"-s", setting});
  const Outcome outcome = test::espalier(words);
  CAPTURE(settings);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return Json::parse(outcome.out)["results"][0];
}

std::uint64_t figure_in(const Json& json) { return json.get<std::uint64_t>(); }

// Every cycle from the call to the end is there once, and has a cause.
void check_account(const Json& result) {
  const Json& account = result["explanation"];
  REQUIRE(figure_in(account["cycles"]) == figure_in(result["cycles"]));
  CHECK(figure_in(account["first_issue_cycle"]) == 0);
  CHECK_FALSE(account["totals"].contains("unexplained"));
  std::uint64_t sum = 0;
  for (const auto& [kind, cycles] : account["totals"].items()) sum += figure_in(cycles);
  CHECK(sum == figure_in(result["cycles"]));
  std::uint64_t by_place = 0;
  for (const Json& cause : account["causes"]) by_place += figure_in(cause["cycles"]);
  CHECK(by_place == figure_in(result["cycles"]));
  std::uint64_t at = 0;
  for (const Json& leg : account["path"]) {
    CHECK(figure_in(leg["from_cycle"]) == at);
    for (const Json& segment : leg["segments"]) at += figure_in(segment["cycles"]);
    CHECK(figure_in(leg["to_cycle"]) == at);
  }
  CHECK(at == figure_in(account["last_delivery_cycle"]));
}

struct AccountedRun {
  const char* config;
  Settings settings;
};

std::vector<AccountedRun> many_programs() {
  std::vector<AccountedRun> runs;
  for (const char* size : {"4B", "10KiB", "1MiB"}) {
    for (const char* protocol : {"Simple", "LL", "LL128"}) {
      for (const char* slots : {"2", "8"}) {
        const Settings common{std::string("collective.size=") + size,
                              std::string("collective.program.protocol=") + protocol,
                              std::string("system.ni.program.slots=") + slots};
        const auto add = [&](const char* config, const Settings& more) {
          Settings settings = common;
          settings.insert(settings.end(), more.begin(), more.end());
          runs.push_back({config, settings});
        };
        add(kServer, {});
        add(kServer, {"collective.program.channels=4", "system.ni.program.requests=2"});
        add(kServer, {"collective.algorithm=gc3_allpairs", "collective.program.instances=2"});
        add(kServers, {"collective.algorithm=" + std::string(ESPALIER_SOURCE_DIR) +
                       "/configs/programs/hierarchical_composed.trace"});
      }
    }
  }
  for (const char* algorithm : {"gc3_ring", "gc3_allpairs", "gc3_halving_doubling",
                                "gc3_binomial_tree", "gc3_double_binary_tree"}) {
    const std::string chosen = std::string("collective.algorithm=") + algorithm;
    runs.push_back({kNarrow, {chosen}});
    runs.push_back({kNarrow, {chosen, "system.ni.program.slots=2", "system.ni.send_queue=3"}});
    runs.push_back({kNarrow, {chosen, "system.ni.dma.bandwidth=10GB/s"}});
    runs.push_back({kNarrow, {chosen, "system.router.vc_depth_flits=24", "system.router.vcs=2"}});
    runs.push_back(
        {kNarrow,
         {chosen, "system.ni.reduction.bytes_per_cycle=7", "system.ni.program.requests=1"}});
    runs.push_back(
        {kNarrow,
         {chosen, "collective.program.protocol=LL", "system.ni.program.credit_cycles=3000"}});
    runs.push_back(
        {kNarrow,
         {chosen, "faults.dma_jitter.max_cycles=300", "faults.late_nis=[{node: 3, cycles: 700}]"}});
  }
  for (const char* op : {"all_to_all", "all_gather", "reduce_scatter"}) {
    const std::string algorithm = op == std::string("all_to_all") ? "gc3_twostep_alltoall"
                                  : op == std::string("all_gather")
                                      ? "gc3_allgather_recursive_doubling"
                                      : "gc3_reducescatter_ring";
    const Settings chosen{"collective.algorithm=" + algorithm, std::string("collective.op=") + op};
    runs.push_back({op == std::string("all_to_all") ? kServers : kServer, chosen});
  }
  runs.push_back({kServers, {}});
  return runs;
}

}  // namespace

TEST_CASE("The segments of a program's critical path add up to its cycles, and all have a cause") {
  const TemporaryFolder folder;
  for (const AccountedRun& run : many_programs()) {
    CAPTURE(run.config, run.settings);
    check_account(accounted(folder.write("run.yaml", run.config), run.settings));
  }
}

TEST_CASE("explain gives the same result of a program for trains and flits") {
  const TemporaryFolder folder;
  for (const AccountedRun& run : many_programs()) {
    const auto is_long = [](const std::string& setting) {
      return setting == "collective.size=1MiB";
    };
    if (std::any_of(run.settings.begin(), run.settings.end(), is_long)) continue;
    CAPTURE(run.config, run.settings);
    const std::string config = folder.write("run.yaml", run.config);
    const auto account = [&](const char* fidelity) {
      Settings settings = run.settings;
      settings.emplace_back(std::string("simulation.fidelity=") + fidelity);
      return accounted(config, settings)["explanation"];
    };
    CHECK(account("train") == account("cycle"));
  }
}

namespace {

// What must be the largest cause, or the channel whose rate decided most.
struct Bottleneck {
  const char* config;
  Settings settings;
  std::string kind;
  std::string channel;
};

}  // namespace

TEST_CASE("An injected bottleneck is what a program's critical path spent most time on") {
  const TemporaryFolder folder;
  const std::vector<Bottleneck> bottlenecks{
      {kServer, {"system.ni.program.memory_bytes_per_cycle=1"}, "memory_port", ""},
      {kServer, {"system.ni.program.fence_cycles=30000"}, "fence", ""},
      {kServer, {"system.ni.program.doorbell_cycles=90000"}, "launch", ""},
      {kServer, {"system.ni.program.load_cycles_per_step=9000"}, "launch", ""},
      {kServer, {"system.ni.program.decode_cycles=9000"}, "decode", ""},
      {kServer,
       {"system.ni.program.requests=1", "system.ni.program.request=256B",
        "system.ni.dma.latency_cycles=100"},
       "request_limit",
       ""},
      {kServer,
       {"system.ni.program.slots=2", "system.ni.program.slot=512B",
        "system.ni.program.credit_cycles=9000"},
       "slot_credit",
       ""},
      {kServer,
       {"system.ni.reduction.bytes_per_cycle=1", "collective.op=reduce_scatter",
        "collective.algorithm=gc3_reducescatter_ring"},
       "reduction",
       ""},
      {kServer, {"faults.late_nis=[{node: 2, cycles: 90000}]"}, "late_start", ""},
      {kServer,
       {"collective.size=2KiB", "system.ni.program.slots=8",
        "faults.slow_links=[{from: n_1, to: nvs_0, latency: 4us}]"},
       "link_latency",
       ""},
      {kNarrow, {"faults.slow_links=[{from: 0, to: 1, bandwidth: 100MB/s}]"}, "", "net.r_0_1.in_w"},
      {kServers, {"collective.size=4MiB", "system.topology.nic_link.bandwidth=200MB/s"}, "", "nic"},
  };
  for (const Bottleneck& bottleneck : bottlenecks) {
    CAPTURE(bottleneck.settings);
    const Json result = accounted(folder.write("run.yaml", bottleneck.config), bottleneck.settings);
    check_account(result);
    const Json& account = result["explanation"];
    INFO(account["totals"].dump(2)
         << account["causes"][0].dump(2) << account["bottlenecks"].dump());
    if (!bottleneck.channel.empty()) {
      CHECK_THAT(account["bottlenecks"][0]["channel"].get<std::string>(),
                 Contains(bottleneck.channel));
      continue;
    }
    std::string largest;
    std::uint64_t most = 0;
    for (const auto& [kind, cycles] : account["totals"].items()) {
      if (figure_in(cycles) <= most) continue;
      most = figure_in(cycles);
      largest = kind;
    }
    CHECK(largest == bottleneck.kind);
  }
}

TEST_CASE("explain of a program names contexts, their steps, and the call") {
  const TemporaryFolder folder;
  const std::string config = folder.write("servers.yaml", kServers);
  const Outcome outcome = test::espalier({"explain", config, "--all"});
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("from the host's call to the end of the last context"));
  CHECK_THAT(outcome.out, Contains("launch at net."));
  CHECK_THAT(outcome.out, Contains("context 1 step 0, pass 0"));
  CHECK_THAT(outcome.out, Contains("fence"));
}

TEST_CASE("explain of a program states only proven bounds") {
  const TemporaryFolder folder;
  const std::string config = folder.write("server.yaml", kServer);
  const Outcome outcome = test::espalier({"explain", config, "-s", "collective.op=broadcast", "-s",
                                          "collective.algorithm=gc3_broadcast_tree"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.out.find("Bound") == std::string::npos);
}
