// Checks that every id is in range and that every route and dependency has a meaning. The other
// checks rely on this.
#include <fmt/format.h>

#include <algorithm>

#include "alg/certify/certifier_parts.h"
#include "alg/schedule/schedule_text.h"

namespace espalier::certifier {

RouteCheck::RouteCheck(const Topology& topology, const RouteSet& routes)
    : topology_(topology),
      routes_(routes),
      state_(routes.size(), State::unknown),
      last_passed_by_(topology.num_vertices(), 0) {}

bool RouteCheck::is_sound(RouteId route) {
  State& state = state_[route.index()];
  if (state != State::unknown) return state == State::sound;
  state = State::unsound;
  const std::size_t hops = routes_.hops(route);
  if (hops == 0) return false;
  NodeId at;
  for (std::size_t hop = 0; hop < hops; ++hop) {
    const LinkId link = routes_.link(route, hop);
    if (link.index() >= topology_.num_links()) return false;
    const TopologyLink& l = topology_.link(link);
    if (hop == 0) {
      last_passed_by_[l.from.index()] = route.index() + 1;
    } else if (l.from != at) {
      return false;
    }
    if (last_passed_by_[l.to.index()] == route.index() + 1) return false;
    last_passed_by_[l.to.index()] = route.index() + 1;
    at = l.to;
  }
  state = State::sound;
  return true;
}

std::string RouteCheck::problem(RouteId route, NodeId from, NodeId to) {
  if (!route.valid()) return "no route is given";
  if (route.index() >= routes_.size()) return fmt::format("route {} does not exist", route.value());
  if (!is_sound(route))
    return "the links of the route do not join, or the route passes a vertex twice";
  const TopologyLink& first = topology_.link(routes_.link(route, 0));
  const TopologyLink& last = topology_.link(routes_.link(route, routes_.hops(route) - 1));
  if (first.from == from && last.to == to) return {};
  return fmt::format("the route leads from {} to {}, but must lead from {} to {}",
                     topology_.vertex_name(first.from), topology_.vertex_name(last.to),
                     topology_.vertex_name(from), topology_.vertex_name(to));
}

namespace {

// Empty if the scope belongs to this operation and network.
std::string scope_problem(CollectiveOp op, const Scope& scope, std::size_t nodes) {
  if (is_rooted(op) != scope.root.valid()) {
    return is_rooted(op) ? "a broadcast or reduce needs a root"
                         : fmt::format("{} has no root", to_string(op));
  }
  if (scope.counts.size() != num_counts(op, nodes)) {
    return fmt::format("found {} counts; {} of {} nodes has {}", scope.counts.size(), to_string(op),
                       nodes, num_counts(op, nodes));
  }
  for (const RankGroup& group : scope.groups) {
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const NodeId node = group.members[m];
      if (node.index() < nodes && (m == 0 || group.members[m - 1] < node)) continue;
      return fmt::format("the members are not nodes in ascending order; nodes are 0 to {}",
                         nodes - 1);
    }
    if (group.members.empty()) return "a group has no members";
  }
  if (scope.groups.size() > 1 && (is_rooted(op) || has_counts(op))) {
    return fmt::format("several groups compute no {} at the same time", to_string(op));
  }
  if (scope.root.valid() && (scope.root.index() >= nodes || !scope.has(scope.root))) {
    return fmt::format("the root {} takes no part in the collective", scope.root.value());
  }
  return {};
}

// Empty if the node that is named as `who` takes part.
std::string participant_problem(const char* who, NodeId node, std::size_t number,
                                const Chunk& chunk, const Scope& scope, std::size_t nodes) {
  if (node.index() >= nodes) {
    return fmt::format("the {} of chunk {} is not a node; nodes are 0 to {}", who, number,
                       nodes - 1);
  }
  if (scope.has(node, chunk.group)) return {};
  return fmt::format("the {} of chunk {} is node {}, which takes no part in the {}", who, number,
                     node.value(), scope.groups.size() < 2 ? "collective" : "chunk's group");
}

std::string chunk_problem(CollectiveOp op, const Scope& scope, const Chunk& chunk,
                          std::size_t number, std::size_t nodes) {
  if (chunk.group >= std::max<std::size_t>(1, scope.groups.size())) {
    return fmt::format("chunk {} is of group {}, but there are {} groups", number, chunk.group,
                       std::max<std::size_t>(1, scope.groups.size()));
  }
  if (op == CollectiveOp::all_reduce) return {};
  std::string problem = participant_problem("owner", chunk.owner, number, chunk, scope, nodes);
  if (!problem.empty()) return problem;
  if (is_rooted(op) && chunk.owner != scope.root) {
    return fmt::format("the owner of chunk {} is node {}, but the root of the {} is node {}",
                       number, chunk.owner.value(), to_string(op), scope.root.value());
  }
  return is_exchange(op)
             ? participant_problem("destination", chunk.destination, number, chunk, scope, nodes)
             : std::string();
}

}  // namespace

