#include "sims/model/idle_times.h"

#include <fmt/format.h>

#include <algorithm>

#include "flowctl/virtual_channels.h"
#include "sims/point/system_config.h"

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

std::string shallow_vcs_text(const std::string& key, std::uint64_t depth) {
  return fmt::format("{}: {} flits do not cover the credit loop", key, depth);
}

Cycle idle_overhead(const SystemConfig& config, const SystemTiming& timing, const RouteSet& routes,
                    RouteId route) {
  // The sum of: DMA; NI to router; a router pipeline before each link and one after the last link;
  // router to NI; memory. The serialization time contains the first flit's cycle.
  const std::size_t hops = routes.hops(route);
  Cycle links = 0;
  for (std::size_t h = 0; h < hops; ++h) {
    links += timing.links[routes.link(route, h).index()].latency;
  }
  return config.ni.dma_latency_cycles + config.ni.injection_cycles +
         (hops + 1) * config.router.pipeline_cycles + links + config.ni.ejection_cycles +
         config.ni.delivery_cycles - 1;
}

}  // namespace espalier
