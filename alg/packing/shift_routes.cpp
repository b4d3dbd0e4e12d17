#include "alg/packing/shift_routes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "alg/packing/forest_task.h"
#include "alg/routes/planes.h"

namespace espalier {

namespace {

constexpr std::size_t kMostPlaneUnits = 64;  // of an owner's data

// A leaf switch with its nodes, and the ways to another leaf in the order of their first links.
struct Leaf {
  NodeId at;
  std::vector<NodeId> nodes;
};

class ShiftFinder {
 public:
  explicit ShiftFinder(Topology topology) : topology_(std::move(topology)) {}

  std::optional<ShiftRoutes> find() {
    if (!find_leaves() || !find_ways()) return std::nullopt;
    ShiftRoutes result;
    result.rate = ~std::uint64_t{0};
    const std::size_t size = leaves_.front().nodes.size();
    for (std::size_t group = 0; group < leaves_.size(); ++group) {
      for (std::size_t index = 0; index < size; ++index) {
        if (group != 0 || index != 0) result.steps.push_back(step(group, index));
      }
    }
    return result;
  }

 private:
  bool find_leaves() {
    if (topology_.num_nodes() < 2) return false;
    std::map<NodeId, std::size_t> leaf_of;
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
      const auto& out = topology_.out_links(NodeId(n));
      const auto& in = topology_.in_links(NodeId(n));
      if (out.size() != 1 || in.size() != 1) return false;
      const NodeId leaf = topology_.link(out.front()).to;
      if (!topology_.is_switch(leaf) || topology_.link(in.front()).from != leaf) return false;
      const auto [found, is_new] = leaf_of.try_emplace(leaf, leaves_.size());
      if (is_new) leaves_.push_back({leaf, {}});
      leaves_[found->second].nodes.push_back(NodeId(n));
    }
    return std::all_of(leaves_.begin(), leaves_.end(), [&](const Leaf& leaf) {
      return leaf.nodes.size() == leaves_.front().nodes.size();
    });
  }

  [[nodiscard]] std::vector<LinkId> links_between(NodeId from, NodeId to) const {
    std::vector<LinkId> links;
    for (const LinkId l : topology_.out_links(from)) {
      if (topology_.link(l).to == to) links.push_back(l);
    }
    return links;
  }

  // Direct ways, or ways over each spine: as many as every leaf has links to and from the spine.
  bool find_ways() {
    const std::size_t count = leaves_.size();
    const std::size_t size = leaves_.front().nodes.size();
    ways_.resize(count * count);
    bool direct = true;
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        if (a == b) continue;
        for (const LinkId l : links_between(leaves_[a].at, leaves_[b].at)) {
          ways_[a * count + b].push_back({l});
        }
        direct = direct && ways_[a * count + b].size() >= size;
      }
    }
    if (direct) return true;
    for (auto& ways : ways_) ways.clear();
    for (std::size_t w = topology_.num_nodes(); w < topology_.num_vertices(); ++w) {
      add_ways_over(NodeId(w));
    }
    return std::all_of(ways_.begin(), ways_.end(), [&](const auto& ways) {
      const auto pair = static_cast<std::size_t>(&ways - ways_.data());
      return pair / count == pair % count || ways.size() >= size;
    });
  }

  void add_ways_over(NodeId spine) {
    const std::size_t count = leaves_.size();
    std::vector<std::vector<LinkId>> up;
    std::vector<std::vector<LinkId>> down;
    std::size_t least = ~std::size_t{0};
    for (const Leaf& leaf : leaves_) {
      if (leaf.at == spine) return;
      up.push_back(links_between(leaf.at, spine));
      down.push_back(links_between(spine, leaf.at));
      least = std::min({least, up.back().size(), down.back().size()});
    }
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        if (a == b) continue;
        for (std::size_t i = 0; i < least; ++i) {
          ways_[a * count + b].push_back({up[a][i], down[b][i]});
        }
      }
    }
  }

  [[nodiscard]] std::vector<ShiftRoutes::Send> step(std::size_t group, std::size_t index) const {
    const std::size_t count = leaves_.size();
    const std::size_t size = leaves_.front().nodes.size();
    std::vector<ShiftRoutes::Send> sends;
    for (std::size_t g = 0; g < count; ++g) {
      const std::size_t to_leaf = (g + group) % count;
      for (std::size_t j = 0; j < size; ++j) {
        const std::size_t i = (j + index) % size;
        ShiftRoutes::Send send;
        send.from = leaves_[g].nodes[j];
        send.to = leaves_[to_leaf].nodes[i];
        send.path.push_back(topology_.out_links(send.from).front());
        if (to_leaf != g) {
          const auto& way = ways_[g * count + to_leaf][i];
          send.path.insert(send.path.end(), way.begin(), way.end());
        }
        send.path.push_back(topology_.in_links(send.to).front());
        sends.push_back(std::move(send));
      }
    }
    std::sort(sends.begin(), sends.end(),
              [](const auto& a, const auto& b) { return a.from < b.from; });
    return sends;
  }

  Topology topology_;
  std::vector<Leaf> leaves_;
  std::vector<std::vector<std::vector<LinkId>>> ways_;  // by pair of leaves, the i-th way
};

