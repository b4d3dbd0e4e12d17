#include "sims/experiment/describe_cost.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>

#include "alg/schedule/schedule_table.h"
#include "hw/cost/system_cost.h"
#include "hw/topology/topology.h"
#include "sims/model/system_shape.h"
#include "sims/point/enum_names.h"
#include "sims/system/hardware_events.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kPicosecondsPerSecond = 1e12;

// Counts of events, and the energy of all events of a kind in pJ. Dynamic energy only: no leakage,
// and no clock tree.
struct EventEnergy {
  std::uint64_t router_flits = 0;  // buffer write, buffer read, crossbar
  double buffers_pj = 0;
  double crossbars_pj = 0;
  std::uint64_t arbitrations = 0;
  double allocators_pj = 0;
  std::uint64_t injected_flits = 0;  // NI buffer write and read
  double ni_buffers_pj = 0;
  std::uint64_t decisions = 0;  // table entries read, or stages picked from dimension queues
  double decisions_pj = 0;
  std::uint64_t link_flits = 0;
  std::optional<double> links_pj;  // empty: the configuration does not give the energy of a bit

  [[nodiscard]] double priced_pj() const {
    return buffers_pj + crossbars_pj + allocators_pj + ni_buffers_pj + decisions_pj +
           links_pj.value_or(0);
  }
};

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
    const auto& table = shape_.nis[shape_.ni_of.front()].table;
    const bool repeats = table && table->repeat_bits != 0;
    for (const BlockCost& block : ni().blocks) {
      const bool first = block.dimension <= 1;
      if (block.block == CostBlock::ni_schedule_table) {
        each += block.read_pj;
        if (repeats) each += block.write_pj;  // every row is written back, also a passed one
      }
      if (block.block == CostBlock::ni_dimension_queue && first) {
        each += block.read_pj + block.write_pj;
      }
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

// `shape` and `cost` describe `topology`. If one NPU was simulated for all (`folded`), the vertices
// of the events belong to the folded topology, where no other NPU stands at a switch.
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

// Rounds to the digits that an estimate has, so that results do not depend on the last bit of a
// library's function.
double rounded(double value, int decimals) {
  const double unit = std::pow(10, decimals);
  return std::round(value * unit) / unit;
}
double um2(double value) { return rounded(value, 1); }
double mm2(double value_um2) { return rounded(value_um2 / 1e6, 6); }
double ghz(double period_ps) { return period_ps == 0 ? 0 : rounded(1000 / period_ps, 3); }
double picojoules(double pj) { return rounded(pj, 4); }
double microjoules(double pj) { return rounded(pj / 1e6, 6); }

Json describe_block(const BlockCost& block) {
  Json json;
  json["block"] = block.name();
  json["count"] = static_cast<std::uint64_t>(block.count);
  json["um2"] = um2(block.area().low);
  json["um2_high"] = um2(block.area().high);
  json["words"] = block.words == 0 ? Json() : Json(block.words);
  json["bits"] = block.words == 0 ? Json() : Json(block.bits);
  json["implementation"] = to_string(block.implementation);
  json["origin"] = to_string(block.origin);
  json["fo4"] = rounded(block.delay_fo4, 1);
  json["ps"] = rounded(block.delay_ps, 1);
  json["delay_origin"] = to_string(block.delay_origin);
  // Memories have reads and writes, logic has uses.
  json["pj_read_or_use"] = picojoules(block.read_pj);
  json["pj_write"] = block.write_pj != 0 ? Json(picojoules(block.write_pj)) : Json();
  json["pj_origin"] = to_string(block.energy_origin);
  return json;
}

Json describe_blocks(const std::vector<BlockCost>& blocks) {
  Json list = Json::array();
  for (const BlockCost& block : blocks) list.push_back(describe_block(block));
  return list;
}

std::uint32_t ports_of(const RouterCost& router) {
  std::uint32_t ports = 0;
  for (const SliceCost& slice : router.slices) ports += slice.slice.inputs;
  return ports;
}

Json describe_routers(const PricedSystem& priced, const Topology& topology, AreaDetail detail) {
  Json routers = Json::array();
  for (std::size_t kind = 0; kind < priced.cost.routers.size(); ++kind) {
    const RouterCost& router = priced.cost.routers[kind];
    std::size_t vertex = 0;
    while (priced.shape.router_of[vertex] != kind) ++vertex;
    Json json;
    json["of"] = topology.is_switch(NodeId(vertex)) ? "switch" : "npu";
    json["ports"] = ports_of(router);
    json["count"] = router.count;
    json["um2"] = um2(router.area().low);
    json["um2_high"] = um2(router.area().high);
    if (detail == AreaDetail::every_kind) json["blocks"] = describe_blocks(router.blocks());
    routers.push_back(std::move(json));
  }
  return routers;
}

Json describe_nis(const PricedSystem& priced, AreaDetail detail) {
  Json nis = Json::array();
  for (std::size_t kind = 0; kind < priced.cost.nis.size(); ++kind) {
    const NiKindCost& ni = priced.cost.nis[kind];
    Json json;
    std::uint32_t ports = 0;
    for (const NiPorts& alike : priced.shape.nis[kind].ports) ports += alike.count;
    json["ports"] = ports;
    json["count"] = ni.count;
    json["um2"] = um2(ni.cost.area().low);
    json["um2_high"] = um2(ni.cost.area().high);
    json["extension_um2"] = um2(ni.cost.extension().low);
    json["extension_um2_high"] = um2(ni.cost.extension().high);
    if (detail == AreaDetail::every_kind) json["blocks"] = describe_blocks(ni.cost.blocks);
    nis.push_back(std::move(json));
  }
  return nis;
}

// "formula", or "formula and user" if the blocks differ; null without such a block.
Json energy_origin(const PricedSystem& priced, std::initializer_list<CostBlock> of) {
  std::set<std::string> origins;
  const auto look = [&](const std::vector<BlockCost>& blocks) {
    for (const BlockCost& block : blocks) {
      if (std::find(of.begin(), of.end(), block.block) == of.end()) continue;
      origins.insert(to_string(block.energy_origin));
    }
  };
  for (const RouterCost& router : priced.cost.routers) look(router.blocks());
  for (const NiKindCost& ni : priced.cost.nis) look(ni.cost.blocks);
  return origins.empty() ? Json() : Json(fmt::format("{}", fmt::join(origins, " and ")));
}

Json describe_origins(const PricedSystem& priced, const EventEnergy& energy, bool has_table) {
  Json json;
  json["buffers"] = energy_origin(priced, {CostBlock::router_buffers});
  json["crossbars"] = energy_origin(priced, {CostBlock::router_crossbar});
  json["allocators"] = energy_origin(priced, {CostBlock::router_allocators});
  json["ni_buffers"] = energy_origin(priced, {CostBlock::ni_buffers});
  json[has_table ? "tables" : "queues"] = energy_origin(
      priced,
      {CostBlock::ni_schedule_table, CostBlock::ni_dimension_queue});
  json["links"] = energy.links_pj ? Json(to_string(Origin::user)) : Json();
  return json;
}

}  // namespace

