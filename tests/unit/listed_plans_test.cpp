// Orders without a period on direct links, and the trees that they pass.
#include <catch2/catch.hpp>

#include <algorithm>

#include "alg/bounds/bounds.h"
#include "alg/generators/generator.h"
#include "alg/packing/round_plan.h"
#include "alg/packing/segment_search.h"
#include "alg/packing/tree_packing.h"
#include "alg/routes/links.h"
#include "alg/schedule/repeated_rows.h"
#include "alg/schedule/schedule_table.h"
#include "alg/schedule/translations.h"
#include "alg/time/schedule_time.h"
#include "hw/topology/topology.h"
#include "test_graphs.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

constexpr Bytes kGiB = Bytes{1} << 30;

// Every tree reduces to its root and copies back.
std::vector<RoundOp> there_and_back(const Topology& topology, const PackGraph& graph,
                                    const std::vector<PackedTree>& trees, RouteSet& routes) {
  std::vector<RoundOp> ops;
  for (std::uint32_t unit = 0; unit < trees.size(); ++unit) {
    std::vector<std::vector<std::uint32_t>> into(graph.nodes);
    const auto add = [&](std::uint32_t from, std::uint32_t to, LinkId link, TransferKind kind) {
      RoundOp op;
      op.from = NodeId(from);
      op.to = NodeId(to);
      op.route = routes.add(topology, {link});
      op.kind = kind;
      op.unit = unit;
      op.after = into[from];
      ops.push_back(std::move(op));
      return static_cast<std::uint32_t>(ops.size() - 1);
    };
    const auto& edges = trees[unit].edges;
    for (auto e = edges.rbegin(); e != edges.rend(); ++e) {
      const PackEdge& edge = graph.edges[*e];
      into[edge.from].push_back(
          add(edge.to, edge.from, link_back(topology, LinkId(*e)), TransferKind::reduce));
    }
    for (const std::uint32_t e : edges) {
      const PackEdge& edge = graph.edges[e];
      into[edge.to] = {add(edge.from, edge.to, LinkId(e), TransferKind::copy)};
    }
  }
  return ops;
}

std::vector<std::size_t> heights(const PackGraph& graph, const std::vector<PackedTree>& trees) {
  std::vector<std::size_t> result;
  for (const PackedTree& tree : trees) {
    std::vector<std::size_t> depth(graph.nodes, 0);
    for (const std::uint32_t e : tree.edges) {
      depth[graph.edges[e].to] = depth[graph.edges[e].from] + 1;
    }
    result.push_back(*std::max_element(depth.begin(), depth.end()));
  }
  return result;
}

// A flit per cycle of the links' rate, as tests/perf/tacos.py runs TACOS' networks.
CollectiveRequest large_request(CollectiveOp op, Bytes size) {
  CollectiveRequest request;
  request.op = op;
  request.size = size;
  request.timing.flit_bytes = 50;
  request.timing.payload_bytes = 400;
  return request;
}

std::uint64_t planned_ps(const Topology& topology, const CollectiveRequest& request,
                         const char* algorithm = "forest") {
  return schedule_time_ps(topology, find_generator(algorithm)->generate(topology, request),
                          request.timing);
}

double planned_share(const Topology& topology, const CollectiveRequest& request) {
  return collective_bound(topology, request.op, request.size).seconds * 1e12 /
         static_cast<double>(planned_ps(topology, request));
}

// The starts by the rule alone: the link that can send first does so, and sends the ready message
// of the highest priority; the lower copy, then the lower op wins ties.
std::vector<std::uint64_t> starts_by_rule(const RoundTask& task, std::uint32_t segments,
                                          std::uint64_t lead) {
  constexpr std::uint64_t kNever = ~std::uint64_t{0};
  const std::size_t count = task.ops.size();
  const MessageTimes times(task.topology, task.routes, task.timing);
  const std::vector<std::uint64_t> arrival = arrivals_of(task);
  const std::vector<std::uint64_t> remaining =
      remaining_paths(task.ops, successors_of(task.ops), arrival).remaining;
  std::vector<std::uint64_t> start(count * segments, kNever);
  std::vector<std::uint64_t> free(task.topology.num_links(), 0);
  const auto link_of = [&](std::size_t m) {
    return task.routes.link(task.ops[m % count].route, 0);
  };
  const auto ready = [&](std::size_t m) {
    std::uint64_t at = start[m] == kNever ? 0 : kNever;
    for (const std::uint32_t d : task.ops[m % count].after) {
      const std::uint64_t before = start[m / count * count + d];
      at = before == kNever ? kNever : std::max(at, before + arrival[d]);
      if (at == kNever) break;
    }
    return at == kNever ? kNever : std::max(at, free[link_of(m).index()]);
  };
  const auto priority = [&](std::size_t m) {
    return remaining[m % count] + lead * (segments - 1 - m / count);
  };
  for (std::size_t sent = 0; sent < start.size(); ++sent) {
    std::size_t first = 0;
    for (std::size_t m = 1; m < start.size(); ++m) {
      if (ready(m) < ready(first)) first = m;
    }
    const std::uint64_t at = ready(first);
    const LinkId link = link_of(first);
    for (std::size_t m = 0; m < start.size(); ++m) {
      if (link_of(m) == link && ready(m) == at && priority(m) > priority(first)) first = m;
    }
    start[first] = at;
    free[link.index()] = at + times.occupancy_ps(link, task.segment);
  }
  return start;
}

