#include "sims/experiment/describe_cost.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "alg/schedule/schedule_table.h"
#include "hw/cost/system_cost.h"
#include "hw/topology/topology.h"
#include "ni/engines/table_program.h"
#include "sims/model/build_program.h"
#include "sims/model/system_shape.h"
#include "sims/point/config.h"
#include "sims/system/program_simulation.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kPicosecondsPerSecond = 1e12;

double um2(double value) { return rounded(value, 1); }
double mm2(double value_um2) { return rounded(value_um2 / 1e6, 6); }
double ghz(double period_ps) { return period_ps == 0 ? 0 : rounded(1000 / period_ps, 3); }
double picojoules(double pj) { return rounded(pj, 4); }

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
  json["leakage_mW"] =
      block.leakage_mw ? Json(rounded(block.count * *block.leakage_mw, 4)) : Json();
  json["leakage_origin"] = block.leakage_mw ? Json(to_string(block.leakage_origin)) : Json();
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

// What has no area.
Json area_left_out(const PricedSystem& priced, const SystemConfig& system) {
  Json left_out = Json::array();
  if (system.cost.link().area_um2 == 0) left_out.push_back("link PHYs");
  const auto& routers = priced.cost.routers;
  const bool adds = std::any_of(routers.begin(), routers.end(), [](const RouterCost& router) {
    return std::any_of(router.slices.begin(), router.slices.end(),
                       [](const SliceCost& slice) { return slice.adders.has_value(); });
  });
  if (adds) left_out.push_back("memory of switches that add");
  if (system.ni.rules != NiRules::linked) {
    left_out.push_back("choice among the entries of a timestep");
  }
  return left_out;
}

}  // namespace

double rounded(double value, int decimals) {
  const double unit = std::pow(10, decimals);
  return std::round(value * unit) / unit;
}

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
  json["technology"] = technology.name();
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
  json["ni_adders_um2"] = um2(ni.adders().low);
  json["ni_extension_and_adders_share"] =
      router_and_ni == 0 ? 0 : rounded((ni.extension().low + ni.adders().low) / router_and_ni, 5);
  json["system_mm2"] = mm2(priced.cost.area.low);
  json["system_mm2_high"] = mm2(priced.cost.area.high);
  json["system_placed_mm2"] = mm2(priced.cost.area.low / system.cost.utilization);
  json["system_placed_mm2_high"] = mm2(priced.cost.area.high / system.cost.utilization);
  json["system_leakage_mW"] =
      priced.cost.leakage_mw ? Json(rounded(*priced.cost.leakage_mw, 3)) : Json();
  json["left_out"] = area_left_out(priced, system);
  json["max_clock_GHz"] = ghz(priced.cost.clock.period_ps);
  json["clock_met"] = priced.cost.clock.period_ps <=
                      kPicosecondsPerSecond / static_cast<double>(system.clock.hertz);
  json["clock_limited_by"] = to_string(priced.cost.clock.block);
  json["clock_origin"] = to_string(priced.cost.clock.origin);
  json["max_clock_without_adders_GHz"] = ghz(priced.cost.clock_without_adders.period_ps);
  json["pipeline_cycles"] = priced.shape.router_cycles;
  json["reduction_cycles"] = priced.shape.reduction_cycles;
  if (topology.dimensions()) json["arbitration_cycles"] = priced.shape.arbitration_cycles;
  json["routers"] = describe_routers(priced, topology, detail);
  json["nis"] = describe_nis(priced, detail);
  std::vector<BlockCost> blocks = router.blocks();
  blocks.insert(blocks.end(), ni.blocks.begin(), ni.blocks.end());
  json["blocks"] = describe_blocks(blocks);
  return json;
}

RunNeed area_need(const Topology& topology, const RunPoint& point) {
  RunNeed need = configured_need(point);
  if (point.collective && !topology.dimensions() && has_program(point)) {
    need.program = program_contexts(build_program(topology, point), point);
  }
  return need;
}

ProgramContextsShape program_contexts(const Program& program, const RunPoint& point) {
  return contexts_for(program, point.system.ni.program, protocol_of(program, point).slots);
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
  need.places = most_places(tables);
  return need;
}

}  // namespace espalier
