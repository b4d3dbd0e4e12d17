#include "sims/observe/explain/delay.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ni/reduction_unit.h"

namespace espalier {

Cycle CyclesByKind::total() const {
  return std::accumulate(cycles.begin(), cycles.end(), Cycle{0});
}

CyclesByKind idle_latency(const UnloadedNetwork& network, const MessageRecord& message) {
  const NiConfig& ni = network.config.ni;
  CyclesByKind idle;
  const RouteId route = message.operation.route;
  const std::size_t hops = network.routes.hops(route);
  Tick slowest = network.timing.ticks_per_cycle;
  for (std::size_t h = 0; h < hops; ++h) {
    const LinkTiming& link = network.timing.links[network.routes.link(route, h).index()];
    idle.of(SegmentKind::link) += link.latency;
    slowest = std::max(slowest, link.ticks_per_flit);
  }
  idle.of(SegmentKind::serialization) =
      (message.grid.flits - 1) * slowest / network.timing.ticks_per_cycle;
  idle.of(SegmentKind::dma) = ni.dma_latency_cycles;
  idle.of(SegmentKind::ni) = ni.injection_cycles + ni.ejection_cycles + ni.delivery_cycles;
  idle.of(SegmentKind::router) = (hops + 1) * network.config.router.pipeline_cycles;
  if (message.operation.on_arrival == TransferKind::reduce) {
    const ReductionConfig& unit = ni.reduction;
    idle.of(SegmentKind::reduction) = unit.latency_cycles;
    if (unit.mode == ReductionMode::after_message) {
      const ReductionSpec spec{unit.mode, unit.latency_cycles, unit.bytes_per_cycle,
                               unit.block_bytes};
      idle.of(SegmentKind::reduction) += ReductionUnit(spec, 1).occupancy(message.operation.bytes);
    }
  }
  return idle;
}

CyclesByKind cycles_by_kind(const std::vector<Segment>& segments) {
  CyclesByKind sums;
  for (const Segment& segment : segments) sums.of(segment.kind) += segment.cycles();
  return sums;
}

Delay largest_delay(const std::vector<Segment>& segments, const CyclesByKind& idle) {
  const CyclesByKind took = cycles_by_kind(segments);
  Delay delay;
  SegmentKind worst = SegmentKind::unexplained;
  for (std::size_t k = 0; k < kNumSegmentKinds; ++k) {
    const Cycle more = took.cycles[k] - std::min(took.cycles[k], idle.cycles[k]);
    if (more <= delay.cycles) continue;
    delay.cycles = more;
    worst = static_cast<SegmentKind>(k);
  }
  const auto where = [](const Segment& s) {
    return std::tie(s.channel, s.waits_in, s.vertex, s.other, s.bottleneck);
  };
  std::vector<Segment> places;
  for (const Segment& segment : segments) {
    if (segment.kind != worst || delay.cycles == 0) continue;
    const auto same = std::find_if(places.begin(), places.end(), [&](const Segment& place) {
      return where(place) == where(segment);
    });
    if (same == places.end()) {
      places.push_back(segment);
    } else {
      same->to += segment.cycles();
    }
  }
  for (const Segment& place : places) {
    if (delay.cause.cycles() < place.cycles()) delay.cause = place;
  }
  return delay;
}

}  // namespace espalier
