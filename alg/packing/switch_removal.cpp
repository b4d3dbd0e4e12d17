#include "alg/packing/switch_removal.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace espalier {

namespace {

class SwitchRemoval {
 public:
  SwitchRemoval(const Topology& topology, const PackGraph& graph,
                const std::vector<std::int64_t>& units, std::uint32_t trees, bool reversed,
                RateRule rule, SwitchSequence sequence, LinkOrder& order)
      : topology_(topology),
        order_(order),
        reversed_(reversed),
        rule_(rule),
        sequence_(sequence),
        trees_(trees),
        now_{graph, units} {}

  NodeGraph run() {
    drop_dead_ends();
    std::vector<std::uint32_t> left(now_.graph.vertices - now_.graph.nodes);
    std::iota(left.begin(), left.end(), static_cast<std::uint32_t>(now_.graph.nodes));
    while (!left.empty()) {
      const std::uint32_t w = take_next(left);
      // Up and down first: a path that turns up again passes links that others need.
      if (split_at_once(w, false, true) || split_at_once(w, false, false)) continue;
      if (split_at_once(w, true, true) || split_at_once(w, true, false)) continue;
      split_step_by_step(w);
      // The order of links cost rate, and no later split brings it back.
      if (trees_fit(now_.graph, now_.units, trees_)) continue;
      for (const std::uint32_t other : left) drop_edges_of(other);
      break;
    }
    now_.graph.vertices = now_.graph.nodes;
    return std::move(now_);
  }

 private:
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> neighbours() const {
    std::vector<std::vector<std::uint32_t>> of(now_.graph.vertices);
    for (const PackEdge& edge : now_.graph.edges) {
      of[edge.from].push_back(edge.to);
      of[edge.to].push_back(edge.from);
    }
    for (std::vector<std::uint32_t>& some : of) {
      std::sort(some.begin(), some.end());
      some.erase(std::unique(some.begin(), some.end()), some.end());
    }
    return of;
  }

  std::uint32_t take_next(std::vector<std::uint32_t>& left) const {
    auto next = left.begin();
    if (sequence_ == SwitchSequence::fewest_neighbours) {
      const auto of = neighbours();
      next = std::min_element(left.begin(), left.end(), [&](std::uint32_t a, std::uint32_t b) {
        return of[a].size() < of[b].size();
      });
    }
    const std::uint32_t w = *next;
    left.erase(next);
    return w;
  }

  // A switch with one neighbour leads nowhere, and so does a switch with only such switches behind.
  void drop_dead_ends() {
    for (bool found = true; found;) {
      found = false;
      const auto of = neighbours();
      for (std::size_t w = now_.graph.nodes; w < of.size(); ++w) {
        if (of[w].size() != 1) continue;
        drop_edges_of(static_cast<std::uint32_t>(w));
        found = true;
      }
    }
  }

  struct Ports {
    std::vector<std::uint32_t> in;  // edges with units
    std::vector<std::uint32_t> out;
  };

  [[nodiscard]] Ports ports_of(std::uint32_t w) const {
    Ports ports;
    for (std::uint32_t e = 0; e < now_.graph.edges.size(); ++e) {
      if (now_.units[e] == 0) continue;
      if (now_.graph.edges[e].to == w) ports.in.push_back(e);
      if (now_.graph.edges[e].from == w) ports.out.push_back(e);
    }
    return ports;
  }

  [[nodiscard]] NodeId end_of(LinkId l) const {
    return reversed_ ? topology_.link(l).from : topology_.link(l).to;
  }

  [[nodiscard]] bool may_join(const PackEdge& a, const PackEdge& b, bool more) const {
    if (a.from == b.to) return false;
    // No switch twice.
    std::set<NodeId> seen;
    for (const auto* path : {&a.path, &b.path}) {
      for (const LinkId l : *path) {
        if (!seen.insert(end_of(l)).second) return false;
      }
    }
    // The data of a reversed graph travel from the end of the path to its beginning.
    return reversed_ ? order_.admits(b.path.front(), a.path.back(), more)
                     : order_.admits(a.path.back(), b.path.front(), more);
  }

