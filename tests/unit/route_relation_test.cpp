// Deadlock freedom of relations: BookSim 2's routing functions, written down from their definitions
// (src/routefunc.cpp), and small relations that deadlock.
#include "alg/certify/route_relation.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

using Choices = std::vector<std::vector<RouteRelation::Choice>>;

// A network of vertices by number, and channels by their ends.
class Net {
 public:
  Net(std::size_t nodes, std::size_t switches, std::uint32_t classes) : classes_(classes) {
    for (std::size_t v = 0; v < nodes; ++v) topology_.add_node("n" + std::to_string(v));
    for (std::size_t v = 0; v < switches; ++v) topology_.add_switch("s" + std::to_string(v));
  }
  void cable(std::size_t a, std::size_t b) {
    test::add_one_way(topology_, a, b, test::kPlainLink);
    test::add_one_way(topology_, b, a, test::kPlainLink);
  }
  void one_way(std::size_t a, std::size_t b) {
    test::add_one_way(topology_, a, b, test::kPlainLink);
  }
  [[nodiscard]] ChannelNumber channel(std::size_t a, std::size_t b, std::uint32_t c = 0) const {
    return topology_.link_between(NodeId(a), NodeId(b)).value() * classes_ + c;
  }
  [[nodiscard]] RouteRelation relation() const { return RouteRelation(topology_, classes_); }
  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] std::size_t size() const { return topology_.num_vertices(); }

 private:
  Topology topology_{"net"};
  std::uint32_t classes_;
};

constexpr std::size_t kSide = 6;

std::size_t at(std::size_t x, std::size_t y) { return y * kSide + x; }
std::size_t x_of(std::size_t v) { return v % kSide; }
std::size_t y_of(std::size_t v) { return v / kSide; }

Net grid_net(bool wraps, std::uint32_t classes) {
  Net net(kSide * kSide, 0, classes);
  for (std::size_t y = 0; y < kSide; ++y) {
    for (std::size_t x = 0; x < kSide; ++x) {
      if (x + 1 < kSide || wraps) net.cable(at(x, y), at((x + 1) % kSide, y));
      if (y + 1 < kSide || wraps) net.cable(at(x, y), at(x, (y + 1) % kSide));
    }
  }
  return net;
}

// The next coordinate on the shorter way, and whether the hop wraps.
struct Step {
  std::size_t to;
  bool wraps;
};
Step step(std::size_t from, std::size_t to, bool wraps) {
  const std::size_t up = (to + kSide - from) % kSide;
  const bool plus = wraps ? up <= kSide - up : to > from;
  const std::size_t next = (from + (plus ? 1 : kSide - 1)) % kSide;
  return {next, plus ? next == 0 : from == 0};
}

// Appends a dimension-order walk. Class: `first`, one more behind the dateline of a dimension.
std::size_t walk(const Net& net, std::vector<ChannelNumber>& route, std::size_t from,
                 std::size_t to, bool x_first, bool wraps, std::uint32_t first) {
  std::size_t v = from;
  for (const bool in_x : {x_first, !x_first}) {
    std::uint32_t crossed = 0;
    while (in_x ? x_of(v) != x_of(to) : y_of(v) != y_of(to)) {
      const Step s = in_x ? step(x_of(v), x_of(to), wraps) : step(y_of(v), y_of(to), wraps);
      const std::size_t next = in_x ? at(s.to, y_of(v)) : at(x_of(v), s.to);
      if (wraps && s.wraps) crossed = 1;
      route.push_back(net.channel(v, next, first + crossed));
      v = next;
    }
  }
  return v;
}

using EachRoute = std::function<void(const Net&, std::size_t from, std::size_t to, RouteRelation&)>;
RouteVerdict oblivious(const Net& net, const EachRoute& add) {
  RouteRelation relation = net.relation();
  for (std::size_t a = 0; a < net.topology().num_nodes(); ++a) {
    for (std::size_t b = 0; b < net.topology().num_nodes(); ++b) {
      if (a != b) add(net, a, b, relation);
    }
  }
  return relation.decide();
}

