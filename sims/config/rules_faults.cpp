// Rules of section `faults`: a fault must name something that the system has, make it worse, and
// have an effect.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hw/topology/vertex_names.h"
#include "sims/config/rules.h"
#include "sims/formats/link_rules.h"
#include "sims/formats/named_node.h"
#include "sims/model/build_program.h"
#include "sims/model/faults.h"
#include "sims/model/plan_forecast.h"
#include "sims/point/enum_names.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

constexpr const char* kSlowLinks = "faults.slow_links";
constexpr const char* kLateNis = "faults.late_nis";
constexpr const char* kClockSkew = "faults.clock_skew";
constexpr const char* kDmaJitter = "faults.dma_jitter";
constexpr const char* kJitterNodes = "faults.dma_jitter.nodes";
constexpr std::size_t kMostNeighboursShown = 16;

class FaultChecker : private ExaminedPoint {
 public:
  explicit FaultChecker(const ExaminedPoint& examined)
      : ExaminedPoint(examined), faults_(point.faults) {}

  void check() {
    check_skew_entries();
    check_workload();
    for (std::size_t i = 0; i < faults_.slow_links.size(); ++i) check_has_effect(i);
    if (topology == nullptr) return;
    for (std::size_t i = 0; i < faults_.slow_links.size(); ++i) check_slow_link(i);
    check_ticks();
    check_nodes(kLateNis, faults_.late_nis);
    check_nodes(kClockSkew, faults_.clock_skew);
    if (!faults_.dma_jitter) return;
    for (std::size_t i = 0; i < faults_.dma_jitter->nodes.size(); ++i) {
      check_node(kJitterNodes, faults_.dma_jitter->nodes[i], given.place_of_entry(kJitterNodes, i));
    }
  }

 private:
  void check_skew_entries() {
    for (std::size_t i = 0; i < faults_.clock_skew.size(); ++i) {
      const ClockSkew& skew = faults_.clock_skew[i];
      if (skew.cycles != 0 || skew.per_step != 0) continue;
      diagnostics.error(
          given.place_of_entry(kClockSkew, i),
          "faults.clock_skew: cycles and per_step are both 0, so the clock has no fault",
          "give cycles, per_step, or both");
    }
  }

  // If several workloads or none are given, that error is reported elsewhere.
  void check_workload() {
    const bool is_step = point.workload && !point.workload->file.empty();
    const std::string fault = uneven_fault(faults_);
    if (point.workload && !is_step && !fault.empty()) {
      diagnostics.error(given.place_of_section("faults"),
                        fmt::format("faults: a workload simulates one group of NPUs for all "
                                    "groups, which is not exact with {}",
                                    fault),
                        "run a collective without 'workload', which simulates the whole system");
    }
    const bool is_alone = !point.collective && !given.has_section("collective");
    if (!is_step && !(is_alone && (point.traffic || point.control))) return;
    for (const char* key : {kLateNis, kClockSkew}) {
      if (!given.is_given(key) ||
          (key == kLateNis ? faults_.late_nis.empty() : faults_.clock_skew.empty())) {
        continue;
      }
      diagnostics.error(
          given.place_of(key),
          is_step ? fmt::format("{}: this fault does not act on a step, whose work begins when "
                                "the work before it ends",
                                key)
                  : fmt::format("{}: {} no collective, which a host could post late", key,
                                point.traffic ? "traffic has" : "control messages have"),
          fmt::format("remove it; faults.slow_links and faults.dma_jitter also act on {}",
                      is_step ? "steps" : "traffic"));
    }
    if (faults_.dma_jitter && !point.traffic && !is_step) {
      diagnostics.error(given.place_of_section(kDmaJitter),
                        "faults.dma_jitter: control messages are not read from memory, so DMA "
                        "jitter cannot delay them",
                        "remove it, or add a collective");
    }
  }

  void check_has_effect(std::size_t i) {
    const SlowLink& fault = faults_.slow_links[i];
    if (fault.bytes_per_second != 0 || fault.latency_ps != 0) return;
    diagnostics.error(
        given.place_of_entry(kSlowLinks, i),
        "faults.slow_links: neither bandwidth nor latency is given, so the link has no fault",
        "give bandwidth, latency, or both");
  }

