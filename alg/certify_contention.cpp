// At most one transfer of a timestep on every link.
#include <fmt/format.h>

#include "alg/certifier_parts.h"
#include "alg/schedule_text.h"

namespace espalier::certifier {

bool check_contention(const Topology& topology, const Schedule& s, Findings& findings) {
  // Transfers are sorted by step: the last user of a link is the only one that can be of the same
  // step.
  std::vector<TransferId> last_user(topology.num_links());
  bool free = true;
  for (std::size_t i = 0; i < s.transfers.size(); ++i) {
    const Transfer& t = s.transfers[i];
    for (std::size_t hop = 0; hop < s.routes.hops(t.route); ++hop) {
      const LinkId link = s.routes.link(t.route, hop);
      const TransferId before = last_user[link.index()];
      last_user[link.index()] = TransferId(i);
      if (!before.valid() || s.transfers[before.index()].step != t.step) continue;
      free = false;
      if (!s.contention_free) return false;
      findings.add(ViolationKind::contention, [&] {
        return fmt::format("in step {} link {} carries both the {} and the {}", t.step,
                           link_name(topology, link), describe(s.transfers[before.index()]),
                           describe(t));
      });
    }
  }
  return free;
}

}  // namespace espalier::certifier
