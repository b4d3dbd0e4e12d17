// Steps that bring keys of the configuration to their simplest value.
#include <string>

#include "shrink_steps.h"
#include "sims/config/keys.h"
#include "sims/point/fidelity.h"

namespace espalier::fuzz {

namespace {

// Numbers as in Value::number: choices by index, times in picoseconds, words as 0.
struct Aim {
  std::string key;
  std::uint64_t simplest;
  std::uint64_t unit;  // 0: the simplest value or none, else also multiples of this on the way
};

std::vector<Aim> aims_of(const FuzzCase& fuzz_case) {
  const SystemConfig& system = fuzz_case.point.system;
  const std::uint64_t flit = system.clock.flit_bytes;
  std::vector<Aim> aims{
      {"simulation.always_clocked", 0, 0},
      {"system.routing", 0, 0},      // auto
      {"system.ni.lockstep", 0, 0},  // off
      {"system.ni.dma.bandwidth", 0, 0},
      {"system.ni.send_queue", 16, 0},
      {"system.ni.rules", 0, 0},  // linked
      {"system.ni.buffer_flits", 318, 0},
      {"system.ni.buffer_packets", 0, 0},
      {"system.ni.injection_vcs", 0, 0},  // auto
      {"system.ni.slot_counter", 1, 0},
      {"system.ni.table_repeat", 0, 0},
      {"system.ni.ports", 1, 1},
      {"system.ni.reduction.mode", 0, 0},  // streaming
      {"system.ni.reduction.bytes_per_cycle", 0, 0},
      {"system.ni.reduction.block_bytes", 1, 1},
      {"system.ni.reduction.latency_cycles", 1, 1},
      {"system.ni.dma.latency_cycles", 1, 1},
      {"system.ni.injection_cycles", 1, 1},
      {"system.ni.ejection_cycles", 1, 1},
      {"system.ni.delivery_cycles", 1, 1},
      {"system.ni.turnaround_cycles", 0, 1},
      {"system.router.pipeline_cycles", 0, 1},
      {"system.router.vcs", 1, 1},
      {"system.router.crossbar_inputs", 1, 0},    // vc: nothing is shared
      {"system.router.vc_order", 0, 0},           // lowest
      {"system.router.vc_depth_flits", 1000, 0},  // nobody waits for credits
      {"system.flow_control.mode", 1, 0},         // packet
      {"system.flow_control.pad_last_packet", 0, 0},
      {"system.flow_control.payload_bytes", flit, flit},
      {"system.flow_control.sub_message_bytes", system.flow_control.payload_bytes, 0},
      {"system.link.credit_latency", 0, 1000},
      {"system.link.latency", 1000, 1000},
      {"system.link.bandwidth", system.clock.hertz * flit, 0},
      {"traffic.burst_messages", 0, 0},
      {"traffic.loop", 0, 0},
      {"traffic.reply", 1, 1},
      {"traffic.outstanding", 1, 1},
      {"traffic.drain_cycles", 0, 0},
      {"traffic.warmup_cycles", 0, 0},
      {"traffic.measure_cycles", 1, 1},
      {"traffic.message", 1, flit},
  };
  if (const auto& collective = fuzz_case.point.collective) {
    aims.push_back({"collective.op", 0, 0});
    aims.push_back({"collective.tree_order", 0, 0});
    aims.push_back({"collective.step_end", 0, 0});
    aims.push_back({"collective.line_order", 0, 0});
    aims.push_back({"collective.segments", 0, 1});
    aims.push_back({"collective.algorithm", 0, 1});
    aims.push_back({"collective.size", collective->element_bytes, collective->element_bytes});
  }
  return aims;
}

// The simplest value, then from there nearer and nearer to the present one.
std::vector<std::uint64_t> values_towards(const Aim& aim, std::uint64_t now) {
  if (now == aim.simplest) return {};
  std::vector<std::uint64_t> values{aim.simplest};
  if (aim.unit == 0 || now < aim.simplest) return values;
  const std::uint64_t steps = (now - aim.simplest) / aim.unit;
  for (const std::uint64_t left : {steps / 2, steps - 1}) {
    const std::uint64_t value = aim.simplest + left * aim.unit;
    if (left < steps && value != values.back()) values.push_back(value);
  }
  return values;
}

}  // namespace

std::vector<FuzzCase> with_simpler_settings(const FuzzCase& from) {
  std::vector<FuzzCase> cases;
  if (!from.point.simulation.rtl.empty()) {
    cases.push_back(from);
    cases.back().point.simulation.rtl.clear();
  }
  const bool in_fidelity_cycle = from.point.simulation.has_rtl(RtlBlock::output_hold);
  for (const Aim& aim : aims_of(from)) {
    const Key& key = *find_key(aim.key);
    if (!has_section_of(from.point, key) || !key.applies_at(from.point)) continue;
    for (const std::uint64_t number : values_towards(aim, key.get(from.point).number)) {
      Value value;
      value.number = number;
      cases.push_back(from);
      key.set(cases.back().point, value);
      NiConfig& ni = cases.back().point.system.ni;
      // A rule of the authors alone.
      if (ni.rules == NiRules::linked && ni.lockstep == LockstepMode::nop) {
        ni.lockstep = LockstepMode::estimate;
      }
      if (!in_fidelity_cycle && !train_obstacle(cases.back().point).empty()) cases.pop_back();
    }
  }
  return cases;
}

}  // namespace espalier::fuzz
