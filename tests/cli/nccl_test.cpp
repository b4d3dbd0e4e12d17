// algorithm nccl and machine files, as users see them.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cli_test_support.h"
#include "tests/support/trace_writer.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr const char* kNcclServer =
    "system: {preset: h100_8}\n"
    "collective: {algorithm: nccl, size: 64MiB}\n";

// A line of three parts that a machine file's mistake must print.
struct MachineMistake {
  const char* text;
  const char* message;
};

}  // namespace

TEST_CASE("NCCL's all_reduce of 64 MiB on 8 H100 takes the measured 313.6 us within 5 %") {
  const TemporaryFolder folder;
  const Outcome run = test::espalier(
      {"run", folder.write("server.yaml", kNcclServer), "--json", folder.file("r.json")});
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  const Json result = Json::parse(test::read_text(folder.file("r.json")))["results"][0];
  CHECK(result["algorithm"] == "nccl");
  CHECK_THAT(result["choice"].get<std::string>(), Contains("NVLS Simple x16, on h100_8_nvls;"));
  CHECK(result["time_ns"].get<double>() == Approx(313'600).epsilon(0.05));
}

TEST_CASE("check --resolved prints NCCL's choice as keys, which run alone to the same time") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  const std::vector<std::string> small{"-s", "collective.size=64KiB"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return test::espalier(words);
  };
  const Outcome checked = with({"check", server, "--resolved"}, small);
  REQUIRE(checked.exit_code == 0);
  const Json config = Json::parse(checked.out)[0];
  CHECK(config["collective"]["algorithm"] == "nccl_ring");
  CHECK(config["collective"]["program"]["protocol"] == "LL");
  const std::string resolved = folder.write("resolved.yaml", config.dump());
  const auto cycles = [&](const Outcome& run) {
    CHECK(run.exit_code == 0);
    return Json::parse(run.out)["results"][0]["cycles"];
  };
  CHECK(cycles(with({"run", server, "--json", "-"}, small)) ==
        cycles(test::espalier({"run", resolved, "--json", "-"})));
}

TEST_CASE("A launch delays a collective, and hosts that prepare a call for longer set its time") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", test::kSmallConfig);
  const auto cycles = [&](const std::vector<std::string>& sets) {
    std::vector<std::string> words{"run", config, "--json", "-"};
    for (const std::string& set : sets) words.insert(words.end(), {"-s", set});
    return Json::parse(test::espalier(words).out)["results"][0]["cycles"].get<int>();
  };
  const int alone = cycles({});
  CHECK(cycles({"collective.launch_cycles=500"}) == alone + 500);
  CHECK(cycles({"collective.host_cycles=500"}) == alone);
  CHECK(cycles({"collective.host_cycles=100000", "collective.launch_cycles=500"}) == 100'000);
}

TEST_CASE("Where NCCL has no numbers, its refusal names the reason and the cure") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  const std::string torus = folder.write("torus.yaml",
                                         "system: {topology: {type: torus, dims: [4, 4]}}\n"
                                         "collective: {algorithm: nccl, size: 1MiB}\n");
  const auto refused = [&](const std::vector<std::string>& words, const std::string& place,
                           const std::string& reason, const std::string& cure) {
    const Outcome outcome = test::espalier(words);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains(place) && Contains(reason) && Contains("hint: " + cure));
  };
  refused({"run", torus}, "torus.yaml:1:27: error: collective.algorithm: nccl ",
          "links and NICs of servers of GPUs", "system.preset: one of h100_8, h100_10x8, polaris");
  refused({"run", server, "-s", "system.preset=ndv5"},
          "-s system.preset=ndv5: error: ", "numbers of a machine, and ndv5 has none",
          "system.preset: one of h100_8");
  refused({"run", server, "-s", "system.topology.servers=2"},
          "servers=2: error: ", "between servers than in one, and h100_8 has none",
          "system.preset: h100_10x8");
  refused({"run", server, "-s", "system.topology.gpus_per_server=4"},
          "gpus_per_server=4: error: ", "servers of 8 GPUs on h100_8, not of 4",
          "write a machine file");
  refused({"run", server, "-s", "system.topology.without=[node 3]"},
          "[node 3]: error: ", "no known choice on a broken network", "take the parts back");
  refused({"run", server, "-s", "collective.choice=ring"},
          "-s collective.choice=ring: error: ", "espalier writes it into resolved configurations",
          "collective.algorithm: nccl");
  refused({"run", server, "-s", "collective.op=broadcast"},
          "op=broadcast: error: ", "computes all_reduce, reduce_scatter, all_gather",
          "collective.op: all_reduce");
}

