// Rules of links, packets, buffers, and messages outside of collectives.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "alg/routes/routing.h"
#include "flowctl/framing.h"
#include "hw/topology/link_timing.h"
#include "ni/rtl/rtl_dependencies.h"
#include "ni/rtl/rtl_dimension_queue.h"
#include "router/rtl/rtl_output_hold.h"
#include "sims/config/keys.h"
#include "sims/config/rules.h"
#include "sims/formats/link_rules.h"
#include "sims/model/build_topology.h"
#include "sims/model/external_parts.h"
#include "sims/model/idle_times.h"
#include "sims/model/system_shape.h"
#include "sims/model/traffic_pattern.h"
#include "sims/point/enum_names.h"
#include "sims/point/fidelity.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

// B/s. Links that are too fast are why a graph was not built.
std::uint64_t fastest_of(const SystemConfig& system, const Topology* topology) {
  if (topology == nullptr) return fastest_link(system);
  std::uint64_t fastest = system.link.bytes_per_second;
  for (const TopologyLink& link : topology->links()) {
    fastest = std::max(fastest, link.spec.bytes_per_second);
  }
  return fastest;
}

class NetworkRules : private ExaminedPoint {
 public:
  explicit NetworkRules(const ExaminedPoint& examined)
      : ExaminedPoint(examined), system_(point.system), fastest_(fastest_of(system_, topology)) {}

  // Checks the keys that take no list.
  void check_system() {
    // rules_dimensions.cpp checks multi-dimensional systems.
    if (!system_.topology.is_dimensional()) {
      check_link_times();
      check_other_links();
      check_tick();
      check_payload();
      check_vc_depth();
      check_credit_loop();
    }
    check_dma();
    check_watchdog();
    check_stalls();
    check_fidelity();
    check_rtl();
    if (point.control) check_control_alone();
    if (point.tenants) check_tenants();
  }

  void check_listed_keys() {
    if (system_.topology.is_dimensional()) {
      refuse_messages();
      limit(RtlBlock::dimension_queue, "collective.chunks", "chunks", kRtlQueueStages,
            point.collective ? point.collective->chunks : 0);
      return;
    }
    check_sub_messages();
    if (topology == nullptr) return;
    if (point.traffic) check_traffic();
    if (point.control) check_control();
    if (point.traffic || point.control) check_routes();
  }

 private:
  // The reader of messages checks listed ones, and nobody knows where those of sockets will go.
  void check_routes() {
    const bool is_drawn = point.control || point.traffic->is_drawn();
    if (diagnostics.num_errors() != 0 || !is_drawn || !may_lack_routes(*topology)) return;
    const std::size_t nodes = topology->num_nodes();
    for (std::size_t pair = 0; pair < nodes * nodes; ++pair) {
      const NodeId from(pair / nodes);
      const NodeId to(pair % nodes);
      if (from == to || !may_send(from, to)) continue;
      const std::string problem = problem_of_route(*topology, from, to);
      if (problem.empty()) continue;
      const char* const section = point.traffic ? "traffic" : "control";
      diagnostics.error(given.place_of_section(section), fmt::format("{}: {}", section, problem),
                        "give the links back, too: between: [A, B] in place of from and to");
      return;
    }
  }

  // Whether messages of the traffic or of control go from one node to another.
  [[nodiscard]] bool may_send(NodeId from, NodeId to) const {
    if (point.control && (point.control->pattern == ControlPattern::uniform ||
                          fixed_destination(TrafficPattern::neighbor, *topology, from) == to)) {
      return true;
    }
    if (!point.traffic) return false;
    const TrafficConfig& traffic = *point.traffic;
    const NodeId fixed = fixed_destination(traffic.pattern, *topology, from);
    if (fixed.valid())
      return fixed == to || (traffic.is_closed_loop() &&
                             fixed_destination(traffic.pattern, *topology, to) == from);
    const auto& hot = traffic.hotspots;
    const auto is_hot = [&](NodeId node) {
      return std::find(hot.begin(), hot.end(), node.value()) != hot.end();
    };
    const bool only_hot = traffic.pattern == TrafficPattern::hotspot && traffic.hotspot_share == 1;
    return !only_hot || is_hot(to) || (traffic.is_closed_loop() && is_hot(from));
  }

