// Cycles of waits: among transfers, among the table entries that each NI issues in order, and among
// virtual channels.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "alg/certify/certifier_parts.h"
#include "alg/routes/routing.h"
#include "alg/schedule/schedule_text.h"

namespace espalier::certifier {

namespace {

bool goes_forward_in_steps(const Schedule& s) {
  for (std::size_t t = 0; t < s.transfers.size(); ++t) {
    for (std::uint32_t d = s.dependency_begin[t]; d < s.dependency_begin[t + 1]; ++d) {
      if (s.transfers[s.dependencies[d].index()].step >= s.transfers[t].step) return false;
    }
  }
  return true;
}

}  // namespace

OrderedTransfers order_transfers(const Schedule& s, Findings& findings) {
  const std::size_t count = s.transfers.size();
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  // Transfers are sorted by step. If every dependency is on an earlier step, this order is
  // topological.
  if (!goes_forward_in_steps(s)) {
    std::vector<Precedence> precedences;
    precedences.reserve(s.dependencies.size());
    for (std::uint32_t t = 0; t < count; ++t) {
      for (std::uint32_t d = s.dependency_begin[t]; d < s.dependency_begin[t + 1]; ++d) {
        precedences.push_back({s.dependencies[d].value(), t});
      }
    }
    TopologicalOrder sorted = sort_topologically(count, precedences);
    if (!sorted.cycle.empty()) {
      findings.add_described(ViolationKind::deadlock, [&] {
        return cycle_text(
            "transfers wait for each other in a cycle:", sorted.cycle.size(), [&](std::size_t i) {
              return fmt::format("{} waits for", describe(s.transfers[sorted.cycle[i]]));
            });
      });
      return {};
    }
    order = std::move(sorted.order);
    // No dependency is on a later step. Within the order of steps, what a receiver holds for flows
    // of earlier steps (TableEntry::after) comes after these flows, although nothing depends on
    // them.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return s.transfers[a].step < s.transfers[b].step;
    });
  }
  std::vector<std::uint32_t> position(count);
  for (std::uint32_t p = 0; p < count; ++p) position[order[p]] = p;

  OrderedTransfers result;
  result.at.reserve(count);
  result.begin.reserve(count + 1);
  result.before.reserve(s.dependencies.size());
  result.begin.push_back(0);
  for (const std::uint32_t t : order) {
    result.at.emplace_back(t);
    for (std::uint32_t d = s.dependency_begin[t]; d < s.dependency_begin[t + 1]; ++d) {
      result.before.push_back(position[s.dependencies[d].index()]);
    }
    result.begin.push_back(result.before.size());
  }
  return result;
}

void check_issue_order(const ScheduleTables& tables, const RaisedTables& raised,
                       Findings& findings) {
  const Schedule& s = raised.schedule;
  // A cycle cannot consist of table order alone, and neither table order nor dependencies go back
  // in steps.
  if (goes_forward_in_steps(s)) return;

  std::vector<std::size_t> begin{0};
  for (const auto& entries : tables.nodes) begin.push_back(begin.back() + entries.size());
  const auto vertex = [&](TransferId t) {
    const EntryPlace& place = raised.places[t.index()];
    return static_cast<std::uint32_t>(begin[place.node.index()] + place.entry);
  };
  const auto node_of = [&](std::uint32_t v) {
    const auto next = std::upper_bound(begin.begin(), begin.end(), v);
    return NodeId(static_cast<std::size_t>(next - begin.begin()) - 1);
  };
  std::vector<Precedence> precedences;
  precedences.reserve(s.dependencies.size() + begin.back());
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    for (std::size_t v = begin[n]; v + 1 < begin[n + 1]; ++v) {
      precedences.push_back({static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(v + 1)});
    }
  }
  for (std::size_t t = 0; t < s.transfers.size(); ++t) {
    for (std::uint32_t d = s.dependency_begin[t]; d < s.dependency_begin[t + 1]; ++d) {
      precedences.push_back({vertex(s.dependencies[d]), vertex(TransferId(t))});
    }
  }
  std::vector<std::uint32_t> cycle = sort_topologically(begin.back(), precedences).cycle;
  if (cycle.empty()) return;

  // Only the first and the last of several consecutive entries of one node are printed: a
  // dependency ends at one and starts at the other.
  const auto new_node = std::find_if(cycle.begin(), cycle.end(), [&](std::uint32_t v) {
    return node_of(v) != node_of(cycle.back());
  });
  std::rotate(cycle.begin(), new_node, cycle.end());
  std::vector<std::uint32_t> ends;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const bool first = i == 0 || node_of(cycle[i - 1]) != node_of(cycle[i]);
    const bool last = i + 1 == cycle.size() || node_of(cycle[i + 1]) != node_of(cycle[i]);
    if (first || last) ends.push_back(cycle[i]);
  }
  findings.add_described(ViolationKind::deadlock, [&] {
    return cycle_text(
        "table entries wait for each other in a cycle:", ends.size(), [&](std::size_t i) {
          const NodeId node = node_of(ends[i]);
          const bool same_table = node_of(ends[(i + 1) % ends.size()]) == node;
          return fmt::format("{} {}", describe(tables, node, ends[i] - begin[node.index()]),
                             same_table ? "comes in its table after" : "waits for");
        });
  });
}

void check_channel_cycles(const Topology& topology, const Schedule& s, std::uint32_t vc_classes,
                          Findings& findings) {
  ChannelDependencies dependencies(topology,
                                   vc_classes == 0 ? topology.shape().vc_classes.all : vc_classes);
  std::vector<bool> seen(s.routes.size(), false);
  for (const Transfer& t : s.transfers) {
    if (!seen[t.route.index()]) dependencies.add(s.routes, t.route);
    seen[t.route.index()] = true;
  }
  const std::string cycle = dependencies.cycle(kLongestPrintedCycle);
  if (!cycle.empty()) findings.add(ViolationKind::deadlock, "{}", cycle);
}

}  // namespace espalier::certifier
