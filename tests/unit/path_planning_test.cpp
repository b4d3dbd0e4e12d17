// Paths of an all_to_all, the prices that bound it, and time slots of messages through several
// switches.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "alg/bounds/bounds.h"
#include "alg/generators/generator.h"
#include "alg/generators/ranked_schedules.h"
#include "alg/packing/balanced_paths.h"
#include "alg/packing/forest_task.h"
#include "alg/packing/link_order.h"
#include "alg/packing/round_plan.h"
#include "alg/packing/shift_routes.h"
#include "alg/schedule/schedule_table.h"
#include "test_graphs.h"
#include "test_networks.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;
using espalier::test::kPlainLink;

namespace {

// Seconds per byte of the collective's size on the busiest link.
double busiest(const Topology& topology, std::uint32_t pieces) {
  const std::vector<LinkPath> paths = balanced_paths(topology, pieces);
  const std::size_t nodes = topology.num_nodes();
  std::vector<double> load(topology.num_links(), 0);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    NodeId at(i / pieces / nodes);
    for (const LinkId l : paths[i]) {
      REQUIRE(topology.link(l).from == at);
      at = topology.link(l).to;
      load[l.index()] += 1.0 / pieces / static_cast<double>(nodes);
    }
    REQUIRE(at == NodeId(i / pieces % nodes));
  }
  double most = 0;
  for (std::size_t l = 0; l < load.size(); ++l) {
    most = std::max(most,
                    load[l] / static_cast<double>(topology.link(LinkId(l)).spec.bytes_per_second));
  }
  return most;
}

// What the prices prove, with distances by Floyd and Warshall.
double proven(const Topology& topology, const std::vector<double>& price) {
  const std::size_t vertices = topology.num_vertices();
  std::vector<std::vector<double>> distance(
      vertices, std::vector<double>(vertices, std::numeric_limits<double>::infinity()));
  double all = 0;
  for (std::size_t v = 0; v < vertices; ++v) distance[v][v] = 0;
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    const TopologyLink& link = topology.link(LinkId(l));
    REQUIRE(price[l] >= 0);
    double& d = distance[link.from.index()][link.to.index()];
    d = std::min(d, price[l]);
    all += price[l] * static_cast<double>(link.spec.bytes_per_second);
  }
  for (std::size_t k = 0; k < vertices; ++k) {
    for (std::size_t i = 0; i < vertices; ++i) {
      for (std::size_t j = 0; j < vertices; ++j) {
        distance[i][j] = std::min(distance[i][j], distance[i][k] + distance[k][j]);
      }
    }
  }
  double paid = 0;
  for (std::size_t i = 0; i < topology.num_nodes(); ++i) {
    for (std::size_t j = 0; j < topology.num_nodes(); ++j) paid += distance[i][j];
  }
  return paid / static_cast<double>(topology.num_nodes()) / all;
}

// w x h nodes; rates in GB/s along rows and columns.
Topology mesh_of_rates(int w, int h, std::uint64_t along_row, std::uint64_t along_column) {
  Topology mesh("mesh of two rates");
  for (int n = 0; n < w * h; ++n) mesh.add_node("n" + std::to_string(n));
  const auto cable = [&](int a, int b, std::uint64_t rate) {
    const LinkSpec spec{1, rate * 1'000'000'000};
    test::add_cable(mesh, static_cast<std::size_t>(a), static_cast<std::size_t>(b), spec, spec);
  };
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      if (x + 1 < w) cable(w * y + x, w * y + x + 1, along_row);
      if (y + 1 < h) cable(w * y + x, w * y + x + w, along_column);
    }
  }
  return mesh;
}

}  // namespace

TEST_CASE("Prices of links prove what the bound of an all_to_all says, and no paths do better") {
  for (const Topology& topology : test::small_networks()) {
    CAPTURE(topology.name());
    const LinkPrices prices = all_to_all_prices(topology);
    CHECK(prices.seconds == Approx(proven(topology, prices.price)).epsilon(1e-9));
    const double bound = all_to_all_bound(topology).seconds_per_byte;
    CHECK(bound >= prices.seconds * 0.999);
    CHECK(busiest(topology, 2) >= bound * (1 - 1e-9));
  }
}

