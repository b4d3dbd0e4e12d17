// espalier compare, and lists of algorithms of which some do not suit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli_test_support.h"
#include "sims/choose/candidate.h"
#include "sims/choose/choose.h"
#include "sims/config/reader.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

std::string lab() { return std::string(ESPALIER_SOURCE_DIR) + "/configs/lab.yaml"; }
std::string lab_graph() { return std::string(ESPALIER_SOURCE_DIR) + "/configs/graphs/lab.yaml"; }

// Every chunk is summed at rank 0 and copied to all others: correct, and slow.
std::string star_program(const std::string& name) {
  std::string text = "name " + name + "\ncollective all_reduce ranks 12 chunks 1 in_place\n";
  text += "%1 = chunk rank 0 in 0\n";
  int last = 1;
  int next = 2;
  for (int rank = 1; rank < 12; ++rank) {
    text += "%" + std::to_string(next) + " = chunk rank " + std::to_string(rank) + " in 0\n";
    text += "%" + std::to_string(next + 1) + " = reduce %" + std::to_string(last) + " %" +
            std::to_string(next) + "\n";
    last = next + 1;
    next += 2;
  }
  for (int rank = 1; rank < 12; ++rank) {
    text += "copy %" + std::to_string(last) + " rank " + std::to_string(rank) + " in 0\n";
  }
  return text;
}

Json compare(std::vector<std::string> arguments, int exit_code = 0) {
  arguments.insert(arguments.begin(), "compare");
  arguments.insert(arguments.end(), {"--json", "-"});
  const Outcome outcome = test::espalier(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == exit_code);
  return Json::parse(outcome.out);
}

bool lists_algorithm(const Json& list, const std::string& algorithm) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Json& each) { return each["algorithm"] == algorithm; });
}

}  // namespace

TEST_CASE("compare ranks every algorithm that suits an irregular network, and gives reasons") {
  const Json document = compare({lab(), "--full"});
  REQUIRE(document["rankings"].size() == 1);
  const Json& order = document["rankings"][0];
  REQUIRE(order.size() == document["results"].size());
  REQUIRE(order.size() >= 10);
  double before = 0;
  for (const Json& index : order) {
    const Json& result = document["results"][index.get<std::size_t>()];
    CHECK(result["verified"] == true);
    CHECK(result["time_ns"].get<double>() >= before);
    before = result["time_ns"].get<double>();
  }
  CHECK(lists_algorithm(document["skipped"], "2d_ring"));
  CHECK(lists_algorithm(document["skipped"], "gc3_reducescatter_ring"));
  CHECK_FALSE(lists_algorithm(document["skipped"], "ring"));
  for (const Json& each : document["skipped"])
    CHECK_FALSE(each["reason"].get<std::string>().empty());
}

TEST_CASE("compare agrees with run on the time of each algorithm") {
  const Json document = compare({lab(), "--full"});
  const Outcome run = test::espalier({"run", lab(), "--json", "-"});
  const Json alone = Json::parse(run.out);
  for (const Json& result : alone["results"]) {
    const auto same =
        std::find_if(document["results"].begin(), document["results"].end(),
                     [&](const Json& other) { return other["algorithm"] == result["algorithm"]; });
    REQUIRE(same != document["results"].end());
    CHECK((*same)["cycles"] == result["cycles"]);
  }
}

