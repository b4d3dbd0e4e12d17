// Rules of the ports of network interfaces: binding, release, issue order, lockstep by NOPs, and
// posts of 2D-RING.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "alg/algorithm.h"
#include "sims/config/keys.h"
#include "sims/config/rules.h"
#include "sims/point/enum_names.h"

namespace espalier {

namespace {

// A setting of the ports that is not the default, as written.
struct PortSetting {
  const char* key;
  std::string value;
  const char* instead;  // the value that always works
};

std::vector<PortSetting> port_settings(const NiConfig& ni) {
  std::vector<PortSetting> settings;
  if (ni.port_binding != PortBinding::link) {
    settings.push_back({"system.ni.port_binding", name_of(ni.port_binding), "link"});
  }
  if (ni.release != PortRelease::left) {
    settings.push_back({"system.ni.release", name_of(ni.release), "left"});
  }
  if (ni.issue != IssueOrder::head) {
    settings.push_back({"system.ni.issue", name_of(ni.issue), "head"});
  }
  if (ni.lockstep == LockstepMode::nop) {
    settings.push_back({"system.ni.lockstep", name_of(ni.lockstep), "estimate"});
  }
  return settings;
}

// Why NIs of this run have no ports that a schedule table alone uses; empty if they have.
std::string other_users(const RunPoint& point) {
  if (point.traffic) return "messages of a traffic pattern have no timesteps";
  if (!point.collective) return "control messages alone have no timesteps";
  if (point.control) return "control messages have a queue at the port of their link";
  if (point.tenants) return "messages of other tenants do not come from a schedule table";
  if (point.coordination) return "hosts that coordinate send messages of their own";
  if (!point.system.topology.external.nis.empty()) return "an external NI has ports of its own";
  const Algorithm* algorithm = find_algorithm(point.collective->algorithm);
  if (algorithm == nullptr) return {};
  if (algorithm->is_program()) {
    return fmt::format("{} is a program, whose thread blocks send without a schedule table",
                       algorithm->name);
  }
  if (point.collective->algorithm == kAutoAlgorithm) {
    return "auto compares algorithms for NIs whose ports are bound to links";
  }
  return {};
}

// Why entries of a timestep cannot issue in any order; empty if they can.
std::string order_problem(const RunPoint& point) {
  if (point.system.ni.table_repeat) {
    return "a row that repeats (system.ni.table_repeat) gives its entries one after the other";
  }
  const Algorithm* algorithm = find_algorithm(point.collective->algorithm);
  if (algorithm != nullptr && algorithm->generator != nullptr &&
      algorithm->generator->plans_times) {
    return fmt::format("{} plans the order of the entries", algorithm->name);
  }
  return {};
}

// Verilog that does not decide for this setting; nullptr if there is none.
const char* rtl_without(const RunPoint& point) {
  const bool any_entry = point.system.ni.issue == IssueOrder::step;
  const bool by_nops = point.system.ni.lockstep == LockstepMode::nop;
  if (point.simulation.has_rtl(RtlBlock::ni_control) && (any_entry || by_nops)) {
    return any_entry ? "ni_control decides for the head of the table only, and system.ni.issue is "
                       "step"
                     : "ni_control has no counter for NOPs alone, and system.ni.lockstep is nop";
  }
  if (point.simulation.has_rtl(RtlBlock::dependency_state) && any_entry) {
    return "dependency_state keeps messages in the order in which entries wait for them, and "
           "system.ni.issue is step";
  }
  return nullptr;
}

// Why the hosts cannot post the dimensions of 2D-RING one after the other; empty if they can.
std::string posts_problem(const RunPoint& point) {
  if (point.training) return "the hosts of section training post gradients, each at its own time";
  if (!point.system.topology.external.nis.empty()) return "an external NI sends at its own time";
  return {};
}

void check_phases(const ExaminedPoint& examined) {
  const RunPoint& point = examined.point;
  if (!point.collective || point.collective->phases == PhaseStart::chained) return;
  if (point.collective->algorithm != "2d_ring") return;
  const std::string problem = posts_problem(point);
  if (problem.empty()) return;
  examined.report({"collective.phases", "system.preset"}, "collective.phases: posted: " + problem,
                  "collective.phases: chained");
}

}  // namespace

void check_ports(const ExaminedPoint& examined) {
  const RunPoint& point = examined.point;
  check_phases(examined);
  const auto refuse = [&](const PortSetting& setting, const std::string& why) {
    examined.report({setting.key, "system.preset"},
                    fmt::format("{}: {}: {}", setting.key, setting.value, why),
                    fmt::format("{}: {}", setting.key, setting.instead));
  };
  const std::vector<PortSetting> settings = port_settings(point.system.ni);
  if (settings.empty()) return;
  const std::string users = other_users(point);
  for (const PortSetting& setting : settings) {
    if (!users.empty()) refuse(setting, users);
  }
  if (!users.empty()) return;
  if (point.system.ni.issue == IssueOrder::step) {
    const std::string problem = order_problem(point);
    if (!problem.empty()) refuse({"system.ni.issue", "step", "head"}, problem);
  }
  if (const char* problem = rtl_without(point)) {
    examined.report({"simulation.rtl"}, fmt::format("simulation.rtl: {}", problem),
                    "remove the block from the list, or the setting");
  }
}

}  // namespace espalier