// The plan of one plane's ops, in `plan`.
void plan_plane(const RoundTask& task, const std::vector<ShiftStep>& step_of, std::uint32_t plane,
                std::uint32_t turn, bool periodic, RoundPlan& plan) {
  const auto& [topology, routes, ops, segment, timing, unit_bytes] = task;
  const MessageTimes times(topology, routes, timing);
  // A step is as long as a message on its slowest link, and what heads of one step differ by at the
  // end of their ways.
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> heads;
  std::uint64_t longest = 0;
  std::uint64_t arrival = 0;
  std::uint32_t steps = 0;
  for (std::size_t o = 0; o < ops.size(); ++o) {
    if (step_of[o].plane != plane) continue;
    const RouteId route = ops[o].route;
    longest = std::max(longest, times.slowest_ps(route, segment));
    const std::uint64_t head = times.head_ps(route, routes.hops(route) - 1);
    auto& [least, most] = heads.try_emplace(step_of[o].step, head, head).first->second;
    least = std::min(least, head);
    most = std::max(most, head);
    arrival = std::max(arrival, times.arrival_ps(ops[o], segment));
    steps = std::max(steps, step_of[o].step + 1);
  }
  std::uint64_t room = 0;
  std::uint64_t before = 0;  // latest head of the step before
  for (const auto& [s, range] : heads) {
    if (s == turn) before = 0;
    room = std::max(room, range.second - range.first);
    if (before > range.first) room = std::max(room, before - range.first);
    before = range.second;
  }
  const std::uint64_t length = longest + room;
  // The last step before the turn starts a step earlier than the turn.
  const std::uint64_t turned = arrival + timing.turnaround_ps;
  const std::uint64_t wait = turn < steps && turned > length ? turned - length : 0;
  for (std::size_t o = 0; o < ops.size(); ++o) {
    const auto& [in, step] = step_of[o];
    if (in == plane) plan.start_ps[o] = step * length + (step < turn ? 0 : wait);
  }
  plan.span_ps = std::max(plan.span_ps, (steps - 1) * length + wait + arrival);
  // The next round begins as its own first step does, with the shortest ways.
  if (periodic) plan.period_ps = std::max(plan.period_ps, steps * length + wait + before);
}

}  // namespace

