// What pictures are drawn from: places, timesteps, blocks.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "alg/generators/generator.h"
#include "alg/time/schedule_time.h"
#include "sims/page/area.h"
#include "sims/page/rebuild.h"
#include "sims/page/topology_layout.h"
#include "tests/support/networks.h"
#include "tests/unit/test_graphs.h"

using namespace espalier;
using namespace espalier::report;
using Json = nlohmann::ordered_json;

namespace {

std::vector<Topology> all_shapes() {
  std::vector<Topology> shapes;
  shapes.push_back(make_torus({8}, test::kPlainLink));
  shapes.push_back(make_torus({2, 4}, test::kPlainLink));
  shapes.push_back(make_torus({3, 4, 2}, test::kPlainLink));
  shapes.push_back(make_mesh({4, 1, 3}, test::kPlainLink));
  shapes.push_back(make_fully_connected(5, test::kPlainLink));
  shapes.push_back(make_single_switch(6, test::kPlainLink));
  shapes.push_back(make_switch_pair(4, test::kPlainLink));
  shapes.push_back(make_fat_tree(2, 3, 4, test::kPlainLink));
  shapes.push_back(make_bigraph(2, 6, test::kPlainLink));
  shapes.push_back(make_dragonfly(2, 2, 3, test::kPlainLink));
  shapes.push_back(make_gpu_cluster({1, 4, 1, 1}, test::kPlainLink, test::kPlainLink));
  shapes.push_back(make_gpu_cluster({2, 4, 2, 2}, test::kPlainLink, test::kPlainLink));
  shapes.push_back(make_data_center({1, 2, 4, 2, 1, 1, 1, 1, 3, 1},
                                    {test::kPlainLink, test::kPlainLink, test::kPlainLink}));
  shapes.push_back(make_data_center({2, 2, 4, 2, 2, 1, 2, 1, 4, 1},
                                    {test::kPlainLink, test::kPlainLink, test::kPlainLink}));
  Topology graph("graph");
  for (const char* name : {"a", "b", "c"}) graph.add_node(name);
  graph.add_link(NodeId(0), NodeId(1), test::kPlainLink, "x", "y");
  graph.add_link(NodeId(1), NodeId(2), test::kPlainLink, "x", "y");
  graph.add_link(NodeId(2), NodeId(0), test::kPlainLink, "x", "y");
  shapes.push_back(graph);
  return shapes;
}

ReportPoint point_with_area(const Json& area) {
  ReportPoint point;
  point.result = Json{{"area", area}};
  return point;
}

}  // namespace

TEST_CASE("Every vertex of every topology has a place of its own in the picture") {
  for (const Topology& topology : all_shapes()) {
    CAPTURE(topology.name());
    const TopologyLayout layout(topology, 460);
    std::set<std::pair<long, long>> places;
    for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
      const report::Place at = layout.place(NodeId(v));
      CHECK(at.x >= 0);
      CHECK(at.x <= layout.width());
      CHECK(at.y >= 0);
      CHECK(at.y <= layout.height());
      places.insert({std::lround(at.x * 10), std::lround(at.y * 10)});
    }
    CHECK(places.size() == topology.num_vertices());
  }
}

TEST_CASE("No two links are drawn over each other") {
  for (const Topology& topology : all_shapes()) {
    CAPTURE(topology.name());
    const TopologyLayout layout(topology, 460);
    std::set<std::string> paths;
    for (std::size_t l = 0; l < topology.num_links(); ++l) paths.insert(layout.link(LinkId(l), 2));
    CHECK(paths.size() == topology.num_links());
    CHECK(paths.count("") == 0);
  }
}

TEST_CASE("A link around a torus is drawn as its ends, any other as one line") {
  const Topology torus = make_torus({4, 4}, test::kPlainLink);
  const TopologyLayout layout(torus, 460);
  const auto lines = [&](NodeId from, NodeId to) {
    const std::string path = layout.link(torus.link_between(from, to), 0);
    return std::count(path.begin(), path.end(), 'M');
  };
  CHECK(lines(NodeId(0), NodeId(1)) == 1);
  CHECK(lines(NodeId(0), NodeId(3)) == 2);
  CHECK(lines(NodeId(0), NodeId(12)) == 2);
}

TEST_CASE("A tree reaches every node once, and is busy in the steps of its messages alone") {
  const Topology mesh = make_mesh({2, 2}, test::kPlainLink);
  CollectiveRequest request;
  request.size = 4096;
  const Schedule schedule = find_generator("multitree")->generate(mesh, request);
  // Four flows, each a tree to its root and one from it, in the order of time: all reductions begin
  // first.
  const std::vector<NumberedTree> trees = numbered_trees(mesh, schedule, MessageTiming{});
  REQUIRE(trees.size() == 8);
  for (std::size_t t = 0; t < trees.size(); ++t) {
    CHECK(trees[t].reduces == (t < 4));
    CHECK(trees[t].edges.size() == 3);
    CHECK((t == 0 || trees[t - 1].edges.front().number <= trees[t].edges.front().number));
    std::set<NodeId> reached;
    for (const TreeEdge& edge : trees[t].edges) {
      reached.insert(trees[t].reduces ? edge.from : edge.to);
    }
    CHECK(reached.size() == 3);
  }

  const Occupancy occupied = occupancy(mesh, schedule, MessageTiming{});
  REQUIRE(occupied.of_all.size() == schedule.num_steps);
  double hops = 0;
  for (const double part : occupied.of_all) hops += part * static_cast<double>(mesh.num_links());
  // Contention-free: every transfer has its link for itself.
  CHECK(hops == Approx(schedule.transfers.size()));
  for (const auto& parts : occupied.of_vertex) CHECK(parts.size() == 4);
}