using Next =
    std::function<std::vector<RouteRelation::Choice>(const Net&, std::size_t at, std::size_t to)>;
RouteVerdict adaptive(const Net& net, const Next& next) {
  RouteRelation relation = net.relation();
  for (std::size_t to = 0; to < net.topology().num_nodes(); ++to) {
    Choices choices(net.size());
    for (std::size_t v = 0; v < net.size(); ++v) {
      if (v != to) choices[v] = next(net, v, to);
    }
    REQUIRE(relation.add_choices(NodeId(to), choices) == "");
  }
  return relation.decide();
}

// Both shortest hops in class `c`.
std::vector<RouteRelation::Choice> minimal(const Net& net, std::size_t v, std::size_t to,
                                           bool wraps, std::uint32_t c) {
  std::vector<RouteRelation::Choice> choices;
  if (x_of(v) != x_of(to)) {
    choices.push_back({net.channel(v, at(step(x_of(v), x_of(to), wraps).to, y_of(v)), c), false});
  }
  if (y_of(v) != y_of(to)) {
    choices.push_back({net.channel(v, at(x_of(v), step(y_of(v), y_of(to), wraps).to), c), false});
  }
  return choices;
}

void check_free(const RouteVerdict& verdict) {
  CHECK(verdict.cut_through);
  CHECK(verdict.wormhole);
}

TEST_CASE("BookSim's oblivious functions on meshes and tori are free of deadlock with their VCs") {
  const auto dor = [](bool x_first, bool wraps, std::uint32_t first) {
    return [=](const Net& net, std::size_t a, std::size_t b, RouteRelation& relation) {
      std::vector<ChannelNumber> route;
      walk(net, route, a, b, x_first, wraps, first);
      relation.add_route(route);
    };
  };
  SECTION("dor_mesh, dim_order_mesh") {
    check_free(oblivious(grid_net(false, 1), dor(true, false, 0)));
  }
  SECTION("dim_order_torus needs its dateline") {
    check_free(oblivious(grid_net(true, 2), dor(true, true, 0)));
    const RouteVerdict one = oblivious(
        grid_net(true, 2), [](const Net& net, std::size_t a, std::size_t b, RouteRelation& r) {
          std::vector<ChannelNumber> route;
          walk(net, route, a, b, true, true, 0);
          for (ChannelNumber& c : route) c -= c % 2;
          r.add_route(route);
        });
    CHECK_FALSE(one.cut_through);
  }
  SECTION("dim_order_ni_mesh and dim_order_pni_mesh take the VC of the destination") {
    check_free(oblivious(grid_net(false, 4),
                         [](const Net& net, std::size_t a, std::size_t b, RouteRelation& r) {
                           std::vector<ChannelNumber> route;
                           walk(net, route, a, b, true, false, static_cast<std::uint32_t>(b % 4));
                           r.add_route(route);
                         }));
  }
  SECTION("xy_yx_mesh and adaptive_xy_yx_mesh need a class for each order") {
    const auto both = [](std::uint32_t second) {
      return [second](const Net& net, std::size_t a, std::size_t b, RouteRelation& r) {
        for (const bool x_first : {true, false}) {
          std::vector<ChannelNumber> route;
          walk(net, route, a, b, x_first, false, x_first ? 0 : second);
          r.add_route(route);
        }
      };
    };
    check_free(oblivious(grid_net(false, 2), both(1)));
    CHECK_FALSE(oblivious(grid_net(false, 1), both(0)).cut_through);
  }
  // Over an intermediate node: romm's lies in the rectangle of the pair, valiant's anywhere.
  const auto two_phases = [](bool wraps, bool inside, std::uint32_t second) {
    return [=](const Net& net, std::size_t a, std::size_t b, RouteRelation& r) {
      for (std::size_t m = 0; m < kSide * kSide; ++m) {
        const auto between = [](std::size_t v, std::size_t p, std::size_t q) {
          return std::min(p, q) <= v && v <= std::max(p, q);
        };
        if (inside &&
            (!between(x_of(m), x_of(a), x_of(b)) || !between(y_of(m), y_of(a), y_of(b)))) {
          continue;
        }
        std::vector<ChannelNumber> route;
        walk(net, route, walk(net, route, a, m, true, wraps, 0), b, true, wraps, second);
        r.add_route(route);
      }
    };
  };
  SECTION("romm_mesh, romm_ni_mesh") {
    check_free(oblivious(grid_net(false, 2), two_phases(false, true, 1)));
    CHECK_FALSE(oblivious(grid_net(false, 1), two_phases(false, true, 0)).cut_through);
  }
  SECTION("valiant_mesh") {
    check_free(oblivious(grid_net(false, 2), two_phases(false, false, 1)));
    CHECK_FALSE(oblivious(grid_net(false, 1), two_phases(false, false, 0)).cut_through);
  }
  SECTION("valiant_torus, valiant_ni_torus") {
    check_free(oblivious(grid_net(true, 4), two_phases(true, false, 2)));
    CHECK_FALSE(oblivious(grid_net(true, 2), two_phases(true, false, 0)).cut_through);
  }
}