TEST_CASE("compare does not simulate to the end what takes more than 5 times as long as the best") {
  const std::vector<std::string> arguments{
      lab(), "-s", "collective.algorithm=[forest, ring, direct]", "-s", "collective.size=3MB"};
  const Json document = compare(arguments);
  const Json& results = document["results"];
  REQUIRE(results.size() == 3);
  CHECK(document["rankings"][0].size() == 2);
  const double best = results[0]["time_ns"];
  const Json& direct = results[2];
  CHECK(direct["algorithm"] == "direct");
  CHECK(direct["verified"] == false);
  CHECK_THAT(direct["failure"].get<std::string>(), Contains("not simulated to the end"));
  CHECK(direct["stopped_ns"] == 5 * best);
  CHECK(direct["planned_ns"] > direct["stopped_ns"]);
  CHECK_FALSE(direct.contains("time_ns"));
  const Outcome text = test::espalier(
      {"compare", arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], "-j", "1"});
  CHECK(text.exit_code == 0);
  CHECK(text.err.find("error") == std::string::npos);
  CHECK_THAT(text.out, Contains("> 5 x the best: not simulated to the end; --full does"));

  std::vector<std::string> full = arguments;
  full.emplace_back("--full");
  const Json all = compare(full);
  CHECK(all["rankings"][0].size() == 3);
  CHECK(all["results"][2]["time_ns"] > 5 * best);
  CHECK_FALSE(all["results"][2].contains("stopped_ns"));
}

TEST_CASE("Algorithms without process groups are not compared in one") {
  const Outcome text = test::espalier({"compare", lab(), "-s", "collective.ranks=[0,1,2,3]", "-s",
                                       "collective.algorithm=[ring,recursive_doubling]", "-s",
                                       "collective.size=4KiB"});
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, Contains("recursive_doubling: has no process groups"));
}

namespace {

// By how much the algorithms are faster than planned, at most. None is faster than its plan allows.
double most_faster(const std::string& config, std::vector<std::string> settings) {
  const ConfigResult read = read_comparison(config, settings, {});
  std::vector<std::string> arguments{config, "--full"};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"-s", setting});
  const Json document = compare(arguments);
  const Json& results = document["results"];
  REQUIRE(read.points.size() == results.size());
  double most = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    CAPTURE(config, settings, results[i]["algorithm"]);
    const auto planned = planned_work(*read.topology, read.points[i]);
    REQUIRE(planned.has_value() == (results[i]["algorithm"] != "auto"));
    if (!planned) continue;
    CHECK(results[i]["planned_ns"] == planned->ns);
    const double ns = results[i]["time_ns"].get<double>();
    CHECK(ns >= planned->least_ns);
    most = std::max(most, planned->ns / ns);
  }
  return most;
}

}  // namespace

TEST_CASE("No algorithm is faster than its plan allows, where senders share links too") {
  const TemporaryFolder folder;
  const auto network = [&](const std::string& name, const std::string& topology) {
    return folder.write(name, "system: {topology: {" + topology + "}}\ncollective: {}\n");
  };
  const std::string configs = std::string(ESPALIER_SOURCE_DIR) + "/configs/";
  double most = 0;
  for (const std::string& config : {lab(), configs + "graphs/uneven_switches.yaml",
                                    network("dgx2.yaml", "type: dgx2, nodes_per_switch: 4"),
                                    network("switch.yaml", "type: switch, nodes: 6")}) {
    for (const char* op : {"all_reduce", "all_gather", "all_to_all"}) {
      most = std::max(
          most, most_faster(config, {"collective.op=" + std::string(op), "collective.size=96kB"}));
    }
  }
  CHECK(most > kProgramPlan.faster);  // so the error of contended plans is needed
}

TEST_CASE("No algorithm is faster than its plan allows, where a flit takes several cycles") {
  const TemporaryFolder folder;
  const std::string torus = folder.write(
      "torus.yaml", "system: {topology: {type: torus, dims: [3, 3]}}\ncollective: {size: 2000B}\n");
  double most = 0;
  for (const char* bandwidth : {"16GB/s", "2GB/s"}) {
    most = std::max(most, most_faster(torus, {"system.preset=papers", "system.link.latency=5ns",
                                              "system.router.flit_bytes=256",
                                              "system.link.bandwidth=" + std::string(bandwidth)}));
  }
  CHECK(most > 1.4);  // so a plan of one link does not suffice
}