TEST_CASE("A planned schedule is shown by planned time, not by its one timestep") {
  const Topology mesh = make_mesh({2, 2}, test::kPlainLink);
  CollectiveRequest request;
  request.size = 4096;
  Schedule schedule = find_generator("ring")->generate(mesh, request);
  schedule.listed_order = true;
  const std::vector<NumberedTree> trees = numbered_trees(mesh, schedule, MessageTiming{});
  REQUIRE_FALSE(trees.back().reduces);
  const NumberedTree& tree = trees.back();
  CHECK(tree.planned);
  // The time in which the last link has carried each message.
  for (const TreeEdge& edge : tree.edges) {
    std::uint64_t end_ps = 0;
    for (const LinkUse& use : planned_link_uses(mesh, schedule, MessageTiming{})) {
      const Transfer& transfer = schedule.transfers[use.transfer.index()];
      if (transfer.kind == TransferKind::copy && transfer.flow == tree.flow &&
          transfer.from == edge.from && transfer.to == edge.to)
        end_ps = use.end_ps;
    }
    CHECK(edge.number == Approx(static_cast<double>(end_ps) * 1e-6));
  }
  CHECK(tree.edges.front().number > 0);
  CHECK(std::is_sorted(tree.edges.begin(), tree.edges.end(),
                       [](const TreeEdge& a, const TreeEdge& b) { return a.number < b.number; }));
  const Occupancy occupied = occupancy(mesh, schedule, MessageTiming{});
  CHECK(occupied.planned);
  CHECK(occupied.end_us > 0);
  double busy_us = 0;
  for (const double part : occupied.of_all)
    busy_us += part * static_cast<double>(mesh.num_links()) * occupied.end_us /
               static_cast<double>(occupied.of_all.size());
  double planned_us = 0;
  for (const LinkUse& use : planned_link_uses(mesh, schedule, MessageTiming{}))
    planned_us += static_cast<double>(use.end_ps - use.start_ps) * 1e-6;
  CHECK(busy_us == Approx(planned_us));
}

TEST_CASE("Blocks are those of router and NI, of all instances, however the result counts them") {
  const Json blocks = {
      {{"block", "router.buffers"}, {"count", 5}, {"um2", 10.0}, {"um2_high", 25.0}},
      {{"block", "router.crossbar"}, {"count", 1}, {"um2", 7.0}},
      {{"block", "ni.table"}, {"count", 1}, {"um2", 3.0}, {"origin", "user"}}};
  const auto each = area_units(point_with_area({{"router_um2", 57.0}, {"blocks", blocks}}));
  REQUIRE(each.size() == 2);
  CHECK(each[0].name == "router");
  CHECK(each[0].low() == Approx(57));
  CHECK(each[0].high() == Approx(132));
  CHECK(each[1].blocks.front().origin == "user");
  const auto together = area_units(point_with_area({{"router_um2", 17.0}, {"blocks", blocks}}));
  CHECK(together[0].low() == Approx(17));
  CHECK(area_units(point_with_area({{"system_mm2", 1.0}})).empty());
  CHECK(area_units(ReportPoint{}).empty());
}

namespace {

// Three boxes of four nodes, with slow cables between the boxes.
Topology boxes() {
  Topology graph("boxes");
  const LinkSpec fast{100000, 50000000000, 0};
  const LinkSpec slow{500000, 12500000000, 0};
  for (int n = 0; n < 12; ++n) graph.add_node("n" + std::to_string(n));
  int port = 0;
  const auto join = [&](std::size_t a, std::size_t b, const LinkSpec& spec) {
    const std::string name = "p" + std::to_string(port++);
    graph.add_link(NodeId(a), NodeId(b), spec, name + "o", name + "i");
    graph.add_link(NodeId(b), NodeId(a), spec, name + "x", name + "y");
  };
  for (std::size_t box = 0; box < 3; ++box) {
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < a; ++b) join(4 * box + a, 4 * box + b, fast);
    }
  }
  for (const auto& [a, b] : {std::pair{3U, 4U}, {7U, 8U}, {11U, 0U}, {2U, 5U}, {6U, 9U}})
    join(a, b, slow);
  return graph;
}

