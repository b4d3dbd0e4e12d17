#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "config_test_support.h"
#include "sims/formats/topology_file.h"
#include "sims/model/build_topology.h"

namespace espalier {

using namespace config_test;

namespace {

TopologyFileContext table_iii() {
  TopologyFileContext context;
  context.default_link = {150'000, 16'000'000'000};
  context.clock = ClockSpec{};
  return context;
}

struct ParsedGraph {
  std::optional<Topology> topology;
  std::string diagnostics;
  std::size_t warnings = 0;
};

ParsedGraph parse_graph(const std::string& text) {
  Diagnostics diagnostics;
  ParsedGraph parsed;
  parsed.topology = parse_topology("graph.yaml", text, table_iii(), diagnostics);
  parsed.diagnostics = diagnostics.text();
  parsed.warnings = diagnostics.num_warnings();
  return parsed;
}

}  // namespace

TEST_CASE("A graph file becomes nodes, switches, links and named ports in file order") {
  const ParsedGraph parsed = parse_graph(R"(
name: two and a switch
nodes: [b, a]
switches: [s0]
links:
  - {between: [b, s0], latency: 20ns, bandwidth: 8GB/s, count: 2}
  - {between: [a, s0]}
  - {from: a, to: b}
)");
  INFO(parsed.diagnostics);
  REQUIRE(parsed.topology);
  const Topology& graph = *parsed.topology;
  CHECK(graph.name() == "two and a switch");
  CHECK(graph.num_nodes() == 2);
  CHECK(graph.num_switches() == 1);
  CHECK(graph.vertex_name(NodeId(0)) == "b");
  CHECK(graph.is_switch(graph.find_vertex("s0")));
  REQUIRE(graph.num_links() == 7);
  const auto check_link = [&](std::size_t id, const char* from, const char* to, const char* out,
                              const char* in, std::uint64_t latency, std::uint64_t rate) {
    const TopologyLink& link = graph.link(LinkId(id));
    INFO("link " << id);
    CHECK(graph.vertex_name(link.from) == from);
    CHECK(graph.vertex_name(link.to) == to);
    CHECK(link.out_name == out);
    CHECK(link.in_name == in);
    CHECK(link.spec.latency_ps == latency);
    CHECK(link.spec.bytes_per_second == rate);
  };
  check_link(0, "b", "s0", "to_s0", "from_b", 20'000, 8'000'000'000);
  check_link(1, "s0", "b", "to_b", "from_s0", 20'000, 8'000'000'000);
  check_link(2, "b", "s0", "to_s0_1", "from_b_1", 20'000, 8'000'000'000);
  check_link(3, "s0", "b", "to_b_1", "from_s0_1", 20'000, 8'000'000'000);
  check_link(4, "a", "s0", "to_s0", "from_a", 150'000, 16'000'000'000);
  check_link(5, "s0", "a", "to_a", "from_s0", 150'000, 16'000'000'000);
  check_link(6, "a", "b", "to_b", "from_a", 150'000, 16'000'000'000);
}

TEST_CASE("Vertices of a graph file stand where it says, in layers") {
  const ParsedGraph parsed = parse_graph(R"(
nodes: [{name: a, at: [0, 0]}, {name: b, at: [-1.5, 2e1, 3]}]
switches: [{name: s, at: [0, 0, 1]}]
links: [{between: [a, s]}, {between: [b, s]}]
)");
  INFO(parsed.diagnostics);
  REQUIRE(parsed.topology);
  const std::vector<Position>& at = parsed.topology->shape().at;
  REQUIRE(at.size() == 3);
  CHECK((at[1].x == -1.5 && at[1].y == 20 && at[1].z == 3));
  CHECK((at[2].x == 0 && at[2].y == 0 && at[2].z == 1));
}

TEST_CASE("A graph without a name is called by its file") {
  const ParsedGraph parsed = parse_graph("nodes: [a, b]\nlinks: [{between: [a, b]}]\n");
  REQUIRE(parsed.topology);
  CHECK(parsed.topology->name() == "graph.yaml");
}

TEST_CASE("Mistakes in a graph file are refused at their place") {
  struct BadGraph {
    std::string input;
    const char* message;
    const char* hint;
  };
  const std::string ab = "nodes: [a, b]\n";
  const std::vector<BadGraph> cases{
      {"@", "the file is empty", "nodes: [a, b]"},
      {"@- a\n", "expected a mapping with the keys", "nodes: [a, b]"},
      {"@links: []\n", "missing key 'nodes'", "nodes: [a, b]"},
      {"@" + ab, "missing key 'links'", "links: [{between: [a, b]}]"},
      {ab + "links: [{between: [a, b]}]\n@swiches: [s]\n", "unknown key 'swiches'",
       "did you mean 'switches'?"},
      {"@nodes: a\nlinks: []\n", "nodes: expected a list of names", "nodes: [a, b]"},
      {"nodes: [{name: a, at: @[0]}, {name: b, at: [0, 2]}]\nlinks: [{between: [a, b]}]\n",
       "at: expected [x, y] or [x, y, layer]", "at: [0, 1.5]"},
      {"nodes: [{name: a, at: @[0, nan]}, {name: b, at: [0, 2]}]\nlinks: [{between: [a, b]}]\n",
       "at: expected [x, y]", "at: [0, 1.5]"},
      {"nodes: [{name: a, at: @[0, 1e7]}, {name: b, at: [0, 2]}]\nlinks: [{between: [a, b]}]\n",
       "at: expected [x, y]", "at: [0, 1.5]"},
      {"nodes: [{name: a, at: @near}, {name: b, at: [0, 2]}]\nlinks: [{between: [a, b]}]\n",
       "at: expected [x, y]", "at: [0, 1.5]"},
      {"nodes: [@{at: [0, 0]}, b, c]\nlinks: [{between: [b, c]}]\n", "nodes: a name is missing",
       "{name: a, at: [0, 1]}"},
      {"nodes: [{name: a, @on: [0, 0]}, b]\nlinks: [{between: [a, b]}]\n",
       "unknown key 'on' in 'nodes'", "name, at"},
      {"nodes: [{name: a, at: [0, 0]}, {name: b, @at: [0, 0.0]}]\nlinks: [{between: [a, b]}]\n",
       "'b' stands where 'a' stands", ""},
      {"@nodes: [{name: a, at: [0, 0]}, b]\nlinks: [{between: [a, b]}]\n",
       "1 of 2 nodes and switches have a position", "give all of them an 'at', or none"},
      {"@nodes: [a]\nlinks: []\n", "a network needs at least 2 nodes", ""},
      {"@nodes: [a]\nswitches: [s]\nlinks: [{between: [a, s]}]\n",
       "a network needs at least 2 nodes", ""},
      {"nodes: [a, b, @a]\nlinks: [{between: [a, b]}]\n", "the name 'a' is given twice",
       "the first is in line 1"},
      {ab + "switches: [s, @b]\nlinks: [{between: [a, b]}, {between: [a, s]}]\n",
       "the name 'b' is given twice", "the first is in line 1"},
      // Modules: the router r_a, and the network interface ni_a of each of the two nodes.
      {"nodes: [a, b, @r_a]\nlinks: [{between: [a, b]}, {between: [a, r_a]}]\n",
       "'r_a' would get a module named 'ni_a'", "the first is in line 1"},
      {"nodes: [ni_a, b, @a]\nlinks: [{between: [a, b]}, {between: [a, ni_a]}]\n",
       "'a' would get a module named 'ni_a'", "the first is in line 1"},
      {ab + "switches: [@ni_b]\nlinks: [{between: [a, b]}, {between: [a, ni_b]}]\n",
       "'ni_b' would get a module named 'ni_b'", "the first is in line 1"},
      {"nodes: [a, b, @0c]\nlinks: [{between: [a, b]}]\n", "'0c' is not a valid name",
       "a letter, then"},
      {"nodes: [a, b, @c.d]\nlinks: [{between: [a, b]}]\n", "'c.d' is not a valid name",
       "a letter, then"},
      {"nodes: [a, b, @[c]]\nlinks: [{between: [a, b]}]\n", "is not a valid name",
       "a letter, then"},
      {ab + "@links: {between: [a, b]}\n", "links: expected a list of links",
       "links: [{between: [a, b]}]"},
      {ab + "links: [{between: [a, b]}, @a]\n", "expected a link, which is a mapping",
       "{from: a, to: b} for one"},
      {ab + "links: [@{latency: 5ns}]\n", "a link has either 'between', or 'from' and 'to'",
       "for both directions"},
      {ab + "links: [@{from: a}]\n", "a link has either 'between', or 'from' and 'to'",
       "for both directions"},
      {ab + "links: [@{between: [a, b], from: a}]\n", "a link has either 'between'",
       "for both directions"},
      {ab + "links: [{between: @[a, b, a]}]\n", "expected the names of two vertices",
       "between: [a, b]"},
      {ab + "links: [{between: @a}]\n", "expected the names of two vertices", "between: [a, b]"},
      {ab + "links: [{between: [a, b]}, {between: [a, @c]}]\n",
       "'c' is neither a node nor a switch", "list it under"},
      {"nodes: [left, right]\nlinks: [{between: [left, @rigth]}]\n",
       "'rigth' is neither a node nor a switch", "did you mean 'right'?"},
      {ab + "links: [{between: [a, b]}, {from: b, to: @b}]\n", "a link joins 'b' to itself", ""},
      {ab + "links: [{between: [a, b], @lateny: 5ns}]\n", "unknown key 'lateny'",
       "did you mean 'latency'?"},
      {ab + "links: [{between: [a, b], latency: @5}]\n", "latency: '5' has no unit",
       "for example 150ns"},
      {ab + "links: [{between: [a, b], bandwidth: @32GB/s}]\n", "at most one flit per router cycle",
       "set system.router.flit_bytes: 32"},
      {ab + "links: [{between: [a, b], count: @0}]\n", "count: 0 is out of range",
       "integer, 1 to 64"},
      {ab + "links: [{between: [a, b], @count: }]\n", "count: has no value", "integer, 1 to 64"},
      {"nodes: [a, b, @c]\nlinks: [{between: [a, b]}]\n",
       "there is no path from 'a' to 'c' and back", "add links to and from 'c'"},
      {"nodes: [a, @b]\nlinks: [{from: a, to: b}]\n", "there is no path from 'a' to 'b' and back",
       "add links to and from 'b'"},
      {"nodes: [a, b, b_1]\nlinks: [{between: [a, b_1]}, @{between: [a, b], count: 2}]\n",
       "'a' has two outputs named 'to_b_1'", "rename a vertex"},
      {ab + "@nodes: [c]\nlinks: [{between: [a, b]}]\n", "'nodes' is given twice",
       "the first is in line 1"},
  };
  for (const BadGraph& bad : cases) {
    const Marked marked = unmark(bad.input);
    const ParsedGraph parsed = parse_graph(marked.text);
    INFO(marked.text);
    INFO(parsed.diagnostics);
    CHECK_FALSE(parsed.topology);
    const auto all = parse_diagnostics(parsed.diagnostics);
    const Printed* found = find_at(all, marked, bad.message);
    REQUIRE(found != nullptr);
    CHECK(all.size() == 1);
    CHECK(found->where == "graph.yaml");
    CHECK(found->caret_column == marked.column);
    CHECK(found->excerpt == marked.excerpt);
    CHECK(found->hint.find(bad.hint) != std::string::npos);
  }
}

TEST_CASE("A link latency that is not a whole number of cycles warns at the link") {
  const ParsedGraph parsed =
      parse_graph("nodes: [a, b]\nlinks: [{between: [a, b], latency: 10.5ns}]\n");
  CHECK(parsed.topology.has_value());
  CHECK(parsed.warnings == 1);
  CHECK(parsed.diagnostics.find("graph.yaml:2:36: warning: a latency of 10500ps") == 0);
}

TEST_CASE("A configuration finds its graph file in its own folder") {
  const TemporaryFolder folder("graph_file");
  folder.write("pair.yaml", "nodes: [a, b]\nlinks: [{between: [a, b]}]\n");
  const std::string path =
      folder.write("run.yaml",
                   "system: {topology: {type: file, file: pair.yaml}, link: {latency: 20ns}}\n"
                   "collective: {algorithm: multitree, size: 1KiB}\n");
  const ConfigResult result = read_run_config(path);
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  CHECK(result.topology->num_nodes() == 2);
  CHECK(result.topology->link(LinkId(0)).spec.latency_ps == 20'000);
  const SystemConfig& system = result.points.front().system;
  CHECK(system.topology.file == "pair.yaml");
  CHECK(topology_file_path(system.topology) == folder.path() + "/pair.yaml");
  CHECK(build_topology(system).num_links() == 2);
}

TEST_CASE("Errors of a graph file are reported with those of the configuration") {
  const TemporaryFolder folder("graph_errors");
  const std::string graph = folder.write("bad.yaml", "nodes: [a, b]\nlinks: [{between: [a, c]}]\n");
  const std::string path =
      folder.write("run.yaml",
                   "system: {topology: {type: file, file: bad.yaml}, router: {vcs: 0}}\n"
                   "collective: {algorithm: multitree, size: 1KiB}\n");
  const ConfigResult result = read_run_config(path);
  CHECK_FALSE(result.ok);
  const auto all = parse_diagnostics(result.diagnostics);
  REQUIRE(all.size() == 2);
  CHECK(all[0].where == path);
  CHECK(all[0].message.find("system.router.vcs: 0 is out of range") == 0);
  CHECK(all[1].where == graph);
  CHECK(all[1].line == 2);
  CHECK(all[1].column == 23);
}

TEST_CASE("A graph whose links share no tick is refused at the file") {
  const TemporaryFolder folder("graph_ticks");
  folder.write("odd.yaml",
               "nodes: [a, b]\nlinks: [{between: [a, b], bandwidth: 15999999999B/s}]\n");
  const Marked marked =
      unmark("system: {topology: {type: file, file: @odd.yaml}}\n" + kGoodCollective);
  const ConfigResult result = read_run_config_text("odd.yaml", marked.text, folder.path());
  CHECK_FALSE(result.ok);
  CHECK(find_at(parse_diagnostics(result.diagnostics), marked, "ticks per cycle") != nullptr);
}

TEST_CASE("Building a topology again throws if its file is gone") {
  SystemConfig system;
  system.topology.type = "file";
  system.topology.file = "no/such/graph.yaml";
  CHECK_THROWS_AS(static_cast<void>(build_topology(system)), std::invalid_argument);
  system.topology.type = "mesh";
  system.topology.set("dims", {3, 2});
  CHECK(build_topology(system).num_links() == 14);
}

namespace {

// Of a 3x3 torus without `parts`; `problem`: the first line of the errors.
std::optional<Topology> torus_without(const std::vector<std::string>& parts, std::string& problem) {
  SystemConfig system;
  system.topology.set("dims", {3, 3});
  system.topology.without = parts;
  Diagnostics diagnostics;
  const Place nowhere{diagnostics.add_file("test", ""), 0, 0};
  auto topology = build_topology(system, true, {nowhere, nowhere, nowhere}, diagnostics);
  problem = diagnostics.text();
  return topology;
}

}  // namespace

TEST_CASE("A network without broken parts keeps the names and order of the others") {
  std::string problem;
  const auto rest = torus_without({"node 4", "link 0-r_0_1", "link 6->7"}, problem);
  INFO(problem);
  REQUIRE(rest);
  CHECK(rest->name() == "torus 3x3 less node 4, link 0-r_0_1, link 6->7");
  CHECK(rest->num_nodes() == 8);
  CHECK(rest->vertex_name(NodeId(4)) == "r_1_2");
  // 36 links, 8 of them at the lost node, and three lost links of others.
  CHECK(rest->num_links() == 36 - 8 - 3);
  const auto linked = [&](const char* a, const char* b) {
    return rest->link_between(rest->find_vertex(a), rest->find_vertex(b)).valid();
  };
  CHECK_FALSE(linked("r_0_0", "r_0_1"));
  CHECK_FALSE(linked("r_0_1", "r_0_0"));
  CHECK_FALSE(linked("r_2_0", "r_2_1"));
  CHECK(linked("r_2_1", "r_2_0"));
  CHECK_FALSE(rest->grid());
}

TEST_CASE("Broken parts that do not exist, or leave too little, are errors") {
  const auto problem_of = [](const std::vector<std::string>& parts) {
    std::string problem;
    CHECK_FALSE(torus_without(parts, problem));
    return problem;
  };
  CHECK_THAT(problem_of({"node 9"}), Catch::Contains("'node 9': the network has no 9"));
  CHECK_THAT(problem_of({"node r_0_7"}), Catch::Contains("did you mean r_0_0?"));
  CHECK_THAT(problem_of({"link 0-4"}), Catch::Contains("no link leads from r_0_0 to r_1_1"));
  CHECK_THAT(problem_of({"switch 1"}), Catch::Contains("1 is a node"));
  CHECK_THAT(problem_of({"cable 1"}), Catch::Contains("'cable 1' is not a part of a network"));
  CHECK_THAT(problem_of({"node 1", "node 2", "node 3", "node 6"}),
             Catch::Contains("r_1_1 is cut off from r_0_0"));
  CHECK_THAT(
      problem_of({"node 1", "node 2", "node 3", "node 4", "node 5", "node 6", "node 7", "node 8"}),
      Catch::Contains("one node is left"));
}

}  // namespace espalier