TEST_CASE("compare certifies a program of the user also if it is planned to lose") {
  const TemporaryFolder folder;
  const std::string right = folder.file("right.xml");
  REQUIRE(test::espalier({"schedule", lab(), "-s", "collective.algorithm=gc3_allpairs", "-s",
                          "collective.size=3MB", "-f", "msccl-xml", "-o", right})
              .exit_code == 0);
  std::string text = test::read_text(right);
  text.replace(text.find("type=\"re\""), 9, "type=\"cpy\"");
  const std::string wrong = folder.write("wrong.xml", text);
  for (const char* jobs : {"1", "4"}) {
    const auto beside = [&](const std::string& program) {
      return test::espalier({"compare", lab(), program, "-s", "collective.size=3MB", "-s",
                             "collective.algorithm=[forest, ring]", "-j", jobs});
    };
    const Outcome stopped = beside(right);
    CHECK(stopped.exit_code == 0);
    CHECK_THAT(stopped.out, Contains("gc3_allpairs (right.xml): ") &&
                                Contains("x the best: not simulated to the end"));
    const Outcome refused = beside(wrong);
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.err, Contains("the program does not pass the certifier"));
  }
}

TEST_CASE("What compare prints does not depend on how many points it simulates at once") {
  const auto with = [](const char* jobs) {
    const Outcome outcome =
        test::espalier({"compare", lab(), "-s", "collective.size=3MB", "-j", jobs, "-s",
                        "system.flow_control.mode=[packet, message]", "-s",
                        "collective.algorithm=[halving_doubling, nccl_tree, "
                        "gc3_allpairs, direct, ring, forest]"});
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    return outcome.out;
  };
  const std::string one = with("1");
  CHECK(one == with("6"));
  CHECK_THAT(one, Contains("planned > 5 x") && Contains("> 5 x the best: not simulated"));
}

TEST_CASE("A stopped row has the settings of its run") {
  const Json document = compare({lab(), "-s", "collective.size=3MB", "-s",
                                 "collective.algorithm=[forest, direct, "
                                 "nccl_tree]",
                                 "-s", "system.flow_control.mode=[packet, message]"});
  for (const Json& result : document["results"]) {
    CHECK(result["flow_control"].is_string());
    if (result["algorithm"] != "nccl_tree") continue;
    CHECK(result.contains("stopped_ns"));
    CHECK(result["protocol"].is_string());
    CHECK(result["channels"].is_number());
  }
}

TEST_CASE("A program whose proof takes minutes is skipped only beside another algorithm",
          "[slow]") {
  const TemporaryFolder folder;
  const std::string torus = folder.write("torus.yaml",
                                         "system: {topology: {type: torus, dims: [16, 16]}}\n"
                                         "collective: {size: 64KiB, algorithm: window}\n");
  const std::string slowly = "certifying the program takes minutes";
  const auto comparison = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"compare", torus});
    return test::espalier(more);
  };
  const Outcome beside = comparison({"-s", "collective.algorithm=[window, ring]"});
  CHECK(beside.exit_code == 0);
  CHECK_THAT(beside.out, Contains("window: " + slowly));
  CHECK_THAT(beside.out,
             Contains("; window is planned to take ") && Contains(" us and was not simulated.\n"));
  const Outcome alone =
      comparison({"-s", "collective.algorithm=[window]", "--time-limit", "200ms"});
  CHECK(alone.exit_code == 1);
  CHECK_THAT(alone.err, Contains("window: exceeded the time limit of 200ms"));
  CHECK_THAT(alone.out, !Contains(slowly));
  const Outcome unchecked = comparison({"-s", "collective.algorithm=[window, ring]", "-s",
                                        "simulation.check=false", "-s", "collective.size=4KiB"});
  CHECK(unchecked.exit_code == 0);
  CHECK_THAT(unchecked.out, Contains("Best: window, "));
}

