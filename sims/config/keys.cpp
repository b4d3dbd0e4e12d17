#include "sims/config/keys.h"

#include <algorithm>
#include <limits>

#include "alg/algorithm.h"
#include "sims/config/key_builders.h"
#include "sims/config/keys_topology.h"
#include "sims/config/presets.h"
#include "sims/point/enum_names.h"

namespace espalier {

using namespace key_builders;

namespace {

constexpr std::uint64_t kKi = 1ULL << 10;
constexpr std::uint64_t kMi = 1ULL << 20;
constexpr std::uint64_t kGi = 1ULL << 30;
constexpr std::uint64_t kAnySeed = std::numeric_limits<std::uint64_t>::max();

// A name that picks from a table rather than an enumeration; the reader looks at it, no struct
// keeps it.
Key unstored_name_key(std::string name, std::vector<std::string> names, std::string description) {
  Key key;
  key.name = std::move(name);
  key.shape.type = ValueType::name;
  key.shape.names = std::move(names);
  key.description = std::move(description);
  key.set = [](RunPoint&, const Value&) {};
  key.get = [](const RunPoint&) { return Value{}; };
  return key;
}

Key preset_key() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  Key key =
      unstored_name_key("system.preset", names, "fills in what the file leaves out of `system`");
  key.resolved = false;  // its settings are
  return key;
}

Key traffic_file_key() {
  Key key;
  key.name = "traffic.file";
  key.shape.type = ValueType::text;
  key.description =
      "messages as lines 'ready,from,to,bytes' under that header, relative to this file's folder";
  key.set = [](RunPoint& point, const Value& value) { point.traffic->file = value.text; };
  key.get = [](const RunPoint& point) {
    Value value;
    value.text = point.traffic->file;
    return value;
  };
  return key;
}

// Cycles in the struct, a time in the file. Rounding up to a cycle and back down to a picosecond
// ends at the same cycle, because a cycle of at most 1 THz is no shorter than a picosecond.
Key credit_latency_key() {
  Key key;
  key.name = "system.link.credit_latency";
  key.shape.type = ValueType::time;
  key.shape.min = 1;
  key.shape.max = kSecond;
  key.shape.zero_word = "link";
  key.description = "time a credit takes back; link: as long as the link's latency";
  key.set = [](RunPoint& point, const Value& value) {
    point.system.credit_latency_cycles = cycles_covering(value.number, point.system.clock);
  };
  key.get = [](const RunPoint& point) {
    __extension__ using Wide = unsigned __int128;
    const Wide ps = static_cast<Wide>(point.system.credit_latency_cycles) * kSecond;
    Value value;
    value.number = static_cast<std::uint64_t>(ps / point.system.clock.hertz);
    return value;
  };
  return key;
}

// Bytes per cycle in the struct, per second in the file; the checks refuse what is not whole.
Key dma_bandwidth_key() {
  Key key;
  key.name = "system.ni.dma.bandwidth";
  key.shape.type = ValueType::rate;
  key.shape.min = 1'000;
  key.shape.max = 1'000 * kSecond;
  key.shape.zero_word = "ports";
  key.description = "DMA rate shared by all ports; ports: never the bottleneck";
  key.set = [](RunPoint& point, const Value& value) {
    point.system.ni.dma_bytes_per_cycle = value.number / point.system.clock.hertz;
  };
  key.get = [](const RunPoint& point) {
    Value value;
    value.number = point.system.ni.dma_bytes_per_cycle * point.system.clock.hertz;
    return value;
  };
  return key;
}

Key algorithm_key() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) names.push_back(algorithm.name);
  Key key;
  key.name = "collective.algorithm";
  key.shape.type = ValueType::name;
  key.shape.names = names;
  key.description = "what plans the collective (espalier list algorithms)";
  key.set = [names](RunPoint& point, const Value& value) {
    point.collective->algorithm = names.at(value.number);
  };
  key.get = [names](const RunPoint& point) {
    const auto found = std::find(names.begin(), names.end(), point.collective->algorithm);
    Value value;
    value.number = static_cast<std::uint64_t>(found - names.begin());
    return value;
  };
  return key;
}

Key tree_order_key() {
  Key key = number_key(
      ValueType::name, "collective.tree_order", 0, 0,
      "multitree: whose tree takes its turn first (section III-C2)",
      [](auto& p) -> auto& { return p.collective->remaining_height_first; });
  key.shape.names = {"root", "remaining_height"};
  return of_algorithms(std::move(key));
}

Key segments_key() {
  Key key = integer_key(
      "collective.segments", 1, 64 * kKi,
      "pieces, none empty: of either tree's half (dbtree; auto: about 8 KiB "
      "each, 1 to 64), of a chunk (multitree_translated; auto: 1)",
      [](auto& p) -> auto& { return p.collective->segments; });
  return of_algorithms(or_word(std::move(key), "auto"));
}

