#include "sims/experiment/event_energy.h"

#include <algorithm>
#include <utility>

#include "hw/cost/technology.h"

namespace espalier {

namespace {

constexpr double kPjPerMwSecond = 1e9;

// Blocks of the NI that a message passes, by the event that uses them.
const std::vector<CostBlock> kDatapath{CostBlock::ni_send_queue, CostBlock::ni_dma_engine,
                                       CostBlock::ni_packetizer, CostBlock::ni_ejection_registers,
                                       CostBlock::ni_message_table};
const std::vector<CostBlock> kControl{
    CostBlock::router_fifo_control, CostBlock::ni_fifo_control, CostBlock::ni_control,
    CostBlock::ni_dependency_state, CostBlock::ni_row_repeat,   CostBlock::ni_slot_counter,
    CostBlock::ni_program_context,  CostBlock::ni_scoreboard,   CostBlock::ni_slot_credits};

class EnergyCounter {
 public:
  EnergyCounter(const SystemShape& shape, const SystemCost& cost, const Topology& topology,
                bool folded)
      : shape_(shape), cost_(cost), folded_(folded) {
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
    buffers_ += flits * (slice->buffers.write_pj + slice->buffers.read_pj);
    crossbars_ += flits * slice->crossbar.read_pj;
    control_ += flits * 2 * slice->fifo_control.read_pj;  // a write and a read
    energy_.arbitrations += router.packets;
    allocators_ += static_cast<double>(router.packets) * slice->allocators.read_pj;
  }

  void add_injected(std::uint32_t dimension, std::uint64_t count) {
    energy_.injected_flits += count;
    const auto flits = static_cast<double>(count);
    for_each(dimension, [&](const BlockCost& block) {
      if (block.block == CostBlock::ni_buffers)
        ni_buffers_ += flits * (block.write_pj + block.read_pj);
      if (block.block == CostBlock::ni_fifo_control) control_ += flits * 2 * block.read_pj;
      if (block.block == CostBlock::ni_packetizer) datapath_ += flits * block.read_pj;
    });
  }

  void add_ejected(std::uint32_t dimension, std::uint64_t flits) {
    energy_.ejected_flits += flits;
    for_each(dimension, [&](const BlockCost& block) {
      if (block.block != CostBlock::ni_ejection_registers) return;
      datapath_ += static_cast<double>(flits) * block.read_pj;
    });
  }

  // A read of the DMA engine for each packet, and an entry of the message table at its destination.
  // The descriptor of a message is read for each packet again, which is an upper bound.
  void add_packets(std::uint64_t packets) {
    energy_.injected_packets += packets;
    for_each_once([&](const BlockCost& block) {
      const bool counts = block.block == CostBlock::ni_dma_engine ||
                          block.block == CostBlock::ni_message_table ||
                          block.block == CostBlock::ni_send_queue;
      if (counts) datapath_ += static_cast<double>(packets) * (block.read_pj + block.write_pj);
    });
  }

  void add_additions(std::uint64_t bytes) {
    for_each_once([&](const BlockCost& block) {
      if (block.block != CostBlock::ni_adders) return;
      const auto& ports = shape_.nis[shape_.ni_of.front()].ports.front();
      energy_.additions = bytes / ports.adders.element_bytes;
      adders_ += static_cast<double>(energy_.additions) * block.read_pj;
    });
  }

  // A pick searches a queue and removes one entry, which was written before. All dimensions have
  // equal queues.
  void add_decisions(std::uint64_t decisions) {
    energy_.decisions += decisions;
    const auto count = static_cast<double>(decisions);
    const auto& table = shape_.nis[shape_.ni_of.front()].table;
    const bool repeats = table && table->repeat_bits != 0;
    for_each_once([&](const BlockCost& block) {
      switch (block.block) {
        case CostBlock::ni_schedule_table:
          decisions_ += count * block.read_pj;
          if (repeats) decisions_ += count * block.write_pj;  // also a passed row is written back
          break;
        case CostBlock::ni_dimension_queue:
          decisions_ += count * (block.read_pj + block.write_pj);
          break;
        case CostBlock::ni_program_memory:
          decisions_ += count * block.read_pj;
          break;
        case CostBlock::ni_control:
        case CostBlock::ni_dependency_state:
        case CostBlock::ni_row_repeat:
        case CostBlock::ni_slot_counter:
        case CostBlock::ni_program_context:
        case CostBlock::ni_scoreboard:
        case CostBlock::ni_slot_credits:
          control_ += count * block.read_pj;
          break;
        default:
          break;
      }
    });
  }

  void add_link(std::uint32_t dimension, std::uint64_t flits, double pj_per_bit) {
    energy_.link_flits += flits;
    const SliceCost* slice = cost_.routers[shape_.router_of.front()].slice(dimension);
    if (slice == nullptr) return;
    links_ += static_cast<double>(flits) * slice->slice.flit_bits * pj_per_bit;
  }

