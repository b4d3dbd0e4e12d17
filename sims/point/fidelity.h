// Which fidelity can model a configuration exactly. Header only, because both the reader and the
// simulated system use it.
#pragma once

#include <string>

#include "sims/point/config.h"

namespace espalier {

// The setting that only flit-by-flit simulation models exactly, as written in a configuration and
// with the reason ("system.router.hold: flit, ..."); empty if trains are exact.
[[nodiscard]] inline std::string train_obstacle(const RunPoint& point) {
  const RouterConfig& router = point.system.router;
  if (router.hold == SwitchHold::flit) {
    return "system.router.hold: flit, which interleaves packets flit by flit";
  }
  if (router.allocation == SwitchAllocation::output_first) {
    return "system.router.allocation: output_first, which decides anew for every flit";
  }
  if (router.switching == Switching::wormhole) {
    return "system.router.switching: wormhole, which stops packets halfway";
  }
  if (router.vc_order == VcOrder::rotating &&
      point.system.flow_control.mode == FlowControlMode::packet) {
    return "system.router.vc_order: rotating, which gives each packet another VC";
  }
  if (point.system.topology.external.any()) {
    return "system.topology.external, whose modules send and take single flits";
  }
  if (point.control) return "control messages, whose wormhole packets may stop halfway";
  if (point.simulation.stall_probability > 0) {
    return "simulation.stall_probability, which delays single flits at random";
  }
  if (point.simulation.monitors) return "simulation.monitors, which watch single flits";
  if (point.simulation.has_rtl(RtlBlock::output_hold)) {
    return "simulation.rtl: output_hold, which decides at every packet of a train";
  }
  return {};
}

// Resolves `automatic`: train if it is exact, otherwise cycle.
[[nodiscard]] inline Fidelity chosen_fidelity(const RunPoint& point) {
  if (point.simulation.fidelity != Fidelity::automatic) return point.simulation.fidelity;
  return train_obstacle(point).empty() ? Fidelity::train : Fidelity::cycle;
}

}  // namespace espalier