void check_chunks(const std::vector<Chunk>& chunks, Bytes size, CollectiveOp op, const Scope& scope,
                  std::size_t num_nodes, Findings& findings) {
  const std::string problem = scope_problem(op, scope, num_nodes);
  if (!problem.empty()) {
    findings.add(ViolationKind::malformed, "{}", problem);
    return;
  }
  const Bytes all = data_bytes(op, size, scope, num_nodes);
  Bytes covered = 0;
  std::vector<Bytes> of_group(std::max<std::size_t>(1, scope.groups.size()), 0);
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const Chunk& chunk = chunks[c];
    if (chunk.offset != covered || chunk.size > all - covered) {
      findings.add(
          ViolationKind::malformed,
          "chunk {} starts at byte {} and has {} bytes, but the chunks before it end at byte {} "
          "of {}",
          c, chunk.offset, chunk.size, covered, all);
      return;
    }
    covered += chunk.size;
    const std::string why = chunk_problem(op, scope, chunk, c, num_nodes);
    if (!why.empty()) findings.add(ViolationKind::malformed, "{}", why);
    if (chunk.group < of_group.size()) of_group[chunk.group] += chunk.size;
  }
  if (covered != all) {
    findings.add(ViolationKind::malformed, "the chunks cover {} of {} bytes", covered, all);
  }
  for (std::size_t g = 0; scope.groups.size() > 1 && g < scope.groups.size(); ++g) {
    const RankGroup& group = scope.groups[g];
    const Bytes wanted = data_bytes(op, group.size, {{}, {}, {group}}, num_nodes);
    if (of_group[g] == wanted) continue;
    findings.add(ViolationKind::malformed, "the chunks of group {} have {} of {} bytes", g,
                 of_group[g], wanted);
  }
}

bool check_dependencies(const Schedule& s, Findings& findings) {
  bool usable = true;
  for (std::size_t i = 0; i < s.transfers.size(); ++i) {
    const Transfer& t = s.transfers[i];
    for (std::uint32_t d = s.dependency_begin[i]; d < s.dependency_begin[i + 1]; ++d) {
      const TransferId id = s.dependencies[d];
      if (id.index() >= s.transfers.size()) {
        usable = false;
        findings.add_described(ViolationKind::malformed, [&] {
          return fmt::format("transfer {} ({}) depends on transfer {}, which does not exist", i,
                             describe(t), id.value());
        });
        continue;
      }
      const Transfer& before = s.transfers[id.index()];
      if (before.to != t.from) {
        usable = false;
        findings.add_described(ViolationKind::malformed, [&] {
          return fmt::format(
              "transfer {} ({}) depends on the {}, which arrives at node {} and not at the sender, "
              "node {}",
              i, describe(t), describe(before), before.to.value(), t.from.value());
        });
      } else if (before.step > t.step) {
        findings.add_described(ViolationKind::malformed, [&] {
          return fmt::format("transfer {} ({}) depends on the {}, which has a later step", i,
                             describe(t), describe(before));
        });
      }
    }
  }
  return usable;
}

}  // namespace espalier::certifier