TEST_CASE("A mesh's narrow middle bounds an all_to_all, whatever the rates of its other links") {
  // 10 x 15 of 25 x 25 pairs cross the five links between the columns 2 and 3 of slow rows.
  const Topology mesh = mesh_of_rates(5, 5, 50, 75);
  const double bound = 10.0 * 15 / 25 / (5 * 50e9);
  CHECK(all_to_all_prices(mesh).seconds == Approx(bound).epsilon(2e-3));
  CHECK(busiest(mesh, 2) == Approx(bound).epsilon(5e-3));
}

TEST_CASE("Prices of a twisted torus are as good as those of the linear program") {
  Topology torus("6 x 4, twisted by 3");
  for (int n = 0; n < 24; ++n) torus.add_node("n" + std::to_string(n));
  const LinkSpec spec{1, 50'000'000'000};
  for (std::size_t n = 0; n < 24; ++n) {
    test::add_cable(torus, n, n / 6 * 6 + (n % 6 + 1) % 6, spec, spec);
    test::add_cable(torus, n, n < 18 ? n + 6 : (n % 6 + 3) % 6, spec, spec);
  }
  // The optimum that scipy.optimize.linprog finds: 67/120 of the size at the rate of a link.
  CHECK(all_to_all_prices(torus).seconds == Approx(67.0 / 120 / 50e9).epsilon(1e-3));
}

TEST_CASE("Paths of an all_to_all on an even grid are the best ones") {
  for (const Topology& grid : {make_torus({8, 8}, kPlainLink), make_torus({4, 4, 8}, kPlainLink),
                               make_torus({5, 3}, kPlainLink), make_mesh({8, 8}, kPlainLink),
                               make_mesh({3, 5}, kPlainLink), make_mesh({4, 2, 3}, kPlainLink),
                               make_torus({6}, kPlainLink), make_torus({2, 2}, kPlainLink),
                               make_torus({2, 2, 2}, kPlainLink), make_torus({2, 3}, kPlainLink),
                               make_torus({6, 4}, kPlainLink), make_torus({10, 4}, kPlainLink),
                               make_torus({4, 4, 2}, kPlainLink)}) {
    CAPTURE(grid.name());
    if (grid.name() != "torus 6") {  // half-way are 3 links, which one piece cannot halve
      CHECK(busiest(grid, 1) == Approx(all_to_all_bound(grid).seconds_per_byte));
    }
    CHECK(busiest(grid, 2) == Approx(all_to_all_bound(grid).seconds_per_byte));
  }
}

TEST_CASE("Paths of an all_to_all load each dimension of a mixed grid with what must cross it") {
  for (const KeyValues& values : std::vector<KeyValues>{
           {{"dims", {4, 4, 4}}, {"wrap", {1, 1, 1}}, {"bandwidth", {0, 0, 8'000'000'000}}},
           {{"dims", {4, 4}}, {"wrap", {1, 0}}},
           {{"dims", {8, 4}}, {"wrap", {1, 0}}, {"bandwidth", {0, 20'000'000'000}}},
           {{"dims", {4, 4, 2}}, {"wrap", {1, 1, 1}}, {"links", {0, 0, 1}}},
           {{"dims", {4, 3}}, {"wrap", {0, 1}}, {"links", {2, 1}}}}) {
    const Topology grid = make_grid(values, kPlainLink);
    CAPTURE(grid.name());
    CHECK(busiest(grid, 4) == Approx(all_to_all_bound(grid).seconds_per_byte));
  }
}

// Camarero, Martinez, Beivide, "Lattice graphs for high-scale interconnection topologies", 2015:
// twists shorten the ways, and the directions of a twisted torus can be level.
TEST_CASE("Paths of an all_to_all on a twisted torus load all directions alike") {
  const auto gain = [](const std::vector<std::uint64_t>& dims,
                       const std::vector<std::uint64_t>& twist) {
    const std::vector<std::uint64_t> wrap(dims.size(), 1);
    const Topology regular = make_grid({{"dims", dims}, {"wrap", wrap}}, kPlainLink);
    const Topology twisted =
        make_grid({{"dims", dims}, {"wrap", wrap}, {"twist", twist}}, kPlainLink);
    const double best = busiest(twisted, 4);
    CHECK(best <= all_to_all_bound(twisted).seconds_per_byte * 1.005);
    return busiest(regular, 4) / best;
  };
  CHECK(gain({4, 4, 8}, {0, 4, 4}) == Approx(1.745).epsilon(0.005));
  if (!test::kSanitized) CHECK(gain({8, 16}, {8}) == Approx(1.506).epsilon(0.005));
}

TEST_CASE("Paths of an all_to_all follow links in an order that cannot deadlock") {
  for (const Topology& topology : test::small_networks()) {
    if (topology.num_switches() == 0) continue;
    CAPTURE(topology.name());
    // Which link waits for which at a switch, over all paths; a search for a cycle.
    std::vector<std::set<std::size_t>> waits(topology.num_links());
    for (const LinkPath& path : balanced_paths(topology, 4)) {
      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        if (topology.is_switch(topology.link(path[i]).to)) {
          waits[path[i].index()].insert(path[i + 1].index());
        }
      }
    }
    std::vector<int> state(waits.size(), 0);
    const auto visit = [&](const auto& self, std::size_t l) -> bool {
      if (state[l] != 0) return state[l] == 2;
      state[l] = 1;
      for (const std::size_t next : waits[l]) {
        if (!self(self, next)) return false;
      }
      state[l] = 2;
      return true;
    };
    for (std::size_t l = 0; l < waits.size(); ++l) CHECK(visit(visit, l));
  }
}

TEST_CASE("In a period, no link has two messages at once, also through three switches") {
  constexpr std::uint32_t kSeed = 20260;
  std::mt19937 random(kSeed);
  CAPTURE(kSeed);
  const Topology tree = make_fat_tree(3, 3, 3, kPlainLink);
  RouteSet routes(tree);
  std::vector<RoundOp> ops;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const NodeId from(test::pick(random, 9));
    const NodeId to((from.index() + 1 + test::pick(random, 8)) % 9);
    const NodeId up = NodeId(9 + from.index() / 3);
    const NodeId down = NodeId(9 + to.index() / 3);
    std::vector<LinkId> path{tree.link_between(from, up)};
    if (up != down) {
      const NodeId spine = NodeId(12 + test::pick(random, 3));
      path.push_back(tree.link_between(up, spine));
      path.push_back(tree.link_between(spine, down));
    }
    path.push_back(tree.link_between(down, to));
    RoundOp op;
    op.from = from;
    op.to = to;
    op.route = routes.add(tree, path);
    op.unit = i;
    ops.push_back(op);
  }
  MessageTiming timing;
  constexpr Bytes kSegment = 64 << 10;
  const RoundPlan plan = plan_round({tree, routes, ops, kSegment, timing}, true);
  const MessageTimes times(tree, routes, timing);
  std::vector<std::vector<std::uint64_t>> starts(tree.num_links());
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    for (std::size_t h = 0; h < routes.hops(ops[i].route); ++h) {
      starts[routes.link(ops[i].route, h).index()].push_back(plan.start_ps[i] % plan.period_ps);
    }
  }
  std::size_t most = 0;
  for (std::size_t l = 0; l < starts.size(); ++l) {
    most = std::max(most, starts[l].size());
    std::sort(starts[l].begin(), starts[l].end());
    for (std::size_t i = 0; i + 1 < starts[l].size(); ++i) {
      CHECK(starts[l][i + 1] - starts[l][i] >= times.occupancy_ps(LinkId(l), kSegment));
    }
  }
  // The busiest link is full but for what different numbers of hops cost.
  const auto full = static_cast<double>(most * times.occupancy_ps(LinkId(0), kSegment));
  CHECK(static_cast<double>(plan.period_ps) < 1.25 * full);
}

TEST_CASE("Messages of rounds move into the gaps at the ends of a plan, and no two share a link") {
  constexpr std::uint32_t kSeed = 20262;
  constexpr std::uint32_t kRounds = 6;
  std::mt19937 random(kSeed);
  CAPTURE(kSeed);
  // Chains of seven messages from every node of one switch, to other nodes.
  const Topology network = make_single_switch(8, kPlainLink);
  const NodeId hub(network.num_nodes());
  RouteSet routes(network);
  std::vector<RoundOp> ops;
  std::uint32_t chains = 0;
  for (int order = 0; order < 2; ++order) {
    std::vector<std::size_t> nodes(network.num_nodes());
    std::iota(nodes.begin(), nodes.end(), std::size_t{0});
    std::shuffle(nodes.begin(), nodes.end(), random);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (std::size_t hop = 0; hop < 7; ++hop) {
        RoundOp op;
        op.from = NodeId(nodes[(n + hop) % nodes.size()]);
        op.to = NodeId(nodes[(n + hop + 1) % nodes.size()]);
        op.route = routes.add(
            network, {network.link_between(op.from, hub), network.link_between(hub, op.to)});
        op.unit = chains;
        if (hop > 0) op.after = {static_cast<std::uint32_t>(ops.size() - 1)};
        ops.push_back(op);
      }
      ++chains;
    }
  }
  const MessageTiming timing;
  constexpr Bytes kSegment = 4 << 10;
  const RoundPlan round = plan_round({network, routes, ops, kSegment, timing}, true);
  const RoundPlan all = justified({network, routes, ops, kSegment, timing}, round, kRounds);
  REQUIRE(all.start_ps.size() == kRounds * ops.size());
  CHECK(static_cast<double>(all.end_ps(1)) < 0.95 * static_cast<double>(round.end_ps(kRounds)));
  const MessageTimes times(network, routes, timing);
  std::vector<std::vector<std::uint64_t>> starts(network.num_links());
  std::uint64_t last = 0;
  for (std::size_t s = 0; s < all.start_ps.size(); ++s) {
    const RoundOp& op = ops[s % ops.size()];
    for (const std::uint32_t d : op.after) {
      const std::size_t before = s - s % ops.size() + d;
      CHECK(all.start_ps[s] >= all.start_ps[before] + times.arrival_ps(ops[d], kSegment));
    }
    last = std::max(last, all.start_ps[s] + times.arrival_ps(op, kSegment));
    for (std::size_t h = 0; h < routes.hops(op.route); ++h) {
      starts[routes.link(op.route, h).index()].push_back(all.start_ps[s]);
    }
  }
  CHECK(last == all.end_ps(1));
  const std::uint64_t length = times.occupancy_ps(LinkId(0), kSegment);
  for (auto& of_link : starts) {
    std::sort(of_link.begin(), of_link.end());
    for (std::size_t i = 0; i + 1 < of_link.size(); ++i) {
      CHECK(of_link[i + 1] - of_link[i] >= length);
    }
  }
}

TEST_CASE("Exchanged time slots let a round pass in less of the same period") {
  // Chains over the three dimensions of a cube in random orders, from every node: all links are
  // full.
  constexpr std::uint32_t kSeed = 20261;
  std::mt19937 random(kSeed);
  CAPTURE(kSeed);
  const Topology cube = make_mesh({2, 2, 2}, kPlainLink);
  RouteSet routes(cube);
  std::vector<RoundOp> ops;
  std::uint32_t chains = 0;
  for (int order = 0; order < 20; ++order) {
    std::vector<std::size_t> dims{1, 1, 1, 2, 2, 2, 4, 4, 4};
    std::shuffle(dims.begin(), dims.end(), random);
    for (std::size_t n = 0; n < cube.num_nodes(); ++n) {
      std::size_t at = n;
      for (std::size_t hop = 0; hop < dims.size(); ++hop) {
        RoundOp op;
        op.from = NodeId(at);
        op.to = NodeId(at ^ dims[hop]);
        op.route = routes.add(cube, {cube.link_between(op.from, op.to)});
        op.unit = chains;
        if (hop > 0) op.after = {static_cast<std::uint32_t>(ops.size() - 1)};
        ops.push_back(op);
        at ^= dims[hop];
      }
      ++chains;
    }
  }
  const MessageTiming timing;
  constexpr Bytes kSegment = 64 << 10;
  const RoundPlan before = plan_round({cube, routes, ops, kSegment, timing}, true);
  RoundPlan after = before;
  shorten_span({cube, routes, ops, kSegment, timing}, after);
  CHECK(after.period_ps == before.period_ps);
  CHECK(static_cast<double>(after.span_ps) < 0.8 * static_cast<double>(before.span_ps));
  const MessageTimes times(cube, routes, timing);
  std::vector<std::vector<std::uint64_t>> starts(cube.num_links());
  std::uint64_t last = 0;
  for (const RoundOp& op : ops) {
    const auto o = static_cast<std::size_t>(&op - ops.data());
    for (const std::uint32_t d : op.after) {
      CHECK(after.start_ps[o] >= after.start_ps[d] + times.arrival_ps(ops[d], kSegment));
    }
    last = std::max(last, after.start_ps[o] + times.arrival_ps(op, kSegment));
    for (std::size_t h = 0; h < routes.hops(op.route); ++h) {
      starts[routes.link(op.route, h).index()].push_back(after.start_ps[o] % after.period_ps);
    }
  }
  CHECK(last == after.span_ps);
  const std::uint64_t length = times.occupancy_ps(LinkId(0), kSegment);
  for (auto& of_link : starts) {
    std::sort(of_link.begin(), of_link.end());
    for (std::size_t i = 0; i + 1 < of_link.size(); ++i) {
      CHECK(of_link[i + 1] - of_link[i] >= length);
    }
    if (!of_link.empty()) {
      CHECK(of_link.front() + after.period_ps - of_link.back() >= length);
    }
  }
}

namespace {

void check_shifts(const Topology& topology, const ShiftRoutes& shifts) {
  CHECK(shifts.steps.size() == topology.num_nodes() - 1);
  std::set<std::pair<NodeId, NodeId>> pairs;
  for (const auto& step : shifts.steps) {
    CHECK(step.size() == topology.num_nodes());
    std::set<LinkId> used;
    for (const ShiftRoutes::Send& send : step) {
      CHECK(pairs.insert({send.from, send.to}).second);
      CHECK(send.from != send.to);
      NodeId at = send.from;
      for (const LinkId l : send.path) {
        CHECK(topology.link(l).from == at);
        CHECK(topology.link(l).spec.bytes_per_second >= shifts.rate);
        CHECK(used.insert(l).second);
        at = topology.link(l).to;
      }
      CHECK(at == send.to);
    }
  }
}

}  // namespace

TEST_CASE("Where leaves have as many ways as nodes, all nodes send at once and no two meet") {
  const std::vector<Topology> networks{
      make_single_switch(5, kPlainLink), make_switch_pair(3, kPlainLink),
      make_fat_tree(3, 4, 3, kPlainLink), make_fat_tree(2, 3, 5, kPlainLink)};
  for (const Topology& topology : networks) {
    CAPTURE(topology.name());
    const auto shifts = shift_routes(topology);
    REQUIRE(shifts.size() == 1);
    check_shifts(topology, shifts.front());
  }
  CHECK(shift_routes(make_fat_tree(3, 4, 2, kPlainLink)).empty());
  CHECK(shift_routes(make_torus({3, 3}, kPlainLink)).empty());
}

TEST_CASE("Switches that are connected over nodes only are planes, each with its own shifts") {
  Topology planes("planes");
  for (int n = 0; n < 4; ++n) planes.add_node("n" + std::to_string(n));
  for (const std::uint64_t rate : {12ULL, 10ULL, 10ULL}) {
    const NodeId s = planes.add_switch("s" + std::to_string(planes.num_switches()));
    const LinkSpec spec{1, rate * 1'000'000'000};
    for (std::size_t n = 0; n < 4; ++n) test::add_cable(planes, n, s.index(), spec, spec);
  }
  const auto shifts = shift_routes(planes);
  REQUIRE(shifts.size() == 3);
  std::set<LinkId> used;
  for (const ShiftRoutes& plane : shifts) {
    check_shifts(planes, plane);
    for (const auto& step : plane.steps) {
      for (const ShiftRoutes::Send& send : step) used.insert(send.path.begin(), send.path.end());
    }
  }
  CHECK(used.size() == planes.num_links());
  CHECK(shifts.front().rate == 12'000'000'000);
  // One node less on one plane: no shifts.
  std::vector<bool> lost(planes.num_links(), false);
  lost.back() = true;
  CHECK(shift_routes(without_parts(planes, "less", std::vector<bool>(7, false), lost)).empty());
}

TEST_CASE("Planning 256 nodes of a full fat-tree takes their own messages only") {
  const Topology tree = make_fat_tree(16, 16, 16, kPlainLink);
  const Generator* forest = find_generator("forest");
  CHECK(forest->unsuited(tree).empty());
  CHECK_FALSE(forest->unsuited(make_fat_tree(16, 16, 8, kPlainLink)).empty());
  CollectiveRequest request;
  request.op = CollectiveOp::all_gather;
  request.size = Bytes{64} << 20;
  const Schedule schedule = forest->generate(tree, request);
  CHECK(schedule.transfers.size() == 256 * 255);
}

TEST_CASE("Planning ends when its budget is spent, with the best plan so far, and says so") {
  // Two switches, joined by a link of another rate: paths are tried in several ways.
  Topology network("two switches");
  for (int n = 0; n < 6; ++n) network.add_node("n" + std::to_string(n));
  const NodeId s[] = {network.add_switch("s0"), network.add_switch("s1")};
  const auto cable = [&](NodeId a, NodeId b, std::uint64_t gb) {
    const LinkSpec link{200'000, gb * 1'000'000'000};
    network.add_link(a, b, link, "o" + std::to_string(b.value()), "i" + std::to_string(a.value()));
    network.add_link(b, a, link, "o" + std::to_string(a.value()), "i" + std::to_string(b.value()));
  };
  for (std::size_t n = 0; n < 6; ++n) cable(NodeId(n), s[n / 3], 16);
  cable(s[0], s[1], 10);
  CollectiveRequest request;
  request.op = CollectiveOp::all_gather;
  request.size = 16 << 20;
  const ForestTask task(network, request);
  SegmentSearch whole(network, request);
  SegmentSearch short_of_work(network, request, 1);
  plan_directed_trees(task, whole);
  plan_directed_trees(task, short_of_work);
  CHECK_FALSE(whole.is_spent());
  CHECK(short_of_work.is_spent());
  CHECK(short_of_work.time_ps() >= whole.time_ps());
  CHECK_FALSE(whole.schedule("forest").is_budget_spent);
  const Schedule stopped = short_of_work.schedule("forest");
  CHECK(stopped.is_budget_spent);
  CHECK(lower_to_tables(stopped).choice == "forest, planned until its budget was spent");
}

TEST_CASE("Searches for trees and paths end once their budget is spent and there is a plan") {
  const Topology mesh = make_mesh({8, 8}, kPlainLink);
  const PackGraph graph = pack_graph(mesh, false);
  const WorkBudget no_plan(0);
  const auto choices = best_undirected_trees(mesh, graph, 0.005, no_plan);
  REQUIRE(choices.size() == 1);  // the first trees are a plan, so the search ends with them
  CHECK(choices.front().size() < best_undirected_trees(mesh, graph, 0.005).back().size());
  CHECK(no_plan.is_spent());
  const UnitRate unit = best_unit_rate(graph, 1, best_root_rate(graph));
  const std::vector<std::int64_t> demand(64, 1);
  CHECK(pack_out_trees(graph, unit.units, demand, false, WorkBudget(0)).size() == 64);
  CHECK(pack_out_trees(graph, unit.units, demand, false, no_plan).empty());
  const MessageTiming timing;
  CHECK(timed_out_trees(mesh, graph, 1, 256, timing, TimedOrder::busy, false, no_plan).empty());
  // Paths are complete at any time: a spent budget only ends their improvement.
  const Topology ring = test::cables(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {0, 3}});
  const WorkBudget short_of_work(1);
  const auto paths = balanced_paths(ring, 2, RateRule::slowest, short_of_work);
  CHECK(short_of_work.is_spent());
  for (std::size_t p = 0; p < paths.size(); ++p) CHECK(paths[p].empty() == (p / 2 % 7 == 0));
}

TEST_CASE("auto leaves out algorithms whose work exceeds its budget, and says so") {
  // Behind a switch of 512 nodes the copies of every root wait for 511 reduces: 2^27 waits.
  const Topology topology = make_single_switch(512, kPlainLink);
  CollectiveRequest request;
  request.size = 1 << 20;
  const auto ranked = fastest_schedules(topology, request, 1);
  CHECK(ranked.front().generator->name == "halving_doubling");
  CHECK(ranked.front().name == "halving_doubling (the budget was spent before multitree)");
}

TEST_CASE("More pieces than a plan can hold are refused, with a number that fits") {
  const Topology torus = make_torus({8, 8}, kPlainLink);
  const Generator& generator = *find_generator("a2a_paths");
  CollectiveRequest request;
  request.op = CollectiveOp::all_to_all;
  request.segments = 65536;
  const auto problem = generator.problem(torus, request);
  REQUIRE(problem);
  CHECK(problem->key == "collective.segments");
  request.segments = static_cast<std::uint32_t>(problem->instead);
  CHECK_FALSE(generator.problem(torus, request));
  ++request.segments;
  CHECK(generator.problem(torus, request));
}

TEST_CASE("The sends of all rounds are in the order of their starts, then rounds, then ops") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    RoundPlan plan;
    const auto rounds = static_cast<std::uint32_t>(1 + random() % 6);
    if (rounds > 1) plan.period_ps = 1 + random() % 20;  // short: many starts are equal
    const std::size_t ops = 1 + random() % 12;
    for (std::size_t o = 0; o < ops; ++o) plan.start_ps.push_back(random() % 50);
    std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> expected;
    for (std::uint32_t w = 0; w < rounds; ++w) {
      for (std::uint32_t o = 0; o < ops; ++o) {
        expected.emplace_back(plan.start_ps[o] + w * plan.period_ps, w, o);
      }
    }
    std::sort(expected.begin(), expected.end());
    std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> sends;
    for (const RoundSend& send : all_sends(plan, rounds)) {
      sends.emplace_back(send.start_ps, send.round, send.op);
    }
    CHECK(sends == expected);
  }
}

TEST_CASE("Where switches store messages, each link is busy for its own time only") {
  // Four nodes of 4 GB/s send to one of 16 GB/s, which sends to them: no link idles.
  Topology star("star of two rates");
  for (int n = 0; n < 5; ++n) star.add_node("n" + std::to_string(n));
  const NodeId s = star.add_switch("s");
  std::vector<LinkId> up;
  std::vector<LinkId> down;
  for (std::size_t n = 0; n < 5; ++n) {
    const std::uint64_t rate = n == 0 ? 16'000'000'000 : 4'000'000'000;
    up.push_back(star.add_link(NodeId(n), s, {50'000, rate}, "o", "i" + std::to_string(n)));
    down.push_back(star.add_link(s, NodeId(n), {50'000, rate}, "o" + std::to_string(n), "i"));
  }
  RouteSet routes(star);
  std::vector<RoundOp> ops;
  for (std::size_t n = 1; n < 5; ++n) {
    RoundOp to_fast;
    to_fast.from = NodeId(n);
    to_fast.to = NodeId(0);
    to_fast.route = routes.add(star, {up[n], down[0]});
    to_fast.unit = static_cast<std::uint32_t>(n - 1);
    ops.push_back(to_fast);
    RoundOp back;
    back.from = NodeId(0);
    back.to = NodeId(n % 4 + 1);
    back.route = routes.add(star, {up[0], down[n % 4 + 1]});
    back.unit = to_fast.unit;
    back.after = {static_cast<std::uint32_t>(ops.size() - 1)};
    ops.push_back(back);
  }
  MessageTiming timing;
  constexpr Bytes kSegment = 4 << 10;
  const MessageTimes times(star, routes, timing);
  const RoundPlan plan = plan_stored_round({star, routes, ops, kSegment, timing});
  CHECK(plan.period_ps == times.occupancy_ps(up[1], kSegment));
  CHECK(plan_round({star, routes, ops, kSegment, timing}, true).period_ps >= 4 * plan.period_ps);
  std::vector<std::uint64_t> starts;  // of the messages from the fast node, which share its link
  for (std::size_t o = 0; o < ops.size(); ++o) {
    for (const std::uint32_t d : ops[o].after) {
      CHECK(plan.start_ps[o] >= plan.start_ps[d] + times.arrival_ps(ops[d], kSegment));
    }
    if (ops[o].from == NodeId(0)) starts.push_back(plan.start_ps[o] % plan.period_ps);
    CHECK(plan.span_ps >= plan.start_ps[o] + times.arrival_ps(ops[o], kSegment));
  }
  std::sort(starts.begin(), starts.end());
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    CHECK(starts[i + 1] - starts[i] >= times.occupancy_ps(up[0], kSegment));
  }
}