TEST_CASE("compare takes a graph in place of a configuration") {
  // Without planned trees, which fill the cables between the boxes.
  const Outcome outcome =
      test::espalier({"compare", lab_graph(), "-s", "collective.size=1MB", "-s",
                      "collective.algorithm=[multitree, ring, direct, 2d_ring]"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  // A warning shows no text that the user has not written.
  CHECK_THAT(outcome.err, Contains("(network): warning: system.router.flit_bytes is not given") &&
                              Contains("\nhint: system.router.flit_bytes: 64") && !Contains("{"));
  CHECK_THAT(outcome.out, Contains("all_reduce of 1 MB on lab, 12 nodes"));
  CHECK_THAT(outcome.out, Contains("Best: "));
  CHECK_THAT(outcome.out, Contains("No algorithm can be faster than "));
  // The cables between the boxes decide, whatever the down-counters of lockstep hide.
  CHECK_THAT(outcome.out, Contains("which runs at 12.5 GB/s where most links run at 50 GB/s"));
  CHECK_THAT(outcome.out, Contains("Not compared:"));
}

TEST_CASE("compare leads with the bound, and says no cause where the best is at the bound") {
  const auto text_of = [](const std::string& algorithms) {
    const Outcome outcome = test::espalier(
        {"compare", std::string(ESPALIER_SOURCE_DIR) + "/configs/torus_8x8.yaml", "-s",
         "system.flow_control.mode=message", "-s", "collective.algorithm=" + algorithms});
    REQUIRE(outcome.exit_code == 0);
    return outcome.out;
  };
  const std::string near = text_of("[multitree_translated]");
  CHECK_THAT(near, Contains("99.2 %") && Contains("No algorithm can be faster than "));
  CHECK(near.find("of the time") == std::string::npos);
  const std::string far = text_of("[2d_ring]");
  CHECK(far.find("No algorithm can be faster than ") < far.find("of the time"));
  CHECK(far.find("of the time") != std::string::npos);
}

TEST_CASE("compare names the best at each size of a range, and draws them on a page") {
  const TemporaryFolder folder;
  const std::string some = "collective.algorithm=[ring, direct, nccl_ring]";
  const Outcome outcome = test::espalier(
      {"compare", lab(), "-s", some, "--sizes", "1KiB:70KiB", "-o", folder.file("page.html")});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const std::string table = outcome.out.substr(outcome.out.find("Best by size\n"));
  for (const char* size : {"\n1 KiB ", "\n4 KiB ", "\n16 KiB ", "\n64 KiB ", "\n70 KiB "}) {
    CHECK_THAT(table, Contains(size));
  }
  CHECK_THAT(table, !Contains("256 KiB") && !Contains("NCCL"));
  CHECK_THAT(table, Contains("\n1 KiB   direct "));
  CHECK_THAT(test::read_text(folder.file("page.html")), Contains("Bandwidth against size"));
  // One size needs no table of sizes.
  const Outcome one = test::espalier({"compare", lab(), "-s", some, "--sizes", "70000B"});
  REQUIRE(one.exit_code == 0);
  CHECK_THAT(one.out, Contains("70 kB") && !Contains("Best by size"));
  for (const char* bad : {"1KiB:", "4KiB:1KiB", "1KiB:2KiB:4KiB", "1KiB,x", "0B", "16"}) {
    CAPTURE(bad);
    const Outcome refused = test::espalier({"compare", lab(), "--sizes", bad});
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Contains("--sizes") && Contains("for example --sizes 64KiB,1MiB"));
  }
}

TEST_CASE("Own programs and schedules compete under their own names") {
  const TemporaryFolder folder;
  const std::string first = folder.write("first.trace", star_program("my star"));
  const std::string second = folder.write("second.trace", star_program("my star"));
  const std::string schedule = folder.file("mine.json");
  REQUIRE(test::espalier({"schedule", lab(), "-s", "collective.algorithm=multitree", "--format",
                          "json", "-o", schedule})
              .exit_code == 0);
  const Json document = compare({lab(), first, second, schedule, "--full"});
  CHECK(lists_algorithm(document["results"], "my star (first.trace)"));
  CHECK(lists_algorithm(document["results"], "my star (second.trace)"));
  CHECK(lists_algorithm(document["results"], "mine.json"));
  const auto cycles = [&](const std::string& name) {
    for (const Json& each : document["results"]) {
      if (each["algorithm"] == name) return each["cycles"].get<std::uint64_t>();
    }
    return std::uint64_t{0};
  };
  CHECK(cycles("mine.json") == cycles("multitree"));
}

TEST_CASE("A schedule of another size is not compared") {
  const TemporaryFolder folder;
  const std::string schedule = folder.file("mine.json");
  REQUIRE(test::espalier({"schedule", lab(), "-s", "collective.algorithm=ring", "-s",
                          "collective.size=2MB", "--format", "json", "-o", schedule})
              .exit_code == 0);
  const Outcome outcome = test::espalier({"compare", lab(), schedule});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("all_reduce of 2000000 B, which is not compared"));
}

