// Rules of the network interface of MultiTree's authors (system.ni.rules).
#include <fmt/format.h>

#include <string>

#include "alg/algorithm.h"
#include "sims/config/keys.h"
#include "sims/config/rules.h"
#include "sims/model/build_program.h"
#include "sims/point/enum_names.h"

namespace espalier {

namespace {

// Why NIs of this run cannot follow the authors' rules; empty if they can.
std::string problem_of(const RunPoint& point) {
  if (point.traffic) return "messages of a traffic pattern have no timesteps";
  if (!point.collective) return "control messages alone have no timesteps";
  if (point.control) return "control messages have a queue at the port of their link";
  if (point.tenants) return "messages of other tenants do not come from a schedule table";
  if (point.coordination) return "hosts that coordinate send messages of their own";
  if (!point.system.topology.external.nis.empty()) return "an external NI has ports of its own";
  if (point.system.ni.table_repeat) {
    return "a row that repeats (system.ni.table_repeat) gives its entries one after the other";
  }
  if (point.collective->algorithm == kAutoAlgorithm) {
    return "auto compares algorithms for NIs whose ports are bound to links";
  }
  const Algorithm* algorithm = find_algorithm(point.collective->algorithm);
  if (algorithm == nullptr) return {};
  if (algorithm->is_program()) {
    return fmt::format("{} is a program, whose thread blocks send without a schedule table",
                       algorithm->name);
  }
  if (algorithm->generator != nullptr && algorithm->generator->plans_times) {
    return fmt::format("{} plans the order of the entries", algorithm->name);
  }
  if (point.training && posts_halves(algorithm->name)) {
    return "its hosts post 2D-RING in two halves, but those of section training post gradients";
  }
  return {};
}

}  // namespace

void check_ni_rules(const ExaminedPoint& examined) {
  if (!examined.given.usable({"system.ni.rules", "system.ni.lockstep"})) return;
  const RunPoint& point = examined.point;
  const NiConfig& ni = point.system.ni;
  const bool counts_nops = ni.lockstep == LockstepMode::nop;
  if (ni.rules == NiRules::linked) {
    if (!counts_nops) return;
    examined.report({"system.ni.lockstep", "system.preset"},
                    "system.ni.lockstep: nop: only NIs of MultiTree's authors count NOPs alone",
                    "system.ni.rules: authors");
    return;
  }
  const char* const rules = name_of(ni.rules);
  const std::string problem = problem_of(point);
  if (!problem.empty()) {
    examined.report({"system.ni.rules", "system.preset"},
                    fmt::format("system.ni.rules: {}: {}", rules, problem),
                    "system.ni.rules: linked");
    return;
  }
  if (!counts_nops && ni.lockstep != LockstepMode::off) {
    examined.report({"system.ni.lockstep", "system.ni.rules", "system.preset"},
                    fmt::format("system.ni.lockstep: {}, but system.ni.rules is {}",
                                name_of(ni.lockstep), rules),
                    "system.ni.lockstep: nop, or off");
  }
  const SimulationConfig& simulation = point.simulation;
  if (simulation.has_rtl(RtlBlock::ni_control) || simulation.has_rtl(RtlBlock::dependency_state)) {
    examined.report({"simulation.rtl"},
                    fmt::format("simulation.rtl: the Verilog of an NI decides for the head of the "
                                "table only, and system.ni.rules is {}",
                                rules),
                    "remove ni_control and dependency_state from the list, or the setting");
  }
}

}  // namespace espalier