  // Which vertices the rest of the network connects without w: 0 is "none yet".
  [[nodiscard]] std::vector<std::uint32_t> components_without(std::uint32_t w) const {
    std::vector<std::uint32_t> parent(now_.graph.vertices);
    std::iota(parent.begin(), parent.end(), 0U);
    const auto root = [&](std::uint32_t v) {
      while (parent[v] != v) v = parent[v] = parent[parent[v]];
      return v;
    };
    for (std::size_t e = 0; e < now_.graph.edges.size(); ++e) {
      const PackEdge& edge = now_.graph.edges[e];
      if (now_.units[e] == 0 || edge.from == w || edge.to == w) continue;
      parent[root(edge.from)] = root(edge.to);
    }
    for (std::uint32_t v = 0; v < parent.size(); ++v) parent[v] = root(v);
    return parent;
  }

  // RateRule::slowest: a unit occupies the faster link for as long as the slower one.
  struct Cost {
    std::uint64_t fast = 1;  // rates
    std::uint64_t slow = 1;
    bool in_is_fast = true;  // or the edge out of the switch
    [[nodiscard]] std::int64_t units(std::int64_t joined) const {
      return static_cast<std::int64_t>((static_cast<std::uint64_t>(joined) * fast + slow - 1) /
                                       slow);
    }
    [[nodiscard]] std::int64_t most(std::int64_t left) const {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(left) * slow / fast);
    }
    [[nodiscard]] std::int64_t of_in(std::int64_t joined) const {
      return in_is_fast ? units(joined) : joined;
    }
    [[nodiscard]] std::int64_t of_out(std::int64_t joined) const {
      return in_is_fast ? joined : units(joined);
    }
    friend bool operator<(const Cost& a, const Cost& b) {
      const auto left = a.fast * b.slow;
      const auto right = b.fast * a.slow;
      return left != right ? left < right : a.in_is_fast < b.in_is_fast;
    }
  };
  [[nodiscard]] Cost cost(const PackEdge& in, const PackEdge& out) const {
    if (in.rate == out.rate || rule_ == RateRule::own) return {};
    const std::uint64_t unit = std::gcd(in.rate, out.rate);
    return {std::max(in.rate, out.rate) / unit, std::min(in.rate, out.rate) / unit,
            in.rate > out.rate};
  }

  void join(std::uint32_t in, std::uint32_t out, std::int64_t units) {
    const PackEdge& a = now_.graph.edges[in];
    const PackEdge& b = now_.graph.edges[out];
    const Cost c = cost(a, b);
    // Several joins with one edge may round up to more units than the edge has.
    now_.units[in] = std::max<std::int64_t>(0, now_.units[in] - c.of_in(units));
    now_.units[out] = std::max<std::int64_t>(0, now_.units[out] - c.of_out(units));
    PackEdge edge{a.from, b.to, std::min(a.rate, b.rate), a.path};
    edge.path.insert(edge.path.end(), b.path.begin(), b.path.end());
    now_.graph.edges.push_back(std::move(edge));
    now_.units.push_back(units);
  }

