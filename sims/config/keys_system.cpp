// Keys of section `system` except topology and cost model: links, routers, flow control, network
// interfaces.
#include "sims/config/key_table.h"
#include "sims/config/presets.h"

namespace espalier {

namespace {

constexpr std::uint64_t kKi = 1ULL << 10;
constexpr std::uint64_t kMi = 1ULL << 20;
constexpr std::uint64_t kGi = 1ULL << 30;

// Only the reader uses this key; no struct stores it.
void add_preset_key(KeyTable& table) {
  Key& key = table.add("system.preset");
  key.shape.type = ValueType::name;
  for (const Preset& preset : presets()) key.shape.names.push_back(preset.name);
  key.shape.file_endings = {".yaml", ".yml", ".xml"};
  key.resolved = false;  // its settings are written instead
  key.set = [](RunPoint&, const Value&) {};
  key.get = [](const RunPoint&) { return Value{}; };
}

// Stored in cycles, given as a time. Rounding up to a cycle and back down to a picosecond gives the
// same cycle, because a cycle of at most 1 THz is at least one picosecond long.
void add_credit_latency_key(KeyTable& table) {
  const auto system = table.group("system.link", &RunPoint::system);
  system.time("credit_latency", &SystemConfig::credit_latency_cycles)
      .word("link")
      .only(table.where_not_dimensional());
  Key& key = table.last();
  key.set = [](RunPoint& point, const Value& value) {
    point.system.credit_latency_cycles = cycles_covering(value.number, point.system.clock);
  };
  key.get = [](const RunPoint& point) {
    __extension__ using Wide = unsigned __int128;
    const Wide ps = static_cast<Wide>(point.system.credit_latency_cycles) * kSecond;
    return number_value(static_cast<std::uint64_t>(ps / point.system.clock.hertz));
  };
}

// Stored in bytes per cycle, given in bytes per second. A rule refuses values that are not whole
// bytes per cycle.
void add_dma_bandwidth_key(KeyTable& table) {
  const auto dma = table.group("system.ni.dma", &RunPoint::system, &SystemConfig::ni);
  dma.rate("bandwidth", &NiConfig::dma_bytes_per_cycle).word("ports");
  Key& key = table.last();
  key.set = [](RunPoint& point, const Value& value) {
    point.system.ni.dma_bytes_per_cycle = value.number / point.system.clock.hertz;
  };
  key.get = [](const RunPoint& point) {
    return number_value(point.system.ni.dma_bytes_per_cycle * point.system.clock.hertz);
  };
}

void add_link_keys(KeyTable& table) {
  const auto link = table.group("system.link", &RunPoint::system, &SystemConfig::link)
                        .only(table.where_not_dimensional());
  link.time("latency", &LinkSpec::latency_ps).range(1, kLongestLinkLatency);
  link.rate("bandwidth", &LinkSpec::bytes_per_second);
}

void add_routing_keys(KeyTable& table) {
  const KeyCondition flat = table.where_not_dimensional();
  const auto routing = table.group("system", &RunPoint::system, &SystemConfig::routing).only(flat);
  routing.choice("routing", &RoutingConfig::kind).exclusive();
  routing.integer("routing_seed", &RoutingConfig::seed)
      .range(0, kAnyNumber)
      .only(table.where("system.routing", {"ecmp", "split"}))
      .exclusive();
  routing.path("routing_file", &RoutingConfig::file)
      .only(table.where("system.routing", {"file"}))
      .required();
}

void add_router_keys(KeyTable& table) {
  const auto clock = table.group("system.router", &RunPoint::system, &SystemConfig::clock);
  clock.number(ValueType::frequency, "clock", &ClockSpec::hertz).range(1'000, kSecond);
  // This key is not among the links' keys, because it is stored in cycles of the clock above.
  add_credit_latency_key(table);
  const KeyCondition flat = table.where_not_dimensional();
  const auto router = table.group("system.router", &RunPoint::system, &SystemConfig::router);
  router.integer("vcs", &RouterConfig::vcs).range(1, 32);
  router
      .integer_or_implied("vc_depth_flits", &RouterConfig::vc_depth_flits,
                          &RouterConfig::depth_is_implied)
      .range(1, kMi)
      .only(flat);
  clock.integer("flit_bytes", &ClockSpec::flit_bytes).range(1, kWidestFlit).only(flat);
  router
      .integer_or_implied("pipeline_cycles", &RouterConfig::pipeline_cycles,
                          &RouterConfig::pipeline_is_implied)
      .range(0, 1000);
  router.choice("switching", &RouterConfig::switching);
  router.choice("hold", &RouterConfig::hold);
  router.choice("crossbar_inputs", &RouterConfig::crossbar_inputs);
  router.choice("vc_order", &RouterConfig::vc_order);
}

void add_flow_control_keys(KeyTable& table) {
  using Flow = FlowControlConfig;
  const KeyCondition flat = table.where_not_dimensional();
  const auto flow =
      table.group("system.flow_control", &RunPoint::system, &SystemConfig::flow_control);
  flow.choice("mode", &Flow::mode);
  flow.integer("payload_bytes", &Flow::payload_bytes).range(1, kMi).only(flat);
  flow.integer("sub_message_bytes", &Flow::sub_message_bytes)
      .range(1, kGi)
      .only(table.where("system.flow_control.mode", {"message"}))
      .only(flat);
  flow.boolean("pad_last_packet", &Flow::pad_last_packet)
      .only(table.where("system.flow_control.mode", {"packet"}));
}

void add_reduction_keys(KeyTable& table) {
  const auto reduction = table.group("system.ni.reduction", &RunPoint::system, &SystemConfig::ni,
                                     &NiConfig::reduction);
  reduction.choice("mode", &ReductionConfig::mode);
  reduction
      .integer_or_implied("latency_cycles", &ReductionConfig::latency_cycles,
                          &ReductionConfig::latency_is_implied)
      .range(1, kLongestLatencyCycles);
  reduction.integer("bytes_per_cycle", &ReductionConfig::bytes_per_cycle)
      .range(1, kMi)
      .word("port");
  reduction.integer("block_bytes", &ReductionConfig::block_bytes).range(1, kGi);
}

void add_dimension_queue_keys(KeyTable& table) {
  const KeyCondition dimensional = table.where_dimensional();
  const auto queue = table
                         .group("system.ni.dimension_queue", &RunPoint::system, &SystemConfig::ni,
                                &NiConfig::dimension_queue)
                         .only(dimensional);
  queue.choice("order", &DimensionQueueConfig::order);
  queue.choice("key", &DimensionQueueConfig::key);
  queue.choice("ties", &DimensionQueueConfig::ties);
  queue.integer("in_flight", &DimensionQueueConfig::in_flight).range(1, 1024).word("auto");
  queue
      .integer_or_implied("arbitration_cycles", &DimensionQueueConfig::arbitration_cycles,
                          &DimensionQueueConfig::arbitration_is_implied)
      .range(1, 1000);
  queue.boolean("enforce_order", &DimensionQueueConfig::enforce_order);
}

void add_ni_keys(KeyTable& table) {
  const auto ni = table.group("system.ni", &RunPoint::system, &SystemConfig::ni);
  const auto flat = ni.only(table.where_not_dimensional());
  flat.choice("lockstep", &NiConfig::lockstep);
  flat.integer("ports", &NiConfig::ports).range(1, 64).word("auto");
  flat.integer("buffer_flits", &NiConfig::buffer_flits).range(0, 16 * kMi);
  flat.integer("buffer_packets", &NiConfig::buffer_packets).range(1, kKi).word("none").optional();
  flat.integer("table_entries", &NiConfig::table_entries).range(1, 16 * kMi).word("auto");
  flat.boolean("table_repeat", &NiConfig::table_repeat);
  ni.choice("injection_vcs", &NiConfig::injection_vcs);
  ni.boolean("slot_counter", &NiConfig::slot_counter);
  ni.integer("send_queue", &NiConfig::send_queue).range(1, 64 * kKi);
  flat.integer("contexts", &NiConfig::contexts)
      .range(1, 4096)
      .word("auto")
      .optional()
      .only({"coordination", "hosts post collectives (coordination, workload.file)",
             [](const RunPoint& point) {
               return point.coordination || (point.workload && !point.workload->file.empty());
             }});
  flat.choice("rules", &NiConfig::rules).word("linked").optional();
  ni.cycles("dma.latency_cycles", &NiConfig::dma_latency_cycles).min(1);
  add_dma_bandwidth_key(table);
  ni.cycles("injection_cycles", &NiConfig::injection_cycles).min(1);
  ni.cycles("ejection_cycles", &NiConfig::ejection_cycles).min(1);
  ni.cycles("delivery_cycles", &NiConfig::delivery_cycles).min(1);
  ni.cycles("turnaround_cycles", &NiConfig::turnaround_cycles);
  add_reduction_keys(table);
  add_dimension_queue_keys(table);
}

}  // namespace

void add_system_keys(KeyTable& table) {
  add_preset_key(table);
  add_topology_keys(table);
  add_routing_keys(table);
  add_link_keys(table);
  add_router_keys(table);
  add_flow_control_keys(table);
  add_ni_keys(table);
}

// These keys depend on the algorithm, so they come after it in the table.
void add_program_ni_keys(KeyTable& table) {
  using Config = ProgramNiConfig;
  constexpr std::uint64_t kMostCycles = 100'000'000;
  const auto ni =
      table.group("system.ni.program", &RunPoint::system, &SystemConfig::ni, &NiConfig::program)
          .only(table.where(kAlgorithmKey, algorithms_where([](const Algorithm& a) {
                              return a.is_program() || a.is_library;
                            })));
  const auto cycles = [&](const char* name, Cycle Config::*member) {
    return ni.cycles(name, member).range(0, kMostCycles);
  };
  ni.integer("contexts", &Config::contexts).range(1, 65536).word("auto");
  ni.integer("context_steps", &Config::context_steps).range(1, 65536).word("auto");
  ni.integer("slots", &Config::slots).range(1, 1024).word("protocol");
  ni.size("slot", &Config::slot_bytes).word("protocol");
  ni.size("request", &Config::request_bytes);
  ni.integer("requests", &Config::requests).range(1, 65536);
  ni.integer("context_bytes_per_cycle", &Config::context_bytes_per_cycle)
      .range(1, 1 << 20)
      .word("unlimited");
  ni.integer("memory_bytes_per_cycle", &Config::memory_bytes_per_cycle)
      .range(1, 1 << 20)
      .word("unlimited");
  cycles("decode_cycles", &Config::decode_cycles).min(1);
  cycles("fence_cycles", &Config::fence_cycles);
  cycles("doorbell_cycles", &Config::doorbell_cycles);
  cycles("load_cycles_per_step", &Config::load_cycles_per_step);
  cycles("network_slot_cycles", &Config::network_slot_cycles);
  cycles("network_receive_cycles", &Config::network_receive_cycles);
  cycles("credit_cycles", &Config::credit_cycles).min(1).word("path");
}

}  // namespace espalier
