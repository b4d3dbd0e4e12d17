// Keys of the sections `training` and `workload` (computation between the collectives), `traffic`,
// `control` and `tenants` (messages), `faults`, `simulation`, and `reorder` (search for a rank
// order).
#include <utility>

#include "sims/config/key_table.h"
#include "sims/workload/training/layer.h"

namespace espalier {

void add_training_keys(KeyTable& table) {
  constexpr std::uint64_t kMostArrays = 1ULL << 16;
  const auto training = table.group("training", &RunPoint::training);
  const auto compute =
      table.group("training.compute", &RunPoint::training, &TrainingConfig::compute);
  std::vector<std::string> networks;
  for (const BuiltInNetwork& network : built_in_networks()) networks.emplace_back(network.name);
  training.path("file", &TrainingConfig::file);
  training.named("network", &TrainingConfig::network, networks)
      .only(table.without_path("training.file"))
      .or_file("training.file")
      .required();
  training.choice("overlap", &TrainingConfig::overlap);
  training.integer("mini_batch", &TrainingConfig::mini_batch).range(1, 1ULL << 20);
  compute.integer("pes", &ComputeSpec::pes).range(1, kMostArrays);
  compute.integer("rows", &ComputeSpec::rows).range(1, kMostArrays);
  compute.integer("columns", &ComputeSpec::columns).range(1, kMostArrays);
  compute.choice("sharing", &ComputeSpec::sharing);
}

void add_workload_keys(KeyTable& table) {
  const auto workload = table.group("workload", &RunPoint::workload);
  workload.path("file", &WorkloadConfig::file);
  const auto named = workload.only(table.without_path("workload.file"));
  const auto traced = workload.only(table.with_path("workload.file"));
  named.choice("name", &WorkloadConfig::kind).or_file("workload.file").required();
  traced.path("groups", &WorkloadConfig::groups);
  traced.choice("issue", &WorkloadConfig::issue);
  traced.size("element", &WorkloadConfig::element_bytes).range(1, 16);
  traced.integer("chunks", &WorkloadConfig::chunks).range(1, 4096);
  traced.path("counts", &WorkloadConfig::counts)
      .word(WorkloadConfig::kEqualCounts)
      .names({CountsConfig::kZipf});
  named.integer("iterations", &WorkloadConfig::iterations).range(1, 1'000'000);
  named.integer("mini_batch", &WorkloadConfig::mini_batch).range(1, 1ULL << 20).word("auto");
  named.choice("exchange", &WorkloadConfig::exchange);
  named.integer("model_npus", &WorkloadConfig::model_npus)
      .range(2, 1ULL << 20)
      .only(table.where("workload.name", {"transformer_1t"}));
  workload.integer("compute.tflops", &WorkloadConfig::tflops).range(1, 1'000'000).word("recorded");
  workload.rate("compute.memory", &WorkloadConfig::memory_bytes_per_second)
      .range(1'000'000, 1'000'000'000'000'000)
      .word("unlimited");
}

namespace {

void add_traffic_keys(KeyTable& table) {
  const auto traffic = table.group("traffic", &RunPoint::traffic);
  traffic.choice("pattern", &TrafficConfig::pattern);
  traffic.path("file", &TrafficConfig::file)
      .only(table.where("traffic.pattern", {"file"}))
      .required();
  const auto drawn = traffic.only(table.where_not("traffic.pattern", {"file", "sockets"}));
  drawn.fraction("injection_rate", &TrafficConfig::injection_rate)
      .above_zero_to(64);  // an NI has at most 64 ports
  drawn.size("message", &TrafficConfig::message_bytes);
  const auto hotspot = traffic.only(table.where("traffic.pattern", {"hotspot"}));
  hotspot.number(ValueType::integer, "hotspots", &TrafficConfig::hotspots)
      .range(0, 0xffff'ffff)  // how nodes are numbered
      .nodes()
      .list(ListOf::any_number)
      .required();
  hotspot.fraction("hotspot_share", &TrafficConfig::hotspot_share).above_zero_to(1);
  drawn.integer("burst_messages", &TrafficConfig::burst_messages).range(1, 1'000'000).word("none");
  drawn.choice("loop", &TrafficConfig::loop);
  const auto closed = drawn.only(table.where("traffic.loop", {"closed"}));
  closed.size("reply", &TrafficConfig::reply_bytes);
  closed.integer("outstanding", &TrafficConfig::outstanding).range(1, 65536);
  drawn.integer("warmup_cycles", &TrafficConfig::warmup_cycles).range(0, kLongestRunCycles);
  drawn.integer("measure_cycles", &TrafficConfig::measure_cycles).range(1, kLongestRunCycles);
  drawn.integer("drain_cycles", &TrafficConfig::drain_cycles).range(0, kLongestRunCycles);
  drawn.integer("seed", &TrafficConfig::seed);
}

void add_control_keys(KeyTable& table) {
  const auto control = table.group("control", &RunPoint::control);
  control.choice("pattern", &ControlConfig::pattern);
  // At a lower rate, drawing a node's next message would take longer than the run.
  control.fraction("injection_rate", &ControlConfig::injection_rate).between(1e-6, 1);
  // A short message has a few packets at most.
  control.size("message", &ControlConfig::message_bytes).range(1, 64 << 10);
  control.integer("duration_cycles", &ControlConfig::duration_cycles)
      .range(1, kLongestRunCycles)
      .word("collective");
  control.integer("seed", &ControlConfig::seed);
  control.choice("vcs", &ControlConfig::vcs);
  control.integer("vc_depth_flits", &ControlConfig::vc_depth_flits)
      .range(1, 1 << 20)
      .word("router")
      .only(table.where("control.vcs", {"own"}));
}

void add_tenant_keys(KeyTable& table) {
  const auto tenants = table.group("tenants", &RunPoint::tenants);
  tenants.integer("flows", &TenantsConfig::flows).range(1, 65536);
  tenants.size("message", &TenantsConfig::message_bytes);
  tenants.rate("rate", &TenantsConfig::bytes_per_second);
  tenants.time("on_time", &TenantsConfig::on_time_ps).range(1, 1'000 * kSecond);
  tenants.time("off_time", &TenantsConfig::off_time_ps).range(0, 1'000 * kSecond);
  tenants.integer("seed", &TenantsConfig::seed);
}

}  // namespace

void add_message_keys(KeyTable& table) {
  add_traffic_keys(table);
  add_control_keys(table);
  add_tenant_keys(table);
}

namespace {

constexpr std::uint64_t kMostNodeNumber = std::uint64_t{1} << 20;

template <class Struct>
RecordField<Struct> node_field(std::uint32_t Struct::*member) {
  ValueField field = value_field("node", ValueType::integer, 0, kMostNodeNumber, true);
  field.shape.is_node = true;
  return {member, std::move(field)};
}
template <class Struct>
RecordField<Struct> cycles_field(const char* name, Cycle Struct::*member, bool required) {
  return {member, value_field(name, ValueType::integer, 1, kLongestLatencyCycles, required)};
}

}  // namespace

void add_fault_keys(KeyTable& table) {
  const auto faults = table.group("faults", &RunPoint::faults);
  faults.records<SlowLink>(
      "slow_links", &FaultsConfig::slow_links,
      {{&SlowLink::from, value_field("from", ValueType::vertex, 0, 0, true)},
       {&SlowLink::to, value_field("to", ValueType::vertex, 0, 0, true)},
       {&SlowLink::bytes_per_second,
        value_field("bandwidth", ValueType::rate, kSlowestLink, kFastestLink, false)},
       {&SlowLink::latency_ps, value_field("latency", ValueType::time, 1, kSecond, false)}});
  faults.records<LateNi>(
      "late_nis", &FaultsConfig::late_nis,
      {node_field(&LateNi::node), cycles_field("cycles", &LateNi::cycles, true)});
  faults.records<ClockSkew>(
      "clock_skew", &FaultsConfig::clock_skew,
      {node_field(&ClockSkew::node), cycles_field("cycles", &ClockSkew::cycles, false),
       cycles_field("per_step", &ClockSkew::per_step, false)});
  const auto jitter =
      table.group("faults.dma_jitter", &RunPoint::faults, &FaultsConfig::dma_jitter);
  jitter.cycles("max_cycles", &DmaJitterConfig::max_cycles).required();
  jitter.integer("seed", &DmaJitterConfig::seed);
  jitter.integer("nodes", &DmaJitterConfig::nodes)
      .list(ListOf::any_number)
      .range(0, kMostNodeNumber)
      .nodes()
      .word("all");
}

void add_simulation_keys(KeyTable& table) {
  using Config = SimulationConfig;
  const auto simulation = table.group("simulation", &RunPoint::simulation);
  simulation.choice("fidelity", &Config::fidelity);
  simulation.choice("fold", &Config::fold).only(table.where_dimensional());
  simulation.boolean("check", &Config::check);
  simulation.boolean("always_clocked", &Config::always_clocked);
  simulation.boolean("link_utilization", &Config::link_utilization)
      .only(table.where_not_dimensional());
  simulation.boolean("monitors", &Config::monitors);
  simulation.fraction("stall_probability", &Config::stall_probability)
      .below(1);  // 1 would never let a flit pass
  simulation.integer("seed", &Config::seed);
  simulation.integer("watchdog_cycles", &Config::watchdog_cycles).range(1, kLongestRunCycles);
  simulation.choice("rtl", &Config::rtl)
      .list(ListOf::any_number)
      .word("none")
      .or_file("a build with ESPALIER_OWN_VERILOG (docs/plug_in.md#verilog-of-your-own)");
}

// These keys do not influence a run, so they are left out of the resolved configuration.
void add_reorder_keys(KeyTable& table) {
  using Config = ReorderConfig;
  const auto reorder = table.group("reorder", &RunPoint::reorder).unresolved();
  const auto search =
      table.group("reorder", &RunPoint::reorder, &ReorderConfig::search).unresolved();
  reorder.choice("model", &Config::model);
  reorder.choice("form", &Config::form);
  search.choice("objective", &OrderSearchSpec::objective);
  search.integer("evaluations", &OrderSearchSpec::evaluations).range(1, 1'000'000'000'000);
  search.integer("seed", &OrderSearchSpec::seed);
  search.choice("direction", &OrderSearchSpec::direction);
  search.choice("start", &OrderSearchSpec::start);
  reorder.integer("random_orders", &Config::random_orders).range(1, 1'000'000);
  reorder.integer("exact_nodes", &Config::exact_nodes).range(0, 16);
  reorder.size("window", &Config::window);
  reorder.integer("probes", &Config::probes).range(1, 100'000);
  reorder.size("payload", &Config::payload).range(1, 64 << 10);
  reorder.integer("percentile", &Config::percentile).range(1, 100);
}

}  // namespace espalier
