#include "sims/model/idle_times.h"

#include "sims/point/system_config.h"

namespace espalier {

FramingSpec framing_spec(const SystemConfig& config) {
  return {config.flow_control.mode == FlowControlMode::message, config.clock.flit_bytes,
          config.flow_control.payload_bytes, config.flow_control.sub_message_bytes,
          config.flow_control.pad_last_packet};
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
  spec.sub_message_bytes = spec.payload_bytes;
  return spec;
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
