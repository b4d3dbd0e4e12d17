// A step of training from execution traces, from the command line.
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "cli_test_support.h"
#include "sims/experiment/result_register.h"
#include "tests/support/trace_writer.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

// Tensor parallel among 4 neighbours and data parallel across them, on 16 ranks.
constexpr const char* kText =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 1 ga: 1 "
    "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0\n1\n"
    "mlp -1 20000 ALLREDUCE 65536 20000 ALLREDUCE 65536 20000 REDUCESCATTER 4194304 100\n";
constexpr const char* kTextConfig =
    "system: {topology: {type: torus, dims: [4, 4]}, router: {flit_bytes: 64}}\n"
    "collective: {algorithm: ring}\n"
    "workload: {file: step.txt}\n";

std::string write_text_step(const TemporaryFolder& folder) {
  folder.write("step.txt", kText);
  std::string columns = "rank_order: [";
  for (int r = 0; r < 16; ++r) columns += (r == 0 ? "" : ", ") + std::to_string(r % 4 * 4 + r / 4);
  folder.write("columns.order", columns + "]\n");
  return folder.write("text.yaml", kTextConfig);
}

std::map<std::string, double> bytes_by_dimension(const Json& result) {
  std::map<std::string, double> bytes;
  for (const Json& each : result.at("step").at("dimensions")) {
    bytes[each.at("name")] = each.at("bytes");
  }
  return bytes;
}

constexpr unsigned kChakraAllReduce = 0;

