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
  key.shape.file_endings = {".yaml", ".yml"};
  key.description =
      "preset, or a machine file of the same form (docs/silicon.md), that gives the keys of "
      "`system` that the file leaves out; relative to this file's folder";
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
      .only(table.where_not_dimensional())
      .doc("time that a credit takes to return; link: the latency of the link");
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
  dma.rate("bandwidth", &NiConfig::dma_bytes_per_cycle)
      .word("ports")
      .doc(
          "DMA rate that all ports share; ports: the rate of all ports, so that DMA is never the "
          "bottleneck");
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
  link.time("latency", &LinkSpec::latency_ps)
      .range(1, kLongestLinkLatency)
      .doc("latency from the output of one router to the input of the next router");
  link.rate("bandwidth", &LinkSpec::bytes_per_second)
      .doc("bandwidth of one direction; at most one flit per router cycle");
}

void add_routing_keys(KeyTable& table) {
  const KeyCondition flat = table.where_not_dimensional();
  const auto routing = table.group("system", &RunPoint::system, &SystemConfig::routing).only(flat);
  routing.choice("routing", &RoutingConfig::kind)
      .exclusive()
      .doc(
          "routes of packets: the network's own (auto), dimension_order of a grid, up_down, the "
          "shortest path by the lowest ports, one of the shortest paths by a hash (ecmp), these in "
          "turn (split), or a table (file)");
  routing.integer("routing_seed", &RoutingConfig::seed)
      .range(0, kAnyNumber)
      .only(table.where("system.routing", {"ecmp", "split"}))
      .exclusive()
      .doc("seed of the hash of source and destination");
  routing.path("routing_file", &RoutingConfig::file)
      .only(table.where("system.routing", {"file"}))
      .required()
      .doc("table of routes, from,to,path, relative to this file's folder");
}

