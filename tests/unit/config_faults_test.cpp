// The section `faults`: what it means, where it may stand, and what is refused.
#include <catch2/catch.hpp>

#include "config_test_support.h"
#include "sims/config/resolved.h"
#include "sims/model/faults.h"
#include "sims/page/config_differences.h"
#include "tests/support/networks.h"
#include "tests/support/resolved_yaml.h"

namespace espalier {

using namespace config_test;
using Catch::Matchers::Contains;

namespace {

const std::string kCollective = kGoodSystem + kGoodCollective;  // a torus of 16 nodes
const std::string kTraffic = kGoodSystem + "traffic: {pattern: uniform}\n";
const std::string kEvery =
    "faults:\n"
    "  slow_links: [{from: 1, to: r_0_2, bandwidth: 4GB/s, latency: 600ns}]\n"
    "  late_nis: [{node: 5, cycles: 2000}, {node: 0, cycles: 1}]\n"
    "  clock_skew: [{node: 9, cycles: 40, per_step: 2}]\n"
    "  dma_jitter: {max_cycles: 20, seed: 7, nodes: [0, 3]}\n";

TEST_CASE("Without the section everything is healthy") {
  const RunPoint point = only_point(kCollective);
  CHECK(uneven_fault(point.faults).empty());
  CHECK_FALSE(resolved_json(point).contains("faults"));
}

TEST_CASE("Every fault is read, and resolved to itself") {
  const RunPoint point = only_point(kCollective + kEvery);
  const FaultsConfig& faults = point.faults;
  REQUIRE(faults.slow_links.size() == 1);
  CHECK(faults.slow_links[0].from == "1");
  CHECK(faults.slow_links[0].to == "r_0_2");
  CHECK(faults.slow_links[0].bytes_per_second == 4'000'000'000);
  CHECK(faults.slow_links[0].latency_ps == 600'000);
  REQUIRE(faults.late_nis.size() == 2);
  CHECK(faults.late_nis[0].node == 5);
  CHECK(faults.late_nis[0].cycles == 2000);
  CHECK(faults.late_nis[1].node == 0);
  REQUIRE(faults.clock_skew.size() == 1);
  CHECK(faults.clock_skew[0].cycles == 40);
  CHECK(faults.clock_skew[0].per_step == 2);
  REQUIRE(faults.dma_jitter);
  CHECK(faults.dma_jitter->max_cycles == 20);
  CHECK(faults.dma_jitter->seed == 7);
  CHECK(faults.dma_jitter->nodes == std::vector<std::uint32_t>{0, 3});
  const std::string resolved = resolved_yaml(point);
  INFO(resolved);
  CHECK(resolved_yaml(only_point(resolved)) == resolved);
  const auto json = resolved_json(point).at("faults");
  CHECK(json.dump() ==
        R"({"slow_links":[{"from":1,"to":"r_0_2","bandwidth":"4GB/s","latency":"600ns"}],)"
        R"("late_nis":[{"node":5,"cycles":2000},{"node":0,"cycles":1}],)"
        R"("clock_skew":[{"node":9,"cycles":40,"per_step":2}],)"
        R"("dma_jitter":{"max_cycles":20,"seed":7,"nodes":[0,3]}})");
}

TEST_CASE("Keys that a fault omits are not resolved, and jitter applies to all nodes by default") {
  const RunPoint point = only_point(kCollective +
                                    "faults: {slow_links: [{from: 0, to: 1, latency: 1us}], "
                                    "clock_skew: [{node: 0, per_step: 1}], "
                                    "dma_jitter: {max_cycles: 3}}\n");
  CHECK(resolved_json(point).at("faults").dump() ==
        R"({"slow_links":[{"from":0,"to":1,"latency":"1us"}],)"
        R"("clock_skew":[{"node":0,"per_step":1}],)"
        R"("dma_jitter":{"max_cycles":3,"seed":1,"nodes":"all"}})");
  CHECK(jitter_of(point.faults, NodeId(0)) == 3);
  CHECK(jitter_of(point.faults, NodeId(15)) == 3);
}

TEST_CASE("On the command line a fault is written as in a file, or none") {
  const RunPoint point = only_point(
      kCollective + kEvery, {"faults.late_nis=[{node: 3, cycles: 7}]", "faults.slow_links=none",
                             "faults.dma_jitter.nodes=all", "faults.dma_jitter.max_cycles=5"});
  REQUIRE(point.faults.late_nis.size() == 1);
  CHECK(point.faults.late_nis[0].node == 3);
  CHECK(point.faults.slow_links.empty());
  CHECK(point.faults.dma_jitter->nodes.empty());
  CHECK(point.faults.dma_jitter->max_cycles == 5);
  CHECK(only_point(kCollective, {"faults.dma_jitter.max_cycles=5"}).faults.dma_jitter);
}

TEST_CASE("The host is late by its lateness and its clock's, its later doorbells by the clock's") {
  FaultsConfig faults;
  faults.late_nis = {{2, 100}};
  faults.clock_skew = {{2, 30, 4}, {3, 5, 0}};
  CHECK(host_delay(faults, NodeId(1)) == 0);
  CHECK(host_delay(faults, NodeId(2)) == 130);
  CHECK(host_delay(faults, NodeId(3)) == 5);
  CHECK(skew_of(faults, NodeId(2)) == 30);
  CHECK(skew_per_step(faults, NodeId(2)) == 4);
  CHECK(skew_per_step(faults, NodeId(3)) == 0);
}

TEST_CASE("A slow link is all parallel links of one direction and no other") {
  const Topology ring_of_two = make_torus({2}, {150'000, 16'000'000'000});
  FaultsConfig faults;
  faults.slow_links = {{"r_0", "1", 8'000'000'000, 0}};
  const auto links = faulty_links(ring_of_two, faults);
  REQUIRE(links.size() == 4);
  for (const TopologyLink& link : links) {
    CHECK(link.spec.bytes_per_second == (link.from == NodeId(0) ? 8'000'000'000 : 16'000'000'000));
    CHECK(link.spec.latency_ps == 150'000);
  }
  faults.slow_links = {{"r_0", "7", 8'000'000'000, 0}};
  CHECK_THROWS_AS(faulty_links(ring_of_two, faults), std::invalid_argument);
}

TEST_CASE("Faults are part of the workload that two runs must share") {
  CHECK(report::is_workload_key("faults.slow_links"));
  CHECK(report::is_workload_key("faults.dma_jitter.max_cycles"));
}

TEST_CASE("Traffic meets slow links and jitter, control messages slow links") {
  const std::string slow = "faults: {slow_links: [{from: 0, to: 1, latency: 200ns}]";
  CHECK(only_point(kTraffic + slow + ", dma_jitter: {max_cycles: 3}}\n").faults.dma_jitter);
  CHECK(only_point(kGoodSystem + "control: {duration_cycles: 100}\n" + slow + "}\n")
            .faults.slow_links.size() == 1);
}

struct BadFault {
  const char* what;
  std::string input;
  const char* message;
  const char* hint;
};

std::string slow(const std::string& entry) { return "faults: {slow_links: [" + entry + "]}\n"; }
std::string late(const std::string& entry) { return "faults: {late_nis: [" + entry + "]}\n"; }
std::string skew(const std::string& entry) { return "faults: {clock_skew: [" + entry + "]}\n"; }

void check_refused(const std::vector<BadFault>& cases) {
  for (const BadFault& bad : cases) {
    const Marked input = unmark(bad.input);
    const ConfigResult result = read_run_config_text("bad.yaml", input.text);
    INFO(bad.what << "\n" << result.diagnostics);
    CHECK_FALSE(result.ok);
    const auto printed = parse_diagnostics(result.diagnostics);
    const Printed* found = find_at(printed, input, bad.message);
    REQUIRE(found != nullptr);
    CHECK_THAT(found->hint, Contains(bad.hint));
  }
}

TEST_CASE("A value that is not a list of faults is refused at its place") {
  check_refused({
      {"misspelt kind", kCollective + "faults: {@slow_link: []}\n",
       "unknown key 'slow_link' in 'faults'", "did you mean 'slow_links'?"},
      {"a mapping alone", kCollective + "faults: {late_nis: @{node: 1, cycles: 1}}\n",
       "faults.late_nis: expected a list of mappings", "list of {node: a node's number or name"},
      {"a number", kCollective + "faults: {late_nis: @5}\n", "expected a list of mappings", "none"},
      {"a list of numbers", kCollective + late("@5"), "faults.late_nis: expected a mapping of keys",
       "its keys: node, cycles"},
      {"an empty list", kCollective + "faults: {late_nis: @[]}\n", "the list is empty", "none"},
      {"misspelt field", kCollective + late("{node: 1, @cycle: 5}"),
       "unknown key 'cycle' in 'faults.late_nis'", "did you mean 'cycles'?"},
      {"no node", kCollective + late("@{cycles: 5}"), "missing key 'faults.late_nis.node'",
       "a node's number or name"},
      {"no cycles", kCollective + late("@{node: 5}"), "missing key 'faults.late_nis.cycles'",
       "1 to 1000000"},
      {"late by nothing", kCollective + late("{node: 5, cycles: @0}"),
       "faults.late_nis.cycles: 0 is out of range", "1 to 1000000"},
      {"a field without value", kCollective + late("{node: 5, @cycles: }"),
       "faults.late_nis.cycles: has no value", "integer"},
      {"no end of a link", kCollective + slow("@{from: 1, latency: 1us}"),
       "missing key 'faults.slow_links.to'", "number or a vertex's name"},
      {"a bandwidth without unit", kCollective + slow("{from: 0, to: 1, bandwidth: @4}"),
       "faults.slow_links.bandwidth: ", "GB/s"},
      {"jitter without its size", kCollective + "faults: {@dma_jitter: {seed: 1}}\n",
       "missing key 'faults.dma_jitter.max_cycles'", "integer"},
      {"jitter of a word", kCollective + "faults: {dma_jitter: {max_cycles: 1, nodes: @some}}\n",
       "faults.dma_jitter.nodes: expected a list", "[some]"},
      {"a node number in words",
       kCollective + "faults: {dma_jitter: {max_cycles: 1, nodes: [1, @two]}}\n",
       "faults.dma_jitter.nodes: 'two' is no node of the network", "such as 'r_0_0'"},
      {"a node that does not exist", kCollective + late("{node: @ni_4_0, cycles: 5}"),
       "faults.late_nis: 'ni_4_0' is no node of the network", "r_"},
      {"a switch",
       "system: {topology: {type: switch, nodes: 4}}\n"
       "collective: {op: all_reduce, algorithm: ring, size: 4KiB}\n" +
           late("{node: @sw_0, cycles: 5}"),
       "faults.late_nis: 'sw_0' is a switch; a node is needed", "such as"},
      {"its number",
       kCollective + "faults: {dma_jitter: {max_cycles: 1, nodes: [net.ni_3, @ni_16]}}\n",
       "'ni_16' is no node of the network", "from 0 to 15"},
  });
}

TEST_CASE("Every key of a node takes its number, its name, its coordinates and its NI's name") {
  for (const std::string node : {"9", "r_2_1", "2_1", "ni_2_1", "net.ni_2_1", "ni_9", "'r_2_1'"}) {
    CAPTURE(node);
    if (node != "9") {
      const FaultsConfig faults =
          only_point(kCollective + "faults:\n  late_nis: [{node: " + node +
                     ", cycles: 5}]\n  clock_skew: [{node: 1, cycles: 5}, {node: " + node +
                     ", cycles: 5}]\n  dma_jitter: {max_cycles: 3, nodes: [0, " + node +
                     "]}\n  slow_links: [{from: " + node + ", to: r_2_2, latency: 1us}]\n")
              .faults;
      CHECK(faults.late_nis.at(0).node == 9);
      CHECK(faults.clock_skew.at(1).node == 9);
      CHECK(faults.dma_jitter->nodes == std::vector<std::uint32_t>{0, 9});
    }
    const std::string system = "system: {topology: {type: torus, dims: [4, 4]}}\n";
    CHECK(only_point(system + "traffic: {pattern: hotspot, injection_rate: 0.01, hotspots: [" +
                     node + "]}\n")
              .traffic->hotspots == std::vector<std::uint32_t>{9});
    CHECK(only_point(system +
                     "collective: {op: all_reduce, algorithm: ring, size: 4KiB, ranks: [3, " +
                     node + "]}\n")
              .collective->ranks == std::vector<std::uint32_t>{3, 9});
  }
}

TEST_CASE("The name of an NI is that of its vertex, also where nodes are numbered otherwise") {
  const auto late_node = [](const std::string& node) {
    return only_point(
               "system: {topology: {type: mesh, dims: [8], without: [node 0]}}\n"
               "collective: {op: all_reduce, algorithm: ring, size: 4KiB}\n"
               "faults: {late_nis: [{node: " +
               node + ", cycles: 5}]}\n")
        .faults.late_nis.at(0)
        .node;
  };
  CHECK(late_node("r_3") == 2);
  CHECK(late_node("net.ni_3") == 2);
  CHECK(late_node("3") == 3);
}

TEST_CASE("A fault of a missing node or link is refused, with the nodes and links that exist") {
  check_refused({
      {"a node too far", kCollective + late("{node: @16, cycles: 5}"),
       "faults.late_nis: there is no node 16; the network has 16 nodes", "0 to 15"},
      {"its clock", kCollective + skew("{node: @99, cycles: 5}"),
       "faults.clock_skew: there is no node 99", "0 to 15"},
      {"its memory", kCollective + "faults: {dma_jitter: {max_cycles: 1, nodes: [3, @16]}}\n",
       "faults.dma_jitter.nodes: there is no node 16", "0 to 15"},
      {"its link", kCollective + slow("{from: @16, to: 0, latency: 1us}"),
       "faults.slow_links.from: there is no node 16", "0 to 15"},
      {"a name", kCollective + slow("{from: 0, to: @r_4_0, latency: 1us}"),
       "faults.slow_links.to: 'r_4_0' is neither a node nor a switch", "did you mean 'r_"},
      {"a strange name", kCollective + slow("{from: @router, to: 1, latency: 1us}"),
       "'router' is neither a node nor a switch", "from 0 to 15, or a name such as 'r_0_0'"},
      {"no neighbours", kCollective + slow("{from: 0, to: @r_2_2, latency: 1us}"),
       "there is no link from r_0_0 to r_2_2",
       "links from r_0_0 lead to r_3_0, r_1_0, r_0_3, r_0_1"},
      {"to itself", kCollective + slow("{from: 0, to: @0, latency: 1us}"),
       "there is no link from r_0_0 to r_0_0", "lead to"},
  });
}

TEST_CASE("A fault must make a link slower, and each link has one fault") {
  check_refused({
      {"no difference", kCollective + slow("@{from: 0, to: 1}"), "the link has no fault",
       "or both"},
      {"a faster link", kCollective + slow("{from: 0, to: 1, bandwidth: @32GB/s}"),
       "32GB/s is not slower than the healthy link's 16GB/s", "can only make a link slower"},
      {"the same rate", kCollective + slow("{from: 0, to: 1, bandwidth: @16GB/s}"), "is not slower",
       "can only make a link slower"},
      {"a shorter way", kCollective + slow("{from: 0, to: 1, latency: @100ns}"),
       "100ns is not longer than the healthy link's 150ns", "can only make a link slower"},
      {"the same way", kCollective + slow("{from: 0, to: 1, latency: @150ns}"), "is not longer",
       "can only make a link slower"},
      {"beyond the watchdog", kCollective + slow("{from: 0, to: 1, latency: @100us}"),
       "after 100000 cycles the watchdog would end a run whose flit is on this link of 100000",
       "more than 100000"},
      {"a rate without a tick", kCollective + slow("{from: 0, to: 1, bandwidth: @15999999999B/s}"),
       "more than 1048576 ticks per cycle", "a half or a quarter"},
      {"a link twice",
       kCollective +
           slow("{from: 0, to: 1, latency: 1us}, @{from: r_0_0, to: r_0_1, latency: 2us}"),
       "the link from r_0_0 to r_0_1 is in the list twice", "the first is in line 3"},
      {"late twice", kCollective + late("{node: 1, cycles: 5}, {node: @1, cycles: 6}"),
       "faults.late_nis: node 1 is in the list twice", "the first is in line 3"},
      {"skewed twice", kCollective + skew("{node: 1, cycles: 5}, {node: @1, per_step: 6}"),
       "node 1 is in the list twice", "line 3"},
      {"jitter twice", kCollective + "faults: {dma_jitter: {max_cycles: 1, nodes: [4, @4]}}\n",
       "node 4 is in the list twice", "line 3"},
      {"a clock on time", kCollective + skew("@{node: 1}"), "cycles and per_step are both 0",
       "per_step"},
  });
}

TEST_CASE("Faults that have no effect on the run are refused") {
  const std::string off =
      "system: {topology: {type: torus, dims: [4, 4]}, ni: {lockstep: off}}\n" + kGoodCollective;
  const std::string planned =
      "system: {topology: {type: dimensions}, dimensions: {shape: [ring, switch], size: [4, 4], "
      "bandwidth: [32GB/s, 32GB/s], latency: [50ns, 100ns]}}\n"
      "collective: {algorithm: themis, size: 64KiB, chunks: 8}\n";
  const std::string planned_workload =
      "system: {preset: themis_3d_sw_sw_sw_homo}\n"
      "collective: {algorithm: themis}\nworkload: {name: resnet152}\n";
  const std::string control = kGoodSystem + "control: {duration_cycles: 100}\n";
  check_refused({
      {"groups of a workload", planned_workload + "@faults: {late_nis: [{node: 1, cycles: 1}]}\n",
       "faults: a workload simulates one group of NPUs for all groups, which is not exact with "
       "faults.late_nis",
       "without 'workload'"},
      {"nobody posts traffic late", kTraffic + "faults: {late_nis: @[{node: 1, cycles: 1}]}\n",
       "faults.late_nis: traffic has no collective", "also act on traffic"},
      {"nor by a clock", kTraffic + "faults: {clock_skew: @[{node: 1, cycles: 1}]}\n",
       "faults.clock_skew: traffic has no collective", "also act on traffic"},
      {"nor control", control + "faults: {late_nis: @[{node: 1, cycles: 1}]}\n",
       "faults.late_nis: control messages have no collective", ""},
      {"control is not read", control + "faults: {@dma_jitter: {max_cycles: 1}}\n",
       "faults.dma_jitter: control messages are not read from memory", "collective"},
      {"nothing counts", off + skew("{node: 1, per_step: @1}"),
       "faults.clock_skew.per_step: with system.ni.lockstep off an NI does not count down steps",
       "estimate or full"},
      {"no steps", planned + skew("{node: 1, cycles: 5, per_step: @1}"),
       "faults.clock_skew.per_step: themis has no timesteps", "give only cycles"},
  });
  CHECK(only_point(off + skew("{node: 1, cycles: 1}")).faults.clock_skew.size() == 1);
  CHECK(only_point(planned + skew("{node: 1, cycles: 1}")).faults.clock_skew.size() == 1);
}

TEST_CASE("A latency of a fraction of a cycle is rounded up with a warning") {
  const ConfigResult result =
      read_run_config_text("good.yaml", kCollective + slow("{from: 0, to: 1, latency: 200500ps}"));
  CHECK(result.ok);
  CHECK_THAT(result.diagnostics, Contains("rounded up to 201 cycles"));
}

}  // namespace
}  // namespace espalier
