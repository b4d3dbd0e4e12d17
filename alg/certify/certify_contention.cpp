// At most as many transfers of a timestep on a link as it has units of bandwidth: one, where all
// links are alike.
#include <fmt/format.h>

#include "alg/certify/certifier_parts.h"
#include "alg/routes/link_units.h"
#include "alg/schedule/schedule_text.h"

namespace espalier::certifier {

bool check_contention(const Topology& topology, const Schedule& s, Findings& findings) {
  const std::vector<std::uint32_t> units = link_units(topology);
  // Transfers are sorted by step: the last user of a link is the only one that can be of the same
  // step.
  struct Use {
    TransferId last;
    std::uint32_t transfers = 0;  // of its step
  };
  std::vector<Use> uses(topology.num_links());
  bool free = true;
  for (std::size_t i = 0; i < s.transfers.size(); ++i) {
    const Transfer& t = s.transfers[i];
    for (std::size_t hop = 0; hop < s.routes.hops(t.route); ++hop) {
      const LinkId link = s.routes.link(t.route, hop);
      Use& use = uses[link.index()];
      const TransferId before = use.last;
      const bool same_step = before.valid() && s.transfers[before.index()].step == t.step;
      use.last = TransferId(i);
      use.transfers = same_step ? use.transfers + 1 : 1;
      if (use.transfers <= units[link.index()]) continue;
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
