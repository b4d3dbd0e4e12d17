// Rules about sections and about which sections exclude each other, and the list of all rules for
// points.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "alg/algorithm.h"
#include "ni/rtl/rtl_sequencer.h"
#include "sims/config/keys.h"
#include "sims/config/rules.h"

namespace espalier {

namespace {

class SectionRules {
 public:
  SectionRules(const GivenKeys& given, Diagnostics& diagnostics)
      : given_(given), diagnostics_(diagnostics) {}

  // The point with one of several sections that exclude each other.
  [[nodiscard]] RunPoint sections_of_a_run() const {
    RunPoint point;
    for (const Section& section : optional_sections()) {
      if (has(section.name)) section.add_to(point);
    }
    if (has("traffic")) point.control.reset();
    if (point.collective) point.traffic.reset();
    if (point.traffic) point.workload.reset();
    if (point.traffic || point.workload) point.training.reset();
    if (!point.training) point.coordination.reset();
    // Training needs a collective; all its keys have defaults there.
    if ((point.training || point.workload) && !point.collective) point.collective.emplace();
    return point;
  }

  void check(const RunPoint& point, ConfigNeed need) {
    if (has("coordination") && !has("training")) {
      refuse_alone("coordination", "training",
                   "add what the hosts coordinate, for example training: {network: resnet50}");
    }
    refuse_both("control", "traffic",
                "control messages run with a collective, or alone; remove one of the two sections");
    for (const char* other : {"traffic", "control", "workload"}) {
      refuse_both("tenants", other,
                  "other tenants' traffic runs with a collective or with training; remove one of "
                  "the two sections");
    }
    check_what_runs(point, need);
    if (need != ConfigNeed::schedule && need != ConfigNeed::system && need != ConfigNeed::library) {
      refuse_what_is_not_here();
    }
    check_lockstep(point);
  }

 private:
  [[nodiscard]] bool has(const char* section) const { return given_.has_section(section); }

  void refuse_both(const char* one, const char* other,
                   const char* hint = "remove one of the two sections") {
    if (!has(one) || !has(other)) return;
    diagnostics_.error(std::max(given_.place_of_section(one), given_.place_of_section(other)),
                       fmt::format("both '{}' and '{}' are given", one, other), hint);
  }
  void refuse_alone(const char* section, const char* needed, const char* hint) {
    diagnostics_.error(
        given_.place_of_section(section),
        fmt::format("section '{0}' needs section '{1}', which is missing", section, needed), hint);
  }

  void check_what_runs(const RunPoint& point, ConfigNeed need) {
    constexpr const char* kExample =
        "collective: {op: all_reduce, algorithm: multitree, size: 16MiB}";
    if (has("workload")) {
      for (const char* other : {"training", "traffic", "control"}) refuse_both("workload", other);
    } else if (has("training") && !has("collective")) {
      refuse_both("training", "traffic");
    } else if (has("collective")) {
      refuse_both("collective", "traffic");
    } else if (need == ConfigNeed::collective || need == ConfigNeed::schedule) {
      diagnostics_.error(has("traffic") ? given_.place_of_section("traffic") : Place{0, 1, 1},
                         "missing section 'collective'", kExample);
    } else if (need == ConfigNeed::traffic && !has("traffic")) {
      diagnostics_.error({0, 1, 1}, "missing section 'traffic'",
                         "traffic: {pattern: uniform, message: 64B}");
    } else if (need != ConfigNeed::system && !has("traffic") && !point.control) {
      diagnostics_.error({0, 1, 1}, "neither 'collective' nor 'traffic' is given", kExample);
    }
  }

  // Modules that a program attaches, and Verilog that another build has.
  void refuse_what_is_not_here() {
    const std::string pattern = "traffic.pattern";
    const std::string rtl = "simulation.rtl";
    for (const std::string& key : std::vector<std::string>{
             "system.topology.external.routers", "system.topology.external.nis", pattern, rtl}) {
      const GivenKey* given = given_.find(key);
      if (given == nullptr || given->values.empty()) continue;
      const GivenValue& first = given->values.front();
      const auto sockets = static_cast<std::uint64_t>(TrafficPattern::sockets);
      if (key == pattern && first.value.number != sockets) continue;
      if (key == rtl && (has_rtl() || first.value.items.empty())) continue;
      diagnostics_.error(
          first.place,
          key == rtl ? key + ": " + kNoRtlModels
                     : key +
                           ": its modules are attached by a program that links the library "
                           "(docs/plug_in.md), and this command attaches none",
          key == rtl ? "or leave out the key"
                     : "run such a program, which may read this configuration, or remove the key");
    }
  }

  // Traffic and control messages have no timesteps.
  void check_lockstep(const RunPoint& point) {
    const GivenKey* lockstep = given_.find("system.ni.lockstep");
    const bool has_steps = !point.traffic && (!point.control || point.collective);
    if (has_steps || lockstep == nullptr || lockstep->values.size() < 2) return;
    diagnostics_.error(
        lockstep->place,
        fmt::format("system.ni.lockstep: found a list, but the key has no effect with '{}'{}",
                    point.traffic ? "traffic" : "control", point.traffic ? "" : " alone"),
        fmt::format("give one value: {} no timesteps",
                    point.traffic ? "traffic has" : "control messages have"));
  }

  const GivenKeys& given_;
  Diagnostics& diagnostics_;
};

}  // namespace

RunPoint choose_sections(const GivenKeys& given, ConfigNeed need, Diagnostics& diagnostics) {
  SectionRules rules(given, diagnostics);
  RunPoint point = rules.sections_of_a_run();
  rules.check(point, need);
  return point;
}

void check_points(const std::vector<RunPoint>& points, const Topology* topology,
                  const GivenKeys& given, Diagnostics& diagnostics) {
  // No list can vary a key that these two checks read, so one point is checked.
  const ExaminedPoint first{points.front(), topology, given, diagnostics};
  check_network(first);
  check_faults(first);
  check_external(first);
  std::set<std::string> algorithms;
  std::set<std::tuple<std::string, CollectiveOp, const WorkGraph*>> operations;
  for (const RunPoint& point : points) {
    const ExaminedPoint examined{point, topology, given, diagnostics};
    check_skewed_steps(examined);
    check_training_and_workload(examined);
    check_messages(examined);
    check_ni_rules(examined);
    if (point.collective) {
      const CollectiveConfig& collective = *point.collective;
      check_collective(examined);
      if (find_algorithm(collective.algorithm) != nullptr &&
          operations
              .emplace(collective.algorithm, collective.op,
                       point.workload ? point.workload->graph.get() : nullptr)
              .second) {
        check_operation(examined);
      }
    }
    check_program(examined);
    check_coordination(examined);
    check_rank_order(examined);
    // Once for each algorithm, because some generators search the graph for the answer.
    if (point.collective && algorithms.insert(point.collective->algorithm).second) {
      check_algorithm(examined);
    }
  }
}

}  // namespace espalier