// Trees of a broadcast from node 0, as links from node to node, parents first.
TreeOps broadcast_tree(const Topology& topology,
                       const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  TreeOps trees(topology, 1, 0);
  std::vector<std::vector<std::uint32_t>> into(topology.num_nodes());
  for (const auto& [from, to] : edges) {
    RoundOp op;
    op.from = NodeId(from);
    op.to = NodeId(to);
    for (const LinkId l : topology.out_links(op.from)) {
      if (topology.link(l).to == op.to) op.route = trees.routes.add(topology, {l});
    }
    op.after = into[from];
    into[to] = {static_cast<std::uint32_t>(trees.ops.size())};
    trees.ops.push_back(std::move(op));
  }
  return trees;
}

// The same links without the coordinates by which a grid shows that it looks alike everywhere.
Topology without_coordinates(const Topology& grid) {
  Topology topology("plain");
  for (std::size_t n = 0; n < grid.num_nodes(); ++n) topology.add_node("n" + std::to_string(n));
  for (std::size_t l = 0; l < grid.num_links(); ++l) {
    const TopologyLink& link = grid.link(LinkId(l));
    topology.add_link(link.from, link.to, link.spec, "o" + std::to_string(l),
                      "i" + std::to_string(l));
  }
  return topology;
}

}  // namespace

TEST_CASE("A listed plan is the one that its rule gives, with ties and with unequal links") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Topology topology("random");
    for (int n = 0; n < 5; ++n) topology.add_node("n" + std::to_string(n));
    const bool equal = seed % 2 == 0;
    const auto spec = [&] {
      const std::uint64_t rate = 1 + (equal ? 3 : test::pick(random, 6));
      return LinkSpec{equal ? 1000 : 1000 * test::pick(random, 300), rate * 4'000'000'000};
    };
    for (const auto& [a, b] : test::random_pairs(random, 5, 4)) {
      test::add_cable(topology, a, b, spec(), spec());
    }
    RouteSet routes(topology);
    std::vector<RoundOp> ops;
    for (std::uint32_t o = 0; o < 24; ++o) {
      const LinkId link(test::pick(random, topology.num_links()));
      RoundOp op;
      op.from = topology.link(link).from;
      op.to = topology.link(link).to;
      op.route = routes.add(topology, {link});
      op.kind = test::pick(random, 2) == 0 ? TransferKind::reduce : TransferKind::copy;
      for (std::uint32_t d = 0; d < o; ++d) {
        if (ops[d].to == op.from && test::pick(random, 2) == 0) op.after.push_back(d);
      }
      ops.push_back(std::move(op));
    }
    const MessageTiming timing;
    const RoundTask task{topology, routes, ops, Bytes{16} << test::pick(random, 12), timing};
    const auto segments = static_cast<std::uint32_t>(1 + test::pick(random, 6));
    const std::uint64_t lead = test::pick(random, 3) * 500'000;
    CHECK(plan_list(task, segments, lead).start_ps == starts_by_rule(task, segments, lead));
  }
}

TEST_CASE("Of listed trees the fastest are taken, and of equally fast ones the first") {
  const Topology ring = make_torus({4}, test::kPlainLink);
  CollectiveRequest request;
  request.op = CollectiveOp::broadcast;
  request.size = 4096;
  const TreeOps chain = broadcast_tree(ring, {{0, 1}, {1, 2}, {2, 3}});
  const TreeOps over_1 = broadcast_tree(ring, {{0, 1}, {0, 3}, {1, 2}});
  const TreeOps over_3 = broadcast_tree(ring, {{0, 1}, {0, 3}, {3, 2}});
  const auto parent_of_2 = [&](const std::vector<const TreeOps*>& all) {
    SegmentSearch choice(ring, request);
    for (const TreeOps* trees : all) choice.consider(*trees);
    const Schedule schedule = choice.schedule("test");
    for (const Transfer& t : schedule.transfers) {
      if (t.to == NodeId(3)) CHECK(t.from == NodeId(0));  // not the chain
    }
    for (const Transfer& t : schedule.transfers) {
      if (t.to == NodeId(2)) return t.from;
    }
    return NodeId();
  };
  CHECK(parent_of_2({&chain, &over_1, &over_3}) == NodeId(1));
  CHECK(parent_of_2({&over_1, &chain, &over_3}) == NodeId(1));
  CHECK(parent_of_2({&over_3, &over_1, &chain}) == NodeId(3));
  CHECK(parent_of_2({&chain, &over_3, &over_1}) == NodeId(3));
}

