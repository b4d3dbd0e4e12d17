// The energy of a run: counted events times the energy of each, and clock tree and leakage over its
// time.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hw/cost/technology.h"
#include "sims/experiment/describe_cost.h"
#include "sims/point/config.h"
#include "sims/system/hardware_events.h"

namespace espalier {

namespace {

// The memory that the NIs' issue engines decide from, and the part of the energy that it takes.
CostBlock decider_of(const SystemShape& shape) {
  const NiShape& ni = shape.nis[shape.ni_of.front()];
  if (ni.program) return CostBlock::ni_program_memory;
  return ni.queues.empty() ? CostBlock::ni_schedule_table : CostBlock::ni_dimension_queue;
}

const char* part_of(CostBlock decider) {
  if (decider == CostBlock::ni_program_memory) return "instructions";
  return decider == CostBlock::ni_schedule_table ? "tables" : "queues";
}

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
  EnergyCounter(const PricedSystem& priced, const Topology& topology, Bytes payload, bool folded)
      : shape_(priced.shape),
        cost_(priced.cost),
        folded_(folded),
        energy_{priced, payload, decider_of(priced.shape)} {
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
    energy_.links_pj += static_cast<double>(flits) * slice->slice.flit_bits * pj_per_bit;
  }

  [[nodiscard]] EnergyResult take() {
    const auto part = [&](const char* name, double pj, std::vector<CostBlock> blocks) {
      energy_.parts.push_back({name, pj, std::move(blocks), Origin::formula});
    };
    part("buffers", buffers_, {CostBlock::router_buffers});
    part("crossbars", crossbars_, {CostBlock::router_crossbar});
    part("allocators", allocators_, {CostBlock::router_allocators});
    part("control", control_, kControl);
    part("ni_buffers", ni_buffers_, {CostBlock::ni_buffers});
    part("ni_datapath", datapath_, kDatapath);
    part(part_of(energy_.decider), decisions_, {energy_.decider});
    part("adders", adders_, {CostBlock::ni_adders});
    return std::move(energy_);
  }

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
  EnergyResult energy_;
  double buffers_ = 0;
  double crossbars_ = 0;
  double allocators_ = 0;
  double control_ = 0;
  double ni_buffers_ = 0;
  double datapath_ = 0;
  double decisions_ = 0;
  double adders_ = 0;
};

template <class Visit>
void for_each_block(const SystemCost& cost, const Visit& visit) {
  for (const RouterCost& router : cost.routers) {
    for (const BlockCost& block : router.blocks()) visit(block);
  }
  for (const NiKindCost& ni : cost.nis) {
    for (const BlockCost& block : ni.cost.blocks) visit(block);
  }
}

// If one NPU was simulated for all (`folded`), the vertices of the events belong to the folded
// topology, where no other NPU stands at a switch.
EnergyResult events_energy(const HardwareEvents& events, const PricedSystem& priced,
                           const Topology& topology, const CostSpec& spec, bool folded) {
  EnergyCounter counter(priced, topology, events.payload_bytes, folded);
  for (const HardwareEvents::Router& router : events.routers) counter.add(router);
  for (std::uint32_t d = 0; d < events.injected_flits.size(); ++d) {
    counter.add_injected(d, events.injected_flits[d]);
    counter.add_ejected(d, events.ejected_flits[d]);
    counter.add_link(d, events.link_flits[d], spec.link().read_pj);
  }
  counter.add_packets(events.injected_packets);
  counter.add_additions(events.added_bytes);
  counter.add_decisions(events.decisions);
  return counter.take();
}

// Links, clock tree and leakage, and what has no price. `seconds`: the time in which clock tree and
// leakage take energy; 0: unknown.
void add_whole_system(EnergyResult& energy, const SystemCost& cost, const CostSpec& spec,
                      double seconds, double clock_hertz) {
  const bool has_links = spec.link().read_pj != 0;
  const auto part = [&](const char* name, bool is_known, double pj, Origin origin) {
    energy.parts.push_back({name, is_known ? std::optional(pj) : std::nullopt, {}, origin});
    if (!is_known) energy.left_out.emplace_back(name);
  };
  part("links", has_links, energy.links_pj, Origin::user);
  const double per_cycle = cost.clocked_bits * Technology(spec).clock_pj_per_flip_flop();
  part("clock tree", seconds != 0, per_cycle * seconds * clock_hertz, Origin::formula);
  const bool leaks = seconds != 0 && cost.leakage_mw.has_value();
  part("leakage", leaks, cost.leakage_mw.value_or(0) * seconds * kPjPerMwSecond, Origin::formula);
  if (spec.link().leakage_mw == 0) energy.left_out.emplace_back("leakage of links");
  std::set<CostBlock> blocks;
  for_each_block(cost, [&](const BlockCost& block) { blocks.insert(block.block); });
  if (blocks.count(CostBlock::ni_readiness_table) != 0) {
    energy.left_out.emplace_back("uses of readiness tables");
  }
  if (blocks.count(CostBlock::router_adders) != 0) {
    energy.left_out.emplace_back("memory of switches that add");
  }
}

// "formula", or "formula and user" if the blocks differ; empty without such a block.
std::optional<std::string> origin_of(const EnergyPart& part, const SystemCost& cost) {
  const bool leaks = part.name == "leakage" && part.pj;
  if (part.blocks.empty() && !leaks && !part.pj) return {};
  if (part.blocks.empty() && !leaks) return to_string(part.origin);
  std::set<std::string> origins;
  for_each_block(cost, [&](const BlockCost& block) {
    const auto& of = part.blocks;
    if (leaks && block.leakage_mw) origins.insert(to_string(block.leakage_origin));
    if (std::find(of.begin(), of.end(), block.block) == of.end()) return;
    origins.insert(to_string(block.energy_origin));
  });
  if (origins.empty() && !leaks) return {};
  return fmt::format("{}", fmt::join(origins, " and "));
}

}  // namespace