std::size_t PricedSystem::npu() const {
  std::size_t best = 0;
  for (std::size_t n = 1; n < shape.ni_of.size(); ++n) {
    const AreaRange area = cost.routers[shape.router_of[n]].area();
    if (area.low > cost.routers[shape.router_of[best]].area().low) best = n;
  }
  return best;
}

const RouterCost& PricedSystem::largest_router() const {
  return cost.routers[shape.router_of[npu()]];
}

const NiCost& PricedSystem::its_ni() const { return cost.nis[shape.ni_of[npu()]].cost; }

PricedSystem price_system(const SystemConfig& system, const Topology& topology,
                          const RunNeed& need) {
  PricedSystem priced;
  priced.shape = system_shape(system, topology, need);
  priced.cost = price_system(priced.shape, system.cost);
  return priced;
}

Json describe_area(const PricedSystem& priced, const SystemConfig& system, const Topology& topology,
                   AreaDetail detail) {
  const Technology technology(system.cost);
  const RouterCost& router = priced.largest_router();
  const NiCost& ni = priced.its_ni();
  const double router_and_ni = router.area().low + ni.area().low;
  Json json;
  json["technology"] = technology.cells().name;
  json["node_nm"] = system.cost.node_nm != 0 ? static_cast<double>(system.cost.node_nm)
                                             : technology.cells().feature_nm;
  json["utilization"] = system.cost.utilization;
  json["router_um2"] = um2(router.area().low);
  json["router_um2_high"] = um2(router.area().high);
  json["ni_um2"] = um2(ni.area().low);
  json["ni_um2_high"] = um2(ni.area().high);
  json["ni_extension_um2"] = um2(ni.extension().low);
  json["ni_extension_um2_high"] = um2(ni.extension().high);
  json["ni_extension_share"] =
      router_and_ni == 0 ? 0 : rounded(ni.extension().low / router_and_ni, 5);
  json["system_mm2"] = mm2(priced.cost.area.low);
  json["system_mm2_high"] = mm2(priced.cost.area.high);
  json["system_placed_mm2"] = mm2(priced.cost.area.low / system.cost.utilization);
  json["system_placed_mm2_high"] = mm2(priced.cost.area.high / system.cost.utilization);
  json["max_clock_GHz"] = ghz(priced.cost.clock.period_ps);
  json["clock_met"] = priced.cost.clock.period_ps <=
                      kPicosecondsPerSecond / static_cast<double>(system.clock.hertz);
  json["clock_limited_by"] = to_string(priced.cost.clock.block);
  json["clock_origin"] = to_string(priced.cost.clock.origin);
  json["pipeline_cycles"] = priced.shape.router_cycles;
  if (topology.dimensions()) json["arbitration_cycles"] = priced.shape.arbitration_cycles;
  json["routers"] = describe_routers(priced, topology, detail);
  json["nis"] = describe_nis(priced, detail);
  std::vector<BlockCost> blocks = router.blocks();
  blocks.insert(blocks.end(), ni.blocks.begin(), ni.blocks.end());
  json["blocks"] = describe_blocks(blocks);
  return json;
}

