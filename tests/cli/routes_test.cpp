// Routes as users choose and judge them: system.routing, graphs that are networks of a family,
// espalier certify routes.
#include <catch2/catch.hpp>

#include <cstddef>
#include <string>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

// A 3x4 torus, or a mesh, as a graph; X is the first coordinate of a name.
std::string grid_graph(bool wraps) {
  constexpr std::size_t kX = 3;
  constexpr std::size_t kY = 4;
  const auto name = [](std::size_t x, std::size_t y) {
    return "c" + std::to_string(x) + "_" + std::to_string(y);
  };
  std::string nodes;
  std::string links;
  const auto link = [&](const std::string& a, const std::string& b) {
    links += "  - {between: [" + a + ", " + b + "]}\n";
  };
  for (std::size_t y = 0; y < kY; ++y) {
    for (std::size_t x = 0; x < kX; ++x) {
      nodes += (nodes.empty() ? "" : ", ") + name(x, y);
      if (wraps || y + 1 < kY) link(name(x, y), name(x, (y + 1) % kY));
      if (wraps || x + 1 < kX) link(name((x + 1) % kX, y), name(x, y));
    }
  }
  return "nodes: [" + nodes + "]\nlinks:\n" + links;
}

std::string config(const std::string& topology, const std::string& rest) {
  return "system:\n  topology: " + topology + "\n" + rest;
}

constexpr const char* kAllReduce = "collective: {op: all_reduce, algorithm: direct, size: 64KiB}\n";
constexpr const char* kUniform =
    "traffic: {pattern: uniform, message: 100B, injection_rate: 0.2, measure_cycles: 3000}\n";

Json results_of(const TemporaryFolder& folder, const std::string& file) {
  const Outcome outcome = test::espalier({"run", file, "--json", folder.file("out.json"), "-q"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  Json results = Json::parse(test::read_text(folder.file("out.json")));
  return results;
}

}  // namespace

TEST_CASE("A graph that is a torus or a mesh runs as the family does, to the cycle, and says so") {
  const TemporaryFolder folder;
  for (const bool wraps : {true, false}) {
    const std::string family = wraps ? "torus" : "mesh";
    folder.write("graph.yaml", grid_graph(wraps));
    for (const char* algorithm : {"direct", "2d_ring", "multitree", "ring", "forest"}) {
      const std::string rest =
          std::string("collective: {op: all_reduce, algorithm: ") + algorithm + ", size: 64KiB}\n";
      const Json graph = results_of(
          folder, folder.write("a.yaml", config("{type: file, file: graph.yaml}", rest)));
      const Json built = results_of(
          folder, folder.write("b.yaml", config("{type: " + family + ", dims: [3, 4]}", rest)));
      CAPTURE(family, algorithm);
      CHECK(graph.at("results").at(0).at("cycles") == built.at("results").at(0).at("cycles"));
    }
    const Outcome said = test::espalier({"check", folder.file("a.yaml")});
    CHECK_THAT(said.err, Contains("a.yaml: note: the graph is " + family +
                                  " 3x4: its nodes stand in the order of their places, 'c0_0' at "
                                  "(0, 0), 'c1_0' at (1, 0), and so on to 'c2_3' at (2, 3)"));
  }
}

TEST_CASE(
    "A torus runs as the family does, to the cycle, in whatever order a file lists its nodes") {
  // Place p has the node 5 p modulo 16.
  const TemporaryFolder folder;
  std::string graph = "nodes: [v0";
  for (int n = 1; n < 16; ++n) graph += ", v" + std::to_string(n);
  graph += "]\nlinks:\n";
  const auto name = [](int place) { return "v" + std::to_string(5 * place % 16); };
  for (int p = 0; p < 16; ++p) {
    graph += "  - {between: [" + name(p) + ", " + name(p / 4 * 4 + (p + 1) % 4) + "]}\n";
    graph += "  - {between: [" + name(p) + ", " + name(p + 4) + "], bandwidth: 8GB/s}\n";
  }
  folder.write("graph.yaml", graph);
  for (const char* algorithm : {"ring", "2d_ring", "window", "swing_bandwidth"}) {
    const std::string rest =
        std::string("collective: {op: all_reduce, algorithm: ") + algorithm + ", size: 64KiB}\n";
    const Json mixed =
        results_of(folder, folder.write("a.yaml", config("{type: file, file: graph.yaml}", rest)));
    const Json built = results_of(
        folder,
        folder.write("b.yaml", config("{type: grid, dims: [4, 4], wrap: [true, true], bandwidth: "
                                      "[16GB/s, 8GB/s]}",
                                      rest)));
    CAPTURE(algorithm);
    CHECK(mixed.at("results").at(0).at("cycles") == built.at("results").at(0).at("cycles"));
  }
  CHECK_THAT(test::espalier({"check", folder.file("a.yaml")}).err,
             Contains("note: the graph is torus 4x4: 'v0' at (0, 0), 'v"));
}

TEST_CASE(
    "check and schedule name the vertices of the longest route, which is more than one link") {
  const TemporaryFolder folder;
  const auto said = [&](const std::string& topology, const char* command) {
    return test::espalier(
               {command, folder.write("a.yaml", config(topology,
                                                       "collective: {op: all_gather, algorithm: "
                                                       "ring, size: 64KiB}\n"))})
        .out;
  };
  for (const char* command : {"check", "schedule"}) {
    CHECK_THAT(said("{type: fat_tree, nodes_per_switch: 2, switches: 2, spines: 1}", command),
               Contains("longest route: 4 links, n_1 sw_0 sp_0 sw_1 n_2\n"));
    CHECK_THAT(said("{type: mesh, dims: [2, 2]}", command), !Contains("longest route"));
  }
}

TEST_CASE("A torus in a file keeps up*/down* routes where the user asks, or has one VC") {
  const TemporaryFolder folder;
  folder.write("graph.yaml", grid_graph(true));
  const auto cycles = [&](const std::string& keys) {
    const std::string file = folder.write(
        "a.yaml",
        config("{type: file, file: graph.yaml}", "  router: {vcs: 1}\n" + keys + kAllReduce));
    return results_of(folder, file).at("results").at(0).at("cycles").get<std::uint64_t>();
  };
  const std::uint64_t one_vc = cycles("");
  CHECK(test::espalier({"check", folder.file("a.yaml")}).err == "");
  CHECK(cycles("  routing: up_down\n") == one_vc);
}

TEST_CASE("Traffic on chosen routes with too few VCs is refused with their number") {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "a.yaml", config("{type: torus, dims: [8, 8]}",
                       std::string("  routing: split\n  router: {vcs: 2}\n") + kUniform));
  const Outcome outcome = test::espalier({"run", file});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             Contains("a.yaml:4:17: error: system.router.vcs: packets on the routes of "
                      "system.routing need 4 VCs"));
}

