// When one NPU of a multi-dimensional system can stand for all of them. Header only: checks and
// simulated system both ask.
#pragma once

#include <string>

#include "alg/plan_layout.h"
#include "sims/config/config.h"

namespace espalier {

// All NPUs run the same program on the same network, seen from each of them alike: a ring turned by
// one, a fully connected group or a switch's with its NPUs renamed (halving-doubling: coordinates
// with a bit flipped) is itself. So they do the same in every cycle, each switch port carries in
// every cycle what one NPU sends, and a single NPU whose links lead back to it does what each of
// them does, in both fidelities. That takes equal parts for all, and nothing that singles out a
// node or a link. What stands against it, for the user; empty where nothing does.
[[nodiscard]] inline std::string folding_obstacle(const RunPoint& point, const PlanLayout& layout) {
  if (!layout.equal_parts()) {
    return "collective.parts: chunks do not divide into equal parts (equal would pad them)";
  }
  if (point.simulation.late_cycles != 0) return "simulation.late_cycles: one node is late";
  if (point.simulation.stall_probability > 0) {
    return "simulation.stall_probability: every link stalls by itself";
  }
  return {};
}

}  // namespace espalier