  // Units from each in-port (row) to each out-port, in allowed cells only. Maximizes their sum, and
  // then minimizes the largest cell.
  static std::vector<std::int64_t> even_shares(const std::vector<std::int64_t>& in,
                                               const std::vector<std::int64_t>& out,
                                               const std::vector<bool>& allowed) {
    SmallFlow flow(in.size() + out.size() + 2);
    const std::size_t source = in.size() + out.size();
    const std::size_t sink = source + 1;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      flow.add_arc(source, i, in[i]);
      most = std::max(most, in[i]);
    }
    for (std::size_t o = 0; o < out.size(); ++o) flow.add_arc(in.size() + o, sink, out[o]);
    const std::size_t first_cell = flow.num_arcs();
    std::vector<std::size_t> cells;
    for (std::size_t c = 0; c < allowed.size(); ++c) {
      if (!allowed[c]) continue;
      flow.add_arc(c / out.size(), in.size() + c % out.size(), 0);
      cells.push_back(c);
    }
    const auto flow_with = [&](std::int64_t cap) {
      for (std::size_t k = 0; k < cells.size(); ++k) flow.set_capacity(first_cell + k, cap);
      return flow.max_flow(source, sink);
    };
    const std::int64_t all = flow_with(most);
    std::int64_t low = 0;
    while (most - low > 1) {
      const std::int64_t middle = (low + most) / 2;
      (flow_with(middle) == all ? most : low) = middle;
    }
    flow_with(most);
    std::vector<std::int64_t> shares(allowed.size(), 0);
    for (std::size_t k = 0; k < cells.size(); ++k) shares[cells[k]] = flow.flow(first_cell + k);
    return shares;
  }

  // Joins every edge into the switch with edges out of it, in equal shares. `apart_first`: vertices
  // that only this switch connects have precedence. If trees do not fit then, changes nothing.
  bool split_at_once(std::uint32_t w, bool more, bool apart_first) {
    const std::vector<std::int64_t> before = now_.units;
    const Ports ports = ports_of(w);
    const std::vector<std::uint32_t> component = components_without(w);
    const std::size_t outs = ports.out.size();
    std::vector<std::int64_t> left_in;
    std::vector<std::int64_t> left_out;
    for (const std::uint32_t e : ports.in) left_in.push_back(now_.units[e]);
    for (const std::uint32_t e : ports.out) left_out.push_back(now_.units[e]);
    std::vector<bool> may(ports.in.size() * outs, false);
    std::vector<bool> apart(may.size(), false);
    std::vector<Cost> costs(may.size());
    std::set<Cost> classes;
    for (std::size_t c = 0; c < may.size(); ++c) {
      const PackEdge& a = now_.graph.edges[ports.in[c / outs]];
      const PackEdge& b = now_.graph.edges[ports.out[c % outs]];
      may[c] = may_join(a, b, more);
      apart[c] = may[c] && component[a.from] != component[b.to];
      costs[c] = cost(a, b);
      if (may[c]) classes.insert(costs[c]);
    }
    const auto join_shares = [&](const std::vector<bool>& allowed, const Cost& cost) {
      std::vector<bool> now = allowed;
      for (std::size_t c = 0; c < now.size(); ++c) {
        now[c] = now[c] && !(costs[c] < cost) && !(cost < costs[c]);
      }
      std::vector<std::int64_t> in = left_in;
      std::vector<std::int64_t> out = left_out;
      for (std::int64_t& left : cost.in_is_fast ? in : out) left = cost.most(left);
      const std::vector<std::int64_t> shares = even_shares(in, out, now);
      for (std::size_t c = 0; c < shares.size(); ++c) {
        if (shares[c] == 0) continue;
        join(ports.in[c / outs], ports.out[c % outs], shares[c]);
        left_in[c / outs] = now_.units[ports.in[c / outs]];
        left_out[c % outs] = now_.units[ports.out[c % outs]];
      }
    };
    // Pairs of one cost together, the cheapest first.
    for (const Cost& cost : classes) {
      if (apart_first) join_shares(apart, cost);
      join_shares(may, cost);
    }
    for (const auto* side : {&ports.in, &ports.out}) {
      for (const std::uint32_t e : *side) now_.units[e] = 0;
    }
    const bool fits = trees_fit(now_.graph, now_.units, trees_);
    if (fits) {
      drop_edges_of(w);
    } else {
      now_.graph.edges.resize(before.size());
      now_.units = before;
    }
    return fits;
  }

  void drop_edges_of(std::uint32_t w) {
    std::size_t kept = 0;
    for (std::size_t e = 0; e < now_.graph.edges.size(); ++e) {
      if (now_.graph.edges[e].from == w || now_.graph.edges[e].to == w) continue;
      if (kept != e) {
        now_.graph.edges[kept] = std::move(now_.graph.edges[e]);
        now_.units[kept] = now_.units[e];
      }
      ++kept;
    }
    now_.graph.edges.resize(kept);
    now_.units.resize(kept);
  }

  // Pair by pair, each as far as cuts allow.
  void split_step_by_step(std::uint32_t w) {
    const std::vector<std::uint32_t> component = components_without(w);
    const Ports ports = ports_of(w);
    std::vector<std::uint32_t> merged;  // edges added so far
    for (const bool apart : {true, false}) {
      bool progress = true;
      while (progress) {
        progress = false;
        for (std::size_t i = 0; i < ports.in.size(); ++i) {
          for (std::size_t k = 1; k <= ports.out.size(); ++k) {
            const std::uint32_t in = ports.in[i];
            const std::uint32_t out = ports.out[(i + k) % ports.out.size()];
            if (now_.units[in] == 0 || now_.units[out] == 0) continue;
            const PackEdge& a = now_.graph.edges[in];
            const PackEdge& b = now_.graph.edges[out];
            if (!may_join(a, b, true)) continue;
            if (apart && component[a.from] == component[b.to]) continue;
            const Cost c = cost(a, b);
            std::int64_t most = c.in_is_fast ? std::min(c.most(now_.units[in]), now_.units[out])
                                             : std::min(now_.units[in], c.most(now_.units[out]));
            if (most == 0) continue;
            if (apart) {
              most = 1;
            } else {
              const auto partners = static_cast<std::int64_t>(ports.out.size());
              most = std::max<std::int64_t>(
                  1, (most + partners - 2) / std::max<std::int64_t>(1, partners - 1));
            }
            const std::int64_t units = most_safe(w, a.from, b.to, most);
            if (units == 0) continue;
            merge(in, out, units, merged);
            progress = true;
          }
        }
      }
    }
    drop_edges_of(w);
  }

  void merge(std::uint32_t in, std::uint32_t out, std::int64_t units,
             std::vector<std::uint32_t>& merged) {
    join(in, out, units);
    for (const std::uint32_t e : merged) {
      if (now_.graph.edges[e].path != now_.graph.edges.back().path) continue;
      now_.units[e] += units;
      now_.graph.edges.pop_back();
      now_.units.pop_back();
      return;
    }
    merged.push_back(static_cast<std::uint32_t>(now_.graph.edges.size() - 1));
  }

  // Joining u -> w -> t takes units from sets that hold w but neither u nor t, and from sets that
  // hold u and t but not w. Both must keep enough for the trees of the roots outside.
  std::int64_t most_safe(std::uint32_t w, std::uint32_t u, std::uint32_t t, std::int64_t most) {
    const std::size_t nodes = now_.graph.nodes;
    const std::int64_t all = static_cast<std::int64_t>(now_.graph.num_roots()) * trees_;
    // Arcs are turned round, as in DemandFlow (pack_graph.cpp): the source is near.
    SmallFlow flow(now_.graph.vertices + 2);
    const std::size_t source = now_.graph.vertices;
    const std::size_t sink = source + 1;
    constexpr std::int64_t kTied = SmallFlow::kUnlimited / 4;
    for (std::size_t e = 0; e < now_.units.size(); ++e) {
      if (now_.units[e] > 0) {
        flow.add_arc(now_.graph.edges[e].to, now_.graph.edges[e].from, now_.units[e]);
      }
    }
    for (std::size_t n = 0; n < nodes; ++n) {
      if (now_.graph.is_root(n)) flow.add_arc(n, source, trees_);
    }
    const std::size_t vertices = flow.num_vertices();
    const std::size_t arcs = flow.num_arcs();
    // Sets with `inside` and one more node, without `outside`. Sets that lack a tested node have
    // been tested, so a tested node may be one with the source.
    const auto test = [&](const std::vector<std::uint32_t>& outside,
                          const std::vector<std::uint32_t>& inside, bool one_more) {
      for (const std::uint32_t v : outside) flow.add_arc(v, source, kTied);
      for (const std::uint32_t v : inside) flow.add_arc(sink, v, kTied);
      for (std::uint32_t v = 0; v < (one_more ? nodes : 1) && most > 0; ++v) {
        if (one_more && (v == u || v == t)) continue;
        const std::size_t more = flow.num_arcs();
        if (one_more) flow.add_arc(sink, v, kTied);
        constexpr std::uint64_t kWorkOfArc = 10;
        now_.work += kWorkOfArc * flow.num_arcs();
        most = std::min(most, flow.max_flow(sink, source, all + most) - all);
        flow.truncate(vertices, more);
        if (one_more) flow.add_arc(v, source, kTied);
      }
      flow.truncate(vertices, arcs);
    };
    test({u, t}, {w}, true);
    test({w}, {u, t}, u >= nodes && t >= nodes);
    return std::max<std::int64_t>(most, 0);
  }

  const Topology& topology_;
  LinkOrder& order_;
  bool reversed_;
  RateRule rule_;
  SwitchSequence sequence_;
  std::int64_t trees_;
  NodeGraph now_;
};

}  // namespace

