#include "sims/explain/slips.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ni/reduction_unit.h"
#include "sims/explain/critical_path.h"

namespace espalier {

Cycle IdleLatency::total() const {
  return std::accumulate(by_kind.begin(), by_kind.end(), Cycle{0});
}

IdleLatency idle_latency(const IdleNetwork& network, const MessageRecord& message) {
  const NiConfig& ni = network.config.ni;
  IdleLatency idle;
  const auto of = [&](SegmentKind kind) -> Cycle& {
    return idle.by_kind[static_cast<std::size_t>(kind)];
  };
  const RouteId route = message.operation.route;
  const std::size_t hops = network.routes.hops(route);
  Tick slowest = network.timing.ticks_per_cycle;
  for (std::size_t h = 0; h < hops; ++h) {
    const LinkTiming& link = network.timing.links[network.routes.link(route, h).index()];
    of(SegmentKind::link) += link.latency;
    slowest = std::max(slowest, link.ticks_per_flit);
  }
  of(SegmentKind::serialization) =
      (message.grid.flits - 1) * slowest / network.timing.ticks_per_cycle;
  of(SegmentKind::dma) = ni.dma_latency_cycles;
  of(SegmentKind::ni) = ni.injection_cycles + ni.ejection_cycles + ni.delivery_cycles;
  of(SegmentKind::router) = (hops + 1) * network.config.router.pipeline_cycles;
  if (message.operation.on_arrival == TransferKind::reduce) {
    const ReductionConfig& unit = ni.reduction;
    of(SegmentKind::reduction) = unit.latency_cycles;
    if (unit.mode == ReductionMode::after_message) {
      const ReductionSpec spec{unit.mode, unit.latency_cycles, unit.bytes_per_cycle,
                               unit.block_bytes};
      of(SegmentKind::reduction) += ReductionUnit(spec, 1).occupancy(message.operation.bytes);
    }
  }
  return idle;
}

namespace {

// What has the largest part in what `segments` took more than `idle`.
void name_cause(Slip& slip, const std::vector<Segment>& segments, const IdleLatency& idle) {
  std::array<Cycle, kNumSegmentKinds> by_kind{};
  for (const Segment& segment : segments) {
    by_kind[static_cast<std::size_t>(segment.kind)] += segment.cycles();
  }
  std::size_t worst = 0;
  for (std::size_t k = 0; k < kNumSegmentKinds; ++k) {
    const Cycle more = by_kind[k] - std::min(by_kind[k], idle.by_kind[k]);
    if (more <= slip.cause_cycles) continue;
    slip.cause_cycles = more;
    worst = k;
  }
  // Where most of it was.
  std::vector<Segment> places;
  for (const Segment& segment : segments) {
    if (static_cast<std::size_t>(segment.kind) != worst) continue;
    const auto same = std::find_if(places.begin(), places.end(), [&](const Segment& place) {
      return std::tie(place.channel, place.waits_in, place.vertex, place.other, place.bottleneck) ==
             std::tie(segment.channel, segment.waits_in, segment.vertex, segment.other,
                      segment.bottleneck);
    });
    if (same == places.end()) {
      places.push_back(segment);
    } else {
      same->to += segment.cycles();
    }
  }
  for (const Segment& place : places) {
    if (slip.cause.cycles() < place.cycles()) slip.cause = place;
  }
}

void add_late_nis(const std::vector<NodeClock>& clocks, std::vector<Slip>& slips) {
  for (std::size_t n = 0; n < clocks.size(); ++n) {
    const auto add = [&](SegmentKind kind, Cycle cycles) {
      if (cycles == 0) return;
      Slip slip;
      slip.vertex = static_cast<std::uint32_t>(n);
      slip.cycles = cycles;
      slip.cause.kind = kind;
      slip.cause.vertex = slip.vertex;
      slip.cause_cycles = cycles;
      slips.push_back(slip);
    };
    add(SegmentKind::late_start, clocks[n].late);
    add(SegmentKind::clock_skew, std::max(clocks[n].skew, clocks[n].per_step));
  }
}

}  // namespace

std::vector<Slip> worst_slips(const RunRecord& record, const MessageIndex& index,
                              const MessageWalk& walk, const IdleNetwork& network,
                              const std::vector<NodeClock>& clocks, std::size_t most) {
  std::vector<Slip> slips;
  add_late_nis(clocks, slips);
  for (RecordIndex m = 0; m < record.messages.size(); ++m) {
    const MessageRecord& message = record.messages[m];
    if (message.operation.is_control || index.last_done(message.whole) != m) continue;
    const Cycle took = message.done - message.issued;
    const Cycle idle = idle_latency(network, message).total();
    if (took <= idle) continue;
    Slip slip;
    slip.vertex = message.operation.to.value();
    slip.message = m;
    slip.cycles = took - idle;
    slips.push_back(slip);
  }
  std::stable_sort(slips.begin(), slips.end(),
                   [](const Slip& a, const Slip& b) { return a.cycles > b.cycles; });
  slips.resize(std::min(slips.size(), most));
  for (Slip& slip : slips) {
    if (slip.message == kNowhere) continue;
    name_cause(slip, account_of(record, walk, slip.message),
               idle_latency(network, record.messages[slip.message]));
  }
  return slips;
}

}  // namespace espalier
