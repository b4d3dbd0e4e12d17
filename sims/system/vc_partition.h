// Assignment of VCs: dateline classes, and VCs set aside for control messages.
#pragma once

#include <algorithm>
#include <cstdint>

#include "alg/routes/routing.h"
#include "flowctl/message.h"
#include "sims/point/config.h"

namespace espalier {

// The VCs are divided among the classes that they can keep apart (usable_vc_classes) in equal,
// contiguous parts; higher classes use the last part, as the certifier assumes. If VCs are set
// aside, the last VC of each class is for control messages and the others are for gradients, which
// takes at least two VCs per class.
struct VcPartition {
  std::uint32_t vcs = 1;
  std::uint32_t classes = 1;
  bool sets_control_aside = false;

  [[nodiscard]] VcMask of_class(std::uint32_t vc_class) const {
    const std::uint32_t part = std::min(vc_class, classes - 1);
    return all_vcs(vcs * (part + 1) / classes) & ~all_vcs(vcs * part / classes);
  }
  // Over all classes; empty if no VCs are set aside.
  [[nodiscard]] VcMask set_aside() const {
    VcMask mask = 0;
    for (std::uint32_t c = 0; sets_control_aside && c < classes; ++c) {
      mask |= VcMask{1} << (vcs * (c + 1) / classes - 1);
    }
    return mask;
  }
  [[nodiscard]] VcMask of_gradients() const { return all_vcs(vcs) & ~set_aside(); }
  [[nodiscard]] VcMask of_control() const {
    return sets_control_aside ? set_aside() : all_vcs(vcs);
  }
};

// Divides a router's `vcs` into as many classes as they can keep apart. `control` is nullptr if
// there are no control messages.
[[nodiscard]] inline VcPartition partition_vcs(const Topology& topology, std::uint32_t vcs,
                                               const ControlConfig* control) {
  const bool own = control != nullptr && control->vcs == ControlVcs::own;
  return {vcs, usable_vc_classes(topology, own ? vcs / 2 : vcs), own};
}

// Classes of VCs that keep packets apart in the point's routers. A blocked wormhole packet that
// holds the switch blocks the packets of all VCs, so such a router has one class.
[[nodiscard]] inline std::uint32_t certified_vc_classes(const Topology& topology,
                                                        const RunPoint& point) {
  const RouterConfig& router = point.system.router;
  const bool keeps_apart = router.switching == Switching::vct || router.hold == SwitchHold::flit;
  const ControlConfig* control = point.control ? &*point.control : nullptr;
  return keeps_apart ? partition_vcs(topology, router.vcs, control).classes : 1;
}

}  // namespace espalier