ValueShape injection_rates() {
  ValueShape shape;
  shape.max_fraction = 64.0;  // as many as an NI may have ports
  shape.min_excluded = true;
  return shape;
}

ValueShape stall_probabilities() {
  ValueShape shape;
  shape.max_excluded = true;  // 1 would never let a flit pass
  return shape;
}

bool is_message_mode(const RunPoint& point) {
  return point.system.flow_control.mode == FlowControlMode::message;
}

// Precondition of both: the point has traffic.
bool is_listed_traffic(const RunPoint& point) {
  return point.traffic->pattern == TrafficPattern::file;
}
bool is_drawn_traffic(const RunPoint& point) { return !is_listed_traffic(point); }

void add_system_keys(std::vector<Key>& table) {
  table.push_back(preset_key());
  add_topology_keys(table);
  add_dimension_keys(table);
  table.push_back(not_for_dimensions(number_key(
      ValueType::time, "system.link.latency", 1, kLongestLinkLatency,
      "from one router's output to the next one's input",
      [](auto& p) -> auto& { return p.system.link.latency_ps; })));
  table.push_back(not_for_dimensions(number_key(
      ValueType::rate, "system.link.bandwidth", kSlowestLink, kFastestLink,
      "of one direction; at most one flit per router cycle",
      [](auto& p) -> auto& { return p.system.link.bytes_per_second; })));
}

void add_router_keys(std::vector<Key>& table) {
  table.push_back(number_key(
      ValueType::frequency, "system.router.clock", 1'000, kSecond,
      "of routers and network interfaces", [](auto& p) -> auto& { return p.system.clock.hertz; }));
  // Here and not with the links: it is kept in cycles of the clock above.
  table.push_back(not_for_dimensions(credit_latency_key()));
  table.push_back(integer_key(
      "system.router.vcs", 1, 32, "virtual channels per input port",
      [](auto& p) -> auto& { return p.system.router.vcs; }));
  table.push_back(not_for_dimensions(integer_key(
      "system.router.vc_depth_flits", 1, kMi, "buffer of one VC",
      [](auto& p) -> auto& { return p.system.router.vc_depth_flits; })));
  table.push_back(not_for_dimensions(integer_key(
      "system.router.flit_bytes", 1, kWidestFlit, "payload of one flit",
      [](auto& p) -> auto& { return p.system.clock.flit_bytes; })));
  table.push_back(or_implied(
      integer_key(
          "system.router.pipeline_cycles", 0, 1000,
          "from a flit's arrival to its earliest departure; auto: the cycles that system.cost "
          "implies for the router's stages at this clock",
          [](auto& p) -> auto& { return p.system.router.pipeline_cycles; }),
      [](auto& p) -> auto& { return p.system.router.pipeline_is_implied; }));
  table.push_back(choice_key<Switching>(
      "system.router.switching", "vct: room for a whole packet before its head moves on",
      [](auto& p) -> auto& { return p.system.router.switching; }));
  table.push_back(choice_key<SwitchHold>(
      "system.router.hold", "what the crossbar is held for: a packet or a flit",
      [](auto& p) -> auto& { return p.system.router.hold; }));
  table.push_back(choice_key<CrossbarInputs>(
      "system.router.crossbar_inputs", "one crossbar input per input port, or per VC",
      [](auto& p) -> auto& { return p.system.router.crossbar_inputs; }));
}

void add_flow_control_keys(std::vector<Key>& table) {
  table.push_back(listable(choice_key<FlowControlMode>(
      "system.flow_control.mode", "one head flit per message, or one per packet",
      [](auto& p) -> auto& { return p.system.flow_control.mode; })));
  table.push_back(not_for_dimensions(integer_key(
      "system.flow_control.payload_bytes", 1, kMi, "of a packet; of a sub-packet in message mode",
      [](auto& p) -> auto& { return p.system.flow_control.payload_bytes; })));
  table.push_back(not_for_dimensions(
      only_when(integer_key(
                    "system.flow_control.sub_message_bytes", 1, kGi, "of a sub-message",
                    [](auto& p) -> auto& { return p.system.flow_control.sub_message_bytes; }),
                "system.flow_control.mode", "message", is_message_mode)));
  table.push_back(only_when(
      boolean_key(
          "system.flow_control.pad_last_packet", "a message's last packet is as long as the others",
          [](auto& p) -> auto& { return p.system.flow_control.pad_last_packet; }),
      "system.flow_control.mode", "packet", [](const RunPoint& p) { return !is_message_mode(p); }));
}