double distance(const TopologyLayout& layout, std::size_t a, std::size_t b) {
  const report::Place from = layout.place(NodeId(a));
  const report::Place to = layout.place(NodeId(b));
  return std::hypot(from.x - to.x, from.y - to.y);
}

}  // namespace

TEST_CASE("The nodes of a box stand together") {
  const Topology graph = boxes();
  const TopologyLayout layout(graph, 460);
  double within = 0;
  double between = 1e9;
  for (std::size_t a = 0; a < 12; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (a / 4 == b / 4) {
        within = std::max(within, distance(layout, a, b));
      } else {
        between = std::min(between, distance(layout, a, b));
      }
    }
  }
  CHECK(within < between);
}

TEST_CASE("The same irregular network always has the same places") {
  const Topology graph = boxes();
  const TopologyLayout a(graph, 460);
  const TopologyLayout b(graph, 460);
  for (std::size_t v = 0; v < 12; ++v) {
    CHECK(a.place(NodeId(v)).x == b.place(NodeId(v)).x);
    CHECK(a.place(NodeId(v)).y == b.place(NodeId(v)).y);
  }
}

TEST_CASE("A network with positions is drawn by them, layers side by side") {
  Topology graph = make_fully_connected(6, test::kPlainLink);
  NetworkShape shape;
  shape.at = {{0, 0, 0}, {10, 0, 0}, {20, 0, 0}, {0, 30, 0}, {0, 0, 5}, {20, 30, 5}};
  graph.set_shape(shape);
  const TopologyLayout layout(graph, 460);
  const double step = layout.place(NodeId(1)).x - layout.place(NodeId(0)).x;
  CHECK(step == Approx(2 * layout.room()));
  CHECK(layout.place(NodeId(2)).x - layout.place(NodeId(1)).x == Approx(step));
  CHECK(layout.place(NodeId(3)).y - layout.place(NodeId(0)).y == Approx(3 * step));
  CHECK(layout.place(NodeId(4)).x - layout.place(NodeId(2)).x == Approx(2 * step));
  CHECK(layout.place(NodeId(4)).y == layout.place(NodeId(0)).y);
  CHECK(layout.place(NodeId(5)).x < layout.width());
  // A line from 0 to 2 would pass 1; one from 0 to 4 leaves the layer.
  const auto path = [&](std::size_t a, std::size_t b) {
    return layout.link(graph.link_between(NodeId(a), NodeId(b)), 1);
  };
  CHECK(path(0, 1).find('Q') == std::string::npos);
  CHECK(path(0, 2).find('Q') != std::string::npos);
  const std::string ends = path(0, 4);
  CHECK(std::count(ends.begin(), ends.end(), 'M') == 2);
  CHECK(layout.has_ends());
}

TEST_CASE("A grid with a broken part stands as the grid does") {
  const Topology torus = make_torus({3, 4, 2}, test::kPlainLink);
  std::vector<bool> lost_nodes(torus.num_vertices(), false);
  std::vector<bool> lost_links(torus.num_links(), false);
  lost_nodes[5] = lost_links[2] = true;
  const TopologyLayout whole(torus, 460);
  const TopologyLayout rest(without_parts(torus, "rest", lost_nodes, lost_links), 460);
  for (std::size_t n = 0; n < torus.num_nodes(); ++n) {
    if (n == 5) continue;
    const report::Place at = rest.place(NodeId(n < 5 ? n : n - 1));
    CHECK(at.x == Approx(whole.place(NodeId(n)).x));
    CHECK(at.y == Approx(whole.place(NodeId(n)).y));
  }
}

TEST_CASE("Names on a map overlap neither each other nor a vertex") {
  std::vector<Topology> shapes = all_shapes();
  shapes.push_back(boxes());
  for (const Topology& topology : shapes) {
    CAPTURE(topology.name());
    const TopologyLayout layout(topology, 460);
    const double size = 6;
    const auto labels = map_labels(topology, layout, size);
    for (std::size_t a = 0; a < labels.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const bool apart = labels[a].left >= labels[b].left + labels[b].width ||
                           labels[b].left >= labels[a].left + labels[a].width ||
                           std::abs(labels[a].line - labels[b].line) >= kMapLabelHeight;
        CHECK(apart);
      }
      for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
        const report::Place at = layout.place(NodeId(v));
        const bool covers = at.x > labels[a].left && at.x < labels[a].left + labels[a].width &&
                            at.y > labels[a].line - 10 && at.y < labels[a].line;
        CHECK_FALSE(covers);
      }
    }
  }
  CHECK(map_labels(boxes(), TopologyLayout(boxes(), 460), 6).size() == 12);
}

TEST_CASE("Only networks with wrap-around links have links that are drawn as ends") {
  const Topology torus = make_torus({4, 4}, test::kPlainLink);
  CHECK(TopologyLayout(torus, 460).has_ends());
  const Topology mesh = make_mesh({4, 4}, test::kPlainLink);
  CHECK_FALSE(TopologyLayout(mesh, 460).has_ends());
  const Topology graph = boxes();
  CHECK_FALSE(TopologyLayout(graph, 460).has_ends());
}