RunNeed table_need(const ScheduleTables& tables, std::size_t nodes) {
  RunNeed need;
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    need.table_entries =
        std::max(need.table_entries, static_cast<std::uint32_t>(stored_rows(tables, n)));
  }
  const TableFormat format = table_format(tables, nodes);
  need.entry_bits = static_cast<std::uint32_t>(format.entry_bits() - format.repeat);
  need.repeat_bits = format.repeat;
  need.field_bits = format.repeat_field;
  need.slot_bits = format.slot;
  return need;
}

Json describe_energy(const PricedSystem& priced, const Topology& topology, const RunPoint& point,
                     const SimulationOutcome& outcome, bool folded) {
  const HardwareEvents& events = outcome.events;
  const bool has_table = !topology.dimensions().has_value();
  const EventEnergy energy = energy_of(events, folded, priced.shape, priced.cost, topology,
                                       point.system.cost.link_pj_per_bit);
  Json json;
  json["priced_uJ"] = microjoules(energy.priced_pj());
  json["priced_pJ_per_byte"] =
      events.payload_bytes == 0
          ? Json()
          : Json(rounded(energy.priced_pj() / static_cast<double>(events.payload_bytes), 3));
  json["left_out"] = Json::array();
  if (!energy.links_pj) json["left_out"].push_back("links");
  for (const char* part : {"leakage", "clock tree", "DMA, reduction and memory"}) {
    json["left_out"].push_back(part);
  }
  Json& counts = json["events"];
  counts["buffer_writes"] = energy.router_flits;
  counts["buffer_reads"] = energy.router_flits;
  counts["crossbar_traversals"] = energy.router_flits;
  counts["arbitrations"] = energy.arbitrations;
  counts["ni_buffer_flits"] = energy.injected_flits;
  counts[has_table ? "table_reads" : "queue_picks"] = energy.decisions;
  counts["link_flits"] = energy.link_flits;
  Json& parts = json["uJ"];
  parts["buffers"] = microjoules(energy.buffers_pj);
  parts["crossbars"] = microjoules(energy.crossbars_pj);
  parts["allocators"] = microjoules(energy.allocators_pj);
  parts["ni_buffers"] = microjoules(energy.ni_buffers_pj);
  parts[has_table ? "tables" : "queues"] = microjoules(energy.decisions_pj);
  parts["links"] = energy.links_pj ? Json(microjoules(*energy.links_pj)) : Json();
  json["origin"] = describe_origins(priced, energy, has_table);
  return json;
}

}  // namespace espalier