TEST_CASE("A network that looks alike from every node gets no slower plan than without symmetry") {
  test::ShareOfCases share(5);
  for (const auto& dims : std::vector<std::vector<std::uint32_t>>{{4, 4}, {3, 5}, {2, 3, 4}}) {
    for (const Bytes size : {Bytes{1} << 12, Bytes{1} << 16, Bytes{1} << 20, Bytes{1} << 24}) {
      if (!share.take()) continue;
      CAPTURE(dims, size);
      const Topology torus = make_torus(dims, test::kPlainLink);
      const Topology plain = without_coordinates(torus);
      REQUIRE(Translations::find(torus));
      REQUIRE_FALSE(Translations::find(plain));
      CollectiveRequest request;
      request.size = size;
      CHECK(planned_ps(torus, request) <= planned_ps(plain, request));
    }
  }
}

TEST_CASE("A listed plan sends one message at a time, and only data that have arrived") {
  const Topology mesh = make_mesh({4, 4}, {500'000, 50'000'000'000});
  const PackGraph graph = pack_graph(mesh, false);
  RouteSet routes(mesh);
  const std::vector<RoundOp> ops =
      there_and_back(mesh, graph, best_undirected_trees(mesh, graph, 0.005).front(), routes);
  const MessageTiming timing;
  const MessageTimes times(mesh, routes, timing);
  constexpr std::uint32_t kSegments = 5;
  constexpr Bytes kSegment = 40'000;
  for (const std::uint64_t lead :
       {std::uint64_t{0}, std::uint64_t{1'000'000}, std::uint64_t{1} << 30}) {
    const RoundPlan plan = plan_list({mesh, routes, ops, kSegment, timing}, kSegments, lead);
    REQUIRE(plan.start_ps.size() == ops.size() * kSegments);
    std::vector<std::vector<std::uint64_t>> starts(mesh.num_links());
    for (std::size_t i = 0; i < plan.start_ps.size(); ++i) {
      const RoundOp& op = ops[i % ops.size()];
      starts[routes.link(op.route, 0).index()].push_back(plan.start_ps[i]);
      for (const std::uint32_t d : op.after) {
        const std::size_t before = i / ops.size() * ops.size() + d;
        CHECK(plan.start_ps[i] >= plan.start_ps[before] + times.arrival_ps(ops[d], kSegment));
      }
      CHECK(plan.span_ps >= plan.start_ps[i] + times.arrival_ps(op, kSegment));
    }
    for (std::size_t l = 0; l < starts.size(); ++l) {
      std::sort(starts[l].begin(), starts[l].end());
      for (std::size_t i = 0; i + 1 < starts[l].size(); ++i) {
        CHECK(starts[l][i + 1] >= starts[l][i] + times.occupancy_ps(LinkId(l), kSegment));
      }
    }
  }
}

TEST_CASE("With a lead, the segments of an all_reduce follow each other on all links") {
  const Topology mesh = make_mesh({4, 4}, {500'000, 50'000'000'000});
  const PackGraph graph = pack_graph(mesh, false);
  RouteSet routes(mesh);
  const std::vector<RoundOp> ops =
      there_and_back(mesh, graph, best_undirected_trees(mesh, graph, 0.005).front(), routes);
  const MessageTiming timing;
  constexpr std::uint32_t kSegments = 64;
  constexpr Bytes kSegment = 100'000;
  const std::uint64_t busy = busiest_link_ps({mesh, routes, ops, kSegment, timing});
  CHECK(busy == 5 * MessageTimes(mesh, routes, timing).occupancy_ps(LinkId(0), kSegment));
  const auto time = [&](std::uint64_t lead) {
    return static_cast<double>(
        plan_list({mesh, routes, ops, kSegment, timing}, kSegments, lead).end_ps(1));
  };
  // Without it all reduces go first, and links idle between them and the copies.
  CHECK(time(busy) < 1.1 * static_cast<double>(kSegments * busy));
  CHECK(time(0) > 1.2 * static_cast<double>(kSegments * busy));
}