TEST_CASE("compare names a file that cannot compete, and a limit that is no time") {
  const Outcome twice = test::espalier({"compare", lab(), lab()});
  CHECK(twice.exit_code == 2);
  CHECK_THAT(twice.err, Contains("the configuration is given twice"));
  const Outcome other = test::espalier({"compare", lab(), "no_such_system.yaml"});
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, Contains("no_such_system.yaml: error: the file cannot be read"));
  const Outcome limit = test::espalier({"compare", lab(), "--time-limit", "soon"});
  CHECK(limit.exit_code == 2);
  CHECK_THAT(limit.err, Contains("--time-limit soon: error: "));
}

TEST_CASE("A mistake that no algorithm can avoid is reported once and stops compare") {
  const Outcome outcome = test::espalier({"compare", lab(), "-s", "collective.size=999999B"});
  CHECK(outcome.exit_code == 2);
  const std::string text = "is not a multiple of the element size";
  const std::size_t first = outcome.err.find(text);
  REQUIRE(first != std::string::npos);
  CHECK(outcome.err.find(text, first + 1) == std::string::npos);
  CHECK_THAT(outcome.err, !Contains("does not run on this topology"));
}

TEST_CASE("In a list, an algorithm that does not suit is skipped with a warning") {
  const Outcome outcome = test::espalier(
      {"run", lab(), "-s", "collective.algorithm=[bcube, ring, gc3_hierarchical]", "--csv", "-"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, Contains("bcube needs a number of nodes that is a power"));
  CHECK_THAT(outcome.err, Contains("gc3_hierarchical needs at least two ranks per"));
  CHECK_THAT(outcome.out, Contains("\nring,"));
  const Outcome none =
      test::espalier({"run", lab(), "-s", "collective.algorithm=[bcube, gc3_hierarchical]"});
  CHECK(none.exit_code == 2);
}

TEST_CASE("auto says what it took, is as fast as the best, and is not one of all") {
  const Outcome outcome = test::espalier({"run", lab(), "-s", "collective.algorithm=auto"});
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("auto: "));
  const Json document = compare({lab(), "--full"});
  const auto is_auto = [](const Json& each) { return each["algorithm"] == "auto"; };
  const Json& results = document["results"];
  const auto result = std::find_if(results.begin(), results.end(), is_auto);
  REQUIRE(result != results.end());
  CHECK_THAT((*result)["choice"].get<std::string>(), Contains("planned"));
  for (const Json& other : results) {
    CHECK((*result)["time_ns"].get<double>() <= other["time_ns"].get<double>());
  }
  // The algorithm that it took wins the tie.
  CHECK_FALSE(is_auto(results[document["rankings"][0][0].get<std::size_t>()]));
  const Outcome all = test::espalier(
      {"check", lab(), "-s", "collective.algorithm=[all]", "-s", "collective.size=1KB"});
  CHECK_THAT(all.out, !Contains("auto"));
}

