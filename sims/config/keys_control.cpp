// Keys of the section `control`.
#include <limits>

#include "sims/config/key_builders.h"

namespace espalier {

using namespace key_builders;

namespace {

// A short message is a few packets at most.
constexpr std::uint64_t kLargestControlMessage = std::uint64_t{64} * 1024;
constexpr std::uint64_t kDeepestVc = 1 << 20;

// A node with less to say would be drawn for, cycle after cycle, longer than it is simulated.
ValueShape control_rates() {
  ValueShape shape;
  shape.min_fraction = 1e-6;
  shape.max_fraction = 1.0;
  return shape;
}

bool has_own_vcs(const RunPoint& point) { return point.control->vcs == ControlVcs::own; }

}  // namespace

void add_control_keys(std::vector<Key>& table) {
  table.push_back(choice_key<ControlPattern>(
      "control.pattern", "whom a node sends to: any other node, or the next one",
      [](auto& p) -> auto& { return p.control->pattern; }));
  table.push_back(fraction_key(
      "control.injection_rate", control_rates(), "flits per node and cycle, head flits included",
      [](auto& p) -> auto& { return p.control->injection_rate; }));
  table.push_back(number_key(
      ValueType::size, "control.message", 1, kLargestControlMessage, "size of each message",
      [](auto& p) -> auto& { return p.control->message_bytes; }));
  table.push_back(
      or_word(integer_key(
                  "control.duration_cycles", 1, kLongestRunCycles,
                  "messages are posted during this time, and not after a collective beside them; "
                  "collective: as long as it runs",
                  [](auto& p) -> auto& { return p.control->duration_cycles; }),
              "collective"));
  table.push_back(integer_key(
      "control.seed", 0, std::numeric_limits<std::uint64_t>::max(), "of destinations and times",
      [](auto& p) -> auto& { return p.control->seed; }));
  table.push_back(listable(choice_key<ControlVcs>(
      "control.vcs", "own: one VC of each class is set aside; shared: the gradients' VCs",
      [](auto& p) -> auto& { return p.control->vcs; })));
  table.push_back(only_when(or_word(integer_key(
                                        "control.vc_depth_flits", 1, kDeepestVc,
                                        "buffer of a VC set aside; router: as deep as the others",
                                        [](auto& p) -> auto& { return p.control->vc_depth_flits; }),
                                    "router"),
                            "control.vcs", "own", has_own_vcs));
}

}  // namespace espalier