  [[nodiscard]] RunEnergy take(IssueKind kind) {
    const auto part = [&](const char* name, double pj, std::vector<CostBlock> blocks) {
      energy_.parts.push_back({name, pj, std::move(blocks), Origin::formula});
    };
    part("buffers", buffers_, {CostBlock::router_buffers});
    part("crossbars", crossbars_, {CostBlock::router_crossbar});
    part("allocators", allocators_, {CostBlock::router_allocators});
    part("control", control_, kControl);
    part("ni_buffers", ni_buffers_, {CostBlock::ni_buffers});
    part("ni_datapath", datapath_, kDatapath);
    switch (kind) {
      case IssueKind::table:
        part("tables", decisions_, {CostBlock::ni_schedule_table});
        break;
      case IssueKind::queue:
        part("queues", decisions_, {CostBlock::ni_dimension_queue});
        break;
      case IssueKind::program:
        part("instructions", decisions_, {CostBlock::ni_program_memory});
        break;
    }
    part("adders", adders_, {CostBlock::ni_adders});
    return std::move(energy_);
  }
  [[nodiscard]] double links() const { return links_; }

 private:
  [[nodiscard]] const NiCost& ni() const { return cost_.nis[shape_.ni_of.front()].cost; }
  template <class Visit>
  void for_each(std::uint32_t dimension, Visit visit) const {
    for (const BlockCost& block : ni().blocks) {
      if (block.dimension == dimension) visit(block);
    }
  }
  // Each block once; in a system with dimensions the block of the first dimension.
  template <class Visit>
  void for_each_once(Visit visit) const {
    for (const BlockCost& block : ni().blocks) {
      if (block.dimension <= 1) visit(block);
    }
  }

  [[nodiscard]] const SliceCost* slice_of(const HardwareEvents::Router& router) const {
    NodeId vertex = router.vertex;
    if (folded_) vertex = router.is_switch ? switch_of_[router.dimension - 1] : NodeId(0);
    return cost_.routers[shape_.router_of[vertex.index()]].slice(router.dimension);
  }

  const SystemShape& shape_;
  const SystemCost& cost_;
  bool folded_;
  std::vector<NodeId> switch_of_;  // by dimension: its first switch
  RunEnergy energy_;
  double buffers_ = 0;
  double crossbars_ = 0;
  double allocators_ = 0;
  double control_ = 0;
  double ni_buffers_ = 0;
  double datapath_ = 0;
  double decisions_ = 0;
  double adders_ = 0;
  double links_ = 0;
};

bool has_block(const SystemCost& cost, CostBlock wanted) {
  const auto is_it = [&](const BlockCost& block) { return block.block == wanted; };
  return std::any_of(cost.nis.begin(), cost.nis.end(),
                     [&](const NiKindCost& ni) {
                       return std::any_of(ni.cost.blocks.begin(), ni.cost.blocks.end(), is_it);
                     }) ||
         std::any_of(cost.routers.begin(), cost.routers.end(), [&](const RouterCost& router) {
           const std::vector<BlockCost> blocks = router.blocks();
           return std::any_of(blocks.begin(), blocks.end(), is_it);
         });
}

// Links, clock tree and leakage, and what has no price.
void add_whole_system(RunEnergy& energy, const SystemCost& cost, const CostSpec& spec,
                      double links_pj, double seconds, double clock_hertz) {
  const bool has_links = spec.link().read_pj != 0;
  const auto part = [&](const char* name, bool is_known, double pj, Origin origin) {
    energy.parts.push_back({name, is_known ? std::optional(pj) : std::nullopt, {}, origin});
    if (!is_known) energy.left_out.emplace_back(name);
  };
  part("links", has_links, links_pj, Origin::user);
  const double per_cycle = cost.clocked_bits * Technology(spec).clock_pj_per_flip_flop();
  part("clock tree", seconds != 0, per_cycle * seconds * clock_hertz, Origin::formula);
  const bool leaks = seconds != 0 && cost.leakage_mw.has_value();
  part("leakage", leaks, cost.leakage_mw.value_or(0) * seconds * kPjPerMwSecond, Origin::formula);
  if (spec.link().leakage_mw == 0) energy.left_out.emplace_back("leakage of links");
  if (has_block(cost, CostBlock::ni_readiness_table)) {
    energy.left_out.emplace_back("uses of readiness tables");
  }
  if (has_block(cost, CostBlock::router_adders)) {
    energy.left_out.emplace_back("memory of switches that add");
  }
}

}  // namespace

double RunEnergy::priced_pj() const {
  double sum = 0;
  for (const EnergyPart& part : parts) sum += part.pj.value_or(0);
  return sum;
}

IssueKind issue_kind(const SystemShape& shape) {
  const NiShape& ni = shape.nis[shape.ni_of.front()];
  if (ni.program) return IssueKind::program;
  return ni.queues.empty() ? IssueKind::table : IssueKind::queue;
}

RunEnergy energy_of(const HardwareEvents& events, bool folded, const SystemShape& shape,
                    const SystemCost& cost, const Topology& topology, const CostSpec& spec,
                    double seconds, double clock_hertz) {
  EnergyCounter counter(shape, cost, topology, folded);
  for (const HardwareEvents::Router& router : events.routers) counter.add(router);
  for (std::uint32_t d = 0; d < events.injected_flits.size(); ++d) {
    counter.add_injected(d, events.injected_flits[d]);
    counter.add_ejected(d, events.ejected_flits[d]);
    counter.add_link(d, events.link_flits[d], spec.link().read_pj);
  }
  counter.add_packets(events.injected_packets);
  counter.add_additions(events.added_bytes);
  counter.add_decisions(events.decisions);
  const double links = counter.links();
  RunEnergy energy = counter.take(issue_kind(shape));
  add_whole_system(energy, cost, spec, links, seconds, clock_hertz);
  return energy;
}

}  // namespace espalier
