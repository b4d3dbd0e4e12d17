#include "sims/experiment/describe_cost.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "ni/engines/table_program.h"
#include "sims/experiment/result_fields.h"
#include "sims/point/config.h"
#include "sims/system/program_simulation.h"

namespace espalier {

std::uint32_t RouterKindResult::ports() const {
  std::uint32_t ports = 0;
  for (const SliceCost& slice : cost.slices) ports += slice.slice.inputs;
  return ports;
}

std::uint32_t NiKindResult::ports() const {
  std::uint32_t ports = 0;
  for (const NiPorts& alike : shape.ports) ports += alike.count;
  return ports;
}

double AreaResult::share(double area_um2) const {
  const double router_and_ni = router.area().low + ni.area().low;
  return router_and_ni == 0 ? 0 : rounded(area_um2 / router_and_ni, 5);
}

std::vector<std::string> AreaResult::left_out() const {
  std::vector<std::string> left_out;
  if (system.cost.link().area_um2 == 0) left_out.emplace_back("link PHYs");
  const bool adds =
      std::any_of(cost.routers.begin(), cost.routers.end(), [](const RouterCost& kind) {
        return std::any_of(kind.slices.begin(), kind.slices.end(),
                           [](const SliceCost& slice) { return slice.adders.has_value(); });
      });
  if (adds) left_out.emplace_back("memory of switches that add");
  if (system.ni.rules != NiRules::linked) {
    left_out.emplace_back("choice among the entries of a timestep");
  }
  return left_out;
}

std::vector<RouterKindResult> AreaResult::routers() const {
  std::vector<RouterKindResult> kinds;
  for (std::size_t kind = 0; kind < cost.routers.size(); ++kind) {
    std::size_t vertex = 0;
    while (priced.shape.router_of[vertex] != kind) ++vertex;
    kinds.push_back({cost.routers[kind], topology.is_switch(NodeId(vertex)), detail});
  }
  return kinds;
}

std::vector<NiKindResult> AreaResult::nis() const {
  std::vector<NiKindResult> kinds;
  for (std::size_t kind = 0; kind < cost.nis.size(); ++kind) {
    kinds.push_back({cost.nis[kind], priced.shape.nis[kind], detail});
  }
  return kinds;
}

std::vector<BlockCost> AreaResult::blocks() const {
  std::vector<BlockCost> blocks = router.blocks();
  blocks.insert(blocks.end(), ni.blocks.begin(), ni.blocks.end());
  return blocks;
}

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
  need.slot_bits = format.time_slot;
  need.places = most_places(tables);
  return need;
}

namespace {

// The key that grants a block more cycles; empty if nothing pipelines the block.
std::string key_of_cycles(const std::string& block) {
  const auto is = [&](CostBlock known) { return block == to_string(known); };
  if (is(CostBlock::ni_adders) || is(CostBlock::router_adders))
    return "system.ni.reduction.latency_cycles";
  if (is(CostBlock::ni_dimension_queue)) return "system.ni.dimension_queue.arbitration_cycles";
  return is(CostBlock::router_buffers) || is(CostBlock::router_crossbar) ||
                 is(CostBlock::router_allocators)
             ? "system.router.pipeline_cycles"
             : "";
}

}  // namespace

std::vector<std::string> clock_limits(const std::vector<const nlohmann::ordered_json*>& results) {
  std::map<std::pair<std::string, double>, std::vector<double>> limits;  // GHz by block and node
  for (const nlohmann::ordered_json* result : results) {
    if (truth_in(*result, field::area_clock_met).value_or(true)) continue;
    limits[{text_in(*result, field::area_clock_limited_by).value_or("a block"),
            number_in(*result, field::area_node_nm).value_or(0)}]
        .push_back(number_in(*result, field::area_max_clock_GHz).value_or(0));
  }
  std::vector<std::string> sentences;
  for (const auto& [what, ghz] : limits) {
    // Results round to MHz, so the next lower number is surely met.
    const double mhz = std::floor(*std::min_element(ghz.begin(), ghz.end()) * 1000 - 0.5);
    const std::string key = key_of_cycles(what.first);
    const std::string runs = fmt::format(" in {} of {} runs", ghz.size(), results.size());
    sentences.push_back(fmt::format("{} at {} nm allows at most {} MHz{}", what.first, what.second,
                                    mhz, ghz.size() == results.size() ? "" : runs));
    sentences.back() += key.empty() ? fmt::format(
                                          " and cannot be pipelined; set a finer "
                                          "system.cost.node, or system.router.clock: {}MHz "
                                          "with flits that then carry the links' rate",
                                          mhz)
                                    : fmt::format("; set {}: auto", key);
  }
  return sentences;
}

}  // namespace espalier