TEST_CASE("Without an algorithm auto runs, on dimensions too, and a known choice changes no byte") {
  const TemporaryFolder folder;
  const std::string plain =
      folder.write("plain.yaml",
                   "system: {topology: {type: mesh, dims: [3, 3]}, router: {vc_depth_flits: 40}}\n"
                   "collective: {size: 16KiB}\n");
  const std::string planned = folder.write(
      "planned.yaml",
      "system:\n"
      "  topology: {type: dimensions}\n"
      "  dimensions: {shape: [switch, ring], size: [4, 4], bandwidth: [32GB/s, 16GB/s],\n"
      "               latency: [50ns, 50ns]}\n"
      "collective: {size: 64KiB, chunks: 4}\n");
  const std::string training =
      folder.write("training.yaml",
                   "system: {topology: {type: mesh, dims: [2, 2]}, router: {vc_depth_flits: 40}}\n"
                   "training: {network: ncf, overlap: layerwise}\n");
  for (const std::string& config : {plain, planned, training}) {
    CAPTURE(config);
    const std::string choices = folder.file("choices");
    const auto run = [&] {
      return test::run_to_json({config, "--choices", choices}).at("results").at(0);
    };
    const Json cold = run();
    const Json warm = run();
    CHECK(cold["algorithm"] == "auto");
    CHECK(cold["verified"] == true);
    CHECK_FALSE(cold["choice"].get<std::string>().empty());
    CHECK(cold["host"]["choosing_s"].get<double>() > 0);
    CHECK(warm["host"]["choosing_s"] == 0);
    CHECK(test::without_host(warm).dump() == test::without_host(cold).dump());
  }
}

TEST_CASE("auto names the queue that its plan runs with, and writes times without exponents") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("two.yaml",
                   "system:\n"
                   "  topology: {type: dimensions}\n"
                   "  dimensions: {shape: [ring], size: [4], bandwidth: [1GB/s], latency: [50ns]}\n"
                   "collective: {size: 64MB, algorithm: [baseline, auto], chunks: 4}\n");
  const Outcome outcome = test::espalier({"run", config});
  INFO(outcome.out + outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("auto: baseline with queue scf, ") && !Contains("e+0"));
}

TEST_CASE("compare says why a slower run comes first, and no row is faster than the fastest") {
  const TemporaryFolder folder;
  const std::string config = folder.write(
      "ring.yaml", "system: {topology: {type: torus, dims: [4]}}\ncollective: {size: 64MiB}\n");
  const Outcome outcome = test::espalier(
      {"compare", config, "-s", "collective.algorithm=[bidirectional_ring, forest]"});
  INFO(outcome.out + outcome.err);
  CHECK_THAT(
      outcome.out,
      !Contains("-0.0 %") &&
          Contains("forest is within 0.1 % of it, which counts as equal, and the smallest "
                   "table comes first: it needs 12 entries or steps, and forest, which takes") &&
          Contains(" us, needs 48."));
}

TEST_CASE("Quiet runs print their table and nothing else") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", test::kSmallConfig);
  const Outcome loud = test::espalier({"run", config, "-s", "collective.algorithm=auto"});
  CHECK_THAT(loud.out, Contains("\nauto: ") && Contains("\nenergy uJ leaves out: "));
  const Outcome quiet = test::espalier({"run", config, "-s", "collective.algorithm=auto", "-q"});
  CHECK(std::count(quiet.out.begin(), quiet.out.end(), '\n') == 2);
  CHECK(loud.out.rfind(quiet.out, 0) == 0);
  CHECK(quiet.err.empty());
}

