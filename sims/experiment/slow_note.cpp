// Why a simulation in fidelity train was slow, as a note of `run` says it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hw/topology/link_timing.h"
#include "sims/experiment/point_runner.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/faults.h"
#include "sims/model/idle_times.h"
#include "sims/point/config.h"

namespace espalier {

namespace {

constexpr double kSlowSeconds = 1;
constexpr double kSlowShare = 0.05;  // trains of 20 packets

// Empty if the VCs cover every credit loop.
std::string shallow_vcs(const SystemConfig& system, const Topology& topology) {
  const auto text = [](const char* key, std::uint64_t depth, std::uint64_t enough) {
    return fmt::format("{}, {} flits or more cover it", shallow_vcs_text(key, depth), enough);
  };
  if (!system.topology.is_dimensional()) {
    const std::uint64_t enough = full_rate_depth(system, topology);
    const std::uint64_t depth = system.router.vc_depth_flits;
    return depth < enough ? text("system.router.vc_depth_flits", depth, enough) : std::string();
  }
  const std::vector<DimensionSpec> specs = dimension_specs(system);
  const std::vector<std::uint32_t> depths = dimension_vc_depths(system);
  for (std::size_t d = 0; d < specs.size(); ++d) {
    const std::uint64_t enough = full_rate_depth_in(system, specs[d]);
    if (depths[d] < enough) return text("system.dimensions.vc_depth_flits", depths[d], enough);
  }
  return {};
}

// Empty if neither a link nor the DMA engine is slower than a flit a cycle.
std::string slow_data(const RunPoint& point, const Topology& topology) {
  const SystemConfig& system = point.system;
  if (system.ni.dma_bytes_per_cycle != 0) {
    return "system.ni.dma.bandwidth: a DMA engine with a limit reads packet by packet";
  }
  const auto has_slow_links = [&](const auto& links) {
    const SystemTiming timing = time_links(links, system.clock);
    return std::any_of(timing.links.begin(), timing.links.end(), [&](const LinkTiming& link) {
      return link.ticks_per_flit != timing.ticks_per_cycle;
    });
  };
  if (!has_slow_links(topology)) {
    return has_slow_links(faulty_links(topology, point.faults))
               ? "faults.slow_links: these links carry less than a flit a cycle"
               : std::string();
  }
  if (system.topology.is_dimensional()) {
    return "system.dimensions.bandwidth: links carry less than a flit a cycle";
  }
  return fmt::format("system.router.flit_bytes: links carry less than a flit of {} B a cycle",
                     system.clock.flit_bytes);
}

// Packets contend one by one, so fewer ones cost less. Empty if larger packets do not suit the
// point.
std::string larger_packets(const RunPoint& point) {
  constexpr Bytes kLargest = 4096;  // of InfiniBand and RoCE (IBTA: path MTU)
  const SystemConfig& system = point.system;
  const Bytes flit = system.clock.flit_bytes;
  const Bytes payload = std::max(system.flow_control.payload_bytes, flit);
  const bool fits = kLargest / flit < system.router.vc_depth_flits;  // and a head flit
  if (point.traffic || system.topology.is_dimensional() || !fits || kLargest < 2 * payload) {
    return {};
  }
  return fmt::format(
      "; with system.flow_control.payload_bytes: {}, as in InfiniBand and RoCE, there are {} times "
      "fewer",
      kLargest, kLargest / payload);
}

}  // namespace

std::string slow_note(const Topology& topology, const RunPoint& point, const PacketStops& stops,
                      double engine_seconds) {
  const double share = stops.share().value_or(0);
  if (engine_seconds <= kSlowSeconds || share <= kSlowShare) return {};
  struct Cause {
    std::uint64_t flits;
    std::string text;
  };
  const std::uint64_t vc_choice = stops[StopReason::vc_choice];
  const std::string shallow = shallow_vcs(point.system, topology);
  // Packets choose another VC where the first one is out of credits: its buffer is too shallow, or
  // a slow link empties it.
  const std::vector<Cause> causes{
      {stops[StopReason::contention],
       fmt::format("{}: packets contend for links or crossbar inputs{}",
                   point.traffic ? "traffic.pattern" : "collective.algorithm",
                   larger_packets(point))},
      {stops[StopReason::credits] + vc_choice, shallow},
      {stops[StopReason::data] + vc_choice, slow_data(point, topology)},
      {vc_choice,
       "system.flow_control.mode: in packet mode each packet chooses its VC, in message mode a "
       "message does"}};
  std::uint64_t most = 0;
  for (const Cause& cause : causes) {
    if (!cause.text.empty()) most = std::max(most, cause.flits);
  }
  std::string causes_text;
  for (const auto& [flits, text] : causes) {
    if (flits != 0 && 10 * flits >= most && !text.empty())
      causes_text += (causes_text.empty() ? ": " : "; ") + text;
  }
  if (causes_text.empty()) return {};
  return fmt::format(
      "the simulation took {:.1f} s of CPU time, and packet trains stopped after {:.0f} % of the "
      "packets{}",
      engine_seconds, 100 * share, causes_text);
}

}  // namespace espalier
