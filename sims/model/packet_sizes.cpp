#include "sims/model/packet_sizes.h"

#include <algorithm>

#include "flowctl/virtual_channels.h"
#include "hw/topology/link_timing.h"
#include "sims/point/system_config.h"

namespace espalier {

namespace {
__extension__ using Wide = unsigned __int128;
}  // namespace

std::uint64_t longest_packet_flits(const SystemConfig& system) {
  const Bytes flit = system.clock.flit_bytes;
  return (system.flow_control.payload_bytes + flit - 1) / flit + 1;
}

std::uint64_t full_rate_depth(const SystemConfig& system, const LinkSpec& link,
                              std::uint64_t packet_flits) {
  const Cycle latency = cycles_covering(link.latency_ps, system.clock);
  const Cycle credit = system.credit_latency_cycles != 0 ? system.credit_latency_cycles : latency;
  const Wide loop = latency + system.router.pipeline_cycles + credit;
  const Wide fastest = static_cast<Wide>(system.clock.hertz) * flit_bytes_of(link, system.clock);
  const Wide rate = std::min<Wide>(link.bytes_per_second, fastest);
  const Wide flits_on_the_way = (loop * rate + fastest - 1) / fastest;
  return static_cast<std::uint64_t>(flits_on_the_way) - 1 +
         credits_to_start(system.router.switching, static_cast<std::uint32_t>(packet_flits));
}

}  // namespace espalier