  template <class Fault>
  void check_nodes(const char* key, const std::vector<Fault>& faults) {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      check_node(key, faults[i].node, given.place_of_field(key, i, "node"));
    }
  }

  void check_node(const char* key, std::uint32_t node, const Place& place) {
    if (node >= topology->num_nodes()) return refuse_node(key, std::to_string(node), place);
    const auto [first, is_new] = places_.emplace(std::pair(std::string(key), node), place);
    if (is_new) return;
    diagnostics.error(place, fmt::format("{}: node {} is in the list twice", key, node),
                      fmt::format("the first is in line {}", first->second.line));
  }

  void refuse_node(const std::string& key, const std::string& node, const Place& place) {
    diagnostics.error(place,
                      fmt::format("{}: there is no node {}; the network has {} nodes", key, node,
                                  topology->num_nodes()),
                      fmt::format("write a number from 0 to {}", topology->num_nodes() - 1));
  }

  [[nodiscard]] bool has_vertex(std::size_t i, const char* end, const std::string& written) {
    if (find_vertex(*topology, written).valid()) return true;
    const Place place = given.place_of_field(kSlowLinks, i, end);
    if (node_number(written)) {
      refuse_node(fmt::format("{}.{}", kSlowLinks, end), written, place);
      return false;
    }
    diagnostics.error(
        place, fmt::format("{}.{}: '{}' is neither a node nor a switch", kSlowLinks, end, written),
        vertex_hint(*topology, written));
    return false;
  }

  [[nodiscard]] std::string neighbours_of(NodeId vertex) const {
    std::vector<std::string> names;
    for (const LinkId link : topology->out_links(vertex)) {
      const std::string& name = topology->vertex_name(topology->link(link).to);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    const bool all = names.size() <= kMostNeighboursShown;
    if (!all) names.resize(kMostNeighboursShown);
    return fmt::format("{}{}", fmt::join(names, ", "), all ? "" : ", ...");
  }

  void check_slow_link(std::size_t i) {
    const SlowLink& fault = faults_.slow_links[i];
    const bool from = has_vertex(i, "from", fault.from);
    if (!has_vertex(i, "to", fault.to) || !from) return;
    const std::vector<LinkId> links = links_of(*topology, fault);
    const NodeId sender = find_vertex(*topology, fault.from);
    const NodeId receiver = find_vertex(*topology, fault.to);
    const std::string& from_name = topology->vertex_name(sender);
    const std::string ends =
        fmt::format("from {} to {}", from_name, topology->vertex_name(receiver));
    if (links.empty()) {
      diagnostics.error(given.place_of_field(kSlowLinks, i, "to"),
                        fmt::format("{}: there is no link {}", kSlowLinks, ends),
                        fmt::format("links from {} lead to {}", from_name, neighbours_of(sender)));
      return;
    }
    const Place entry = given.place_of_entry(kSlowLinks, i);
    const auto [first, is_new] = slow_.emplace(std::pair(sender, receiver), entry);
    if (!is_new) {
      diagnostics.error(entry,
                        fmt::format("{}: the link {} is in the list twice", kSlowLinks, ends),
                        fmt::format("the first is in line {}", first->second.line));
      return;
    }
    if (fault.bytes_per_second != 0) check_bandwidth(i, links);
    if (fault.latency_ps != 0) check_latency(i, links);
  }

  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> range_of(
      const std::vector<LinkId>& links, std::uint64_t LinkSpec::*member) const {
    std::pair<std::uint64_t, std::uint64_t> range{~std::uint64_t{0}, 0};
    for (const LinkId link : links) {
      const std::uint64_t value = topology->link(link).spec.*member;
      range = {std::min(range.first, value), std::max(range.second, value)};
    }
    return range;
  }

  // A fault must reduce the bandwidth, and of at least one link.
  void check_bandwidth(std::size_t i, const std::vector<LinkId>& links) {
    if (!given.usable({"system.link.bandwidth"})) return;
    const std::uint64_t rate = faults_.slow_links[i].bytes_per_second;
    const auto [slowest, fastest] = range_of(links, &LinkSpec::bytes_per_second);
    if (rate <= slowest && rate < fastest) return;
    diagnostics.error(
        given.place_of_field(kSlowLinks, i, "bandwidth"),
        fmt::format("{}.bandwidth: {} is not slower than the healthy link's {}", kSlowLinks,
                    format_quantity(Quantity::rate, rate),
                    format_quantity(Quantity::rate, slowest)),
        "a fault can only make a link slower; describe the healthy system in section system");
  }

  void check_latency(std::size_t i, const std::vector<LinkId>& links) {
    if (!given.usable({"system.link.latency", "system.router.clock"})) return;
    const ClockSpec& clock = point.system.clock;
    const Place place = given.place_of_field(kSlowLinks, i, "latency");
    const std::uint64_t latency = faults_.slow_links[i].latency_ps;
    const auto [shortest, longest] = range_of(links, &LinkSpec::latency_ps);
    const Cycle cycles = cycles_covering(latency, clock);
    if (latency < longest || cycles <= cycles_covering(shortest, clock)) {
      diagnostics.error(
          place,
          fmt::format("{}.latency: {} is not longer than the healthy link's {}", kSlowLinks,
                      format_quantity(Quantity::time, latency),
                      format_quantity(Quantity::time, longest)),
          "a fault can only make a link slower; describe the healthy system in section system");
      return;
    }
    check_whole_cycles("faults.slow_links.latency", latency, clock, place, diagnostics);
    // While a flit crosses a link, the watchdog sees no movement.
    if (!given.usable({"simulation.watchdog_cycles"}) ||
        point.simulation.watchdog_cycles > cycles) {
      return;
    }
    diagnostics.error(place,
                      fmt::format("{}.latency: after {} cycles the watchdog would end a run whose "
                                  "flit is on this link of {} cycles",
                                  kSlowLinks, point.simulation.watchdog_cycles, cycles),
                      fmt::format("simulation.watchdog_cycles: more than {}", cycles));
  }

  // Reports the first fault whose rate has no common tick with the others. Errors of healthy links
  // are reported elsewhere.
  void check_ticks() {
    if (diagnostics.num_errors() != 0) return;
    FaultsConfig some;
    for (std::size_t i = 0; i < faults_.slow_links.size(); ++i) {
      some.slow_links.push_back(faults_.slow_links[i]);
      try {
        static_cast<void>(time_links(faulty_links(*topology, some), point.system.clock));
      } catch (const std::invalid_argument& problem) {
        diagnostics.error(given.place_of_field(kSlowLinks, i, "bandwidth"),
                          fmt::format("{}.bandwidth: {}", kSlowLinks, problem.what()),
                          "use for example a half or a quarter of the healthy link's bandwidth");
        return;
      }
    }
  }

  const FaultsConfig& faults_;
  std::map<std::pair<std::string, std::uint32_t>, Place> places_;  // nodes of faults, by key
  std::map<std::pair<NodeId, NodeId>, Place> slow_;
};

}  // namespace