TEST_CASE("A schedule on chosen routes with too few VCs is refused with the cycle and the number") {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "a.yaml", config("{type: torus, dims: [8, 8]}",
                       std::string("  routing: split\n  router: {vcs: 2}\n") +
                           "collective: {op: all_to_all, algorithm: direct, size: 64KiB}\n"));
  const Outcome outcome = test::espalier({"check", file});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Contains("virtual channels wait for each other in a cycle"));
  CHECK_THAT(outcome.out,
             Contains("the routes of system.routing need 4 VC classes, and 2 are kept"));
}

TEST_CASE("Traffic on every kind of route takes the same cycles in both fidelities") {
  const TemporaryFolder folder;
  folder.write("table.csv", "from,to,path\n0,5,r_0_1 r_1_1\n0,5,r_1_0 r_1_1  # in turn\n");
  for (const char* routing : {"auto", "dimension_order", "up_down", "shortest", "ecmp", "split",
                              "file, routing_file: table.csv"}) {
    const std::string file = folder.write(
        "a.yaml", std::string("system: {topology: {type: torus, dims: [4, 4]}, router: {vcs: 6}, "
                              "flow_control: {mode: packet}, routing: ") +
                      routing + "}\n" + kUniform);
    const auto mean = [&](const std::string& fidelity) {
      const Outcome outcome = test::espalier({"run", file, "-s", "simulation.fidelity=" + fidelity,
                                              "--messages", folder.file("log.csv")});
      CAPTURE(outcome.err);
      REQUIRE(outcome.exit_code == 0);
      return test::read_text(folder.file("log.csv"));
    };
    CAPTURE(routing);
    CHECK(mean("train") == mean("cycle"));
  }
}