  void check_link_times() {
    given.rule({"system.link.bandwidth", "system.router.flit_bytes", "system.router.clock"},
               [&](const Place& at) {
                 check_link_rate(system_.link.bytes_per_second, rate_rule(), at, diagnostics);
               });
    given.rule({"system.link.latency", "system.router.clock"}, [&](const Place& at) {
      check_whole_cycles("system.link.latency", system_.link.latency_ps, system_.clock, at,
                         diagnostics);
    });
    const GivenKey* credit = given.find("system.link.credit_latency");
    if (credit == nullptr) return;
    given.rule({"system.link.credit_latency", "system.router.clock"}, [&](const Place& at) {
      check_whole_cycles("system.link.credit_latency", credit->values.front().value.number,
                         system_.clock, at, diagnostics);
    });
  }

  [[nodiscard]] LinkRateRule rate_rule() const {
    return {system_.clock, system_.flow_control, fastest_};
  }

  // Checks links with values of their own. Values inherited from system.link are checked there.
  void check_other_links() {
    for (const FamilyKey& key : system_.topology.family().keys) {
      const std::string name = "system.topology." + key.name;
      if (key.kind != FamilyKey::Kind::bandwidth && key.kind != FamilyKey::Kind::latency) continue;
      const std::vector<std::uint64_t> values = system_.topology.numbers(key.name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] == 0) continue;
        const auto place = [&](const Place& at) {
          return given.is_given(name) ? given.place_of_entry(name, i) : at;
        };
        if (key.kind == FamilyKey::Kind::bandwidth) {
          given.rule({name, "system.router.flit_bytes", "system.router.clock"},
                     [&](const Place& at) {
                       check_link_rate(values[i], rate_rule(), place(at), diagnostics);
                     });
        } else {
          given.rule({name, "system.router.clock"}, [&](const Place& at) {
            check_whole_cycles(name.c_str(), values[i], system_.clock, place(at), diagnostics);
          });
        }
      }
    }
  }

  // Links that are too fast have been reported already, each at its place.
  void check_tick() {
    if (topology == nullptr) return;
    const std::uint64_t fastest = system_.clock.hertz * system_.clock.flit_bytes;
    const auto& links = topology->links();
    const auto too_fast = [&](const TopologyLink& l) { return l.spec.bytes_per_second > fastest; };
    if (std::any_of(links.begin(), links.end(), too_fast)) return;
    std::vector<std::string> names{"system.link.bandwidth", "system.router.clock",
                                   "system.router.flit_bytes", "system.topology.file",
                                   "system.link.latency"};
    for (const FamilyKey& key : system_.topology.family().keys) {
      if (key.kind == FamilyKey::Kind::bandwidth) names.push_back("system.topology." + key.name);
    }
    given.rule(names, [&](const Place& at) {
      try {
        static_cast<void>(time_links(*topology, system_.clock));
      } catch (const std::invalid_argument& problem) {
        diagnostics.error(at, fmt::format("system.link.bandwidth: {}", problem.what()),
                          fmt::format("for example {} or a half of it",
                                      format_quantity(Quantity::rate, fastest)));
      }
    });
  }

  // Such a link's error proposes sizes of flits, payloads and sub-messages together, so the rules
  // for payloads do not propose others.
  [[nodiscard]] bool has_too_fast_link() const {
    return fastest_ > system_.clock.hertz * system_.clock.flit_bytes;
  }

  void check_payload() {
    if (has_too_fast_link()) return;
    const Bytes payload = system_.flow_control.payload_bytes;
    const Bytes flit = system_.clock.flit_bytes;
    given.rule({"system.flow_control.payload_bytes", "system.router.flit_bytes"},
               [&](const Place& at) {
                 if (payload % flit != 0) {
                   diagnostics.error(at,
                                     fmt::format("system.flow_control.payload_bytes: {} is not a "
                                                 "multiple of the {} B of a flit",
                                                 payload, flit),
                                     fmt::format("for example {}", (payload / flit + 1) * flit) +
                                         fitting_sub_message((payload / flit + 1) * flit));
                 } else if (longest_packet_flits(system_) > kMostPacketFlits) {
                   diagnostics.error(at,
                                     fmt::format("system.flow_control.payload_bytes: a packet "
                                                 "has {1} flits; allowed are at most {0}",
                                                 kMostPacketFlits, longest_packet_flits(system_)),
                                     fmt::format("at most {}", (kMostPacketFlits - 1) * flit));
                 }
               });
  }

  // The sub-messages that another payload needs.
  [[nodiscard]] std::string fitting_sub_message(Bytes payload) const {
    const FlowControlConfig& flow = system_.flow_control;
    if (flow.mode != FlowControlMode::message || flow.sub_message_bytes % payload == 0) return {};
    return fmt::format(", with system.flow_control.sub_message_bytes: {}",
                       (flow.sub_message_bytes / payload + 1) * payload);
  }

  void check_sub_messages() {
    const FlowControlConfig& flow = system_.flow_control;
    if (has_too_fast_link() || flow.mode != FlowControlMode::message ||
        flow.payload_bytes % system_.clock.flit_bytes != 0 ||
        flow.sub_message_bytes % flow.payload_bytes == 0) {
      return;
    }
    report({"system.flow_control.sub_message_bytes", "system.flow_control.payload_bytes",
            "system.flow_control.mode"},
           fmt::format("system.flow_control.sub_message_bytes: {} is not a multiple of "
                       "the {} B payload of a sub-packet",
                       flow.sub_message_bytes, flow.payload_bytes),
           fmt::format("for example {}",
                       (flow.sub_message_bytes / flow.payload_bytes + 1) * flow.payload_bytes));
  }

  void check_vc_depth() {
    if (!has_shallow_vcs()) return;
    const std::uint64_t packet = longest_packet_flits(system_);
    report({"system.router.vc_depth_flits", "system.flow_control.payload_bytes",
            "system.router.flit_bytes", "system.router.switching"},
           fmt::format("system.router.vc_depth_flits: virtual cut-through needs room for a whole "
                       "packet of {} flits, but a VC holds {} flits",
                       packet, system_.router.vc_depth_flits),
           fmt::format("at least {}, or system.router.switching: wormhole", packet));
  }
  [[nodiscard]] bool has_shallow_vcs() const {
    return system_.router.switching == Switching::vct &&
           system_.router.vc_depth_flits < longest_packet_flits(system_);
  }

  void check_credit_loop() {
    if (topology == nullptr || has_shallow_vcs() || system_.router.depth_is_implied) return;
    given.rule({"system.router.vc_depth_flits", "system.link.latency", "system.link.credit_latency",
                "system.router.pipeline_cycles", "system.flow_control.payload_bytes",
                "system.router.clock", "system.router.flit_bytes", "system.link.bandwidth",
                "system.topology.file", "system.router.switching"},
               [&](const Place& at) {
                 const std::uint64_t enough = full_rate_depth(system_, *topology);
                 if (system_.router.vc_depth_flits >= enough) return;
                 diagnostics.warning(at,
                                     shallow_vcs_text("system.router.vc_depth_flits",
                                                      system_.router.vc_depth_flits) +
                                         ", so one VC alone cannot use a link's full rate",
                                     fmt::format("{} flits or more cover it", enough));
               });
  }

  void check_dma() {
    const GivenKey* dma = given.find("system.ni.dma.bandwidth");
    if (dma == nullptr) return;
    given.rule({"system.ni.dma.bandwidth", "system.router.clock"}, [&](const Place& at) {
      const std::uint64_t rate = dma->values.front().value.number;
      const std::uint64_t hertz = system_.clock.hertz;
      if (rate % hertz == 0) return;
      const std::uint64_t next = (rate / hertz + 1) * hertz;
      diagnostics.error(
          at,
          fmt::format("system.ni.dma.bandwidth: {} is not a whole number of bytes per cycle at {}",
                      format_quantity(Quantity::rate, rate),
                      format_quantity(Quantity::frequency, hertz)),
          fmt::format("for example {}", format_quantity(Quantity::rate, next)));
    });
  }

  // While a flit crosses a link, the watchdog sees no movement.
  void check_watchdog() {
    if (topology == nullptr) return;
    Cycle longest = 0;
    for (const TopologyLink& link : topology->links()) {
      longest = std::max(longest, cycles_covering(link.spec.latency_ps, system_.clock));
    }
    if (point.simulation.watchdog_cycles > longest) return;
    report({"simulation.watchdog_cycles", "system.link.latency", "system.router.clock"},
           fmt::format("simulation.watchdog_cycles: {} cycles are too few, because a flit is on a "
                       "link for {} cycles",
                       point.simulation.watchdog_cycles, longest),
           fmt::format("more than {}", longest));
  }

  // A single flit is refused for as long as the watchdog waits with a probability of (stall
  // probability) ^ watchdog_cycles. Below e^-50 = 2e-22, no run will see this.
  void check_stalls() {
    constexpr double kMeanStalls = 50;
    const double probability = point.simulation.stall_probability;
    const double enough = std::ceil(kMeanStalls / (1 - probability));
    if (probability == 0 || static_cast<double>(point.simulation.watchdog_cycles) >= enough) {
      return;
    }
    given.rule({"simulation.stall_probability", "simulation.watchdog_cycles"},
               [&](const Place& at) {
                 diagnostics.warning(
                     at,
                     fmt::format("simulation.stall_probability: stalls can last longer than the "
                                 "watchdog's {} cycles; the watchdog would then report a deadlock",
                                 point.simulation.watchdog_cycles),
                     enough <= static_cast<double>(kLongestRunCycles)
                         ? fmt::format("simulation.watchdog_cycles: at least {:.0f}", enough)
                         : "use a smaller probability");
               });
  }

  void check_fidelity() {
    if (point.simulation.fidelity != Fidelity::train) return;
    const std::string obstacle = train_obstacle(point);
    if (obstacle.empty()) return;
    report({"simulation.fidelity", "system.router.switching", "system.router.hold",
            "simulation.monitors", "simulation.stall_probability", "simulation.rtl"},
           fmt::format("simulation.fidelity: train is not exact with {}", obstacle),
           "write simulation.fidelity: cycle, or auto, which picks the fastest exact fidelity");
  }

  // The Verilog that is compiled into the program has a size.
  void limit(RtlBlock block, const char* key, const char* what, std::uint64_t has,
             std::uint64_t needs) const {
    if (!point.simulation.has_rtl(block) || needs <= has) return;
    report({key, "simulation.rtl"},
           fmt::format("simulation.rtl: {}.v has {} {} here, but this point needs {}",
                       name_of(block), has, what, needs),
           fmt::format("leave out {}", name_of(block)));
  }

  // A schedule's places and ports of NIs, and the length of its timesteps, are known later.
  void check_rtl() {
    for (const RtlBlock block : {RtlBlock::ni_control, RtlBlock::dependency_state}) {
      limit(block, "system.ni.ports", "entries in a cycle", kRtlIssuePerCycle, system_.ni.ports);
    }
    limit(RtlBlock::dependency_state, "system.ni.turnaround_cycles", "cycles of turnaround",
          kRtlTurnaround, system_.ni.turnaround_cycles);
    limit(RtlBlock::output_hold, "system.router.vcs", "VCs", kRtlVcs, system_.router.vcs);
    if (topology != nullptr) {
      std::uint64_t ports = 0;
      // A node of a multi-dimensional system has an NI port for each link. Where one NPU stands for
      // all, switches have fewer ports than here.
      for (std::size_t n = 0; system_.topology.is_dimensional() && n < topology->num_nodes(); ++n) {
        ports = std::max<std::uint64_t>(ports, 2 * topology->out_links(NodeId(n)).size());
      }
      if (ports == 0) {
        for (const auto& slices : system_shape(system_, *topology).routers) {
          for (const RouterSlice& slice : slices) {
            ports = std::max<std::uint64_t>({ports, slice.inputs, slice.outputs});
          }
        }
      }
      limit(RtlBlock::output_hold, "system.topology.type", "ports of a router", kRtlPorts, ports);
    }
    if (!point.control || !point.simulation.has_rtl(RtlBlock::output_hold)) return;
    report({"simulation.rtl"},
           "simulation.rtl: output_hold has no lane for control messages, and this point has a "
           "section control",
           "remove output_hold, or the section control");
  }

  // Each dimension is a separate network with flits of its own width.
  void refuse_messages() {
    const auto refuse = [&](const char* section) {
      diagnostics.error(given.place_of_section(section),
                        fmt::format("{}: messages cannot pass from one dimension to another, so a "
                                    "multi-dimensional system has no such section",
                                    section),
                        "remove the section; a multi-dimensional system runs collectives");
    };
    if (point.traffic) refuse("traffic");
    if (point.control) refuse("control");
  }

  [[nodiscard]] bool holds_blocked_packets() const {
    return system_.router.switching == Switching::wormhole &&
           system_.router.hold == SwitchHold::packet;
  }

  // Checks whether packets on their fixed routes can deadlock.
  void check_traffic_vcs() {
    const auto& [all, least, where, each] = topology->shape().vc_classes;
    if (least == 1) return;
    if (system_.router.vcs < least) {
      diagnostics.error(
          given.place_of_first({"system.router.vcs", kTypeKey}),
          fmt::format("system.router.vcs: packets {} need {} VCs, one for {}; with fewer VCs they "
                      "can deadlock",
                      where, least, each),
          fmt::format("at least {}", least));
    }
    if (holds_blocked_packets()) {
      diagnostics.error(
          given.place_of_first({"system.router.hold", "system.router.switching"}),
          fmt::format("system.router.hold: a blocked wormhole packet that holds the crossbar also "
                      "blocks the packets of other VCs, so packets {} can deadlock",
                      where),
          "write system.router.hold: flit, or system.router.switching: vct");
    }
  }

  void check_traffic() {
    check_traffic_vcs();
    const auto& grid = topology->grid();
    const bool square = grid && grid->dims.size() == 2 && grid->dims[0] == grid->dims[1];
    const std::size_t nodes = topology->num_nodes();
    const auto refuse = [&](const char* pattern, const char* need) {
      diagnostics.error(given.place_of("traffic.pattern"),
                        fmt::format("traffic.pattern: {} needs {}", pattern, need),
                        "uniform and neighbor run on every network");
    };
    const TrafficPattern pattern = point.traffic->pattern;
    if (pattern == TrafficPattern::transpose && !square) {
      refuse("transpose", "a square torus or mesh of two dimensions");
    }
    if (pattern == TrafficPattern::tornado && !grid) refuse("tornado", "a torus or a mesh");
    const bool by_bits = pattern == TrafficPattern::bit_complement ||
                         pattern == TrafficPattern::bit_reverse ||
                         pattern == TrafficPattern::shuffle;
    if (by_bits && (nodes & (nodes - 1)) != 0) {
      refuse(name_of(pattern), "a number of nodes that is a power of two");
    }
    if (pattern == TrafficPattern::hotspot) check_hotspots(nodes);
    if (point.traffic->is_drawn()) check_sources();
  }

  void check_hotspots(std::size_t nodes) {
    for (const std::uint32_t hotspot : point.traffic->hotspots) {
      if (hotspot < nodes) continue;
      diagnostics.error(given.place_of("traffic.hotspots"),
                        fmt::format("traffic.hotspots: there is no node {}", hotspot),
                        fmt::format("0 to {}", nodes - 1));
      return;
    }
  }

  void check_sources() {
    const TrafficConfig& traffic = *point.traffic;
    const Framing framing(framing_spec(system_), traffic.message_bytes);
    const auto most = static_cast<double>(framing.flits());
    if (traffic.injection_rate > most) {
      report({"traffic.injection_rate", "traffic.message"},
             fmt::format("traffic.injection_rate: a node generates at most one message per cycle, "
                         "which is {} flits here, head flits included",
                         framing.flits()),
             fmt::format("at most {}, or a larger traffic.message", framing.flits()));
    }
    if (traffic.burst_messages != 0 && traffic.injection_rate >= 1) {
      diagnostics.error(given.place_of("traffic.burst_messages"),
                        "traffic.burst_messages: a burst is one flit per cycle, so the mean "
                        "traffic.injection_rate must be less",
                        "a rate below 1, or burst_messages: none");
    }
  }

  void check_control_alone() {
    if (point.collective || given.has_section("collective") ||
        point.control->duration_cycles != 0) {
      return;
    }
    report({"control.duration_cycles"},
           "control.duration_cycles: without a collective control messages need a duration",
           "for example 100000");
  }

  // Checked for each point, because control.vcs may be a list.
  void check_control() {
    const bool own = point.control->vcs == ControlVcs::own;
    const std::uint32_t needed = topology->shape().vc_classes.least * (own ? 2 : 1);
    if (system_.router.vcs < needed) {
      report({"system.router.vcs", "control.vcs", "control.pattern"},
             fmt::format(
                 "system.router.vcs: control messages with {} VCs need {} VCs on this network: {}",
                 own ? "their own" : "shared", needed,
                 own ? "one of each VC class for control messages, and one for gradients"
                     : "one of each VC class"),
             fmt::format("at least {}", needed));
    }
    if (topology->num_nodes() < 2) {
      diagnostics.error(
          given.place_of_section("control"),
          "control: the network has a single node, which has no destination for control messages",
          "use a network of at least two nodes");
    }
    if (!holds_blocked_packets()) return;
    report({"system.router.hold", "system.router.switching"},
           "system.router.hold: a blocked wormhole packet of a gradient that holds the crossbar "
           "would also block control messages",
           "write system.router.hold: flit, or system.router.switching: vct, which applies to "
           "gradients only");
  }

  void check_tenants() {
    if (topology == nullptr) return;
    const RackShape& racks = topology->shape().racks;
    if (racks.racks < 2) {
      const auto names = families_where([](const Family& f) { return f.racks != nullptr; });
      NetworkSpec example;
      example.type = names.front();
      diagnostics.error(
          given.place_of_section("tenants"),
          fmt::format("tenants: flows of other tenants go from rack to rack, so the network must "
                      "be a {} with two racks or more",
                      fmt::join(names, " or a ")),
          fmt::format("for example system.topology: {{type: {}, {}, ...}}", names.front(),
                      example.family().two_racks));
      return;
    }
    const std::uint64_t most = racks.uplink.bytes_per_second;
    if (point.tenants->bytes_per_second <= most ||
        !given.usable(
            {"tenants.rate", "system.link.bandwidth", system_.topology.family().uplink_key})) {
      return;
    }
    const std::string rate = format_quantity(Quantity::rate, most);
    diagnostics.error(
        given.place_of("tenants.rate"),
        fmt::format("tenants.rate: a flow uses one uplink of its rack, which carries at most {}",
                    rate),
        fmt::format("at most {}", rate));
  }

  const SystemConfig& system_;
  std::uint64_t fastest_;  // B/s of the fastest link
};

}  // namespace

void check_network(const ExaminedPoint& examined) { NetworkRules(examined).check_system(); }

void check_external(const ExaminedPoint& examined) {
  const auto& [point, topology, given, diagnostics] = examined;
  // Links without a common tick are reported by their own rules.
  if (topology == nullptr || diagnostics.num_errors() != 0) return;
  if (const auto problem = external_problem(point, *topology)) {
    diagnostics.error(given.place_of(problem->key), problem->what, problem->hint);
  }
}

void check_messages(const ExaminedPoint& examined) { NetworkRules(examined).check_listed_keys(); }

}  // namespace espalier