void add_ni_keys(std::vector<Key>& table) {
  const auto latency = [&](const char* name, std::uint64_t min, const char* description,
                           auto field) {
    table.push_back(integer_key(name, min, kLongestLatencyCycles, description, field));
  };
  // A plan has no steps, and each of its links a port of its own.
  table.push_back(not_for_dimensions(listable(choice_key<LockstepMode>(
      "system.ni.lockstep", "what holds a schedule's timestep back",
      [](auto& p) -> auto& { return p.system.ni.lockstep; }))));
  table.push_back(not_for_dimensions(
      or_word(integer_key(
                  "system.ni.ports", 1, 64,
                  "injection and ejection ports; auto: what the algorithm can use",
                  [](auto& p) -> auto& { return p.system.ni.ports; }),
              "auto")));
  table.push_back(not_for_dimensions(integer_key(
      "system.ni.buffer_flits", 0, 16 * kMi, "NI buffer, for the lockstep estimate",
      [](auto& p) -> auto& { return p.system.ni.buffer_flits; })));
  table.push_back(
      not_for_dimensions(or_word(integer_key(
                                     "system.ni.table_entries", 1, 16 * kMi,
                                     "schedule table; auto: as many as the schedule needs",
                                     [](auto& p) -> auto& { return p.system.ni.table_entries; }),
                                 "auto")));
  table.push_back(integer_key(
      "system.ni.send_queue", 1, 64 * kKi, "descriptors that wait for one injection port",
      [](auto& p) -> auto& { return p.system.ni.send_queue; }));
  latency(
      "system.ni.dma.latency_cycles", 1, "operation issued to first flit on the injection channel",
      [](auto& p) -> auto& { return p.system.ni.dma_latency_cycles; });
  table.push_back(dma_bandwidth_key());
  latency(
      "system.ni.injection_cycles", 1, "NI to router buffer",
      [](auto& p) -> auto& { return p.system.ni.injection_cycles; });
  latency(
      "system.ni.ejection_cycles", 1, "router to NI",
      [](auto& p) -> auto& { return p.system.ni.ejection_cycles; });
  latency(
      "system.ni.delivery_cycles", 1, "ejected to visible in memory",
      [](auto& p) -> auto& { return p.system.ni.delivery_cycles; });
  latency(
      "system.ni.turnaround_cycles", 0, "a root's reduced chunk written back before its Gather",
      [](auto& p) -> auto& { return p.system.ni.turnaround_cycles; });
  table.push_back(choice_key<ReductionMode>(
      "system.ni.reduction.mode", "reduce as data arrives, or when the message is complete",
      [](auto& p) -> auto& { return p.system.ni.reduction.mode; }));
  latency(
      "system.ni.reduction.latency_cycles", 1, "pipeline of the reduction unit",
      [](auto& p) -> auto& { return p.system.ni.reduction.latency_cycles; });
  table.push_back(
      or_word(integer_key(
                  "system.ni.reduction.bytes_per_cycle", 1, kMi,
                  "reduction rate; port: as fast as an ejection port delivers",
                  [](auto& p) -> auto& { return p.system.ni.reduction.bytes_per_cycle; }),
              "port"));
  table.push_back(integer_key(
      "system.ni.reduction.block_bytes", 1, kGi, "work is done in whole blocks of this many bytes",
      [](auto& p) -> auto& { return p.system.ni.reduction.block_bytes; }));
  add_dimension_queue_keys(table);
}

// A workload has operations of its own, on FP16 elements.
Key without_workload(Key key) {
  return only_when(std::move(key), "workload", "not given",
                   [](const RunPoint& p) { return !p.workload; });
}

void add_collective_keys(std::vector<Key>& table) {
  table.push_back(listable(without_workload(choice_key<CollectiveOp>(
      "collective.op", "what is computed", [](auto& p) -> auto& { return p.collective->op; }))));
  table.push_back(required(listable(algorithm_key())));
  Key size = only_when(number_key(
                           ValueType::size, "collective.size", 1, kLargestCollective,
                           "all_gather: of the gathered result; else of each rank's input",
                           [](auto& p) -> auto& { return p.collective->size; }),
                       "training", "not given",
                       [](const RunPoint& p) { return !p.training && !p.workload; });
  size.applies_when = "neither training nor workload is given";
  table.push_back(required(listable(std::move(size))));
  table.push_back(without_workload(number_key(
      ValueType::size, "collective.element", 1, 64 * kKi, "data is cut between elements only",
      [](auto& p) -> auto& { return p.collective->element_bytes; })));
  table.push_back(tree_order_key());
  table.push_back(segments_key());
  add_rank_order_keys(table);
  add_plan_keys(table);
  add_program_keys(table);
}