void check_faults(const ExaminedPoint& examined) { FaultChecker(examined).check(); }

void check_skewed_steps(const ExaminedPoint& examined) {
  const RunPoint& point = examined.point;
  const GivenKeys& given = examined.given;
  if (!point.collective || !given.usable({"system.ni.lockstep", "collective.algorithm"})) return;
  const bool has_steps = planner_of(point) == nullptr && !has_program(point) &&
                         !point.system.topology.is_dimensional();
  const LockstepMode lockstep = point.system.ni.lockstep;
  const bool counts = lockstep == LockstepMode::estimate || lockstep == LockstepMode::full ||
                      lockstep == LockstepMode::nop;
  if (has_steps && counts) return;
  for (std::size_t i = 0; i < point.faults.clock_skew.size(); ++i) {
    if (point.faults.clock_skew[i].per_step == 0) continue;
    examined.diagnostics.error(
        given.place_of_field(kClockSkew, i, "per_step"),
        has_steps ? fmt::format("faults.clock_skew.per_step: with system.ni.lockstep {} an NI does "
                                "not count down steps",
                                name_of(lockstep))
                  : fmt::format("faults.clock_skew.per_step: {} has no timesteps",
                                point.collective->algorithm),
        has_steps ? "set system.ni.lockstep to estimate or full" : "give only cycles");
  }
}

}  // namespace espalier