TEST_CASE("A machine file is a preset of the user's own, whose times nobody has measured") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  folder.write("my.yaml",
               "from: h100_10x8\n"
               "settings: {system.topology.servers: 2}\n"
               "nccl: {version: \"2.99\", found: 4, network_rate: 24, tuning: {tree: {\"2.99\": "
               "{start: [6.8, 14, 8.4], nvlink: [0.6, 1.25, 4], network: [5, 8.5, 14]}}}}\n");
  const Outcome run =
      test::espalier({"run", server, "-s", "system.preset=my.yaml", "-s", "collective.size=1MiB"});
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.err, Contains("nobody has measured NCCL's times on 2 servers of ") &&
                          Contains("times are off by 6.1 %"));
  CHECK_THAT(run.out, Contains("nccl: NVLS tree Simple x16; NCCL 2.99 estimates 71.9 us"));
}

TEST_CASE("A mistake in a machine file is refused with its place, and nothing else is reported") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  for (const auto& [text, message] :
       {MachineMistake{"", "my.yaml:1:1: error: the file is empty"},
        {"[1]\n", "my.yaml:1:1: error: expected a machine, which is a mapping"},
        {"from: h100\n", "my.yaml:1:7: error: from: there is no preset 'h100'"},
        {"from: h100.xml\n", "my.yaml:1:7: error: "},
        {"settings: {system.preset: h100_8}\n",
         "my.yaml:1:27: error: settings: a machine names its preset in 'from'"},
        {"from: h100_8\ncolour: 1\n", "my.yaml:2:1: error: unknown key 'colour'"},
        {"settings: {system.link.bandwith: 1GB/s}\n",
         "my.yaml:1:34: error: settings: there is no key 'system.link.bandwith'"},
        {"from: h100_8\nsettings: {system.link.bandwidth: 5}\n", "my.yaml:2:35: error: "},
        {"from: h100_8\nnccl: {channels: 2.5}\n",
         "my.yaml:2:7: error: nccl.channels: 2.5 is not a whole number from 1 to 32"},
        {"from: h100_8\nnccl: {channels: -1}\n", "my.yaml:2:18: error: nccl.channels: -1 is"},
        {"from: h100_8\nnccl: {gpu: blackwell}\n",
         "my.yaml:2:7: error: nccl.gpu: 'blackwell' has no row ll/blackwell in NCCL's tables"},
        {"from: h100_8\nnccl: {version: \"2.20\"}\n",
         "my.yaml:2:7: error: nccl.version: '2.20' has no row tree/2.20/start in NCCL's tables"},
        {"from: h100_8\nnccl: {tuning: {ll: {hopper: [1, 2]}}}\n",
         "my.yaml:2:30: error: nccl.tuning: ll/hopper: expected 3 numbers, found 2"},
        {"from: h100_8\nnccl: 5\n", "my.yaml:2:7: error: nccl: expected a mapping"}}) {
    folder.write("my.yaml", text);
    const Outcome run = test::espalier({"run", server, "-s", "system.preset=my.yaml"});
    CAPTURE(text, run.err);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.err, Contains(message));
    CHECK(run.err.find("error: ") == run.err.rfind("error: "));
  }
}

TEST_CASE("A key that NCCL's choice replaces is warned of, and a slower link counts") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  const Outcome slots =
      test::espalier({"check", server, "--resolved", "-s", "system.ni.program.slots=3", "-s",
                      "collective.size=64KiB"});
  CHECK_THAT(slots.err,
             Contains("system.ni.program.slots has no effect: NCCL's choice, ring LL x2"));
  // An all_to_all gets 353 of 394 GB/s, and of a slower link what the link has.
  const Outcome slower =
      test::espalier({"check", server, "--resolved", "-s", "system.link.bandwidth=200GB/s", "-s",
                      "collective.op=all_to_all"});
  CHECK(slower.err.empty());
  CHECK(Json::parse(slower.out)[0]["system"]["link"]["bandwidth"] == "200GB/s");
}

