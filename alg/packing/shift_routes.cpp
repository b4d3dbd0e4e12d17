#include "alg/packing/shift_routes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "alg/packing/forest_task.h"

namespace espalier {

namespace {

// A leaf switch with its nodes, and the ways to another leaf in the order of their first links.
struct Leaf {
  NodeId at;
  std::vector<NodeId> nodes;
};

class ShiftFinder {
 public:
  explicit ShiftFinder(const Topology& topology) : topology_(topology) {}

  std::optional<ShiftRoutes> find() {
    if (!find_leaves() || !find_ways()) return std::nullopt;
    ShiftRoutes result;
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

  const Topology& topology_;
  std::vector<Leaf> leaves_;
  std::vector<std::vector<std::vector<LinkId>>> ways_;  // by pair of leaves, the i-th way
};

}  // namespace

std::optional<ShiftRoutes> shift_routes(const Topology& topology) {
  return ShiftFinder(topology).find();
}

RoundPlan plan_steps(const RoundTask& task, const std::vector<std::uint32_t>& step,
                     std::uint32_t turn, bool periodic) {
  const auto& [topology, routes, ops, segment, timing] = task;
  const MessageTimes times(topology, routes, timing);
  // A step is as long as a message on its slowest link, and what heads of one step differ by at the
  // end of their ways.
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> heads;
  std::uint64_t longest = 0;
  std::uint64_t arrival = 0;
  std::uint32_t steps = 0;
  for (std::size_t o = 0; o < ops.size(); ++o) {
    const RouteId route = ops[o].route;
    longest = std::max(longest, times.slowest_ps(route, segment));
    const std::uint64_t head = times.head_ps(route, routes.hops(route) - 1);
    auto& [least, most] = heads.try_emplace(step[o], head, head).first->second;
    least = std::min(least, head);
    most = std::max(most, head);
    arrival = std::max(arrival, times.arrival_ps(ops[o], segment));
    steps = std::max(steps, step[o] + 1);
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
  RoundPlan plan;
  for (std::size_t o = 0; o < ops.size(); ++o) {
    plan.start_ps.push_back(step[o] * length + (step[o] < turn ? 0 : wait));
  }
  plan.span_ps = (steps - 1) * length + wait + arrival;
  // The next round begins as its own first step does, with the shortest ways.
  if (periodic) plan.period_ps = steps * length + wait + before;
  return plan;
}

void plan_shifts(const ForestTask& task, SegmentSearch& search) {
  const auto shifts = shift_routes(task.topology);
  if (!shifts) return;
  TreeOps trees = task.no_trees(1);
  std::vector<std::uint32_t> step;
  for (const bool reduces : task.phases) {
    const std::uint32_t first = step.empty() ? 0 : step.back() + 1;
    for (std::uint32_t s = 0; s < shifts->steps.size(); ++s) {
      for (const ShiftRoutes::Send& send : shifts->steps[s]) {
        RoundOp op;
        op.from = send.from;
        op.to = send.to;
        op.route = trees.routes.add(task.topology, send.path);
        op.kind = reduces ? TransferKind::reduce : TransferKind::copy;
        const NodeId owner = reduces ? send.to : send.from;
        op.unit = static_cast<std::uint32_t>(task.ranks[owner.index()]);
        if (reduces) {
          trees.reduced[op.unit].push_back(static_cast<std::uint32_t>(trees.ops.size()));
        } else {
          op.after = trees.reduced[op.unit];
        }
        step.push_back(first + s);
        trees.ops.push_back(std::move(op));
      }
    }
  }
  const auto turn = static_cast<std::uint32_t>(shifts->steps.size());
  search.consider_steps(trees, step, task.phases.size() == 2 ? turn : ~0U);
}

}  // namespace espalier
