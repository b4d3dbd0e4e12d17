// Grids whose dimensions differ, as their users write them.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <array>
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

// Z is slower and longer.
constexpr const char* kOneLine =
    "system: {topology: {type: torus, dims: [4, 2, 2], bandwidth: [16GB/s, 16GB/s, 8GB/s], "
    "latency: [link, link, 500ns]}}\n"
    "collective: {algorithm: multitree, size: 16KiB}\n";

// By algorithm; all of them are verified.
std::set<std::string> algorithms_that_run(const std::vector<std::string>& words) {
  std::set<std::string> names;
  const Json document = test::run_to_json(words);
  for (const Json& result : document["results"]) {
    CAPTURE(result.dump());
    CHECK(result["verified"] == true);
    CHECK(result["certified"] == true);
    names.insert(result["algorithm"].get<std::string>());
  }
  return names;
}

// A ring of five columns and lines of three rows, link by link in the order of the family's ports.
std::string graph_of_5x3() {
  std::string text = "nodes: [";
  for (int n = 0; n < 15; ++n) text += fmt::format("{}r_{}_{}", n == 0 ? "" : ", ", n / 5, n % 5);
  text += "]\nlinks:\n";
  const auto add = [&](int x, int y, int to_x, int to_y, const char* rate) {
    text +=
        fmt::format("  - {{from: r_{}_{}, to: r_{}_{}, bandwidth: {}}}\n", y, x, to_y, to_x, rate);
  };
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 5; ++x) {
      if (y > 0) add(x, y, x, y - 1, "8GB/s");
      if (y < 2) add(x, y, x, y + 1, "8GB/s");
      add(x, y, (x + 4) % 5, y, "16GB/s");
      add(x, y, (x + 1) % 5, y, "16GB/s");
    }
  }
  return text;
}

}  // namespace

TEST_CASE(
    "What runs on a torus runs on one with a slow and long dimension, described in one line") {
  const TemporaryFolder folder;
  const std::string config = folder.write("z.yaml", kOneLine);
  const std::vector<std::string> all{config, "-s", "collective.algorithm=all"};
  auto equal = all;
  equal.insert(equal.end(), {"-s", "system.topology.bandwidth=link", "-s",
                             "system.topology.latency=[link, link, link]"});
  const auto names = algorithms_that_run(all);
  CHECK(names == algorithms_that_run(equal));
  for (const char* name : {"multitree_translated", "swing_bandwidth", "rs_window_ag", "window"}) {
    CHECK(names.count(name) == 1);
  }
}

TEST_CASE("The dimensions of a grid are axes of a sweep like any key") {
  const TemporaryFolder folder;
  const std::string config = folder.write("z.yaml", kOneLine);
  const auto cycles = [&](const std::string& rates) {
    return test::run_to_json({config, "-s", "system.topology.bandwidth=" + rates})["results"]
        .at(0)["cycles"]
        .get<std::uint64_t>();
  };
  CHECK(cycles("[link, link, 4GB/s]") > cycles("[link, link, 8GB/s]"));
  CHECK(cycles("[link, link, link]") == cycles("link"));
}

TEST_CASE(
    "A grid takes the same cycles as its links in a file, where packets' routes do not matter") {
  const TemporaryFolder folder;
  folder.write("5x3.yaml", graph_of_5x3());
  const std::string file = folder.write("file.yaml",
                                        "system: {topology: {type: file, file: 5x3.yaml}}\n"
                                        "collective: {algorithm: multitree, size: 64KiB}\n");
  const std::string grid = folder.write(
      "grid.yaml",
      "system: {topology: {type: grid, dims: [5, 3], wrap: [true, false], bandwidth: [16GB/s, "
      "8GB/s]}}\n"
      "collective: {algorithm: multitree, size: 64KiB}\n");
  for (const char* op : {"all_reduce", "all_gather", "reduce_scatter"}) {
    for (const char* algorithm : {"multitree", "forest"}) {
      CAPTURE(op, algorithm);
      std::array<Json, 2> cycles;
      for (std::size_t i = 0; i < 2; ++i) {
        cycles.at(i) =
            test::run_to_json({i == 0 ? file : grid, "-s", std::string("collective.op=") + op, "-s",
                               std::string("collective.algorithm=") + algorithm})["results"]
                .at(0)["cycles"];
      }
      CHECK(cycles[0] == cycles[1]);
    }
  }
}

TEST_CASE("A twisted torus sends an all-to-all faster than the torus without its twist") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("twisted.yaml",
                   "system: {topology: {type: torus, dims: [2, 2, 4], twist: [0, 2, 2]}}\n"
                   "collective: {op: all_to_all, algorithm: a2a_paths, size: 1MiB}\n");
  const Json twisted = test::run_to_json({config})["results"].at(0);
  const Json plain =
      test::run_to_json({config, "-s", "system.topology.twist=none"})["results"].at(0);
  CHECK(twisted["bound_ratio"].get<double>() > 0.98);
  CHECK(twisted["cycles"].get<double>() < 0.8 * plain["cycles"].get<double>());
}

TEST_CASE("On a multi-dimensional system the reason is the system, not a torus or servers") {
  const TemporaryFolder folder;
  const std::string config = folder.write(
      "dimensions.yaml",
      "system:\n  topology: {type: dimensions}\n"
      "  dimensions: {shape: [ring, ring], size: [4, 4], bandwidth: [200Gb/s, 100Gb/s], "
      "latency: [700ns, 700ns]}\n"
      "collective: {algorithm: themis, size: 1MiB}\n");
  for (const char* name : {"window", "line", "swing_latency", "gc3_hierarchical", "mscclpp_packets",
                           "binomial", "nccl_allgather", "multitree"}) {
    CAPTURE(name);
    const Outcome outcome =
        test::espalier({"check", config, "-s", std::string("collective.algorithm=") + name});
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("messages do not pass between dimensions"));
    CHECK_THAT(outcome.err,
               !Contains("needs a") && !Contains("ranks_per_server") && !Contains("computes"));
  }
}
