// Do the tables fit the hardware that holds them?
#include <fmt/format.h>

#include <algorithm>

#include "alg/certify/certifier_parts.h"
#include "alg/schedule/schedule_text.h"

namespace espalier::certifier {

void check_capacity(const ScheduleTables& tables, const CertifierLimits& limits,
                    Certificate& certificate, Findings& findings) {
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    const std::size_t stored = stored_entries(tables.nodes[n]);
    for (std::size_t e = 0; e < tables.nodes[n].size(); ++e) {
      const TableEntry& entry = tables.nodes[n][e];
      const std::size_t children = entry.children.size();
      certificate.most_children = std::max(certificate.most_children, children);
      if (limits.children_slots != 0 && children > limits.children_slots) {
        findings.add(ViolationKind::capacity, [&] {
          return fmt::format("{} has {} children, its field holds {}",
                             describe(tables, NodeId(n), e), children, limits.children_slots);
        });
      }
    }
    certificate.most_table_entries = std::max(certificate.most_table_entries, stored);
    if (limits.table_entries != 0 && stored > limits.table_entries) {
      findings.add(ViolationKind::capacity, [&] {
        return fmt::format("node {} needs {} table entries, its table holds {}", n, stored,
                           limits.table_entries);
      });
    }
  }
}

}  // namespace espalier::certifier
