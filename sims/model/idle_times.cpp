#include "sims/model/idle_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "flowctl/virtual_channels.h"
#include "sims/point/config.h"

namespace espalier {

FramingSpec framing_spec(const SystemConfig& config) {
  return {config.flow_control.mode == FlowControlMode::message, config.clock.flit_bytes,
          config.flow_control.payload_bytes, config.flow_control.pad_last_packet};
}

std::uint32_t injection_buffer_flits(const SystemConfig& config) {
  const FramingSpec framing = framing_spec(config);
  const auto payload = static_cast<std::uint32_t>(framing.payload_bytes / framing.flit_bytes);
  const std::uint32_t packet = payload + (framing.message_mode ? 0 : 1);
  return config.ni.buffer_flits + config.ni.buffer_packets * packet;
}

FramingSpec framing_spec(const SystemConfig& config, const DimensionSpec& dimension) {
  FramingSpec spec = framing_spec(config);
  spec.flit_bytes = dimension.link.flit_bytes;
  spec.payload_bytes = Bytes{config.dimensions.packet_flits} * spec.flit_bytes;
  return spec;
}

std::uint64_t longest_packet_flits(const SystemConfig& system) {
  const Bytes flit = system.clock.flit_bytes;
  return (system.flow_control.payload_bytes + flit - 1) / flit + 1;
}

std::uint64_t full_rate_depth(const SystemConfig& system, const LinkSpec& link,
                              std::uint64_t packet_flits) {
  const Cycle latency = cycles_covering(link.latency_ps, system.clock);
  const Cycle credit = system.credit_latency_cycles != 0 ? system.credit_latency_cycles : latency;
  __extension__ using Wide128 = unsigned __int128;
  const Wide128 loop = latency + system.router.pipeline_cycles + credit;
  const Wide128 fastest =
      static_cast<Wide128>(system.clock.hertz) * flit_bytes_of(link, system.clock);
  const Wide128 rate = std::min<Wide128>(link.bytes_per_second, fastest);
  const Wide128 flits_on_the_way = (loop * rate + fastest - 1) / fastest;
  return static_cast<std::uint64_t>(flits_on_the_way) - 1 +
         credits_to_start(system.router.switching, static_cast<std::uint32_t>(packet_flits));
}

std::uint64_t full_rate_depth(const SystemConfig& system, const Topology& topology) {
  std::uint64_t enough = 0;
  for (const TopologyLink& link : topology.links()) {
    enough = std::max(enough, full_rate_depth(system, link.spec));
  }
  return enough;
}

namespace {

// The least cycles per flit of payload for which a message holds crossbar inputs on its way to a
// link. A packet holds its input from its first flit's cycle to its last flit's. It may begin and
// end anywhere in a cycle, so parts of a cycle do not count.
double held_cycles(const FramingSpec& framing, Tick per_flit, Tick per_cycle) {
  const auto held = [&](std::uint64_t flits) {
    return static_cast<double>((flits - 1) * per_flit / per_cycle + 1);
  };
  const std::uint64_t full = framing.payload_bytes / framing.flit_bytes;
  // Between the first packet and the last one, whose payload is `last`, all packets are full.
  double least = framing.message_mode ? held(full) / static_cast<double>(full) : held(full + 1);
  for (std::uint64_t last = 1; last <= full; ++last) {
    double most = held(last + 1);  // a packet with a head flit
    if (framing.message_mode) most = std::min(most, held(full + 1) - held(full) + held(last));
    least = std::min(least, most / static_cast<double>(last));
  }
  return least;
}

}  // namespace

std::vector<double> held_inputs(const RunPoint& point, const Topology& topology) {
  const SystemConfig& system = point.system;
  const bool has_other_flits =
      std::any_of(topology.links().begin(), topology.links().end(), [&](const TopologyLink& link) {
        return flit_bytes_of(link.spec, system.clock) != system.clock.flit_bytes;
      });
  if (system.router.hold != SwitchHold::packet ||
      system.router.crossbar_inputs != CrossbarInputs::port || point.control || has_other_flits ||
      system.topology.external.any() || point.simulation.has_rtl(RtlBlock::output_hold)) {
    return {};
  }
  const SystemTiming timing = time_links(topology, system.clock);
  const FramingSpec framing = framing_spec(system);
  std::map<Tick, double> seconds;  // by ticks per flit
  std::vector<double> held;
  for (const LinkTiming& link : timing.links) {
    const auto [place, is_new] = seconds.try_emplace(link.ticks_per_flit);
    if (is_new) {
      place->second = held_cycles(framing, link.ticks_per_flit, timing.ticks_per_cycle) /
                      static_cast<double>(system.clock.hertz) / system.clock.flit_bytes;
    }
    held.push_back(place->second);
  }
  return seconds.size() > 1 ? held : std::vector<double>();
}

std::string shallow_vcs_text(const std::string& key, std::uint64_t depth) {
  return fmt::format("{}: {} flits do not cover the credit loop", key, depth);
}

Cycle idle_overhead(const SystemConfig& config, const SystemTiming& timing, const RouteSet& routes,
                    RouteId route) {
  const std::size_t hops = routes.hops(route);
  Cycle links = 0;
  for (std::size_t h = 0; h < hops; ++h) {
    links += timing.links[routes.link(route, h).index()].latency;
  }
  return idle_overhead(config, hops, links);
}

Cycle idle_overhead(const SystemConfig& config, std::size_t hops, Cycle latency) {
  // The sum of: DMA; NI to router; a router pipeline before each link and one after the last link;
  // router to NI; memory. The serialization time contains the first flit's cycle.
  return config.ni.dma_latency_cycles + config.ni.injection_cycles +
         (hops + 1) * config.router.pipeline_cycles + latency + config.ni.ejection_cycles +
         config.ni.delivery_cycles - 1;
}

}  // namespace espalier