void add_router_keys(KeyTable& table) {
  const auto clock = table.group("system.router", &RunPoint::system, &SystemConfig::clock);
  clock.number(ValueType::frequency, "clock", &ClockSpec::hertz)
      .range(1'000, kSecond)
      .doc("clock of routers and network interfaces");
  // This key is not among the links' keys, because it is stored in cycles of the clock above.
  add_credit_latency_key(table);
  const KeyCondition flat = table.where_not_dimensional();
  const auto router = table.group("system.router", &RunPoint::system, &SystemConfig::router);
  router.integer("vcs", &RouterConfig::vcs).range(1, 32).doc("virtual channels per input port");
  router
      .integer_or_implied("vc_depth_flits", &RouterConfig::vc_depth_flits,
                          &RouterConfig::depth_is_implied)
      .range(1, kMi)
      .only(flat)
      .doc("buffer of one VC; auto: covers the credit loop of the longest link, at least 318");
  clock.integer("flit_bytes", &ClockSpec::flit_bytes)
      .range(1, kWidestFlit)
      .only(flat)
      .doc(
          "payload of one flit; if it is not given, a power of two that is wide enough for the "
          "fastest link");
  router
      .integer_or_implied("pipeline_cycles", &RouterConfig::pipeline_cycles,
                          &RouterConfig::pipeline_is_implied)
      .range(0, 1000)
      .doc("cycles from a flit's arrival to its earliest departure; auto: as system.cost implies");
  router.choice("switching", &RouterConfig::switching)
      .doc(
          "vct: a packet moves on when the next buffer has room for the whole packet; wormhole: "
          "when it has room for one flit");
  router.choice("hold", &RouterConfig::hold)
      .doc("duration of a grant of the crossbar: a packet or a flit");
  router.choice("crossbar_inputs", &RouterConfig::crossbar_inputs)
      .doc("one crossbar input per input port, or per VC");
  router.choice("vc_order", &RouterConfig::vc_order)
      .doc(
          "VC that a packet takes of those with room: the lowest, or the next one after the last "
          "packet's (rotating: in packet mode, fidelity cycle); or the one that the destination's "
          "number decides (destination), so that packets wait only behind those with the same VC");
}

void add_flow_control_keys(KeyTable& table) {
  using Flow = FlowControlConfig;
  const KeyCondition flat = table.where_not_dimensional();
  const auto flow =
      table.group("system.flow_control", &RunPoint::system, &SystemConfig::flow_control);
  flow.choice("mode", &Flow::mode).doc("one head flit per message, or one per packet");
  flow.integer("payload_bytes", &Flow::payload_bytes)
      .range(1, kMi)
      .only(flat)
      .doc("payload of a packet; in message mode, payload of a sub-packet");
  flow.integer("sub_message_bytes", &Flow::sub_message_bytes)
      .range(1, kGi)
      .only(table.where("system.flow_control.mode", {"message"}))
      .only(flat)
      .doc("size of a sub-message; it changes no time, because routers arbitrate sub-packets");
  flow.boolean("pad_last_packet", &Flow::pad_last_packet)
      .only(table.where("system.flow_control.mode", {"packet"}))
      .doc("true: the last packet of a message is padded to the length of the others");
}

void add_reduction_keys(KeyTable& table) {
  const auto reduction = table.group("system.ni.reduction", &RunPoint::system, &SystemConfig::ni,
                                     &NiConfig::reduction);
  reduction.choice("mode", &ReductionConfig::mode)
      .doc("reduce as data arrives, or when the message is complete");
  reduction
      .integer_or_implied("latency_cycles", &ReductionConfig::latency_cycles,
                          &ReductionConfig::latency_is_implied)
      .range(1, kLongestLatencyCycles)
      .doc("latency of the adders; auto: the cycles that system.cost implies at this clock");
  reduction.integer("bytes_per_cycle", &ReductionConfig::bytes_per_cycle)
      .range(1, kMi)
      .word("port")
      .doc("reduction rate; port: as fast as an ejection port delivers");
  reduction.integer("block_bytes", &ReductionConfig::block_bytes)
      .range(1, kGi)
      .doc("the reduction unit works on whole blocks of this size");
}

void add_dimension_queue_keys(KeyTable& table) {
  const KeyCondition dimensional = table.where_dimensional();
  const auto queue = table
                         .group("system.ni.dimension_queue", &RunPoint::system, &SystemConfig::ni,
                                &NiConfig::dimension_queue)
                         .only(dimensional);
  queue.choice("order", &DimensionQueueConfig::order)
      .doc(
          "order in which waiting chunks start on a dimension; scf: smallest chunk first; auto: "
          "fifo for baseline without dimensions that are in_network, scf otherwise");
  queue.choice("key", &DimensionQueueConfig::key)
      .doc(
          "size of a chunk that scf compares: before the stage, after the stage, or the larger of "
          "both");
  queue.choice("ties", &DimensionQueueConfig::ties)
      .doc("arrival that scf prefers among chunks of equal size");
  queue.integer("in_flight", &DimensionQueueConfig::in_flight)
      .range(1, 1024)
      .word("auto")
      .doc(
          "number of chunks in flight on a dimension at a time; auto: 8, or more where the bytes "
          "of 8 chunks do not cover the fixed delay of their steps");
  queue
      .integer_or_implied("arbitration_cycles", &DimensionQueueConfig::arbitration_cycles,
                          &DimensionQueueConfig::arbitration_is_implied)
      .range(1, 1000)
      .doc("cycles from when a chunk waits until it starts; auto: as system.cost implies for scf");
  queue.boolean("enforce_order", &DimensionQueueConfig::enforce_order)
      .doc(
          "all NPUs start a dimension's stages in one order, fixed before the run (Themis, section "
          "4.6.2)");
}

void add_ni_keys(KeyTable& table) {
  const auto ni = table.group("system.ni", &RunPoint::system, &SystemConfig::ni);
  const auto flat = ni.only(table.where_not_dimensional());
  flat.choice("lockstep", &NiConfig::lockstep)
      .doc("rule that delays the next timestep of a schedule");
  flat.integer("ports", &NiConfig::ports)
      .range(1, 64)
      .word("auto")
      .doc("number of injection and of ejection ports; auto: as many as the algorithm can use");
  flat.integer("buffer_flits", &NiConfig::buffer_flits)
      .range(0, 16 * kMi)
      .doc("buffer of an injection port; the lockstep estimate counts with it");
  flat.integer("buffer_packets", &NiConfig::buffer_packets)
      .range(1, kKi)
      .word("none")
      .optional()
      .doc("full packets or sub-packets that the buffer holds in addition to buffer_flits");
  flat.integer("table_entries", &NiConfig::table_entries)
      .range(1, 16 * kMi)
      .word("auto")
      .doc("rows of the schedule table; auto: as many as the schedule needs");
  flat.boolean("table_repeat", &NiConfig::table_repeat)
      .doc(
          "true: a row of the schedule table has a repeat count and strides, and holds the entries "
          "of a periodic schedule that send the next segments along a tree edge");
  ni.choice("injection_vcs", &NiConfig::injection_vcs)
      .doc(
          "VCs that messages of an NI port may take; one: a link gets them first come first "
          "served; auto: one for algorithms that plan the order of messages, otherwise all");
  ni.boolean("slot_counter", &NiConfig::slot_counter)
      .doc("true: a table entry with a planned start waits for it (forest, through switches)");
  ni.integer("send_queue", &NiConfig::send_queue)
      .range(1, 64 * kKi)
      .doc("number of descriptors that may wait for one injection port");
  flat.choice("rules", &NiConfig::rules)
      .word("linked")
      .optional()
      .doc(
          "whose rules the NI follows; linked: a message takes the ports of the first and the last "
          "link of its route until it has left, and table entries issue in order; authors: those "
          "of MultiTree's authors, whose messages take any free port until they are in its buffer; "
          "authors_linked: theirs, with the ports of linked");
  ni.cycles("dma.latency_cycles", &NiConfig::dma_latency_cycles)
      .min(1)
      .doc("cycles from the issue of an operation to its first flit on the injection channel");
  add_dma_bandwidth_key(table);
  ni.cycles("injection_cycles", &NiConfig::injection_cycles)
      .min(1)
      .doc("cycles from the NI to the router's buffer");
  ni.cycles("ejection_cycles", &NiConfig::ejection_cycles)
      .min(1)
      .doc("cycles from the router to the NI");
  ni.cycles("delivery_cycles", &NiConfig::delivery_cycles)
      .min(1)
      .doc("cycles from ejection until the data are visible in memory");
  ni.cycles("turnaround_cycles", &NiConfig::turnaround_cycles)
      .doc(
          "cycles in which a root writes its reduced chunk to memory before its Gather reads the "
          "chunk");
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
  ni.integer("contexts", &Config::contexts)
      .range(1, 65536)
      .word("auto")
      .doc(
          "number of contexts that run thread blocks, all thread blocks of a call at once; auto: "
          "as many as the program needs");
  ni.integer("context_steps", &Config::context_steps)
      .range(1, 65536)
      .word("auto")
      .doc(
          "number of instructions that the RAM of a context holds; auto: as many as the program "
          "needs");
  ni.integer("slots", &Config::slots)
      .range(1, 1024)
      .word("protocol")
      .doc("FIFO slots of a connection; protocol: 2 for Simple, 8 for LL and LL128");
  ni.size("slot", &Config::slot_bytes)
      .word("protocol")
      .doc(
          "data of a FIFO slot (a tile); protocol: 2 MiB for Simple, 32 KiB for LL, 576000 B for "
          "LL128");
  ni.size("request", &Config::request_bytes)
      .doc("data of one request of a context, which is a message");
  ni.integer("requests", &Config::requests)
      .range(1, 65536)
      .doc("number of requests of one context in flight");
  ni.integer("context_bytes_per_cycle", &Config::context_bytes_per_cycle)
      .range(1, 1 << 20)
      .word("unlimited")
      .doc("rate of one context; sends and receives count as on the wire");
  ni.integer("memory_bytes_per_cycle", &Config::memory_bytes_per_cycle)
      .range(1, 1 << 20)
      .word("unlimited")
      .doc("rate at which the contexts of an NI read and write together");
  cycles("decode_cycles", &Config::decode_cycles)
      .min(1)
      .doc("cycles from a step's turn to its first request");
  cycles("fence_cycles", &Config::fence_cycles)
      .doc("cycles of the fence before the flag that completes a slot; protocol Simple only");
  cycles("doorbell_cycles", &Config::doorbell_cycles)
      .doc(
          "cycles of each call from the host's call, or from the end of the call before, to the "
          "load of the program");
  cycles("load_cycles_per_step", &Config::load_cycles_per_step)
      .doc("cycles of each call to load one step of the program into a context");
  cycles("network_slot_cycles", &Config::network_slot_cycles)
      .doc(
          "cycles of an NI's proxy for each slot that it sends to another server of a gpu_cluster, "
          "one slot after the other");
  cycles("network_receive_cycles", &Config::network_receive_cycles)
      .doc("cycles of the same proxy for each slot that it receives from another server");
  cycles("credit_cycles", &Config::credit_cycles)
      .min(1)
      .word("path")
      .doc(
          "cycles from the release of a slot until its sender may use it; path: the latency of the "
          "idle route back");
}

}  // namespace espalier