TEST_CASE("compare ranks NCCL's switches and exchanges beside the schedules of the same network") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  for (const auto& [op, algorithms] :
       {std::pair("all_reduce", "[ring,nccl]"), std::pair("all_to_all", "[direct,nccl]")}) {
    const Outcome compared = test::espalier({"compare", server, "-s", "collective.size=8MiB", "-s",
                                             std::string("collective.op=") + op, "-s",
                                             std::string("collective.algorithm=") + algorithms});
    CAPTURE(compared.out, compared.err);
    CHECK(compared.exit_code == 0);
    CHECK_THAT(compared.out, Contains(std::string(op) + " of 8 MiB on gpu_cluster 1x8, 8 nodes"));
    CHECK(compared.out.find("Best: ") == compared.out.rfind("Best: "));
    CHECK_THAT(compared.out, Contains("\nnccl "));
  }
}

TEST_CASE("A ring of NCCL on one of a machine's 24 channels runs with a warning that says so") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  const auto warning = [&](const std::string& channels) {
    return test::espalier({"run", server, "-s", "collective.algorithm=nccl_ring", "-s",
                           "collective.size=64KiB", "-s",
                           "collective.program.channels=" + channels})
        .err;
  };
  CHECK_THAT(warning("1"), Contains("nccl_ring runs on 1 of the 24 channels that NCCL finds") &&
                               Contains("hint: collective.program.channels: 24; or"));
  CHECK(warning("24").empty());
}

TEST_CASE("compare --sizes says what NCCL takes at each size, also where it is far slower") {
  const TemporaryFolder folder;
  const std::string config = folder.write("h100.yaml",
                                          "system: {preset: h100_8}\n"
                                          "collective: {op: all_reduce, size: 1MiB}\n");
  const Outcome run = test::espalier({"compare", config, "--sizes", "1KiB,1MiB", "-s",
                                      "collective.algorithm=[nccl, ring, direct]"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const std::string table = run.out.substr(run.out.find("Best by size"));
  CHECK_THAT(table, Contains("NCCL takes") && Contains("ring LL x1 ") && Contains("ring LL x24") &&
                        Contains("NCCL's times contain the launch"));
}

namespace {

// A server of 8 A100, each with 12 NVLinks to a switch and a NIC of 200 Gb/s behind PCIe Gen 4.
std::string nccl_topology(const std::string& gpu) {
  std::string text = "<system version=\"1\"><cpu numaid=\"0\" vendor=\"AuthenticAMD\">\n";
  for (int g = 0; g < 8; ++g) {
    const std::string n = std::to_string(g);
    text += "<pci busid=\"0:" + n +
            "\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">" + "<gpu dev=\"" + n +
            "\" " + gpu + "/gpu></pci>\n<pci busid=\"1:" + n +
            "\" class=\"0x020700\" link_speed=\"16 GT/s\" link_width=\"16\"><nic><net dev=\"" + n +
            "\" speed=\"200000\"/></nic></pci>\n";
  }
  return text + "</cpu></system>\n";
}
constexpr const char* kA100 =
    "sm=\"80\"><nvlink target=\"9:0\" count=\"12\" tclass=\"0x068000\"/><";

}  // namespace

TEST_CASE(
    "NCCL's topology of a DGX A100 is a machine of Sophia's rings, with NVLinks in one server") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  folder.write("topo.xml", nccl_topology(kA100));
  folder.write("my.yaml", "from: topo.xml\nsettings: {system.topology.servers: 2}\n");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"check", server, "-s", "collective.size=1MiB", "--resolved"};
    words.insert(words.end(), more.begin(), more.end());
    return test::espalier(words);
  };
  const Outcome sophia = run({"-s", "system.preset=sophia"});
  for (const std::string machine : {"my.yaml", "topo.xml"}) {
    const Outcome two = run({"-s", "system.preset=" + machine, "-s", "system.topology.servers=2"});
    INFO(two.err);
    CHECK(two.exit_code == 0);
    CHECK_THAT(two.err,
               Contains("8 GPUs (ampere), 240 GB/s of NVLinks, 8 NICs of 24 GB/s for NCCL; "
                        "8 rings are assumed in 16 channels") &&
                   Contains("latencies, launch and steps of sophia"));
    // The choice and its estimate are those of the machine that the preset describes.
    const std::size_t at = sophia.out.find("\"choice\":");
    REQUIRE(at != std::string::npos);
    CHECK_THAT(two.out, Contains(sophia.out.substr(at, sophia.out.find('\n', at) - at)));
  }
  const Outcome one = run({"-s", "system.preset=topo.xml"});
  CHECK_THAT(one.err, Contains("12 rings are assumed in 24 channels"));
}

