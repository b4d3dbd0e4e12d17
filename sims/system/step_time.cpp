#include "sims/system/step_time.h"

#include <algorithm>
#include <stdexcept>

#include "ni/engines/table_program.h"
#include "ni/reduction_unit.h"
#include "ni/rtl/rtl_dependencies.h"
#include "ni/rtl/rtl_sequencer.h"
#include "sims/model/build_program.h"
#include "sims/model/faults.h"
#include "sims/model/idle_times.h"
#include "sims/point/config.h"

namespace espalier {

namespace {

struct StepLoad {
  Cycle serialization = 0;  // of the step's longest message, on the slowest link of its route
  // The same for the flits that do not fit into the NI buffer, if the message does not fit.
  Cycle unbuffered = 0;
  // From the issue of that message until all its packets are in the NI buffer, by estimate: a
  // packet is pushed in each cycle, or waits for the flits that do not fit.
  Cycle pushed = 0;
  Cycle flight = 0;  // the largest sum of serialization and idle_overhead
};

class StepLoads {
 public:
  StepLoads(const ScheduleTables& tables, const SystemConfig& config, const SystemTiming& timing)
      : routes_(tables.routes), config_(config), timing_(timing), loads_(tables.num_steps) {
    for (const auto& table : tables.nodes) {
      for (const TableEntry& entry : table) {
        if (entry.op == TableOp::reduce) add(entry, entry.parent.route);
        if (entry.op != TableOp::gather) continue;
        for (const TablePeer& child : entry.children) add(entry, child.route);
      }
    }
  }

  [[nodiscard]] const StepLoad& of_step(std::size_t index) const { return loads_[index]; }

 private:
  void add(const TableEntry& entry, RouteId route) {
    if (entry.size != framed_) {
      framed_ = entry.size;
      const Framing framing(framing_spec(config_), entry.size);
      flits_ = framing.flits();
      packets_ = framing.packets();
    }
    Tick slowest = timing_.ticks_per_cycle;
    for (std::size_t h = 0; h < routes_.hops(route); ++h) {
      slowest = std::max(slowest, timing_.links[routes_.link(route, h).index()].ticks_per_flit);
    }
    const auto cycles = [&](std::uint64_t flits) {
      return (flits * slowest + timing_.ticks_per_cycle - 1) / timing_.ticks_per_cycle;
    };
    const std::uint64_t buffer = injection_buffer_flits(config_);
    StepLoad& load = loads_[entry.step - 1];
    const Cycle serialization = cycles(flits_);
    if (serialization > load.serialization) {
      load.serialization = serialization;
      load.unbuffered = flits_ <= buffer ? serialization : cycles(flits_ - buffer);
      load.pushed = flits_ <= buffer ? packets_ : cycles(flits_ - buffer);
    }
    load.flight =
        std::max(load.flight, serialization + idle_overhead(config_, timing_, routes_, route));
  }

  const RouteSet& routes_;
  const SystemConfig& config_;
  const SystemTiming& timing_;
  std::vector<StepLoad> loads_;
  // Size of the last message, its flits and packets, because most messages have the same size.
  Bytes framed_ = 0;
  std::uint64_t flits_ = 0;
  std::uint64_t packets_ = 0;
};

// Cycles that the busiest node's unit reduces in each step, if it reduces after the message.
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
      // With symmetry all nodes receive the same messages, so node 0 counts for all.
      const std::size_t node = tables.symmetry ? 0 : entry.parent.node.index();
      Cycle& busy = at_node[node * tables.num_steps + entry.step - 1];
      busy += unit.occupancy(entry.size);
      longest[entry.step - 1] = std::max(longest[entry.step - 1], busy);
    }
  }
  return longest;
}

// Steps (index 0 is step 1) in which a root starts to gather the result of the previous step's
// reduction.
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
                              const SystemTiming& timing) {
  std::vector<Cycle> times(tables.num_steps, 0);
  const LockstepMode mode = config.ni.lockstep;
  if (mode == LockstepMode::off || mode == LockstepMode::drain) return times;
  const StepLoads loads(tables, config, timing);
  const std::vector<Cycle> reduction = reduction_times(tables, config);
  const std::vector<bool> turnaround = steps_after_turnaround(tables);
  std::vector<bool> reduces(tables.num_steps, false);
  for (const auto& table : tables.nodes) {
    for (const TableEntry& entry : table) {
      if (entry.op == TableOp::reduce) reduces[entry.step - 1] = true;
    }
  }
  for (std::size_t s = 0; s < times.size(); ++s) {
    const StepLoad& load = loads.of_step(s);
    if (mode == LockstepMode::estimate) {
      times[s] = load.unbuffered;
      continue;
    }
    if (mode == LockstepMode::nop) {
      times[s] = load.pushed;
      continue;
    }
    if (load.flight == 0) continue;
    times[s] = load.flight + 1;
    if (reduces[s]) times[s] += config.ni.reduction.latency_cycles + reduction[s];
    if (turnaround[s + 1]) times[s] += config.ni.turnaround_cycles;
  }
  return times;
}

TableEngine::Spec table_engine_spec(const RunPoint& point, const ScheduleTables& tables,
                                    const std::vector<PostedCollective>& posts,
                                    const SystemTiming& timing, std::uint32_t ni_ports) {
  const SystemConfig& config = point.system;
  TableEngine::Spec spec;
  spec.lockstep = config.ni.lockstep;
  spec.issue_per_cycle = ni_ports;
  spec.slot_clock_hertz = config.ni.slot_counter ? config.clock.hertz : 0;
  spec.turnaround = config.ni.turnaround_cycles;
  spec.step_time = step_times(tables, config, timing);
  for (const PostedCollective& post : posts) spec.releases.push_back({post.first_step, post.at});
  if (point.simulation.has_rtl(RtlBlock::ni_control)) spec.sequencer = make_rtl_sequencer;
  if (point.simulation.has_rtl(RtlBlock::dependency_state)) {
    spec.dependencies = make_rtl_dependencies;
  }
  return spec;
}

TableEngine::Spec faulty_engine(TableEngine::Spec engine, const FaultsConfig& faults, NodeId node) {
  for (Cycle& time : engine.step_time) time += skew_per_step(faults, node);
  for (auto& release : engine.releases) release.at += skew_of(faults, node);
  if (!engine.releases.empty()) {
    engine.releases.front().at += host_delay(faults, node) - skew_of(faults, node);
  }
  return engine;
}

std::optional<AuthorsRules> authors_rules(const RunPoint& point, const ScheduleTables& tables) {
  const NiConfig& ni = point.system.ni;
  const bool counts_nops = ni.lockstep == LockstepMode::nop;
  const bool is_ours = ni.rules == NiRules::linked;
  if (is_ours ? counts_nops : !counts_nops && ni.lockstep != LockstepMode::off) {
    throw std::invalid_argument("this lockstep does not go with these rules of NIs");
  }
  if (is_ours) return std::nullopt;
  return AuthorsRules{takes_any_port(ni.rules),
                      posts_halves(tables.algorithm) ? tables.num_steps / 2 + 1 : 0};
}

}  // namespace espalier
