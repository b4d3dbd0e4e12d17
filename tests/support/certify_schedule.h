// Certifies a schedule without its tables: what a generator writes before it is lowered.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "alg/certify/certifier_parts.h"
#include "alg/schedule/arrival_index.h"
#include "alg/schedule/schedule_text.h"

namespace espalier {

namespace certifier {

inline std::string transfer_problem(const Schedule& s, const Transfer& t, RouteCheck& routes) {
  const auto no_node = [&](const char* who, NodeId node) {
    if (!node.valid()) return fmt::format("no {} is given", who);
    return fmt::format("the {} {} is not a node of this network; nodes are 0 to {}", who,
                       node.value(), s.num_nodes - 1);
  };
  if (t.from.index() >= s.num_nodes) return no_node("sender", t.from);
  if (t.to.index() >= s.num_nodes) return no_node("receiver", t.to);
  if (t.from == t.to)
    return fmt::format("node {} is both the sender and the receiver", t.from.value());
  if (!t.flow.valid()) return "it has no flow";
  if (t.num_chunks == 0) return "it carries no chunks";
  if (t.first_chunk.index() >= s.chunks.size() ||
      t.num_chunks > s.chunks.size() - t.first_chunk.index()) {
    return fmt::format("its chunks are not among the {} chunks of the collective", s.chunks.size());
  }
  if (s.bytes_of(t) == 0) return "it carries no bytes";
  if (t.step == 0 || t.step > s.num_steps) {
    return fmt::format("its step is {}; steps are 1 to {}", t.step, s.num_steps);
  }
  return routes.problem(t.route, t.from, t.to);
}

inline void check_transfers(const Topology& topology, const Schedule& s, Findings& findings) {
  RouteCheck routes(topology, s.routes);
  Timestep step_before = 0;
  for (std::size_t i = 0; i < s.transfers.size(); ++i) {
    const Transfer& t = s.transfers[i];
    std::string problem = transfer_problem(s, t, routes);
    if (problem.empty() && t.step < step_before) {
      problem = fmt::format(
          "its step is {}, but the transfer before it has step {}; transfers must be sorted by "
          "step",
          t.step, step_before);
    }
    step_before = t.step;
    if (!problem.empty()) {
      findings.add_described(ViolationKind::malformed, [&] {
        return fmt::format("transfer {} ({}): {}", i, describe(t), problem);
      });
    }
  }
}

inline bool dependency_lists_are_sound(const Schedule& s) {
  return s.dependency_begin.size() == s.transfers.size() + 1 && s.dependency_begin.front() == 0 &&
         s.dependency_begin.back() == s.dependencies.size() &&
         std::is_sorted(s.dependency_begin.begin(), s.dependency_begin.end());
}

inline bool check_arrivals_are_told_apart(const Schedule& s, Findings& findings) {
  const ArrivalIndex arrivals(s.transfers, s.num_nodes);
  bool usable = true;
  for (std::size_t n = 0; n < s.num_nodes; ++n) {
    const ArrivalIndex::Range all = arrivals.at(NodeId(n));
    for (const auto* a = all.begin(); a != all.end() && a + 1 != all.end(); ++a) {
      if (a[1].flow != a->flow || a[1].kind != a->kind || a[1].from != a->from) continue;
      usable = false;
      findings.add_described(ViolationKind::malformed, [&] {
        return fmt::format(
            "the receiver cannot distinguish the {} from the {}: both have the same flow and the "
            "same sender",
            describe(s.transfers[a->transfer.index()]),
            describe(s.transfers[a[1].transfer.index()]));
      });
    }
  }
  return usable;
}

inline bool check_form(const Topology& topology, const Schedule& s, Findings& findings) {
  const auto malformed = [&](const std::string& what) {
    findings.add(ViolationKind::malformed, "{}", what);
  };
  if (s.num_nodes != topology.num_nodes()) {
    malformed(fmt::format("the schedule is for {} nodes, but the topology has {} nodes",
                          s.num_nodes, topology.num_nodes()));
    return false;
  }
  if (s.ni_ports == 0) malformed("the schedule gives an NI 0 ports; an NI has at least 1 port");
  check_chunks(s.chunks, s.size, s.op, s.scope, s.num_nodes, findings);
  if (findings.count(ViolationKind::malformed) != 0) return false;
  check_transfers(topology, s, findings);
  if (!dependency_lists_are_sound(s))
    malformed("the lists of dependencies do not match the transfers; each transfer has one list");
  if (findings.count(ViolationKind::malformed) != 0) return false;
  const bool can_follow = check_dependencies(s, findings);
  return check_arrivals_are_told_apart(s, findings) && can_follow;
}

}  // namespace certifier

inline Certificate certify(const Topology& topology, const Schedule& schedule,
                           const CertifierLimits& limits = {}) {
  if (schedule.symmetry) return certify(topology, lower_to_tables(schedule), limits);
  certifier::Findings findings;
  Certificate certificate;
  certificate.transfers = certificate.judged_transfers = schedule.transfers.size();
  if (certifier::check_form(topology, schedule, findings)) {
    certifier::check_shares(schedule.op, schedule.scope, limits.element_bytes, schedule.chunks,
                            schedule.num_nodes, findings);
    certifier::check_schedule(topology, schedule, limits, certificate, findings);
  }
  certificate.violations = findings.list();
  return certificate;
}

}  // namespace espalier