std::vector<ShiftRoutes> shift_routes(const Topology& topology) {
  std::uint32_t planes = 0;
  const std::vector<std::uint32_t> plane_of = switch_components(topology, planes);
  std::vector<ShiftRoutes> found;
  for (std::uint32_t p = 0; p < planes; ++p) {
    std::vector<bool> lost_vertices(topology.num_vertices(), false);
    for (std::size_t v = topology.num_nodes(); v < lost_vertices.size(); ++v) {
      lost_vertices[v] = plane_of[v] != p;
    }
    std::vector<bool> lost_links(topology.num_links(), false);
    std::vector<LinkId> kept;
    for (std::size_t l = 0; l < lost_links.size(); ++l) {
      const TopologyLink& link = topology.link(LinkId(l));
      const bool touches = plane_of[link.from.index()] == p || plane_of[link.to.index()] == p;
      lost_links[l] =
          !touches || lost_vertices[link.from.index()] || lost_vertices[link.to.index()];
      if (!lost_links[l]) kept.emplace_back(l);
    }
    auto routes =
        ShiftFinder(without_parts(topology, topology.name(), lost_vertices, lost_links)).find();
    if (!routes) return {};
    for (auto& step : routes->steps) {
      for (ShiftRoutes::Send& send : step) {
        for (LinkId& l : send.path) {
          l = kept[l.index()];
          routes->rate = std::min(routes->rate, topology.link(l).spec.bytes_per_second);
        }
      }
    }
    found.push_back(std::move(*routes));
  }
  return found;
}

RoundPlan plan_steps(const RoundTask& task, const std::vector<ShiftStep>& steps,
                     const std::vector<std::uint32_t>& turns, bool periodic) {
  RoundPlan plan;
  plan.start_ps.resize(steps.size());
  for (std::uint32_t p = 0; p < turns.size(); ++p) {
    plan_plane(task, steps, p, turns[p], periodic, plan);
  }
  return plan;
}

namespace {

// Every node sends to every other node directly, step by step, in all planes at once.
void plan_planes(const ForestTask& task, const std::vector<ShiftRoutes>& planes,
                 const std::vector<std::uint32_t>& units, SegmentSearch& search) {
  const std::uint32_t per_rank = std::accumulate(units.begin(), units.end(), 0U);
  TreeOps trees = task.no_trees(per_rank);
  std::vector<ShiftStep> steps;
  std::vector<std::uint32_t> turns;
  std::uint32_t first_unit = 0;
  for (std::uint32_t p = 0; p < planes.size(); first_unit += units[p++]) {
    std::uint32_t next = 0;
    for (const bool reduces : task.phases) {
      if (!reduces && next != 0) turns.push_back(next);
      for (const auto& step : planes[p].steps) {
        for (std::uint32_t u = first_unit; u < first_unit + units[p]; ++u, ++next) {
          for (const ShiftRoutes::Send& send : step) {
            RoundOp op;
            op.from = send.from;
            op.to = send.to;
            op.route = trees.routes.add(task.topology, send.path);
            op.kind = reduces ? TransferKind::reduce : TransferKind::copy;
            const NodeId owner = reduces ? send.to : send.from;
            op.unit = static_cast<std::uint32_t>(task.ranks[owner.index()] * per_rank + u);
            if (reduces) {
              trees.reduced[op.unit].push_back(static_cast<std::uint32_t>(trees.ops.size()));
            } else {
              op.after = trees.reduced[op.unit];
            }
            steps.push_back({p, next});
            trees.ops.push_back(std::move(op));
          }
        }
      }
    }
    if (turns.size() == p) turns.push_back(~0U);
  }
  search.consider_steps(trees, steps, turns);
}

}  // namespace

void plan_shifts(const ForestTask& task, SegmentSearch& search) {
  const std::vector<ShiftRoutes> planes = shift_routes(task.topology);
  if (planes.empty()) return;
  const std::size_t ops_per_unit = task.phases.size() * task.ranks.size() * (task.ranks.size() - 1);
  const Bytes messages = task.request.size / task.ranks.size() / kLeastMessage;
  std::size_t most = std::min({kMostPlaneUnits, kMostListedSends / ops_per_unit,
                               std::max<std::size_t>(messages, planes.size())});
  std::vector<std::uint64_t> rates;
  for (const ShiftRoutes& plane : planes) rates.push_back(plane.rate);
  // Small data are better off in fewer units, even if these are not in proportion.
  do {
    const std::vector<std::uint32_t> units = units_of_rates(rates, most);
    plan_planes(task, planes, units, search);
    most = std::accumulate(units.begin(), units.end(), std::size_t{0}) / 2;
  } while (most >= planes.size() && !task.is_near_bound(search, kGoodLoss));
}

}  // namespace espalier