void add_traffic_keys(std::vector<Key>& table) {
  table.push_back(choice_key<TrafficPattern>(
      "traffic.pattern", "who sends to whom", [](auto& p) -> auto& { return p.traffic->pattern; }));
  table.push_back(
      required(only_when(traffic_file_key(), "traffic.pattern", "file", is_listed_traffic)));
  const auto drawn = [&](Key key) {
    table.push_back(only_when(std::move(key), "traffic.pattern", "not file", is_drawn_traffic));
  };
  drawn(fraction_key(
      "traffic.injection_rate", injection_rates(), "flits per node and cycle, head flits included",
      [](auto& p) -> auto& { return p.traffic->injection_rate; }));
  drawn(number_key(
      ValueType::size, "traffic.message", 1, kLargestMessage, "size of each message",
      [](auto& p) -> auto& { return p.traffic->message_bytes; }));
  drawn(integer_key(
      "traffic.duration_cycles", 1, kLongestRunCycles,
      "messages become ready during this time; then the network drains",
      [](auto& p) -> auto& { return p.traffic->duration_cycles; }));
  drawn(integer_key(
      "traffic.seed", 0, kAnySeed, "of destinations and times",
      [](auto& p) -> auto& { return p.traffic->seed; }));
}

void add_simulation_keys(std::vector<Key>& table) {
  table.push_back(choice_key<Fidelity>(
      "simulation.fidelity",
      "train: runs of flits as one object, exact to the cycle; cycle: every flit by itself; auto: "
      "train where it can",
      [](auto& p) -> auto& { return p.simulation.fidelity; }));
  add_folding_key(table);
  table.push_back(boolean_key(
      "simulation.check", "certify the schedule before simulating",
      [](auto& p) -> auto& { return p.simulation.check; }));
  table.push_back(boolean_key(
      "simulation.always_clocked", "idle modules do not sleep; same results, slower",
      [](auto& p) -> auto& { return p.simulation.always_clocked; }));
  table.push_back(not_for_dimensions(boolean_key(
      "simulation.link_utilization", "results say how busy each link was, for the report's map",
      [](auto& p) -> auto& { return p.simulation.link_utilization; })));
  table.push_back(boolean_key(
      "simulation.monitors", "check credits and VC order in every cycle",
      [](auto& p) -> auto& { return p.simulation.monitors; }));
  table.push_back(fraction_key(
      "simulation.stall_probability", stall_probabilities(),
      "every link refuses a flit this often, to test back-pressure",
      [](auto& p) -> auto& { return p.simulation.stall_probability; }));
  table.push_back(integer_key(
      "simulation.seed", 0, kAnySeed, "of the stalls",
      [](auto& p) -> auto& { return p.simulation.seed; }));
  table.push_back(integer_key(
      "simulation.watchdog_cycles", 1, kLongestRunCycles, "nothing moved for so long: deadlock",
      [](auto& p) -> auto& { return p.simulation.watchdog_cycles; }));
}

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> table = [] {
    std::vector<Key> built;
    add_system_keys(built);
    add_router_keys(built);
    add_flow_control_keys(built);
    add_ni_keys(built);
    add_cost_keys(built);
    add_collective_keys(built);
    add_program_ni_keys(built);  // behind the algorithm, which decides whether they apply
    add_training_keys(built);
    add_coordination_keys(built);
    add_readiness_macro_keys(built);  // behind the mode, which decides whether they apply
    add_workload_keys(built);
    add_traffic_keys(built);
    add_control_keys(built);
    add_tenant_keys(built);
    add_fault_keys(built);
    add_simulation_keys(built);
    add_reorder_keys(built);
    return built;
  }();
  return table;
}

const Key* find_key(const std::string& name) {
  const auto& table = keys();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Key& k) { return k.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::vector<std::string> names_in_section(const std::string& section) {
  const std::string prefix = section.empty() ? "" : section + ".";
  std::vector<std::string> names;
  for (const Key& key : keys()) {
    if (key.name.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string rest = key.name.substr(prefix.size());
    const std::string name = rest.substr(0, rest.find('.'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

bool is_section(const std::string& name) {
  return !name.empty() && find_key(name) == nullptr && !names_in_section(name).empty();
}

bool has_section_of(const RunPoint& point, const Key& key) {
  if (key.name.compare(0, 11, "collective.") == 0) return point.collective.has_value();
  if (key.name.compare(0, 8, "traffic.") == 0) return point.traffic.has_value();
  if (key.name.compare(0, 9, "training.") == 0) return point.training.has_value();
  if (key.name.compare(0, 13, "coordination.") == 0) return point.coordination.has_value();
  if (key.name.compare(0, 9, "workload.") == 0) return point.workload.has_value();
  if (key.name.compare(0, 8, "control.") == 0) return point.control.has_value();
  if (key.name.compare(0, 8, "tenants.") == 0) return point.tenants.has_value();
  if (key.name.compare(0, 18, "faults.dma_jitter.") == 0) {
    return point.faults.dma_jitter.has_value();
  }
  return true;
}

}  // namespace espalier