TEST_CASE("The forest is faster than TACOS on a uniform mesh, and than MultiTree's own order") {
  const Topology mesh = make_mesh({5, 5}, {500'000, 50 * kGiB});
  const CollectiveRequest request = large_request(CollectiveOp::all_gather, kGiB);
  const std::uint64_t planned = planned_ps(mesh, request);
  CHECK(planned < 9606'000'000);
  CHECK(planned <= planned_ps(mesh, request, "multitree"));
}

TEST_CASE("Where whole trees waste links, more trees are taken than a short table would hold") {
  // 59 chunks over 6 links: one tree per root leaves 1 part in 60 unused, six trees nothing.
  const Topology torus = make_torus({3, 4, 5}, {500'000, 50 * kGiB});
  CHECK(planned_share(torus, large_request(CollectiveOp::all_gather, 2 * kGiB)) >= 0.99);
}

TEST_CASE("If rows repeat, an all_reduce has a period, whose table is short") {
  const Topology mesh = make_mesh({4, 4}, {500'000, 50'000'000'000});
  CollectiveRequest request = large_request(CollectiveOp::all_reduce, Bytes{16} << 20);
  const auto rows = [&] {
    const ScheduleTables tables =
        lower_to_tables(find_generator("forest")->generate(mesh, request));
    std::size_t most = 0;
    for (const auto& table : tables.nodes) most = std::max(most, repeat_rows(table).rows());
    return most;
  };
  CHECK(rows() > 256);
  request.table_repeat = true;
  CHECK(rows() <= 256);
}

TEST_CASE("An all_reduce of medium size fills a mesh of two rates") {
  Topology mesh("mesh");
  for (int n = 0; n < 16; ++n) mesh.add_node("n" + std::to_string(n));
  for (std::size_t n = 0; n < 16; ++n) {
    const auto cable = [&](std::size_t to, std::uint64_t rate, const std::string& name) {
      mesh.add_link(NodeId(n), NodeId(to), {500'000, rate}, "o" + name, "i" + name);
      mesh.add_link(NodeId(to), NodeId(n), {500'000, rate}, "p" + name, "j" + name);
    };
    if (n % 4 < 3) cable(n + 1, 50'000'000'000, "x");
    if (n < 12) cable(n + 4, 25'000'000'000, "y");
  }
  CHECK(planned_share(mesh, large_request(CollectiveOp::all_reduce, Bytes{32} << 20)) >= 0.97);
}

TEST_CASE("A listed plan over its limit is given up, and says some time over the limit") {
  const Topology mesh = make_mesh({4, 4}, {500'000, 50'000'000'000});
  const PackGraph graph = pack_graph(mesh, false);
  RouteSet routes(mesh);
  const std::vector<RoundOp> ops =
      there_and_back(mesh, graph, best_undirected_trees(mesh, graph, 0.005).front(), routes);
  const MessageTiming timing;
  const auto plan = [&](std::uint64_t limit) {
    return plan_list({mesh, routes, ops, 40'000, timing}, 5, 0, limit);
  };
  const std::uint64_t whole = plan(~std::uint64_t{0}).span_ps;
  CHECK(plan(whole).span_ps == whole);
  const RoundPlan given_up = plan(whole / 2);
  CHECK(given_up.span_ps > whole / 2);
  CHECK(given_up.span_ps <= whole);
  const auto unplanned = [](const RoundPlan& p) {
    return std::count(p.start_ps.begin(), p.start_ps.end(), std::uint64_t{0});
  };
  CHECK(unplanned(given_up) > unplanned(plan(whole)));
}

TEST_CASE("Undirected trees grow from the middle of the network") {
  const Topology mesh = make_mesh({8, 8}, {150'000, 50'000'000'000});
  const PackGraph graph = pack_graph(mesh, false);
  std::vector<EdgePair> pairs;
  for (std::uint32_t l = 0; l < graph.edges.size(); ++l) {
    const LinkId back = link_back(mesh, LinkId(l));
    if (back.index() > l) pairs.push_back({l, back.value(), 9});
  }
  const auto trees = pack_undirected_trees(graph, pairs, 16);  // 16 x 63 = 112 x 9: all units
  REQUIRE(trees);
  std::size_t sum = 0;
  for (const std::size_t h : heights(graph, *trees)) sum += h;
  CHECK(sum <= 16 * 11);  // 8 is the least height
}

TEST_CASE("More undirected trees of the same rate are lower") {
  const Topology mesh = make_mesh({4, 2, 3}, {150'000, 50'000'000'000});
  const PackGraph graph = pack_graph(mesh, false);
  const auto choices = best_undirected_trees(mesh, graph, 0.005);
  REQUIRE(choices.size() > 1);
  const auto highest = [&](const std::vector<PackedTree>& trees) {
    const auto all = heights(graph, trees);
    return *std::max_element(all.begin(), all.end());
  };
  CHECK(choices.back().size() > choices.front().size());
  CHECK(highest(choices.back()) < highest(choices.front()));
}
