// Checks whether a timestep's transfers fit the links, and whether the entries fit the tables.
#include <fmt/format.h>

#include <algorithm>

#include "alg/certify/certifier_parts.h"
#include "alg/routes/links.h"
#include "alg/schedule/schedule_text.h"

namespace espalier::certifier {

bool check_contention(const Topology& topology, const Schedule& s, Findings& findings) {
  const std::vector<std::uint32_t> units = link_units(topology);
  // Transfers are sorted by step, so only the last user of a link can belong to the same step.
  struct Use {
    TransferId last;
    std::uint32_t transfers = 0;  // in the step of `last`
  };
  std::vector<Use> uses(topology.num_links());
  bool free = true;
  for (std::size_t i = 0; i < s.transfers.size(); ++i) {
    const Transfer& t = s.transfers[i];
    for (const LinkId link : s.routes.links(t.route)) {
      Use& use = uses[link.index()];
      const TransferId before = use.last;
      const bool same_step = before.valid() && s.transfers[before.index()].step == t.step;
      use.last = TransferId(i);
      use.transfers = same_step ? use.transfers + 1 : 1;
      if (use.transfers <= units[link.index()]) continue;
      free = false;
      if (!s.contention_free) return false;
      findings.add_described(ViolationKind::contention, [&] {
        return fmt::format("in step {} link {} carries both the {} and the {}", t.step,
                           link_name(topology, link), describe(s.transfers[before.index()]),
                           describe(t));
      });
    }
  }
  return free;
}

void check_capacity(const ScheduleTables& tables, const CertifierLimits& limits,
                    Certificate& certificate, Findings& findings) {
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    const std::size_t stored = stored_rows(tables, n);
    for (std::size_t e = 0; e < tables.nodes[n].size(); ++e) {
      const TableEntry& entry = tables.nodes[n][e];
      const std::size_t children = entry.children.size();
      certificate.most_children = std::max(certificate.most_children, children);
      if (limits.children_fields != 0 && children > limits.children_fields) {
        findings.add_described(ViolationKind::capacity, [&] {
          return fmt::format(
              "{} has {} children, but the children field of a table entry holds at most {}",
              describe(tables, NodeId(n), e), children, limits.children_fields);
        });
      }
    }
    certificate.most_table_entries = std::max(certificate.most_table_entries, stored);
    if (limits.table_entries != 0 && stored > limits.table_entries) {
      findings.add(ViolationKind::capacity,
                   "node {} needs {} table entries, but its table holds at most {}", n, stored,
                   limits.table_entries);
    }
  }
}

}  // namespace espalier::certifier
