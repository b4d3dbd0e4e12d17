#include <catch2/catch.hpp>

#include "config_test_support.h"
#include "sims/formats/topology_file.h"
#include "sims/model/build_topology.h"

namespace espalier {

using namespace config_test;

namespace {

struct ParsedAnynet {
  std::optional<Topology> topology;
  std::string diagnostics;
};

ParsedAnynet parse(const std::string& text, std::uint64_t hertz = 1'000'000'000) {
  TopologyFileContext context;
  context.default_link = {150'000, 16'000'000'000};
  context.clock = ClockSpec{hertz, 16};
  Diagnostics diagnostics;
  ParsedAnynet parsed;
  parsed.topology = parse_anynet("net.anynet", text, context, diagnostics);
  parsed.diagnostics = diagnostics.text();
  return parsed;
}

Topology good(const std::string& text) {
  ParsedAnynet parsed = parse(text);
  INFO(text);
  INFO(parsed.diagnostics);
  REQUIRE(parsed.topology);
  CHECK(parsed.diagnostics.empty());
  return std::move(*parsed.topology);
}

// In nanoseconds, cycles at 1 GHz; 0: no link.
std::uint64_t latency(const Topology& topology, const char* from, const char* to) {
  const LinkId link = topology.link_between(topology.find_vertex(from), topology.find_vertex(to));
  return link.valid() ? topology.link(link).spec.latency_ps / 1000 : 0;
}

std::vector<std::string> linked_names(const Topology& topology, const char* vertex) {
  std::vector<std::string> names;
  for (const LinkId link : topology.out_links(topology.find_vertex(vertex))) {
    names.push_back(topology.link(link).out_name);
  }
  return names;
}

}  // namespace

TEST_CASE("BookSim's own example of an anynet file becomes three switches with three nodes each") {
  const Topology topology = good(
      "router 0 node 0 node 1 node 2 router 1\n"
      "router 1 node 3 node 4 node 5\n"
      "router 2 node 6 node 7 node 8 router 1 router 0\n");
  CHECK(topology.name() == "net.anynet");
  CHECK(topology.num_nodes() == 9);
  CHECK(topology.num_switches() == 3);
  CHECK(topology.num_links() == 2 * (9 + 3));
  CHECK(topology.vertex_name(NodeId(8)) == "n_8");
  CHECK(topology.vertex_name(NodeId(9)) == "sw_0");
  CHECK(linked_names(topology, "n_4") == std::vector<std::string>{"sw1"});
  CHECK(linked_names(topology, "sw_1") == std::vector<std::string>{"n3", "n4", "n5", "sw0", "sw2"});
  CHECK(latency(topology, "sw_2", "sw_0") == 150);
  CHECK(topology.link(LinkId(0)).spec.bytes_per_second == 16'000'000'000);
}

TEST_CASE("A latency between routers holds for one direction, one to a node for both") {
  const Topology topology = good(
      "router 0 router 1 15 router 2\n"
      "router 0 node 0 node 1 5 node 2 5\n");
  CHECK(latency(topology, "sw_0", "sw_1") == 15);
  CHECK(latency(topology, "sw_1", "sw_0") == 150);
  CHECK(latency(topology, "sw_0", "sw_2") == 150);
  CHECK(latency(topology, "n_0", "sw_0") == 150);
  CHECK(latency(topology, "n_1", "sw_0") == 5);
  CHECK(latency(topology, "sw_0", "n_1") == 5);
}

TEST_CASE(
    "The opposite direction between routers may have its own latency, in any order of lines") {
  for (const char* text :
       {"node 0 router 0\nnode 1 router 1 2\nrouter 0 router 1 15\nrouter 1 router 0 3\n",
        "router 1 router 0 3 node 1 2\nrouter 0 node 0 router 1 15\n"}) {
    const Topology topology = good(text);
    CHECK(latency(topology, "sw_0", "sw_1") == 15);
    CHECK(latency(topology, "sw_1", "sw_0") == 3);
    CHECK(latency(topology, "sw_1", "n_1") == 2);
    CHECK(topology.num_links() == 6);
  }
}

TEST_CASE("A link that is listed twice is one link") {
  CHECK(good("router 0 node 0 node 1 node 0\nnode 1 router 0\n").num_links() == 4);
  CHECK(good("router 0 node 0 router 1 4 router 1 4\nrouter 1 node 1\n").num_links() == 6);
}

TEST_CASE("Comments, blank lines, tabs and Windows line ends are ignored in an anynet file") {
  const Topology topology =
      good("# two\r\n\r\n\trouter 0\tnode 0  node 1 7 # the second is far\r\n");
  CHECK(topology.num_nodes() == 2);
  CHECK(latency(topology, "n_1", "sw_0") == 7);
  CHECK(good("router 0 node 0 node 1").num_nodes() == 2);
}

TEST_CASE("Anynet latencies are router cycles at any clock") {
  for (const std::uint64_t hertz : {1'000ULL, 999'999'937ULL, 3'000'000'000ULL}) {
    const ParsedAnynet parsed = parse("router 0 node 0 7 node 1 13\n", hertz);
    REQUIRE(parsed.topology);
    const ClockSpec clock{hertz, 16};
    CHECK(cycles_covering(parsed.topology->link(LinkId(0)).spec.latency_ps, clock) == 7);
    CHECK(cycles_covering(parsed.topology->link(LinkId(2)).spec.latency_ps, clock) == 13);
  }
}

TEST_CASE("Mistakes in an anynet file are refused at their place") {
  struct BadFile {
    std::string input;
    const char* message;
    const char* hint;
  };
  const std::string two = "router 0 node 0 node 1\n";
  const std::vector<BadFile> cases{
      {"@", "a network needs at least 2 nodes", "for example 'router 0"},
      {"@# nothing\n", "a network needs at least 2 nodes", "for example 'router 0"},
      {"@router 0 node 0\n", "a network needs at least 2 nodes", "for example 'router 0"},
      {two + "@ruter 1 node 2\n", "'ruter' is neither 'node' nor 'router'",
       "did you mean 'router'?"},
      {two + "@0 node 2\n", "'0' is neither 'node' nor 'router'", ""},
      {"router 0 node 0 @nod 1 node 1\n", "'nod' is neither", "did you mean 'node'?"},
      {"router 0 node 0 5 @6 node 1\n", "'6' is neither", ""},
      {two + "router@\n", "expected a number after 'router'", "for example 'router 0"},
      {two + "router 0 node@ # end\n", "expected a number after 'node'", "for example"},
      {two + "router @x node 2\n", "router: 'x' is no", "integer, 0 to 65535"},
      {two + "router @-1 node 2\n", "router: ", "integer, 0 to 65535"},
      {two + "router 0 node @65536\n", "node: 65536 is out of range", "integer, 0 to 65535"},
      {"router 0 node 0 @0 node 1\n", "latency: 0 is out of range", "1 to 1000000"},
      {"router 0 node 0 @-3 node 1\n", "latency: ", "1 to 1000000"},
      {"router 0 node 0 @1.5 node 1\n", "latency: ", "1 to 1000000"},
      {two + "node 0 @node 1\n", "this link joins two nodes", "a router to a router"},
      {two + "router 0 @router 0\n", "a link joins router 0 to itself", ""},
      {two + "router 0 router 1\nrouter 1 @node 1\n",
       "node 1 is linked to router 0 and to router 1", "the first link is in line 1"},
      {two + "node 0 router 0 @router 1\n", "node 0 is linked to router 0 and to router 1",
       "the first link is in line 1"},
      {two + "router 0 router 1 4\nrouter 0 @router 1 5\n",
       "the link from router 0 to router 1 has two latencies", "the first link is in line 2"},
      {two + "router 0 router 1 4\nrouter 0 @router 1\n",
       "the link from router 0 to router 1 has two latencies", "the first link is in line 2"},
      {two + "node 1 @router 0 3\n", "the link from node 1 to router 0 has two latencies",
       "the first link is in line 1"},
      {"router 0 node 0 @node 2\n", "node 2 is used, but node 1 is missing",
       "number nodes and routers from 0"},
      {"@router 1 node 0 node 1\n", "router 1 is used, but router 0 is missing",
       "number nodes and routers from 0"},
      {two + "@node 2\n", "node 2 has no link to a router", "for example"},
      {two + "@router 1\n", "there is no path from node 0 to router 1 and back", ""},
      {two + "router 1 @node 2\n", "there is no path from node 0 to node 2 and back", ""},
  };
  for (const BadFile& bad : cases) {
    const Marked marked = unmark(bad.input);
    const ParsedAnynet parsed = parse(marked.text);
    INFO(marked.text);
    INFO(parsed.diagnostics);
    CHECK_FALSE(parsed.topology);
    const auto all = parse_diagnostics(parsed.diagnostics);
    const Printed* found = find_at(all, marked, bad.message);
    REQUIRE(found != nullptr);
    CHECK(all.size() == 1);
    CHECK(found->where == "net.anynet");
    CHECK(found->hint.find(bad.hint) != std::string::npos);
  }
}

TEST_CASE("All mistakes of an anynet file are reported in one run") {
  const auto all = parse_diagnostics(
      parse("router 0 node 0 nod 1\nrooter 1\nrouter 0 router 0\nrouter 1 node 0 0\n").diagnostics);
  REQUIRE(all.size() == 4);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i].line == i + 1);
}

TEST_CASE("An anynet latency of more than the longest link's is refused") {
  const ParsedAnynet parsed = parse("router 0 node 0 1001 node 1\n", 1'000);
  CHECK_FALSE(parsed.topology);
  CHECK(
      parsed.diagnostics.find(
          "net.anynet:1:17: error: latency: 1001 cycles at 1kHz exceed the longest latency, 1s") ==
      0);
}

TEST_CASE("A configuration finds its anynet file in its own folder and gives its links a rate") {
  const TemporaryFolder folder("anynet_file");
  folder.write("two.anynet", "router 0 node 0 node 1 9\n");
  const std::string path = folder.write(
      "run.yaml",
      "system: {topology: {type: anynet, file: two.anynet}, link: {latency: 20ns, bandwidth: "
      "8GB/s}}\n"
      "traffic: {}\n");
  const ConfigResult result = read_run_config(path);
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  CHECK(latency(*result.topology, "n_0", "sw_0") == 20);
  CHECK(latency(*result.topology, "n_1", "sw_0") == 9);
  CHECK(result.topology->link(LinkId(0)).spec.bytes_per_second == 8'000'000'000);
  CHECK(build_topology(result.points.front().system).num_links() == 4);
}

}  // namespace espalier
