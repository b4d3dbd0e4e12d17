#include "alg/packing/switch_removal.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "alg/routes/path_rule.h"

namespace espalier {

namespace {

class SwitchRemoval {
 public:
  SwitchRemoval(const Topology& topology, const PackGraph& graph,
                const std::vector<std::int64_t>& units, std::uint32_t trees, bool reversed,
                LinkOrder& order)
      : topology_(topology),
        order_(order),
        reversed_(reversed),
        trees_(trees),
        now_{graph, units} {}

  NodeGraph run() {
    for (std::size_t w = now_.graph.nodes; w < now_.graph.vertices; ++w) {
      // Up and down first: a path that turns up again passes links that others need.
      bool fits = false;
      for (const bool more : {false, true}) {
        if (fits) break;
        NodeGraph whole = split_at_once(static_cast<std::uint32_t>(w), more);
        fits = trees_fit(whole.graph, whole.units, trees_);
        if (fits) now_ = std::move(whole);
      }
      if (!fits) split_step_by_step(static_cast<std::uint32_t>(w));
    }
    now_.graph.vertices = now_.graph.nodes;
    return std::move(now_);
  }

 private:
  struct Ports {
    std::vector<std::uint32_t> in;  // edges with units
    std::vector<std::uint32_t> out;
  };

  [[nodiscard]] Ports ports_of(const NodeGraph& g, std::uint32_t w) const {
    Ports ports;
    for (std::uint32_t e = 0; e < g.graph.edges.size(); ++e) {
      if (g.units[e] == 0) continue;
      if (g.graph.edges[e].to == w) ports.in.push_back(e);
      if (g.graph.edges[e].from == w) ports.out.push_back(e);
    }
    return ports;
  }

  [[nodiscard]] std::vector<LinkId> joined(const PackEdge& a, const PackEdge& b) const {
    std::vector<LinkId> path = a.path;
    path.insert(path.end(), b.path.begin(), b.path.end());
    return path;
  }

  [[nodiscard]] bool may_join(const PackEdge& a, const PackEdge& b, bool more) const {
    if (a.from == b.to) return false;
    // No vertex twice.
    std::set<NodeId> seen;
    for (const auto* path : {&a.path, &b.path}) {
      for (const LinkId l : *path) {
        if (!seen.insert(reversed_ ? topology_.link(l).from : topology_.link(l).to).second)
          return false;
      }
    }
    // The data of a reversed graph travel from the end of the path to its beginning.
    return reversed_ ? order_.admits(b.path.front(), a.path.back(), more)
                     : order_.admits(a.path.back(), b.path.front(), more);
  }

  // Which vertices the rest of the network connects without w: 0 is "none yet".
  [[nodiscard]] std::vector<std::uint32_t> components_without(const NodeGraph& g,
                                                              std::uint32_t w) const {
    std::vector<std::uint32_t> parent(g.graph.vertices);
    std::iota(parent.begin(), parent.end(), 0U);
    const auto root = [&](std::uint32_t v) {
      while (parent[v] != v) v = parent[v] = parent[parent[v]];
      return v;
    };
    for (std::size_t e = 0; e < g.graph.edges.size(); ++e) {
      const PackEdge& edge = g.graph.edges[e];
      if (g.units[e] == 0 || edge.from == w || edge.to == w) continue;
      parent[root(edge.from)] = root(edge.to);
    }
    for (std::uint32_t v = 0; v < parent.size(); ++v) parent[v] = root(v);
    return parent;
  }

  void join(NodeGraph& g, std::uint32_t in, std::uint32_t out, std::int64_t units) const {
    g.units[in] -= units;
    g.units[out] -= units;
    const PackEdge& a = g.graph.edges[in];
    const PackEdge& b = g.graph.edges[out];
    PackEdge edge{a.from, b.to, std::min(a.rate, b.rate), joined(a, b)};
    g.graph.edges.push_back(std::move(edge));
    g.units.push_back(units);
  }