std::string EnergyPart::field() const {
  std::string field = name;
  std::replace(field.begin(), field.end(), ' ', '_');
  return field;
}

double EnergyResult::priced_pj() const {
  double sum = 0;
  for (const EnergyPart& part : parts) sum += part.pj.value_or(0);
  return sum;
}

std::optional<double> EnergyResult::pj_per_byte() const {
  if (payload_bytes == 0) return {};
  return rounded(priced_pj() / static_cast<double>(payload_bytes), 3);
}

std::vector<std::string> EnergyResult::covers() const {
  std::vector<std::string> names;
  for (const EnergyPart& part : parts) {
    if (part.pj) names.push_back(part.name);
  }
  return names;
}

std::vector<Named<std::optional<double>>> EnergyResult::microjoules_of_parts() const {
  std::vector<Named<std::optional<double>>> of;
  for (const EnergyPart& part : parts) {
    of.push_back({part.field(), part.pj ? std::optional(microjoules(*part.pj)) : std::nullopt});
  }
  return of;
}

std::vector<Named<std::optional<std::string>>> EnergyResult::origins() const {
  std::vector<Named<std::optional<std::string>>> of;
  for (const EnergyPart& part : parts) of.push_back({part.field(), origin_of(part, priced.cost)});
  return of;
}

EnergyResult energy_of(const PricedSystem& priced, const Topology& topology, const RunPoint& point,
                       const SimulationOutcome& outcome, bool folded) {
  const auto hertz = static_cast<double>(point.system.clock.hertz);
  Cycle cycles = outcome.cycles;
  if (cycles == 0 && point.control) cycles = point.control->duration_cycles;
  const CostSpec& spec = point.system.cost;
  EnergyResult energy = events_energy(outcome.events, priced, topology, spec, folded);
  add_whole_system(energy, priced.cost, spec, static_cast<double>(cycles) / hertz, hertz);
  return energy;
}

}  // namespace espalier
