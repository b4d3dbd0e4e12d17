#include "sims/config/link_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "sims/formats/topology_file.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

class LinkChecker {
 public:
  LinkChecker(const SystemConfig& system, const Topology* topology, const GivenKeys& given,
              Diagnostics& diagnostics)
      : system_(system), topology_(topology), given_(given), diagnostics_(diagnostics) {}

  void check_link_times() {
    if (given_.usable(
            {"system.link.bandwidth", "system.router.flit_bytes", "system.router.clock"})) {
      check_link_rate(system_.link.bytes_per_second, system_.clock,
                      given_.place_of_first({"system.link.bandwidth", "system.router.flit_bytes",
                                             "system.router.clock"}),
                      diagnostics_);
    }
    if (!given_.usable(
            {"system.link.latency", "system.link.credit_latency", "system.router.clock"})) {
      return;
    }
    check_whole_cycles("system.link.latency", system_.link.latency_ps, system_.clock,
                       given_.place_of_first({"system.link.latency", "system.router.clock"}),
                       diagnostics_);
    if (const GivenKey* credit = given_.find("system.link.credit_latency")) {
      check_whole_cycles("system.link.credit_latency", credit->values.front().value.number,
                         system_.clock, credit->place, diagnostics_);
    }
  }

  // Where it is as system.link, that is at fault.
  void check_other_links() {
    const TopologyConfig& c = system_.topology;
    if (c.kind == TopologyKind::gpu_cluster) {
      check_other_link("system.topology.nic_link", c.nic_link_latency_ps,
                       c.nic_link_bytes_per_second);
    }
    if (c.kind == TopologyKind::data_center) {
      check_other_link("system.topology.aggregation_link", c.aggregation_link_latency_ps,
                       c.aggregation_link_bytes_per_second);
      check_other_link("system.topology.core_link", c.core_link_latency_ps,
                       c.core_link_bytes_per_second);
    }
  }

  void check_other_link(const std::string& section, std::uint64_t latency_ps,
                        std::uint64_t bytes_per_second) {
    const std::string bandwidth = section + ".bandwidth";
    const std::string latency = section + ".latency";
    if (bytes_per_second != 0 &&
        given_.usable({bandwidth.c_str(), "system.router.flit_bytes", "system.router.clock"})) {
      check_link_rate(bytes_per_second, system_.clock, given_.place_of(bandwidth), diagnostics_);
    }
    if (latency_ps != 0 && given_.usable({latency.c_str(), "system.router.clock"})) {
      check_whole_cycles(latency.c_str(), latency_ps, system_.clock, given_.place_of(latency),
                         diagnostics_);
    }
  }

  // Links that are too fast have been reported, each at its place.
  void check_tick() {
    if (topology_ == nullptr ||
        !given_.usable({"system.link.bandwidth", "system.link.latency", "system.router.flit_bytes",
                        "system.router.clock", "system.topology.nic_link.bandwidth",
                        "system.topology.aggregation_link.bandwidth",
                        "system.topology.core_link.bandwidth"})) {
      return;
    }
    const std::uint64_t fastest = system_.clock.hertz * system_.clock.flit_bytes;
    const auto& links = topology_->links();
    const auto too_fast = [&](const TopologyLink& l) { return l.spec.bytes_per_second > fastest; };
    if (std::any_of(links.begin(), links.end(), too_fast)) return;
    try {
      static_cast<void>(time_links(*topology_, system_.clock));
    } catch (const std::invalid_argument& problem) {
      diagnostics_.error(
          given_.place_of_first({"system.link.bandwidth", "system.router.clock",
                                 "system.router.flit_bytes", "system.topology.file"}),
          fmt::format("system.link.bandwidth: {}", problem.what()),
          fmt::format("for example {} or a half of it", format_quantity(Quantity::rate, fastest)));
    }
  }

 private:
  const SystemConfig& system_;
  const Topology* topology_;
  const GivenKeys& given_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_links(const SystemConfig& system, const Topology* topology, const GivenKeys& given,
                 Diagnostics& diagnostics) {
  LinkChecker checker(system, topology, given, diagnostics);
  checker.check_link_times();
  checker.check_other_links();
  checker.check_tick();
}

}  // namespace espalier
