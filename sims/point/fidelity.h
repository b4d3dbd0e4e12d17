// Which fidelity can model a configuration exactly. Header only: reader and simulated system both
// ask.
#pragma once

#include <string>

#include "sims/point/config.h"

namespace espalier {

// The setting, as it stands in a configuration, that only flit-by-flit simulation models exactly
// ("system.router.hold: flit, ..." with the reason); empty where trains do.
[[nodiscard]] inline std::string train_obstacle(const RunPoint& point) {
  const RouterConfig& router = point.system.router;
  if (router.hold == SwitchHold::flit) {
    return "system.router.hold: flit, which interleaves packets flit by flit";
  }
  if (router.switching == Switching::wormhole) {
    return "system.router.switching: wormhole, which stops packets halfway";
  }
  if (point.control) return "control messages, whose wormhole packets may stop halfway";
  if (point.simulation.stall_probability > 0) {
    return "simulation.stall_probability, which delays single flits at random";
  }
  if (point.simulation.monitors) return "simulation.monitors, which watch single flits";
  return {};
}

// `automatic` decided: train where it is exact.
[[nodiscard]] inline Fidelity chosen_fidelity(const RunPoint& point) {
  if (point.simulation.fidelity != Fidelity::automatic) return point.simulation.fidelity;
  return train_obstacle(point).empty() ? Fidelity::train : Fidelity::cycle;
}

}  // namespace espalier
