// Keys of the sections `traffic`, `control` and `tenants` (messages), `simulation`, and `reorder`
// (search for a rank order).
#include "sims/config/key_table.h"

namespace espalier {

namespace {

void add_traffic_keys(KeyTable& table) {
  const auto traffic = table.group("traffic", &RunPoint::traffic);
  traffic.choice("pattern", &TrafficConfig::pattern)
      .doc("rule that chooses the destination of a message");
  traffic.path("file", &TrafficConfig::file)
      .only(table.where("traffic.pattern", {"file"}))
      .required()
      .doc(
          "file of messages: the header 'ready,from,to,bytes' and one such line for each message; "
          "relative to this file's folder");
  const auto drawn = traffic.only(table.where_not("traffic.pattern", {"file", "sockets"}));
  drawn.fraction("injection_rate", &TrafficConfig::injection_rate)
      .above_zero_to(64)  // an NI has at most 64 ports
      .doc("offered load in flits per node and cycle, head flits included");
  drawn.size("message", &TrafficConfig::message_bytes).doc("size of each message");
  const auto hotspot = traffic.only(table.where("traffic.pattern", {"hotspot"}));
  hotspot.number(ValueType::integer, "hotspots", &TrafficConfig::hotspots)
      .range(0, 0xffff'ffff)  // how nodes are numbered
      .nodes()
      .list(ListOf::any_number)
      .required()
      .doc("nodes that get more messages than others");
  hotspot.fraction("hotspot_share", &TrafficConfig::hotspot_share)
      .above_zero_to(1)
      .doc("share of the messages that goes to the hotspots; the others are uniform");
  drawn.integer("burst_messages", &TrafficConfig::burst_messages)
      .range(1, 1'000'000)
      .word("none")
      .doc(
          "mean number of messages in a burst of one flit per cycle (on-off Markov process); none: "
          "Bernoulli process");
  drawn.choice("loop", &TrafficConfig::loop)
      .doc(
          "open: sources post messages however full the network is; closed: each message is a "
          "request, and a source waits for replies");
  const auto closed = drawn.only(table.where("traffic.loop", {"closed"}));
  closed.size("reply", &TrafficConfig::reply_bytes).doc("size of the reply to each request");
  closed.integer("outstanding", &TrafficConfig::outstanding)
      .range(1, 65536)
      .doc("requests that a node may have without a reply");
  drawn.integer("warmup_cycles", &TrafficConfig::warmup_cycles)
      .range(0, kLongestRunCycles)
      .doc("time before the measurement window");
  drawn.integer("measure_cycles", &TrafficConfig::measure_cycles)
      .range(1, kLongestRunCycles)
      .doc("measurement window: messages generated in it are measured");
  drawn.integer("drain_cycles", &TrafficConfig::drain_cycles)
      .range(0, kLongestRunCycles)
      .doc(
          "the sources go on for at most this time after the window, until all measured messages "
          "have arrived; then the network drains");
  drawn.integer("seed", &TrafficConfig::seed).doc("seed of the drawn destinations and times");
}

void add_control_keys(KeyTable& table) {
  const auto control = table.group("control", &RunPoint::control);
  control.choice("pattern", &ControlConfig::pattern)
      .doc("destination of a message: a random other node, or the next node");
  // At a lower rate, drawing a node's next message would take longer than the run.
  control.fraction("injection_rate", &ControlConfig::injection_rate)
      .between(1e-6, 1)
      .doc("offered load in flits per node and cycle, head flits included");
  // A short message has a few packets at most.
  control.size("message", &ControlConfig::message_bytes)
      .range(1, 64 << 10)
      .doc("size of each message");
  control.integer("duration_cycles", &ControlConfig::duration_cycles)
      .range(1, kLongestRunCycles)
      .word("collective")
      .doc(
          "messages are posted during this time, but not after the end of the collective; "
          "collective: until the end of the collective");
  control.integer("seed", &ControlConfig::seed).doc("seed of the drawn destinations and times");
  control.choice("vcs", &ControlConfig::vcs)
      .doc(
          "own: one VC of each class carries only control messages; shared: control messages use "
          "the gradients' VCs");
  control.integer("vc_depth_flits", &ControlConfig::vc_depth_flits)
      .range(1, 1 << 20)
      .word("router")
      .only(table.where("control.vcs", {"own"}))
      .doc("buffer of a control message's own VC; router: the depth of the other VCs");
}

void add_tenant_keys(KeyTable& table) {
  const auto tenants = table.group("tenants", &RunPoint::tenants);
  tenants.integer("flows", &TenantsConfig::flows)
      .range(1, 65536)
      .doc("number of flows; each flow goes from one rack to another, drawn from the seed");
  tenants.size("message", &TenantsConfig::message_bytes).doc("size of each message of a flow");
  tenants.rate("rate", &TenantsConfig::bytes_per_second).doc("rate of a flow while it sends");
  tenants.time("on_time", &TenantsConfig::on_time_ps)
      .range(1, 1'000 * kSecond)
      .doc("mean time for which a flow sends");
  tenants.time("off_time", &TenantsConfig::off_time_ps)
      .range(0, 1'000 * kSecond)
      .doc("mean time for which a flow pauses; 0ns: never");
  tenants.integer("seed", &TenantsConfig::seed).doc("seed of the drawn racks and times");
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
          "train: consecutive flits are simulated as one packet train, exact to the cycle; cycle: "
          "every flit is simulated; auto: train where it is exact");
  simulation.choice("fold", &Config::fold)
      .only(table.where_dimensional())
      .doc(
          "on: one NPU is simulated for all NPUs, with the same result to the cycle; off: every "
          "NPU is simulated; auto: on where all NPUs do the same");
  simulation.boolean("check", &Config::check).doc("certify the schedule before simulating");
  simulation.boolean("always_clocked", &Config::always_clocked)
      .doc(
          "true: modules are evaluated in every cycle, also idle ones; the results are the same, "
          "the run is slower");
  simulation.boolean("link_utilization", &Config::link_utilization)
      .only(table.where_not_dimensional())
      .doc("true: the results give the utilization of every link, which the report draws as a map");
  simulation.boolean("monitors", &Config::monitors)
      .doc("check credits and VC order in every cycle");
  simulation.fraction("stall_probability", &Config::stall_probability)
      .below(1)  // 1 would never let a flit pass
      .doc("every link refuses a flit with this probability in each cycle, to test back-pressure");
  simulation.integer("seed", &Config::seed).doc("seed of the stalls");
  simulation.integer("watchdog_cycles", &Config::watchdog_cycles)
      .range(1, kLongestRunCycles)
      .doc("if nothing moves for this many cycles, the run ends as a deadlock");
  simulation.choice("rtl", &Config::rtl)
      .list(ListOf::any_number)
      .word("none")
      .or_file("a build with ESPALIER_OWN_VERILOG (docs/plug_in.md#verilog-of-your-own)")
      .doc(
          "blocks whose Verilog decides in the simulation, in place of the model "
          "(docs/plug_in.md); needs a program built with -DESPALIER_RTL=ON");
}

// These keys do not influence a run, so they are left out of the resolved configuration.
void add_reorder_keys(KeyTable& table) {
  using Config = ReorderConfig;
  const auto reorder = table.group("reorder", &RunPoint::reorder).unresolved();
  const auto search =
      table.group("reorder", &RunPoint::reorder, &ReorderConfig::search).unresolved();
  reorder.choice("model", &Config::model)
      .doc("algorithm whose messages the cost model counts; auto: collective.algorithm");
  reorder.choice("form", &Config::form)
      .doc(
          "generated: the messages that the generator sends; corrected: the published model with "
          "corrected indices; as_printed: the published model as printed");
  search.choice("objective", &OrderSearchSpec::objective)
      .doc(
          "cost of an order; sum: as published; max: the slowest hop of a ring; load: the sum over "
          "all messages, for shared links");
  search.integer("evaluations", &OrderSearchSpec::evaluations)
      .range(1, 1'000'000'000'000)
      .doc("number of orders whose cost the search may compute");
  search.integer("seed", &OrderSearchSpec::seed).doc("seed of the search and of the random orders");
  search.choice("direction", &OrderSearchSpec::direction)
      .doc("order that is written: the best order, or the worst order for comparison");
  search.choice("start", &OrderSearchSpec::start)
      .doc("order with which the search begins; clustered: near nodes get neighbouring ranks");
  reorder.integer("random_orders", &Config::random_orders)
      .range(1, 1'000'000)
      .doc("number of random orders for comparison");
  reorder.integer("exact_nodes", &Config::exact_nodes)
      .range(0, 16)
      .doc(
          "largest number of nodes for which all orders are tried or ruled out, so that the best "
          "is proven");
  reorder.size("window", &Config::window)
      .doc("bytes that a pair of nodes moves per round trip; it turns a latency into a bandwidth");
  reorder.integer("probes", &Config::probes)
      .range(1, 100'000)
      .doc("number of probes between each ordered pair of nodes, one after the other");
  reorder.size("payload", &Config::payload).range(1, 64 << 10).doc("payload of a probe");
  reorder.integer("percentile", &Config::percentile)
      .range(1, 100)
      .doc(
          "percentile of a pair's round trips that is taken as its latency; 10 filters "
          "interference out");
}

}  // namespace espalier