TEST_CASE("A topology without what NCCL's choice needs is refused with the way to give it") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  const auto refused = [&](const std::string& text, const std::string& why) {
    folder.write("topo.xml", text);
    const Outcome outcome = test::espalier({"run", server, "-s", "system.preset=topo.xml"});
    INFO(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err,
               Contains("topo.xml:1:1: error: ") && Contains(why) && Contains("hint: "));
  };
  refused(nccl_topology("><"), "the file does not say which GPUs these are");
  refused(nccl_topology("sm=\"80\"><"), "the file has no nvlink elements");
  refused(nccl_topology("sm=\"70\"><nvlink target=\"9:0\" count=\"6\" tclass=\"0x068000\"/><"),
          "begin with sm 80, and these GPUs have sm 70");
  refused(nccl_topology("gcn=\"gfx942\"><"), "RCCL chooses by tables that are not known here");
  refused(nccl_topology("sm=\"80\"><nvlink target=\"0:0\" count=\"1\"/><"), "a switch joins them");
  // The user names the GPUs; the warning says how many NVLinks that assumes.
  folder.write("topo.xml", nccl_topology("><"));
  folder.write("my.yaml", "from: topo.xml\nnccl: {gpu: hopper}\n");
  const Outcome named = test::espalier({"check", server, "-s", "system.preset=my.yaml"});
  CHECK(named.exit_code == 0);
  CHECK_THAT(named.err, Contains("18 NVLinks of 20.6 GB/s for each GPU"));
}

TEST_CASE("NCCL's trees run on 1024 GPUs, and its rings there are refused as too many messages") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  std::vector<std::string> words{"run", server,
                                 "-s",  "system.preset=h100_10x8",
                                 "-s",  "system.topology.servers=128",
                                 "-s",  "collective.size=1KiB"};
  const Outcome tree = test::espalier(words);
  CHECK(tree.exit_code == 0);
  CHECK_THAT(tree.out, Contains("nccl: tree LL x1"));
  words.insert(words.end(), {"-s", "collective.op=all_gather", "-s", "collective.size=64MiB"});
  const Outcome ring = test::espalier(words);
  CHECK(ring.exit_code == 2);
  CHECK_THAT(ring.err, Contains("nccl_allgather sends 33554432 messages on 1024 ranks over 16 "
                                "channels, of which at most 4194304 are simulated"));
}