// Four ranks compute, reduce among all and in pairs, and pass a message on. Rank 3 is late.
std::string write_step(const TemporaryFolder& folder, bool receives = true) {
  for (std::uint32_t r = 0; r < 4; ++r) {
    std::vector<test::TraceNodeText> nodes{
        test::comp(1, r == 3 ? 25 : 5), test::coll(2, kChakraAllReduce, 40'000).after({1}),
        test::comp(3, 8).after({1}), test::coll(4, kChakraAllReduce, 8'000).after({2})};
    nodes.back().has("pg_name", r % 2 == 0 ? "1" : "2");
    if (r < 3) nodes.push_back(test::send(5, r + 1, 2'000).after({4}));
    if (r > 0 && receives) nodes.push_back(test::receive(6, r - 1, 2'000));
    folder.write("step." + std::to_string(r) + ".et", test::trace_text(nodes));
  }
  folder.write("step.json", "{\"1\": [0, 2], \"2\": [1, 3]}");
  return folder.write("step.yaml",
                      "system: {topology: {type: torus, dims: [4]}}\n"
                      "collective: {algorithm: ring}\n"
                      "workload: {file: step, compute: {tflops: recorded}}\n");
}

}  // namespace

TEST_CASE("A result of a step says where the time of its ranks goes, and its numbers add up") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  const std::string config = write_step(folder);
  for (const char* issue : {"lowest_id", "streams"}) {
    const Json result = test::run_to_json({config, "-s", std::string("workload.issue=") + issue})
                            .at("results")
                            .at(0);
    INFO(result.dump(1));
    CHECK(result.at("verified") == true);
    const Json& step = result.at("step");
    const auto ns = [&](const char* name) { return step.at(name).get<double>(); };
    CHECK(ns("compute_ns") == Approx((3 * 5'000 + 25'000 + 4 * 8'000) / 4.0));
    CHECK(ns("compute_ns") + ns("exposed_ns") + ns("idle_ns") ==
          Approx(result.at("time_ns").get<double>()));
    CHECK(ns("idle_min_ns") <= ns("idle_ns"));
    CHECK(ns("idle_ns") <= ns("idle_max_ns"));
    CHECK(step.at("sends") == 3);
    CHECK(step.at("send_bytes") == 6'000);
    const auto ends = step.at("rank_end_ns").get<std::vector<double>>();
    CHECK(*std::max_element(ends.begin(), ends.end()) == result.at("time_ns"));
    double exposed = ns("exposed_sends_ns");
    const Json& collectives = step.at("collectives");
    for (const Json& kind : collectives) exposed += kind.at("exposed_ns").get<double>();
    CHECK(exposed == Approx(ns("exposed_ns")));
    REQUIRE(collectives.size() == 2);
    CHECK(collectives[0].at("ranks") == 2);
    CHECK(collectives[0].at("stride") == 2);
    CHECK(collectives[0].at("count") == 2);
    CHECK(collectives[0].at("bytes") == 16'000);
    CHECK(collectives[1].at("ranks") == 4);
    CHECK_FALSE(step.contains("path"));
  }
}

TEST_CASE("An explained step has a critical path from its begin to its end") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"run", write_step(folder), "--explain", "--json", "-"});
  INFO(outcome.err);
  const Json result = Json::parse(outcome.out).at("results").at(0);
  double reached = 0;
  for (const Json& part : result.at("step").at("path")) {
    CHECK(part.at("from_ns").get<double>() == reached);
    reached = part.at("to_ns").get<double>();
  }
  CHECK(reached == result.at("time_ns"));
  const Json& first = result.at("step").at("path").at(0);
  CHECK(first.at("rank") == 3);
  CHECK(first.at("name") == "comp1");
  CHECK(first.at("to_ns") == 25'000);
}

TEST_CASE("The register names every field of a step") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"run", write_step(folder), "--explain", "--json", "-"});
  const Json step = Json::parse(outcome.out).at("results").at(0).at("step");
  const auto check = [](const Json& object, const std::string& prefix) {
    for (const auto& [name, value] : object.items()) {
      INFO(prefix + name);
      CHECK(find_result_field(prefix + name) != nullptr);
    }
  };
  check(step, "step.");
  for (const Json& kind : step.at("collectives")) check(kind, "step.collectives[].");
  for (const Json& part : step.at("path")) check(part, "step.path[].");
  for (const Json& dimension : step.at("dimensions")) check(dimension, "step.dimensions[].");
}

TEST_CASE("The table of a step is followed by its collectives") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"run", write_step(folder), "--explain"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("step ms") && Contains("exposed ms") &&
                              Contains("on critical path ms") && Contains("critical path of"));
}

TEST_CASE("The rank order of a step says whose bytes are on the last dimension of the network") {
  const TemporaryFolder folder;
  const Json results = test::run_to_json({write_text_step(folder), "-s",
                                          "collective.rank_order=[identity, columns.order]"})
                           .at("results");
  auto rows = bytes_by_dimension(results.at(0));
  auto columns = bytes_by_dimension(results.at(1));
  // A ring of 4 passes 3/4 of a size on each of 16 links, for a reduce_scatter once.
  CHECK(rows.at("X") == Approx(16 * 2 * 2 * 65'536 * 3 / 4.0).epsilon(0.01));
  CHECK(rows.at("Y") == Approx(16 * 4'194'304 * 3 / 4.0).epsilon(0.01));
  CHECK(columns.at("X") == rows.at("Y"));
  CHECK(columns.at("Y") == rows.at("X"));
  CHECK(results.at(0).at("step").at("slowest_bytes") == rows.at("Y"));
}

TEST_CASE("Experts of a step get bytes by their weights, as in an exchange with counts alone") {
  const TemporaryFolder folder;
  folder.write("moe.txt",
               "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 1 "
               "ga: 1 all_gpus: 4 checkpoints: 0 checkpoint_initiates: 0\n1\n"
               "mlp -1 20000 ALLTOALL 440000 20000 NONE 0 20000 NONE 0 100\n");
  folder.write("experts.csv", "0,9,1,1\n9,0,1,1\n1,1,0,9\n1,1,9,0\n");
  folder.write("short.csv", "0,1\n1,0\n");
  const std::string system = "system: {topology: {type: torus, dims: [4]}}\n";
  const std::string step = folder.write(
      "step.yaml", system + "collective: {algorithm: direct}\nworkload: {file: moe.txt}\n");
  const std::string alone = folder.write(
      "alone.yaml", system + "collective: {op: all_to_all, size: 440000B, algorithm: direct}\n");
  const auto hops = [](const std::vector<std::string>& arguments) {
    const Json result = test::run_to_json(arguments).at("results").at(0);
    INFO(result.dump(1));
    CHECK(result.at("verified") == true);
    return result.at("flit_hops").get<std::uint64_t>();
  };
  CHECK(hops({step}) == hops({alone}));
  std::uint64_t zipf = 0;
  for (const char* counts : {"zipf", "experts.csv"}) {
    const std::uint64_t in_step = hops({step, "-s", std::string("workload.counts=") + counts});
    CHECK(in_step == hops({alone, "-s", "collective.op=all_to_allv", "-s",
                           std::string("collective.counts=") + counts}));
    CHECK(in_step != zipf);
    zipf = in_step;
  }
  const Outcome refused = test::espalier({"run", step, "-s", "workload.counts=short.csv"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("short.csv:1:") && Contains("4"));
  const std::string without =
      folder.write("without.yaml", system +
                                       "collective: {algorithm: ring}\n"
                                       "workload: {file: without.txt, counts: zipf}\n");
  folder.write("without.txt",
               "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 1 "
               "ga: 1 all_gpus: 4 checkpoints: 0 checkpoint_initiates: 0\n1\n"
               "mlp -1 20000 ALLREDUCE 440000 20000 NONE 0 20000 NONE 0 100\n");
  CHECK_THAT(test::espalier({"run", without}).err,
             Contains("without.yaml:3:") && Contains("counts has no effect"));
}

TEST_CASE("Collectives of a step stand by phase, and the critical path names their links") {
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"explain", write_text_step(folder), "--json", "-"});
  INFO(outcome.err);
  const Json step = Json::parse(outcome.out).at("results").at(0).at("step");
  std::map<std::string, std::size_t> counts;
  for (const Json& kind : step.at("collectives")) {
    counts[kind.at("op").get<std::string>() + " " + kind.at("phase").get<std::string>()] +=
        kind.at("count").get<std::size_t>();
  }
  CHECK(counts == std::map<std::string, std::size_t>{{"all_reduce forward", 4},
                                                     {"all_reduce backward", 4},
                                                     {"reduce_scatter backward", 4}});
  std::size_t collectives = 0;
  for (const Json& part : step.at("path")) {
    CHECK(part.contains("link") == (part.at("kind") == "collective"));
    if (!part.contains("link")) continue;
    ++collectives;
    const bool is_data =
        part.at("group").get<std::string>().rfind("reduce_scatter of group DP", 0) == 0;
    CHECK(part.at("dimension") == (is_data ? "Y" : "X"));
    CHECK(part.at("busy").get<double>() > 0.5);
    CHECK(part.at("busy").get<double>() <= 1);
  }
  CHECK(collectives == 3);
  CHECK_THAT(outcome.err, Contains("dimension of the busiest link") &&
                              Contains("reduce_scatter of group DP: 4 ranks from"));
}

TEST_CASE("The result of a step is the same with a timeline") {
  const TemporaryFolder folder;
  const std::string config = write_text_step(folder);
  const Json alone = test::run_to_json({config}).at("results").at(0).at("step");
  const Json shown = test::run_to_json({config, "--timeline", folder.file("t.json")})
                         .at("results")
                         .at(0)
                         .at("step");
  CHECK(alone == shown);
  CHECK(test::read_text(folder.file("t.json")).find("\"rank 15\"") != std::string::npos);
}

TEST_CASE("A link of the critical path says who else used it, alike in both fidelities") {
  const TemporaryFolder folder;
  const std::string config = write_text_step(folder);
  std::vector<Json> steps;
  for (const char* fidelity : {"train", "cycle"}) {
    const Outcome outcome = test::espalier(
        {"explain", config, "-s", std::string("simulation.fidelity=") + fidelity, "-s",
         "system.topology.dims=[16]", "-s", "collective.algorithm=auto", "--json", "-"});
    steps.push_back(Json::parse(outcome.out).at("results").at(0).at("step"));
  }
  CHECK(steps.at(0) == steps.at(1));
  // On one ring, the four data-parallel groups pass each other's nodes.
  std::string others;
  for (const Json& part : steps.at(0).at("path")) others += part.value("others", "");
  CHECK_THAT(others, Contains("reduce_scatter of group DP: 4 ranks from "));
}

TEST_CASE("compare ranks placements of a step, with exposed time and bytes on the slowest links") {
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"compare", write_text_step(folder), "-s",
                                          "collective.rank_order=[identity, columns.order]", "-s",
                                          "collective.algorithm=ring"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("rank order") && Contains("exposed ms") &&
                              Contains("slowest dim MB") && Contains("columns.order"));
  CHECK_THAT(outcome.out, !Contains("table um2"));
}

TEST_CASE("compare ranks networks of a step in one table, from lists and from files") {
  const TemporaryFolder folder;
  const std::string config = write_text_step(folder);
  const Outcome outcome =
      test::espalier({"compare", config, "-s", "system.topology.dims=[[4, 4], [16]]", "-s",
                      "collective.algorithm=ring", "--json", folder.file("r.json")});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("step of step.txt on 16 nodes") &&
                              Contains("Best: ring, dims [4, 4], ") && Contains("dims [16]"));
  const Json document = Json::parse(test::read_text(folder.file("r.json")));
  CHECK(document.at("rankings") == Json::array({Json::array({0, 1})}));
  for (std::size_t i : {0U, 1U}) {
    const std::string dims = i == 0 ? "system.topology.dims=[4, 4]" : "system.topology.dims=[16]";
    const Json alone = test::run_to_json({config, "-s", dims}).at("results").at(0);
    CHECK(alone.at("step") == document.at("results").at(i).at("step"));
  }
  std::string mesh = kTextConfig;
  mesh.replace(mesh.find("torus"), 5, "mesh");
  folder.write("mesh.yaml", mesh);
  const Outcome files = test::espalier(
      {"compare", "text.yaml", "mesh.yaml", "-s", "collective.algorithm=ring"}, folder.path());
  CHECK(files.exit_code == 0);
  CHECK_THAT(files.out, Contains("Best: ring, text.yaml, ") && Contains("mesh.yaml"));
  const Outcome twice =
      test::espalier({"compare", config, "-s", "system.topology.dims=[[4, 4], [4, 4]]"});
  CHECK(twice.exit_code == 2);
  CHECK_THAT(twice.err, Contains("system.topology.dims: [4, 4] is in the list twice"));
}

TEST_CASE("compare says which group of a step an algorithm does not suit, and ranks the others") {
  const TemporaryFolder folder;
  const std::string config = write_text_step(folder);
  const Outcome outcome =
      test::espalier({"compare", config, "-s", "collective.algorithm=[ring, 2d_ring]"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("Not compared:\n  2d_ring: ") && Contains("of group TP: "));
  CHECK_THAT(outcome.err, !Contains("error"));
  const Outcome none = test::espalier({"compare", config, "-s", "collective.algorithm=2d_ring"});
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.err, Contains("error: 2d_ring: ") && Contains("of group TP: "));
}

TEST_CASE("Lists of a step's keys make a run of each value, which is as the run alone") {
  const TemporaryFolder folder;
  const std::string config = write_text_step(folder);
  folder.write("small.txt",
               std::string(kText).replace(std::string(kText).find("4194304"), 7, "65536"));
  const std::vector<std::string> files{"small.txt", "step.txt"};
  const std::vector<std::string> orders{"streams", "lowest_id"};
  const Json results = test::run_to_json({config, "-s", "workload.file=[small.txt, step.txt]", "-s",
                                          "workload.issue=[streams, lowest_id]"})
                           .at("results");
  REQUIRE(results.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(results.at(i).at("workload") == files[i / 2]);
    CHECK(results.at(i).at("issue") == orders[i % 2]);
    const Json alone = test::run_to_json({config, "-s", "workload.file=" + files[i / 2], "-s",
                                          "workload.issue=" + orders[i % 2]})
                           .at("results")
                           .at(0);
    CHECK(alone.at("step") == results.at(i).at("step"));
  }
  const Outcome ranked = test::espalier({"compare", config, "-s", "collective.algorithm=ring", "-s",
                                         "workload.issue=[streams, lowest_id]"});
  CHECK_THAT(ranked.out, Contains("Best: ring, issue streams, "));
}

TEST_CASE("An operation of a step that the algorithm does not compute takes the fastest by plan") {
  const TemporaryFolder folder;
  const std::string config = write_text_step(folder);
  const Outcome none = test::espalier({"run", config, "-s", "collective.algorithm=pairwise"});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err,
             Contains("collective.algorithm: pairwise computes all_to_all, all_to_allv, not "
                      "all_reduce or reduce_scatter"));
  std::string text = kText;
  folder.write("step.txt", text.replace(text.find("ALLREDUCE"), 9, "ALLTOALL"));
  const Json result = test::run_to_json({config, "-s", "collective.algorithm=pairwise"});
  CHECK(result.at("results").at(0).at("verified") == true);
}

TEST_CASE("A slow link of the network delays a step, alike in both fidelities") {
  const TemporaryFolder folder;
  const std::string config = write_text_step(folder);
  const auto cycles = [&](const std::string& fidelity, const std::string& fault) {
    return test::run_to_json({config, "-s", "simulation.fidelity=" + fidelity, "-s",
                              "faults.slow_links=" + fault})
        .at("results")
        .at(0)
        .at("cycles")
        .get<std::uint64_t>();
  };
  // A ring passes 98 kB, which takes 18 432 cycles more, and the other links wait for it.
  const std::string slow = "[{from: 0, to: 1, bandwidth: 4GB/s}]";
  CHECK(cycles("train", slow) > cycles("train", "none") + 18'432);
  CHECK(cycles("train", slow) == cycles("cycle", slow));
  const Outcome late =
      test::espalier({"run", config, "-s", "faults.late_nis=[{node: 1, cycles: 9}]"});
  CHECK(late.exit_code == 2);
  CHECK_THAT(late.err, Contains("faults.late_nis: this fault does not act on a step"));
}

TEST_CASE("A torus with a broken link keeps the names of its dimensions") {
  const TemporaryFolder folder;
  const std::string config = write_text_step(folder);
  const Json result =
      test::run_to_json({config, "-s", "system.topology.without=[link 0-1]"}).at("results").at(0);
  double links = 0;
  for (const Json& each : result.at("step").at("dimensions")) {
    links += each.at("links").get<double>();
  }
  auto bytes = bytes_by_dimension(result);
  REQUIRE(bytes.size() == 2);
  CHECK(bytes.at("Y") >= 16 * 4'194'304 * 3 / 4.0);
  CHECK(bytes.at("X") > 0);
  CHECK(links == 62);
}

TEST_CASE("A network without dimensions has the bytes of a step by tier and rate") {
  const TemporaryFolder folder;
  static_cast<void>(write_text_step(folder));
  const std::string config = folder.write(
      "servers.yaml",
      "system: {topology: {type: gpu_cluster, servers: 4, gpus_per_server: 4}, router: {clock: "
      "1GHz}}\n"
      "collective: {algorithm: ring}\n"
      "workload: {file: step.txt}\n");
  const Json result = test::run_to_json({config}).at("results").at(0);
  const auto bytes = bytes_by_dimension(result);
  CHECK(bytes.size() >= 2);
  for (const auto& [name, value] : bytes) CHECK_THAT(name, Contains("GB/s"));
}

TEST_CASE("A report has a section of steps, with groups, dimensions and the critical path") {
  const TemporaryFolder folder;
  const std::string results = folder.file("r.json");
  REQUIRE(test::espalier({"explain", write_text_step(folder), "--json", results}).exit_code == 0);
  const std::string page = folder.file("r.html");
  REQUIRE(test::espalier({"report", results, "-o", page}).exit_code == 0);
  const std::string text = test::read_text(page);
  CHECK_THAT(text, Contains("<h2>Steps of training</h2>") && Contains("Collectives, run 1") &&
                       Contains("Dimensions of the network, run 1") &&
                       Contains("Longest parts of the critical path, run 1"));
}

TEST_CASE("The check of a step says what only a run can show, and a trace is no program") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  const std::string config = write_step(folder);
  CHECK_THAT(test::espalier({"check", config}).out, Contains("run shows whether ranks wait"));
  CHECK_THAT(test::espalier({"check", config, "-s", "workload.issue=streams"}).out,
             !Contains("run shows") && Contains("collective fits\n"));
  // Messages of a trace do not say which data they carry, so it is no program.
  const std::string program =
      folder.write("program.yaml",
                   "system: {topology: {type: torus, dims: [4]}}\n"
                   "collective: {size: 4KiB, algorithm: program, program: {file: step.0.et}}\n");
  CHECK_THAT(test::espalier({"check", program}).err, Contains("run the trace with workload.file"));
}

TEST_CASE("A block of ranks stands for all that look alike, to the last bit of the result") {
  const TemporaryFolder folder;
  // Pipeline stages do not communicate: two of 8 ranks, two on each server; four of one server.
  const auto step = [](int tensor, int stages) {
    return fmt::format(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {} ep: 1 pp: {} vpp: 1 ga: 1 "
        "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0\n3\n"
        "mlp -1 1 ALLREDUCE 65536 1 ALLGATHER 65536 20000 REDUCESCATTER 1000000 100\n"
        "moe -1 1 ALLTOALL 33000 1 ALLTOALL_EP 80000 1 NONE 0 100\n"
        "mlp -1 1 REDUCESCATTER 65536 1 ALLREDUCE 4096 20000 ALLREDUCE 100000 100\n",
        tensor, stages);
  };
  folder.write("two.txt", step(2, 2));
  folder.write("four.txt", step(4, 4));
  // Without stages the blocks meet where gradients are added.
  folder.write("meet.txt", step(4, 1));
  const std::string servers = "{type: gpu_cluster, servers: 4, gpus_per_server: 4}";
  const std::string torus = "{type: torus, dims: [4, 4]}";
  const std::string one_switch = "{type: switch, nodes: 16}";
  struct Case {
    std::string network;
    const char* file;
    bool folds;
  };
  // Ports of a torus' first and last rows are in another order than those of rows between.
  for (const Case& each : {Case{servers, "two.txt", true}, Case{servers, "four.txt", true},
                           Case{one_switch, "four.txt", true}, Case{torus, "four.txt", false},
                           Case{torus, "two.txt", false}, Case{servers, "meet.txt", true},
                           Case{one_switch, "meet.txt", true}}) {
    const std::string config = folder.write("alike.yaml", "system: {topology: " + each.network +
                                                              ", link: {bandwidth: 15GB/s}}\n"
                                                              "workload: {file: " +
                                                              each.file + ", issue: streams}\n");
    for (const char* algorithm : {"ring", "direct", "auto"}) {
      INFO(each.network << ' ' << each.file << ' ' << algorithm);
      std::vector<std::string> arguments{config, "-s",
                                         std::string("collective.algorithm=") + algorithm};
      Json alike = test::run_to_json(arguments).at("results").at(0);
      arguments.insert(arguments.end(), {"--timeline", folder.file("all.json")});
      Json all = test::run_to_json(arguments).at("results").at(0);
      const auto evaluations = [](const Json& result) {
        return result.at("host").at("module_evaluations").get<std::uint64_t>();
      };
      if (each.file == std::string("meet.txt")) {
        CHECK(evaluations(alike) < evaluations(all));
      } else {
        CHECK((evaluations(alike) * 3 < evaluations(all) * 2) == each.folds);
      }
      alike.erase("host");
      all.erase("host");
      CHECK(alike == all);
    }
  }
}

TEST_CASE("Alike blocks are counted by their own strides, and one that fails stands for all") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  // Servers of two ranks: each pair has a rank on two of them. Of two groups of a pair, one rank
  // begins the other one first.
  const std::uint32_t partner[] = {3, 2, 1, 0, 7, 6, 5, 4};
  for (std::uint32_t r = 0; r < 8; ++r) {
    const std::uint32_t pair = std::min(r, partner[r]) + 1;
    std::vector<test::TraceNodeText> nodes{test::coll(1, kChakraAllReduce, 4'000)};
    nodes.back().has("pg_name", std::to_string(pair));
    folder.write("good." + std::to_string(r) + ".et", test::trace_text(nodes));
    nodes.push_back(test::coll(r + 1 == pair ? 2 : 0, kChakraAllReduce, 4'000));
    nodes.back().has("pg_name", std::to_string(pair + 10));
    folder.write("bad." + std::to_string(r) + ".et", test::trace_text(nodes));
  }
  folder.write("groups.json",
               R"({"1": [0, 3], "2": [1, 2], "5": [4, 7], "6": [5, 6],
                   "11": [0, 3], "12": [1, 2], "15": [4, 7], "16": [5, 6]})");
  const std::string config =
      folder.write("pairs.yaml",
                   "system: {topology: {type: gpu_cluster, servers: 4, gpus_per_server: 2}}\n"
                   "workload: {file: good, groups: groups.json}\ncollective: {algorithm: ring}\n");
  const Json alike = test::run_to_json({config}).at("results").at(0);
  const Json all =
      test::run_to_json({config, "--timeline", folder.file("t.json")}).at("results").at(0);
  CHECK(alike.at("step") == all.at("step"));
  CHECK(alike.at("step").at("collectives").size() == 2);
  CHECK(alike.at("host").at("module_evaluations") < all.at("host").at("module_evaluations"));
  // Contexts and routes of an algorithm's own are not alike.
  for (const char* algorithm : {"recursive_doubling", "multitree"}) {
    const std::string chosen = std::string("collective.algorithm=") + algorithm;
    CHECK(test::run_to_json({config, "-s", chosen}).at("results").at(0).at("verified") == true);
  }
  const Outcome stuck = test::espalier({"run", config, "-s", "workload.file=bad"});
  CHECK(stuck.exit_code == 1);
  CHECK_THAT(stuck.err, Contains("has not begun collective 1 of group 11"));
}

TEST_CASE("A root that ends its broadcast before others begin it does not wait for them") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  constexpr unsigned kChakraBroadcast = 5;
  for (std::uint32_t r = 0; r < 4; ++r) {
    std::vector<test::TraceNodeText> nodes{test::comp(1, r == 0 ? 1 : 20),
                                           test::coll(2, kChakraBroadcast, 4'000).after({1}),
                                           test::comp(3, r == 0 ? 90 : 1).after({2})};
    folder.write("root." + std::to_string(r) + ".et", test::trace_text(nodes));
  }
  const std::string config =
      folder.write("root.yaml",
                   "system: {topology: {type: torus, dims: [4]}}\ncollective: {algorithm: chain}\n"
                   "workload: {file: root, compute: {tflops: recorded}}\n");
  const Outcome outcome = test::espalier({"explain", config, "--json", "-"});
  const Json result = Json::parse(outcome.out).at("results").at(0);
  double reached = 0;
  for (const Json& part : result.at("step").at("path")) {
    CHECK(part.at("from_ns").get<double>() == reached);
    CHECK(part.at("rank") == 0);
    reached = part.at("to_ns").get<double>();
  }
  CHECK(reached > 91'000);
}
