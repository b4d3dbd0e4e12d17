// Keys of the sections `traffic`, `control` and `tenants` (messages), `simulation`, and `reorder`
// (search for a rank order).
#include "sims/config/key_table.h"

namespace espalier {

namespace {

void add_traffic_keys(KeyTable& table) {
  const auto traffic = table.group("traffic", &RunPoint::traffic);
  traffic.choice("pattern", &TrafficConfig::pattern).doc("who sends to whom");
  traffic.path("file", &TrafficConfig::file)
      .only(table.where("traffic.pattern", {"file"}))
      .required()
      .doc(
          "messages as lines 'ready,from,to,bytes' under that header, relative to this file's "
          "folder");
  const auto drawn = traffic.only(table.where_not("traffic.pattern", {"file"}));
  drawn.fraction("injection_rate", &TrafficConfig::injection_rate)
      .above_zero_to(64)  // an NI has at most 64 ports
      .doc("flits per node and cycle, head flits included");
  drawn.size("message", &TrafficConfig::message_bytes).doc("size of each message");
  drawn.integer("duration_cycles", &TrafficConfig::duration_cycles)
      .range(1, kLongestRunCycles)
      .doc("messages become ready during this time; then the network drains");
  drawn.integer("seed", &TrafficConfig::seed).doc("of destinations and times");
}

void add_control_keys(KeyTable& table) {
  const auto control = table.group("control", &RunPoint::control);
  control.choice("pattern", &ControlConfig::pattern)
      .doc("whom a node sends to: any other node, or the next one");
  // At a lower rate, drawing a node's next message would take longer than the run.
  control.fraction("injection_rate", &ControlConfig::injection_rate)
      .between(1e-6, 1)
      .doc("flits per node and cycle, head flits included");
  // A short message has a few packets at most.
  control.size("message", &ControlConfig::message_bytes)
      .range(1, 64 << 10)
      .doc("size of each message");
  control.integer("duration_cycles", &ControlConfig::duration_cycles)
      .range(1, kLongestRunCycles)
      .word("collective")
      .doc(
          "messages are posted during this time, and not after the end of a collective beside "
          "them; collective: until its end");
  control.integer("seed", &ControlConfig::seed).doc("of destinations and times");
  control.choice("vcs", &ControlConfig::vcs)
      .doc("own: one VC of each class is set aside; shared: the gradients' VCs");
  control.integer("vc_depth_flits", &ControlConfig::vc_depth_flits)
      .range(1, 1 << 20)
      .word("router")
      .only(table.where("control.vcs", {"own"}))
      .doc("buffer of a VC set aside; router: as deep as the others");
}

void add_tenant_keys(KeyTable& table) {
  const auto tenants = table.group("tenants", &RunPoint::tenants);
  tenants.integer("flows", &TenantsConfig::flows)
      .range(1, 65536)
      .doc("each from one rack to another, drawn from the seed");
  tenants.size("message", &TenantsConfig::message_bytes).doc("size of each message of a flow");
  tenants.rate("rate", &TenantsConfig::bytes_per_second).doc("of a flow while it sends");
  tenants.time("on_time", &TenantsConfig::on_time_ps)
      .range(1, 1'000 * kSecond)
      .doc("mean time for which a flow sends");
  tenants.time("off_time", &TenantsConfig::off_time_ps)
      .range(0, 1'000 * kSecond)
      .doc("mean time for which a flow pauses; 0ns: never");
  tenants.integer("seed", &TenantsConfig::seed).doc("of racks and times");
}

}  // namespace

void add_message_keys(KeyTable& table) {
  add_traffic_keys(table);
  add_control_keys(table);
  add_tenant_keys(table);
}

void add_simulation_keys(KeyTable& table) {
  using Config = SimulationConfig;
  const auto simulation = table.group("simulation", &RunPoint::simulation);
  simulation.choice("fidelity", &Config::fidelity)
      .doc(
          "train: trains of flits as one object, exact to the cycle; cycle: every flit by itself; "
          "auto: train where it is exact");
  simulation.choice("fold", &Config::fold)
      .only(table.where_dimensional())
      .doc(
          "one NPU stands for all, with the same result to the cycle; auto: where all NPUs do the "
          "same");
  simulation.boolean("check", &Config::check).doc("certify the schedule before simulating");
  simulation.boolean("always_clocked", &Config::always_clocked)
      .doc("idle modules do not sleep; same results, slower");
  simulation.boolean("link_utilization", &Config::link_utilization)
      .only(table.where_not_dimensional())
      .doc("results say how busy each link was, for the report's map");
  simulation.boolean("monitors", &Config::monitors)
      .doc("check credits and VC order in every cycle");
  simulation.fraction("stall_probability", &Config::stall_probability)
      .below(1)  // 1 would never let a flit pass
      .doc("every link refuses a flit with this probability in each cycle, to test back-pressure");
  simulation.integer("seed", &Config::seed).doc("of the stalls");
  simulation.integer("watchdog_cycles", &Config::watchdog_cycles)
      .range(1, kLongestRunCycles)
      .doc("nothing has moved for this time: the run ends as a deadlock");
}

// These keys do not influence a run, so they are left out of the resolved configuration.
void add_reorder_keys(KeyTable& table) {
  using Config = ReorderConfig;
  const auto reorder = table.group("reorder", &RunPoint::reorder).unresolved();
  const auto search =
      table.group("reorder", &RunPoint::reorder, &ReorderConfig::search).unresolved();
  reorder.choice("model", &Config::model)
      .doc("whose messages are priced; auto: those of collective.algorithm");
  reorder.choice("form", &Config::form)
      .doc(
          "generated: the messages that the generator sends; corrected: the published model with "
          "its indices put right; as_printed: letter by letter");
  search.choice("objective", &OrderSearchSpec::objective)
      .doc(
          "sum: as published; max: a ring's slowest hop; load: all messages, for links that are "
          "shared");
  search.choice("search", &OrderSearchSpec::search).doc("how orders are searched");
  search.integer("evaluations", &OrderSearchSpec::evaluations)
      .range(1, 1'000'000'000'000)
      .doc("orders that the search may price");
  search.integer("seed", &OrderSearchSpec::seed).doc("of the search and of the random orders");
  search.choice("direction", &OrderSearchSpec::direction)
      .doc("which order is written: the best, or the worst to compare with");
  search.choice("start", &OrderSearchSpec::start)
      .doc("where the search begins; clustered: near nodes beside each other");
  reorder.integer("random_orders", &Config::random_orders)
      .range(1, 1'000'000)
      .doc("orders that are drawn to compare with");
  reorder.integer("exact_nodes", &Config::exact_nodes)
      .range(0, 16)
      .doc(
          "up to this number of nodes an order is proven optimal; models other than a ring up to "
          "12");
  reorder.size("window", &Config::window)
      .doc("bytes that a pair moves per round trip, with which a latency gives a bandwidth");
  reorder.integer("z3_rlimit", &Config::z3_rlimit)
      .range(1, std::numeric_limits<std::uint32_t>::max())
      .word("off")
      .doc("Z3's resource units to look for a better order; off: Z3 is not asked");
  reorder.integer("probes", &Config::probes)
      .range(1, 100'000)
      .doc("of each ordered pair, one after the other");
  reorder.size("payload", &Config::payload).range(1, 64 << 10).doc("of a probe");
  reorder.integer("percentile", &Config::percentile)
      .range(1, 100)
      .doc("of a pair's round trips: 10 filters interference out");
}

}  // namespace espalier