NodeGraph remove_switches(const Topology& topology, const PackGraph& graph,
                          const std::vector<std::int64_t>& units, std::uint32_t trees,
                          bool reversed, RateRule rule, SwitchSequence sequence, LinkOrder& order) {
  if (graph.vertices == graph.nodes) return {graph, units};
  return SwitchRemoval(topology, graph, units, trees, reversed, rule, sequence, order).run();
}

NodeGraph join_pairs(const Topology& topology, const PackGraph& graph,
                     const std::vector<std::int64_t>& units, bool reversed, LinkOrder& order) {
  NodeGraph pairs;
  pairs.graph.nodes = pairs.graph.vertices = graph.nodes;
  pairs.graph.root = graph.root;
  std::vector<std::int64_t> users(topology.num_links(), 0);
  for (std::size_t n = 0; n < graph.nodes; ++n) {
    // Breadth first over links, because what may follow a link depends on it.
    std::vector<LinkId> came_from(topology.num_links());
    std::vector<bool> seen(topology.num_links(), false);
    std::vector<bool> reached(graph.nodes, false);
    reached[n] = true;
    std::vector<LinkId> frontier;
    const auto visit = [&](LinkId link, LinkId before) {
      if (seen[link.index()] || (before.valid() && !order.admits(before, link, false))) return;
      seen[link.index()] = true;
      came_from[link.index()] = before;
      frontier.push_back(link);
    };
    for (const LinkId l : topology.out_links(NodeId(n))) visit(l, LinkId());
    for (std::size_t i = 0; i < frontier.size(); ++i) {
      const LinkId last = frontier[i];
      const NodeId at = topology.link(last).to;
      if (topology.is_switch(at)) {
        for (const LinkId l : topology.out_links(at)) visit(l, last);
        continue;
      }
      if (reached[at.index()]) continue;
      reached[at.index()] = true;
      PackEdge edge;  // its path begins at the link into `at`, as in a reversed graph
      edge.from = at.value();
      edge.to = static_cast<std::uint32_t>(n);
      for (LinkId l = last; l.valid(); l = came_from[l.index()]) {
        edge.path.push_back(l);
        ++users[l.index()];
      }
      if (!reversed) {
        std::swap(edge.from, edge.to);
        std::reverse(edge.path.begin(), edge.path.end());
      }
      pairs.graph.edges.push_back(std::move(edge));
    }
  }
  for (PackEdge& edge : pairs.graph.edges) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    edge.rate = graph.edges[edge.path.front().index()].rate;
    for (const LinkId l : edge.path) {
      least = std::min(least, units[l.index()] / users[l.index()]);
      edge.rate = std::min(edge.rate, graph.edges[l.index()].rate);
    }
    pairs.units.push_back(least);
  }
  return pairs;
}

}  // namespace espalier