TEST_CASE("A kept choice that is no candidate of its question is asked anew") {
  const TemporaryFolder folder;
  const std::string config = folder.write("a2a.yaml",
                                          "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                                          "collective: {op: all_to_all, size: 4KiB}\n");
  const std::string choices = folder.file("choices");
  const auto run = [&] {
    return test::without_host(
        test::run_to_json({config, "--choices", choices}).at("results").at(0));
  };
  const Json right = run();
  const std::string file = std::filesystem::directory_iterator(choices)->path().string();
  const Json kept = Json::parse(test::read_text(file));
  const auto with = [&](const char* member, const Json& value) {
    Json wrong = kept;
    wrong["answer"][member] = value;
    std::ofstream(file) << wrong.dump();
    CAPTURE(member, value);
    CHECK(run().dump() == right.dump());
  };
  // Of other operations or networks, of no name at all, and auto itself.
  for (const char* name : {"dbtree", "gc3_ring", "window", "hdrm", "nonexistent", "auto"}) {
    with("algorithm", name);
  }
  for (const char* why : {"", "\x1b[31mX", "two\nlines"}) with("choice", why);
  for (const Json& segments : {Json(-1), Json(1.5), Json("4"), Json(1 << 17)}) {
    with("segments", segments);
  }
}

TEST_CASE("Points of a sweep that ask auto the same question share its answer") {
  const TemporaryFolder folder;
  const std::string sweep =
      folder.write("sweep.yaml",
                   "title: one question\n"
                   "config:\n"
                   "  system: {topology: {type: mesh, dims: [3, 3]}}\n"
                   "  collective: {size: 16KiB}\n"
                   "axes: [{key: simulation.link_utilization, values: [false, true]}]\n");
  const Outcome outcome =
      test::espalier({"sweep", "run", sweep, "-o", folder.file("out"), "-j", "1"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto files = [&](const char* name) {
    const std::filesystem::directory_iterator begin(folder.path() / "out" / name);
    return std::distance(begin, std::filesystem::directory_iterator());
  };
  CHECK(files("points") == 2);
  CHECK(files("choices") == 1);
}

TEST_CASE("compare does not count an algorithm that finds no schedule as failed beside others") {
  const auto comparison = [](const std::string& algorithms) {
    return test::espalier({"compare", std::string(ESPALIER_SOURCE_DIR) + "/configs/mesh_2x2.yaml",
                           "-s", "collective.groups=[[0, 3], [1, 2]]", "-s",
                           "collective.op=all_gather", "-s", "collective.algorithm=" + algorithms});
  };
  const Outcome beside = comparison("[forest, ring]");
  CHECK(beside.exit_code == 0);
  CHECK_THAT(beside.out, Contains("Not compared:\n  forest: a group is not joined by links of its "
                                  "own; set collective.relay: true"));
  const Outcome alone = comparison("forest");
  CHECK(alone.exit_code == 1);
  CHECK_THAT(alone.err, Contains("error: forest: a group is not joined"));
}

TEST_CASE("A folder for choices that cannot be written is refused before anything runs") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "text");
  for (const char* command : {"run", "compare"}) {
    const Outcome outcome = test::espalier({command, lab(), "--choices", file});
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("--choices " + file + ": error: "));
  }
}

TEST_CASE("A hint names only algorithms that run") {
  const Outcome refused = test::espalier({"run", lab(), "-s", "collective.algorithm=2d_ring"});
  CHECK(refused.exit_code == 2);
  const std::string& text = refused.err;
  const std::size_t begin = text.find("allowed: ") + std::string("allowed: ").size();
  std::string list = text.substr(begin, text.find('\n', begin) - begin);
  CHECK_THAT(list, !Contains("bcube"));
  CHECK_THAT(list, !Contains("gc3_hierarchical"));
  CHECK_THAT(list, !Contains("gc3_reducescatter_ring"));
  const Outcome all = test::espalier(
      {"run", lab(), "-s", "collective.algorithm=[" + list + "]", "-s", "collective.size=12KiB"});
  INFO(all.err);
  CHECK(all.exit_code == 0);
  CHECK_THAT(all.err, !Contains("skipped"));
}