TEST_CASE("BookSim's adaptive functions on meshes and tori: escapes free them, chaos has none") {
  SECTION("min_adapt_mesh: dimension order in class 0 is the escape") {
    for (const bool marks : {true, false}) {
      check_free(adaptive(grid_net(false, 2), [&](const Net& net, std::size_t v, std::size_t to) {
        auto choices = minimal(net, v, to, false, 1);
        choices.push_back({minimal(net, v, to, false, 0).front().channel, marks});
        return choices;
      }));
    }
  }
  SECTION("planar_adapt_mesh: a class for each direction of y") {
    check_free(adaptive(grid_net(false, 2), [](const Net& net, std::size_t v, std::size_t to) {
      return minimal(net, v, to, false, y_of(to) > y_of(v) ? 1 : 0);
    }));
  }
  SECTION("chaos_mesh and chaos_torus wait in circles; their routers misroute instead") {
    for (const bool wraps : {false, true}) {
      const RouteVerdict verdict =
          adaptive(grid_net(wraps, 1), [&](const Net& net, std::size_t v, std::size_t to) {
            return minimal(net, v, to, wraps, 0);
          });
      CHECK_FALSE(verdict.cut_through);
      CHECK(verdict.proof.size() >= 4);
    }
  }
}

TEST_CASE("BookSim's functions on trees, flies and fully connected groups") {
  SECTION("fattree_nca, fattree_anca, tree4_nca, qtree_nca: any way up, one way down") {
    // Two levels: 4 leaves of 4 nodes, 4 spines.
    Net net(16, 8, 1);
    for (std::size_t n = 0; n < 16; ++n) net.cable(n, 16 + n / 4);
    for (std::size_t leaf = 16; leaf < 20; ++leaf) {
      for (std::size_t spine = 20; spine < 24; ++spine) net.cable(leaf, spine);
    }
    check_free(adaptive(net, [](const Net& n, std::size_t v, std::size_t to) {
      std::vector<RouteRelation::Choice> choices;
      if (v < 16) return choices = {{n.channel(v, 16 + v / 4), false}};
      if (v >= 20) return choices = {{n.channel(v, 16 + to / 4), false}};
      if (v == 16 + to / 4) return choices = {{n.channel(v, to), false}};
      for (std::size_t spine = 20; spine < 24; ++spine) {
        choices.push_back({n.channel(v, spine), false});
      }
      return choices;
    }));
  }
  SECTION("dest_tag_fly: each stage takes a digit of the destination") {
    // 8 sources, 3 stages of 4 switches of 2x2, 8 sinks.
    Net net(16, 12, 1);
    const auto stage = [](std::size_t s, std::size_t row) { return 16 + 4 * s + row; };
    for (std::size_t n = 0; n < 8; ++n) {
      net.one_way(n, stage(0, n / 2));
      net.one_way(stage(2, n / 2), 8 + n);
    }
    // A butterfly: stage s joins rows that differ in one bit.
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t row = 0; row < 4; ++row) {
        net.one_way(stage(s, row), stage(s + 1, row));
        net.one_way(stage(s, row), stage(s + 1, row ^ (std::size_t{2} >> s)));
      }
    }
    RouteRelation relation = net.relation();
    for (std::size_t a = 0; a < 8; ++a) {
      for (std::size_t b = 0; b < 8; ++b) {
        std::vector<ChannelNumber> route{net.channel(a, stage(0, a / 2))};
        std::size_t row = a / 2;
        for (std::size_t s = 0; s < 2; ++s) {
          const std::size_t bit = std::size_t{2} >> s;
          const std::size_t next = (row & ~bit) | ((b / 2) & bit);
          route.push_back(net.channel(stage(s, row), stage(s + 1, next)));
          row = next;
        }
        route.push_back(net.channel(stage(2, row), 8 + b));
        relation.add_route(route);
      }
    }
    check_free(relation.decide());
  }
  // Routers of a row and of a column are fully connected.
  const auto flat = [](std::uint32_t classes) {
    Net net(kSide * kSide, 0, classes);
    for (std::size_t v = 0; v < kSide * kSide; ++v) {
      for (std::size_t w = v + 1; w < kSide * kSide; ++w) {
        if (x_of(v) == x_of(w) || y_of(v) == y_of(w)) net.cable(v, w);
      }
    }
    return net;
  };
  const auto hops = [](const Net& net, std::vector<ChannelNumber>& route, std::size_t a,
                       std::size_t b, bool x_first, std::uint32_t c) {
    const std::size_t turn = x_first ? at(x_of(b), y_of(a)) : at(x_of(a), y_of(b));
    if (turn != a) route.push_back(net.channel(a, turn, c));
    if (turn != b) route.push_back(net.channel(turn, b, c));
  };
  SECTION("ran_min_flatfly, xyyx_flatfly: orders mixed in one class deadlock, in two they do not") {
    for (const std::uint32_t second : {0U, 1U}) {
      const RouteVerdict verdict =
          oblivious(flat(2), [&](const Net& net, std::size_t a, std::size_t b, RouteRelation& r) {
            for (const bool x_first : {true, false}) {
              std::vector<ChannelNumber> route;
              hops(net, route, a, b, x_first, x_first ? 0 : second);
              r.add_route(route);
            }
          });
      CHECK(verdict.cut_through == (second == 1));
    }
  }
  SECTION("valiant_flatfly, ugal_flatfly, ugal_pni_flatfly: a class for each phase") {
    check_free(
        oblivious(flat(2), [&](const Net& net, std::size_t a, std::size_t b, RouteRelation& r) {
          for (std::size_t m = 0; m < kSide * kSide; ++m) {
            std::vector<ChannelNumber> route;
            hops(net, route, a, m, true, 0);
            hops(net, route, m, b, true, 1);
            r.add_route(route);
          }
        }));
  }
  // 5 groups of 4 routers; router i of a group leads to one other group.
  constexpr std::size_t kGroups = 5;
  const auto gate = [](std::size_t group, std::size_t other) {
    return group * 4 + (other + kGroups - group - 1) % kGroups;
  };
  const auto dragonfly = [&](std::uint32_t classes) {
    Net net(4 * kGroups, 0, classes);
    for (std::size_t g = 0; g < kGroups; ++g) {
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = i + 1; j < 4; ++j) net.cable(4 * g + i, 4 * g + j);
      }
      for (std::size_t h = g + 1; h < kGroups; ++h) net.cable(gate(g, h), gate(h, g));
    }
    return net;
  };
  // Over the groups of `way`, the class grows with each global link.
  const auto over = [&](const Net& net, std::size_t a, std::size_t b,
                        const std::vector<std::size_t>& way, bool grows) {
    std::vector<ChannelNumber> route;
    std::size_t v = a;
    std::uint32_t c = 0;
    const auto go = [&](std::size_t to) {
      if (v != to) route.push_back(net.channel(v, to, c));
      v = to;
    };
    for (const std::size_t group : way) {
      const std::size_t here = v / 4;
      if (group == here) continue;
      go(gate(here, group));
      go(gate(group, here));
      if (grows) ++c;
    }
    go(b);
    return route;
  };
  SECTION("min_dragonflynew and ugal_dragonflynew: a class more behind each global link") {
    for (const bool grows : {true, false}) {
      const RouteVerdict direct = oblivious(
          dragonfly(2), [&](const Net& net, std::size_t a, std::size_t b, RouteRelation& r) {
            r.add_route(over(net, a, b, {b / 4}, grows));
          });
      const RouteVerdict detours = oblivious(
          dragonfly(3), [&](const Net& net, std::size_t a, std::size_t b, RouteRelation& r) {
            for (std::size_t g = 0; g < kGroups; ++g)
              r.add_route(over(net, a, b, {g, b / 4}, grows));
          });
      CHECK(direct.wormhole == grows);
      CHECK(detours.wormhole == grows);
    }
  }
}