TEST_CASE("rccl is refused by name, with what stands for it") {
  const TemporaryFolder folder;
  const std::string server = folder.write("server.yaml", kNcclServer);
  const Outcome outcome = test::espalier({"run", server, "-s", "collective.algorithm=rccl"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             Contains("-s collective.algorithm=rccl: error: collective.algorithm: 'rccl' "
                      "needs the tables of RCCL's cost model") &&
                 Contains("hint: nccl, with a machine file whose nccl.tuning"));
}

namespace {

// On 2 servers of 8 H100: all ranks post one collective.
std::string write_nccl_step(const TemporaryFolder& folder, const test::TraceNodeText& collective) {
  for (std::uint32_t r = 0; r < 16; ++r) {
    folder.write(fmt::format("one.{}.et", r), test::trace_text({collective}));
  }
  return folder.write("one.yaml",
                      "system: {preset: h100_10x8, topology: {servers: 2}}\n"
                      "collective: {algorithm: nccl}\n"
                      "workload: {file: one, compute: {tflops: recorded}}\n");
}

Json first_result(const Outcome& run) {
  INFO(run.err);
  CHECK(run.exit_code == 0);
  return Json::parse(run.out).at("results").at(0);
}

// Tensor parallel in the servers, data parallel across them.
constexpr const char* kTwoServers =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 "
    "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0\n1\n"
    "mlp -1 20000 ALLREDUCE 4194304 20000 ALLREDUCE 65536 20000 REDUCESCATTER 4194304 100\n";

}  // namespace

TEST_CASE("A collective of a step takes NCCL's choice, and its time from the post on") {
  if (test::skips_traces()) return;
  struct Case {
    const char* op;
    unsigned kind;
    Bytes size;   // of the call
    Bytes shard;  // comm_size of the trace
    const char* choice;
  };
  for (const Case& c : {Case{"all_reduce", 0, 64 << 10, 64 << 10, "LL x"},
                        Case{"all_reduce", 0, 4 << 20, 4 << 20, " x"},
                        Case{"all_gather", 2, 1 << 20, 64 << 10, "ring "}}) {
    const TemporaryFolder folder;
    const std::string step = write_nccl_step(folder, test::coll(1, c.kind, c.shard));
    const Json in_step = first_result(test::espalier({"run", step, "--json", "-"}));
    const Json alone = first_result(
        test::espalier({"run",
                        folder.write("alone.yaml",
                                     "system: {preset: h100_10x8, topology: {servers: 2}}\n"
                                     "collective: {algorithm: nccl}\n"),
                        "-s", std::string("collective.op=") + c.op, "-s",
                        "collective.size=" + std::to_string(c.size) + "B", "--json", "-"}));
    const std::string choice = alone.at("choice");
    CAPTURE(c.op, c.size, choice);
    CHECK_THAT(choice, Contains(c.choice));
    CHECK(in_step.at("verified") == true);
    CHECK_THAT(in_step.dump(), Contains(choice.substr(0, choice.find(';'))));
    // The hosts post in cycle 2.
    CHECK(in_step.at("cycles") == alone.at("cycles").get<std::uint64_t>() + 2);
  }
}

TEST_CASE("NCCL chooses for each group of a step by its servers, and both fidelities agree") {
  const TemporaryFolder folder;
  folder.write("step.txt", kTwoServers);
  const std::string step = folder.write("step.yaml",
                                        "system: {preset: h100_10x8, topology: {servers: 2}}\n"
                                        "collective: {algorithm: nccl}\n"
                                        "workload: {file: step.txt}\n");
  const Json train = first_result(test::espalier({"run", step, "--json", "-"}));
  CHECK(train.at("verified") == true);
  CHECK_THAT(train.dump(), Contains("ring LL x"));
  const Json cycle =
      first_result(test::espalier({"run", step, "--json", "-", "-s", "simulation.fidelity=cycle"}));
  CHECK(train.at("cycles") == cycle.at("cycles"));
  CHECK(train.at("step") == cycle.at("step"));
}

TEST_CASE("A step on another network has no NCCL, and runs programs by name where they fit") {
  const TemporaryFolder folder;
  std::string links = "nodes: [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11]\nlinks:\n";
  for (int n = 0; n < 12; ++n) {
    links += fmt::format("  - {{between: [a{}, a{}]}}\n  - {{between: [a{}, a{}]}}\n", n,
                         (n + 1) % 12, n, (n + 5) % 12);
  }
  folder.write("network.yaml", links);
  std::string text = kTwoServers;
  text.replace(text.find("group: 8"), 8, "group: 4");
  text.replace(text.find("gpus: 16"), 8, "gpus: 12");
  folder.write("step.txt", text);
  const std::string step = folder.write(
      "step.yaml",
      "system: {topology: {type: file, file: network.yaml}, router: {flit_bytes: 64}}\n"
      "collective: {algorithm: nccl}\n"
      "workload: {file: step.txt}\n");
  const Outcome refused = test::espalier({"run", step});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("collective.algorithm: nccl chooses by the links and NICs of"));
  for (const char* program : {"gc3_ring", "gc3_allpairs"}) {
    const std::string set = std::string("collective.algorithm=") + program;
    const Json train = first_result(test::espalier({"run", step, "--json", "-", "-s", set}));
    CHECK(train.at("verified") == true);
    const Json cycle = first_result(
        test::espalier({"run", step, "--json", "-", "-s", set, "-s", "simulation.fidelity=cycle"}));
    CHECK(train.at("step") == cycle.at("step"));
  }
}