  // Joins every edge into the switch with edges out of it, in equal shares. Vertices that only this
  // switch connects come first.
  [[nodiscard]] NodeGraph split_at_once(std::uint32_t w, bool more) const {
    NodeGraph g = now_;
    const Ports ports = ports_of(g, w);
    const std::vector<std::uint32_t> component = components_without(g, w);
    const std::size_t ins = ports.in.size();
    const std::size_t outs = ports.out.size();
    std::vector<std::int64_t> left_in;
    std::vector<std::int64_t> left_out;
    for (const std::uint32_t e : ports.in) left_in.push_back(g.units[e]);
    for (const std::uint32_t e : ports.out) left_out.push_back(g.units[e]);
    std::vector<std::int64_t> taken(ins * outs, 0);
    std::vector<std::uint8_t> rank(ins * outs, kForbidden);
    for (std::size_t i = 0; i < ins; ++i) {
      for (std::size_t o = 0; o < outs; ++o) {
        const PackEdge& a = g.graph.edges[ports.in[i]];
        const PackEdge& b = g.graph.edges[ports.out[o]];
        if (!may_join(a, b, more)) continue;
        rank[i * outs + o] = component[a.from] != component[b.to] ? 0 : 1;
      }
    }
    while (true) {
      // The in-port with the most units left, and the partner that it has used least.
      std::size_t best_in = ins;
      std::size_t best_out = outs;
      std::vector<std::size_t> order(ins);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return left_in[a] > left_in[b]; });
      for (const std::size_t i : order) {
        if (left_in[i] == 0) break;
        std::tuple<std::uint8_t, std::int64_t, std::int64_t, std::size_t> least;
        for (std::size_t k = 1; k <= outs; ++k) {
          const std::size_t o = (i + k) % outs;
          const std::size_t cell = i * outs + o;
          if (left_out[o] == 0 || rank[cell] == kForbidden) continue;
          const std::tuple key{rank[cell], taken[cell], -left_out[o], k};
          if (best_out != outs && !(key < least)) continue;
          least = key;
          best_in = i;
          best_out = o;
        }
        if (best_out != outs) break;
      }
      if (best_out == outs) break;
      const std::int64_t most = std::min(left_in[best_in], left_out[best_out]);
      const std::int64_t step =
          std::max<std::int64_t>(1, most / static_cast<std::int64_t>(2 * std::max(ins, outs)));
      taken[best_in * outs + best_out] += step;
      left_in[best_in] -= step;
      left_out[best_out] -= step;
    }
    for (std::size_t i = 0; i < ins; ++i) {
      for (std::size_t o = 0; o < outs; ++o) {
        const std::int64_t units = taken[i * outs + o];
        if (units > 0) join(g, ports.in[i], ports.out[o], units);
      }
    }
    drop_edges_of(g, w);
    return g;
  }

  static void drop_edges_of(NodeGraph& g, std::uint32_t w) {
    std::size_t kept = 0;
    for (std::size_t e = 0; e < g.graph.edges.size(); ++e) {
      if (g.graph.edges[e].from == w || g.graph.edges[e].to == w) continue;
      if (kept != e) {
        g.graph.edges[kept] = std::move(g.graph.edges[e]);
        g.units[kept] = g.units[e];
      }
      ++kept;
    }
    g.graph.edges.resize(kept);
    g.units.resize(kept);
  }

  // Pair by pair, each as far as cuts allow.
  void split_step_by_step(std::uint32_t w) {
    const std::vector<std::uint32_t> component = components_without(now_, w);
    const Ports ports = ports_of(now_, w);
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
            std::int64_t most = std::min(now_.units[in], now_.units[out]);
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
    drop_edges_of(now_, w);
  }

  void merge(std::uint32_t in, std::uint32_t out, std::int64_t units,
             std::vector<std::uint32_t>& merged) {
    const std::vector<LinkId> path = joined(now_.graph.edges[in], now_.graph.edges[out]);
    for (const std::uint32_t e : merged) {
      if (now_.graph.edges[e].path != path) continue;
      now_.units[in] -= units;
      now_.units[out] -= units;
      now_.units[e] += units;
      return;
    }
    merged.push_back(static_cast<std::uint32_t>(now_.graph.edges.size()));
    join(now_, in, out, units);
  }