TEST_CASE("Mistakes in a table of routes have their place") {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "a.yaml", config("{type: mesh, dims: [2, 2]}",
                       std::string("  routing: file\n  routing_file: t.csv\n") + kUniform));
  const auto error = [&](const std::string& row) {
    folder.write("t.csv", "from,to,path\n" + row + "\n");
    const Outcome outcome = test::espalier({"run", file});
    CHECK(outcome.exit_code == 2);
    return outcome.err;
  };
  CHECK_THAT(error("0,3,r_0_1 r_1_9"), Contains("t.csv:2:11: error: path: 'r_1_9' is no vertex"));
  CHECK_THAT(error("0,3,r_1_1"), Contains("t.csv:2:5: error: path: 0 links lead from 'r_0_0' to"));
  CHECK_THAT(error("0,3,r_0_1/1 r_1_1"), Contains("t.csv:2:5: error: path: 1 links lead from"));
  CHECK_THAT(error("0,3,r_0_1"), Contains("t.csv:2:5: error: path: ends at 'r_0_1', not at"));
  CHECK_THAT(error("0,3,r_0_1@x r_1_1"), Contains("t.csv:2:11: error: VC class"));
  CHECK_THAT(error("0,9,r_0_1"), Contains("t.csv:2:3: error: to: '9' is no node of the network"));
  CHECK_THAT(error("0,3"), Contains("t.csv:2:4: error: no value for 'path'"));
  folder.write("t.csv", "at,to,next\n0,3,r_0_1 r_1_0\n");
  CHECK_THAT(test::espalier({"run", file}).err, Contains("routers take no choices"));
}

TEST_CASE("certify routes judges a table without a network, and prints the cycle or the order") {
  const TemporaryFolder folder;
  // Four vertices in a circle, each route two links clockwise.
  std::string circle = "from,to,path\n";
  std::string dateline = circle;
  for (int v = 0; v < 4; ++v) {
    const auto name = [](int n) { return std::string(1, static_cast<char>('a' + n % 4)); };
    circle += name(v) + "," + name(v + 2) + "," + name(v + 1) + " " + name(v + 2) + "\n";
    const std::string there = v == 3 ? "@1 " : "@0 ";
    const std::string behind = v >= 2 ? "@1\n" : "@0\n";
    dateline += name(v) + "," + name(v + 2) + "," + name(v + 1) + there + name(v + 2) + behind;
  }
  const Outcome bad = test::espalier({"certify", "routes", folder.write("t.csv", circle)});
  CHECK(bad.exit_code == 1);
  CHECK_THAT(bad.out, Contains("t.csv: 4 routes among 4 nodes, 4 channels: DEADLOCK is possible"));
  CHECK_THAT(bad.out, Contains("a->b in VC class 0") || Contains("in VC class 0"));
  const Outcome good = test::espalier(
      {"certify", "routes", folder.write("d.csv", dateline), "-o", folder.file("order")});
  CHECK(good.exit_code == 0);
  CHECK_THAT(good.out, Contains("free of deadlock\n"));
  CHECK_THAT(test::read_text(folder.file("order")), Contains("in VC class 1"));
}

TEST_CASE("certify routes judges choices with escapes, and the routes of a configuration") {
  const TemporaryFolder folder;
  const std::string choices =
      "at,to,next\na,c,b@1 b@0!\nb,c,c@1 c@0!\nc,a,b@1 b@0!\nb,a,a@1 a@0!\na,b,b@0!\nc,b,b@0!\n";
  const Outcome adaptive = test::espalier({"certify", "routes", folder.write("t.csv", choices)});
  CHECK(adaptive.exit_code == 0);
  CHECK_THAT(adaptive.out, Contains("free of deadlock\n"));
  const std::string torus =
      folder.write("torus.yaml", "system: {topology: {type: torus, dims: [5]}}\n");
  CHECK(test::espalier({"certify", "routes", torus}).exit_code == 0);
  const Outcome one = test::espalier({"certify", "routes", torus, "-s", "system.router.vcs=1"});
  CHECK(one.exit_code == 1);
  CHECK_THAT(one.out, Contains("20 routes among 5 nodes, 10 channels: DEADLOCK is possible"));
  CHECK_THAT(
      test::espalier({"certify", "routes", folder.write("u.csv", "at,to,next\na,c,b\n")}).err,
      Contains("u.csv:2:3: error: a packet for 'c' has no choice at 'b'"));
}