TEST_CASE(
    "The proof of freedom is an order in which every packet has a choice before its channel") {
  const Net net = grid_net(false, 2);
  const RouteVerdict verdict = adaptive(net, [&](const Net& n, std::size_t v, std::size_t to) {
    auto choices = minimal(n, v, to, false, 1);
    choices.push_back({minimal(n, v, to, false, 0).front().channel, true});
    return choices;
  });
  std::vector<std::size_t> place(net.topology().num_links() * 2, verdict.proof.size());
  for (std::size_t i = 0; i < verdict.proof.size(); ++i) place[verdict.proof[i]] = i;
  for (std::size_t to = 0; to < net.size(); ++to) {
    for (std::size_t v = 0; v < net.size(); ++v) {
      if (v == to) continue;
      for (const auto& choice : minimal(net, v, to, false, 1)) {
        const std::size_t head = net.topology().link(LinkId(choice.channel / 2)).to.index();
        if (head == to) continue;
        auto next = minimal(net, head, to, false, 1);
        next.push_back({minimal(net, head, to, false, 0).front().channel, true});
        CHECK(std::any_of(next.begin(), next.end(), [&](const RouteRelation::Choice& c) {
          return place[c.channel] < place[choice.channel];
        }));
      }
    }
  }
}

TEST_CASE("A cycle is printed link by link in the order of waiting") {
  Net ring(4, 0, 1);
  for (std::size_t v = 0; v < 4; ++v) ring.one_way(v, (v + 1) % 4);
  RouteRelation relation = ring.relation();
  for (std::size_t v = 0; v < 4; ++v) {
    relation.add_route({ring.channel(v, (v + 1) % 4), ring.channel((v + 1) % 4, (v + 2) % 4)});
  }
  const RouteVerdict verdict = relation.decide();
  CHECK_FALSE(verdict.cut_through);
  REQUIRE(verdict.proof.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& here = ring.topology().link(LinkId(verdict.proof[i]));
    const auto& next = ring.topology().link(LinkId(verdict.proof[(i + 1) % 4]));
    CHECK(here.to == next.from);
  }
  CHECK(relation.channel_name(verdict.proof[0]).find("VC class 0") != std::string::npos);
}

TEST_CASE(
    "An escape that waits in a circle frees nothing, and a packet without a choice is an error") {
  // A ring of four with a second class: clockwise in class 0 is the "escape" without a dateline.
  Net ring(4, 0, 2);
  for (std::size_t v = 0; v < 4; ++v) ring.one_way(v, (v + 1) % 4);
  RouteRelation relation = ring.relation();
  for (std::size_t to = 0; to < 4; ++to) {
    Choices choices(4);
    for (std::size_t v = 0; v < 4; ++v) {
      if (v == to) continue;
      choices[v] = {{ring.channel(v, (v + 1) % 4, 0), true},
                    {ring.channel(v, (v + 1) % 4, 1), false}};
    }
    REQUIRE(relation.add_choices(NodeId(to), choices) == "");
  }
  const RouteVerdict verdict = relation.decide();
  CHECK_FALSE(verdict.cut_through);
  CHECK_FALSE(verdict.wormhole);
  Choices lacking(4);
  lacking[0] = {{ring.channel(0, 1, 0), false}};
  CHECK(relation.add_choices(NodeId(3), lacking) == "a packet for 'n3' has no choice at 'n1'");
}

}  // namespace
}  // namespace espalier
