#include "sims/system/idle_network.h"

#include <algorithm>

#include "alg/routes/routing.h"
#include "sims/model/idle_times.h"
#include "sims/point/system_config.h"
#include "sims/system/fabric.h"

namespace espalier {

IdleNetwork::IdleNetwork(const Topology& topology, const SystemConfig& config,
                         const std::vector<NodeId>& nodes)
    : topology_(topology),
      nodes_(nodes),
      timing_(time_links(topology, config.clock)),
      framing_(framing_spec(config)),
      ends_(config.ni.dma_latency_cycles + config.ni.injection_cycles + config.ni.ejection_cycles +
            config.ni.delivery_cycles),
      router_(config.router.pipeline_cycles) {}

MessageTime::Path IdleNetwork::path(RankId from, RankId to) const {
  Shape shape;
  shape.head = ends_ + router_;
  for (const LinkId link : route_packet(topology_, nodes_[from.index()], nodes_[to.index()])) {
    const LinkTiming& timing = timing_.links[link.index()];
    shape.head += timing.latency + router_;
    shape.ticks_per_flit = std::max<std::uint64_t>(shape.ticks_per_flit, timing.ticks_per_flit);
  }
  const auto [known, is_new] = numbers_.try_emplace(shape, static_cast<Path>(shapes_.size()));
  if (is_new) shapes_.push_back(shape);
  return known->second;
}

Cycle IdleNetwork::flight(Path path, Bytes bytes) const {
  const Shape& shape = shapes_[path];
  const std::uint64_t flits = Framing(framing_, bytes).flits();
  const std::uint64_t ticks = (flits - 1) * shape.ticks_per_flit;
  return shape.head + (ticks + timing_.ticks_per_cycle - 1) / timing_.ticks_per_cycle;
}

}  // namespace espalier
