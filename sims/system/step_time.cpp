#include "sims/system/step_time.h"

#include <algorithm>

#include "ni/reduction_unit.h"
#include "ni/table_program.h"
#include "sims/system/fabric.h"

namespace espalier {

Cycle one_hop_overhead(const SystemConfig& config, Cycle link_latency) {
  // DMA; NI -> router; two router pipelines around the link; router -> NI; memory. The first flit's
  // cycle is in F.
  return config.ni.dma_latency_cycles + config.ni.injection_cycles +
         2 * config.router.pipeline_cycles + link_latency + config.ni.ejection_cycles +
         config.ni.delivery_cycles - 1;
}

namespace {

Cycle estimated(std::uint64_t flits, std::uint32_t buffer_flits) {
  return flits <= buffer_flits ? flits : flits - buffer_flits;
}

// Cycles that the busiest node's unit reduces in each step, where it starts after the message.
std::vector<Cycle> reduction_times(const ScheduleTables& tables, const SystemConfig& config) {
  std::vector<Cycle> longest(tables.num_steps, 0);
  if (config.ni.reduction.mode != ReductionMode::after_message) return longest;
  const ReductionUnit unit({config.ni.reduction.mode, config.ni.reduction.latency_cycles,
                            config.ni.reduction.bytes_per_cycle, config.ni.reduction.block_bytes},
                           1);
  std::vector<Cycle> at_node(tables.nodes.size() * tables.num_steps, 0);
  for (const auto& table : tables.nodes) {
    for (const TableEntry& entry : table) {
      if (entry.op != TableOp::reduce) continue;
      // What all nodes send alike, all receive alike.
      const std::size_t node = tables.symmetry ? 0 : entry.parent.node.index();
      Cycle& busy = at_node[node * tables.num_steps + entry.step - 1];
      busy += unit.occupancy(entry.size);
      longest[entry.step - 1] = std::max(longest[entry.step - 1], busy);
    }
  }
  return longest;
}

// Steps (index 0 is step 1) in which a root starts to gather what the step before reduced.
std::vector<bool> steps_after_turnaround(const ScheduleTables& tables) {
  std::vector<bool> result(tables.num_steps + 1, false);
  for (const auto& table : tables.nodes) {
    for (const TableEntry& entry : table) {
      const bool root_gather = entry.op == TableOp::gather && !entry.parent.node.valid();
      if ((root_gather && tables.op == CollectiveOp::all_reduce) || !entry.after.empty()) {
        result[entry.step - 1] = true;
      }
    }
  }
  return result;
}

}  // namespace

std::vector<Cycle> step_times(const ScheduleTables& tables, const SystemConfig& config,
                              Cycle link_latency) {
  std::vector<Cycle> times(tables.num_steps, 0);
  const LockstepMode mode = config.ni.lockstep;
  if (mode == LockstepMode::off || mode == LockstepMode::drain) return times;
  const std::vector<Bytes> largest = step_bytes(tables);
  const std::vector<Cycle> reduction = reduction_times(tables, config);
  const std::vector<bool> turnaround = steps_after_turnaround(tables);
  std::vector<bool> reduces(tables.num_steps, false);
  for (const auto& table : tables.nodes) {
    for (const TableEntry& entry : table) {
      if (entry.op == TableOp::reduce) reduces[entry.step - 1] = true;
    }
  }
  for (std::size_t s = 0; s < times.size(); ++s) {
    if (largest[s] == 0) continue;
    const std::uint64_t flits = Framing(framing_spec(config), largest[s]).flits();
    if (mode == LockstepMode::estimate) {
      times[s] = estimated(flits, config.ni.buffer_flits);
      continue;
    }
    times[s] = flits + one_hop_overhead(config, link_latency) + 1;
    if (reduces[s]) times[s] += config.ni.reduction.latency_cycles + reduction[s];
    if (turnaround[s + 1]) times[s] += config.ni.turnaround_cycles;
  }
  return times;
}

}  // namespace espalier