TEST_CASE("Own programs stand beside built-in algorithms in an axis of a sweep") {
  const TemporaryFolder folder;
  folder.write("first.trace", star_program("my star"));
  folder.write("second.trace", star_program("my star"));
  const std::string sweep =
      folder.write("sweep.yaml",
                   "title: own programs\nconfig:\n  system: {topology: {type: fully_connected, "
                   "nodes: 12}}\n  collective: {algorithm: ring, size: 48KiB}\n"
                   "axes: [{key: collective.algorithm, values: [ring, first.trace, "
                   "second.trace, hdrm]}]\n");
  const std::string out = folder.file("out");
  const Outcome run = test::espalier({"sweep", "run", sweep, "-o", out});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.err, Contains("hdrm is skipped where it does not suit"));
  REQUIRE(test::espalier({"sweep", "gather", sweep, "-o", out}).exit_code == 0);
  const std::string csv = test::read_text(out + "/results.csv");
  CHECK_THAT(csv, Contains("my star (first.trace)"));
  CHECK_THAT(csv, Contains("my star (second.trace)"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
}

TEST_CASE("compare puts other tools' times beside ours, for the same network, operation and size") {
  const std::string published = std::string(ESPALIER_SOURCE_DIR) + "/configs/published/";
  const std::vector<std::string> arguments{published + "ndv2.yaml", published + "times.csv", "-s",
                                           "collective.algorithm=[forest, gc3_allgather_ring]",
                                           "--full"};
  const Json document = compare(arguments);
  for (const Json& result : document["results"]) {
    REQUIRE(result["published"].size() == 1);
    const Json& theirs = result["published"][0];
    CHECK(theirs["tool"] == "TE-CCL");
    CHECK(theirs["time_ns"] == 6720.0);
    CHECK(theirs["speed"].get<double>() ==
          Approx(6720.0 / result["time_ns"].get<double>()).epsilon(1e-12));
    CHECK_THAT(theirs["source"].get<std::string>(), Contains("microsoft/TE-CCL@c128bf2"));
  }
  std::vector<std::string> words{"compare"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Outcome text = test::espalier(words);
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, Contains("of TE-CCL") && Contains("TE-CCL: 6.72 us, "));
}

TEST_CASE("compare says when no time of a table is for this network, and where a table is wrong") {
  const TemporaryFolder folder;
  const std::string times = folder.write(
      "times.csv", "network,op,size,tool,time,source\nother,all_reduce,1MB,TACOS,1us,here\n");
  const Outcome other =
      test::espalier({"compare", lab(), times, "-s", "collective.algorithm=ring"});
  CHECK(other.exit_code == 0);
  CHECK_THAT(other.err, Contains("no time is for a network, operation and size") &&
                            Contains("the network is called 'lab'"));
  const std::string wrong = folder.write("wrong.csv", "net,op\n");
  const Outcome refused = test::espalier({"compare", lab(), wrong});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("wrong.csv:1:1") && Contains("expected column 'network' here"));
}

TEST_CASE("The bus bandwidth is that of nccl-tests, and stands beside programs of NCCL") {
  struct Case {
    const char* op;
    const char* algorithm;
    double factor;
  };
  for (const Case& each :
       {Case{"all_reduce", "nccl_ring", 2 * 11 / 12.0},
        Case{"all_gather", "nccl_allgather", 11 / 12.0}, Case{"reduce_scatter", "ring", 11 / 12.0},
        Case{"all_to_all", "direct", 11 / 12.0}, Case{"broadcast", "binomial", 1}}) {
    CAPTURE(each.op);
    const Outcome outcome =
        test::espalier({"run", lab(), "-s", std::string("collective.op=") + each.op, "-s",
                        std::string("collective.algorithm=") + each.algorithm, "--json", "-"});
    REQUIRE(outcome.exit_code == 0);
    const Json result = Json::parse(outcome.out)["results"][0];
    CHECK(result["busbw_GBps"].get<double>() ==
          Approx(each.factor * result["bandwidth_GBps"].get<double>()));
    const bool is_nccl = std::string(each.algorithm).rfind("nccl", 0) == 0;
    CHECK((outcome.err.find("busbw") != std::string::npos) == is_nccl);
  }
}
