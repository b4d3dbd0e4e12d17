#include "sims/experiment/event_energy.h"

namespace espalier {

namespace {

class EnergyCounter {
 public:
  EnergyCounter(const SystemShape& shape, const SystemCost& cost, const Topology& topology,
                bool folded)
      : shape_(shape), cost_(cost), topology_(topology), folded_(folded) {
    if (!topology.dimensions()) return;
    switch_of_.resize(topology.dimensions()->dimensions.size());
    for (std::size_t v = topology.num_vertices(); v-- > topology.num_nodes();) {
      const NodeId vertex(v);
      switch_of_[topology.dimension_of(topology.out_links(vertex).front())] = vertex;
    }
  }

  void add(const HardwareEvents::Router& router) {
    const SliceCost* slice = slice_of(router);
    if (slice == nullptr) return;
    const auto flits = static_cast<double>(router.flits);
    energy_.router_flits += router.flits;
    energy_.buffers_pj += flits * (slice->buffers.write_pj + slice->buffers.read_pj);
    energy_.crossbars_pj += flits * slice->crossbar.read_pj;
    energy_.arbitrations += router.packets;
    energy_.allocators_pj += static_cast<double>(router.packets) * slice->allocators.read_pj;
  }

  void add_injected(std::uint32_t dimension, std::uint64_t flits) {
    energy_.injected_flits += flits;
    for (const BlockCost& block : ni().blocks) {
      if (block.block != CostBlock::ni_buffers || block.dimension != dimension) continue;
      energy_.ni_buffers_pj += static_cast<double>(flits) * (block.write_pj + block.read_pj);
    }
  }

  // A pick searches a queue and removes one entry, which was written before. All dimensions have
  // equal queues.
  void add_decisions(std::uint64_t decisions) {
    energy_.decisions += decisions;
    double each = 0;
    for (const BlockCost& block : ni().blocks) {
      const bool first = block.dimension <= 1;
      if (block.block == CostBlock::ni_schedule_table) each += block.read_pj;
      if (block.block == CostBlock::ni_dimension_queue && first) {
        each += block.read_pj + block.write_pj;
      }
      if (block.block == CostBlock::ni_scf_finder && first) each += block.read_pj;
    }
    energy_.decisions_pj += static_cast<double>(decisions) * each;
  }

  void add_link(std::uint32_t dimension, std::uint64_t flits, double pj_per_bit) {
    energy_.link_flits += flits;
    if (pj_per_bit == 0) return;
    const SliceCost* slice = cost_.routers[shape_.router_of.front()].slice(dimension);
    if (slice == nullptr) return;
    energy_.links_pj = energy_.links_pj.value_or(0) +
                       static_cast<double>(flits) * slice->slice.flit_bits * pj_per_bit;
  }

  [[nodiscard]] const EventEnergy& energy() const { return energy_; }

 private:
  [[nodiscard]] const NiCost& ni() const { return cost_.nis[shape_.ni_of.front()].cost; }

  [[nodiscard]] const SliceCost* slice_of(const HardwareEvents::Router& router) const {
    NodeId vertex = router.vertex;
    if (folded_) vertex = router.is_switch ? switch_of_[router.dimension - 1] : NodeId(0);
    return cost_.routers[shape_.router_of[vertex.index()]].slice(router.dimension);
  }

  const SystemShape& shape_;
  const SystemCost& cost_;
  const Topology& topology_;
  bool folded_;
  std::vector<NodeId> switch_of_;  // by dimension: its first switch
  EventEnergy energy_;
};

}  // namespace

EventEnergy energy_of(const HardwareEvents& events, bool folded, const SystemShape& shape,
                      const SystemCost& cost, const Topology& topology, double link_pj_per_bit) {
  EnergyCounter counter(shape, cost, topology, folded);
  for (const HardwareEvents::Router& router : events.routers) counter.add(router);
  for (std::uint32_t d = 0; d < events.injected_flits.size(); ++d) {
    counter.add_injected(d, events.injected_flits[d]);
  }
  counter.add_decisions(events.decisions);
  for (std::uint32_t d = 0; d < events.link_flits.size(); ++d) {
    counter.add_link(d, events.link_flits[d], link_pj_per_bit);
  }
  return counter.energy();
}

}  // namespace espalier