  // Joining u -> w -> t takes units from sets that hold w but neither u nor t, and from sets that
  // hold u and t but not w. Both must keep enough for the trees of the roots outside.
  std::int64_t most_safe(std::uint32_t w, std::uint32_t u, std::uint32_t t, std::int64_t most) {
    const std::size_t nodes = now_.graph.nodes;
    const std::int64_t all = static_cast<std::int64_t>(nodes) * trees_;
    ResidualFlow flow(now_.graph.vertices + 2);
    const std::size_t source = now_.graph.vertices;
    const std::size_t sink = source + 1;
    constexpr std::int64_t kTied = ResidualFlow::kUnlimited / 4;
    for (std::size_t e = 0; e < now_.units.size(); ++e) {
      if (now_.units[e] > 0) {
        flow.add_arc(now_.graph.edges[e].from, now_.graph.edges[e].to, now_.units[e]);
      }
    }
    for (std::size_t n = 0; n < nodes; ++n) flow.add_arc(source, n, trees_);
    const std::size_t vertices = flow.num_vertices();
    const std::size_t arcs = flow.num_arcs();
    const auto test = [&](const std::vector<std::uint32_t>& outside,
                          const std::vector<std::uint32_t>& inside) {
      for (const std::uint32_t v : outside) flow.add_arc(source, v, kTied);
      for (const std::uint32_t v : inside) flow.add_arc(v, sink, kTied);
      most = std::min(most, flow.max_flow(source, sink, all + most) - all);
      flow.truncate(vertices, arcs);
      return most > 0;
    };
    for (std::uint32_t v = 0; v < nodes; ++v) {
      if (v == u || v == t) continue;
      if (!test({u, t}, {w, v})) return 0;
    }
    if (u < nodes || t < nodes) {
      if (!test({w}, {u, t})) return 0;
    } else {
      for (std::uint32_t v = 0; v < nodes; ++v) {
        if (!test({w}, {u, t, v})) return 0;
      }
    }
    return std::max<std::int64_t>(most, 0);
  }

  static constexpr std::uint8_t kForbidden = 255;

  const Topology& topology_;
  LinkOrder& order_;
  bool reversed_;
  std::int64_t trees_;
  NodeGraph now_;
};

}  // namespace

LinkOrder::LinkOrder(const Topology& topology)
    : topology_(topology), after_(topology.num_links()), seen_(topology.num_links(), 0) {
  const PathRule rule(topology);
  for (std::uint32_t l = 0; l < topology.num_links(); ++l) {
    const NodeId at = topology.link(LinkId(l)).to;
    const auto state = rule.after(PathRule::kStart, LinkId(l));
    if (!state || !topology.is_switch(at) || !topology.is_switch(topology.link(LinkId(l)).from)) {
      continue;
    }
    for (const LinkId next : topology.out_links(at)) {
      if (topology.is_switch(topology.link(next).to) && rule.after(*state, next)) {
        after_[l].push_back(next.value());
      }
    }
  }
}

bool LinkOrder::admits(LinkId first, LinkId second, bool more) {
  // Nothing waits for a link out of a node before it, and a link into a node waits for nothing.
  if (!topology_.is_switch(topology_.link(first).from) ||
      !topology_.is_switch(topology_.link(second).to)) {
    return true;
  }
  auto& after = after_[first.index()];
  if (std::find(after.begin(), after.end(), second.value()) != after.end()) return true;
  if (!more || reaches(second.value(), first.value())) return false;
  after.push_back(second.value());
  return true;
}

bool LinkOrder::reaches(std::uint32_t from, std::uint32_t to) {
  ++search_;
  stack_.assign(1, from);
  seen_[from] = search_;
  while (!stack_.empty()) {
    const std::uint32_t l = stack_.back();
    stack_.pop_back();
    if (l == to) return true;
    for (const std::uint32_t next : after_[l]) {
      if (seen_[next] == search_) continue;
      seen_[next] = search_;
      stack_.push_back(next);
    }
  }
  return false;
}

NodeGraph remove_switches(const Topology& topology, const PackGraph& graph,
                          const std::vector<std::int64_t>& units, std::uint32_t trees,
                          bool reversed, LinkOrder& order) {
  if (graph.vertices == graph.nodes) return {graph, units};
  return SwitchRemoval(topology, graph, units, trees, reversed, order).run();
}

}  // namespace espalier
