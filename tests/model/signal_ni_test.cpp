// An NI behind signals takes part in a collective, and every broken rule of its ports is named.
#include <catch2/catch.hpp>

#include <deque>
#include <functional>
#include <optional>

#include "model_test_support.h"
#include "signal_systems.h"
#include "sims/observe/record/run_recorder.h"
#include "sims/observe/scopes/wave_session.h"
#include "tests/cli/vcd_reader.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::in_mode;
using test::link_of;

// What a faulty NI does wrong, once.
enum class Fault : std::uint8_t {
  none,
  too_early,     // sends without waiting for data
  unknown_flow,  // names a flow that is not in the table
  short_packet,  // ends its first packet after two flits
  no_credit,     // goes on after its credits are used up
  other_vc,      // changes the VC inside a packet
  forbidden_vc,  // uses a VC above the NI's
  twice,         // sends its first message again
};

// Sends the messages of its node in table order: message s when s messages have arrived, which is
// the order of RING's chain. It sends flit by flit on VC 0 and counts its credits.
class ChainNi : public sc_core::sc_module {
 public:
  ChainNi(sc_core::sc_module_name module_name, NiSignals& like, Fault fault)
      : sc_module(module_name),
        out_("out"),
        in_("in"),
        like_(like),
        fault_(fault),
        credits_(like.injection[0]->spec.vc_depth_flits) {
    SC_HAS_PROCESS(ChainNi);
    SC_METHOD(rise);
    sensitive << clk_.pos();
    dont_initialize();
  }
  void bind(sc_core::sc_clock& clock) {
    clk_.bind(clock);
    out_.bind(*like_.injection[0]);
    in_.bind(*like_.ejection[0]);
  }
  [[nodiscard]] std::uint64_t messages_sent() const { return next_; }

 private:
  void rise() {
    if ((out_.credits.read() & 1U) != 0) ++credits_;
    if (in_.valid.read()) {
      const SignalFlit flit = in_.flit.read();
      if (releases_vc(flit.type)) ++packets_in_;
    }
    out_.valid.write(false);
    const bool ends = next_ == like_.sends.size();
    if (ends && fault_ == Fault::twice && !done_) {
      done_ = true;
      next_ = 0;
      return;
    }
    if (ends) return;
    const NiSend& send = like_.sends[next_];
    if (flit_ == 0 && packet_ == 0 && fault_ != Fault::too_early) {
      // Every message has as many packets, so packets count messages.
      const std::uint64_t packets = send.framing.message_mode() ? 1 : send.framing.packets();
      if (packets_in_ < next_ * packets) return;
    }
    if (credits_ == 0 && fault_ != Fault::no_credit) return;
    SignalFlit flit;
    flit.type = send.framing.type_of(packet_, flit_);
    flit.flow = send.flow;
    flit.destination = send.destination;
    flit.kind = send.kind;
    if (fault_ == Fault::unknown_flow) flit.flow = 1000;
    if (fault_ == Fault::short_packet && flit_ == 1) flit.type = FlitType::tail;
    if (fault_ == Fault::other_vc && flit_ == 1) flit.vc = 1;
    if (fault_ == Fault::forbidden_vc) flit.vc = 2;
    out_.valid.write(true);
    out_.flit.write(flit);
    if (credits_ != 0) --credits_;
    if (++flit_ < send.framing.flits_in_packet(packet_)) return;
    flit_ = 0;
    if (++packet_ < send.framing.packets()) return;
    packet_ = 0;
    ++next_;
  }

  sc_core::sc_in<bool> clk_{"clk"};
  FlitOutPort out_;
  FlitInPort in_;
  NiSignals& like_;
  Fault fault_;
  std::uint32_t credits_;
  std::size_t next_ = 0;
  std::uint64_t packet_ = 0;
  std::uint32_t flit_ = 0;
  std::size_t packets_in_ = 0;
  bool done_ = false;
};

RunPoint collective_point(FlowControlMode mode, std::vector<std::string> nis) {
  RunPoint point;
  point.system = in_mode(mode);
  point.system.ni.ports = 1;
  point.collective.emplace();
  point.simulation.fidelity = Fidelity::cycle;
  point.simulation.watchdog_cycles = 20'000;
  point.system.topology.external.nis = std::move(nis);
  return point;
}

// `waves`: the file of a waveform; empty: none.
SimulationOutcome run_chain(const RunPoint& point, const Topology& topology, Fault fault,
                            Bytes size = 8192, const std::string& waves = "") {
  const ScheduleTables tables = test::tables_for("ring", topology, size);
  return test::outcome_of([&] {
    std::vector<std::unique_ptr<ChainNi>> nis;
    test::SignalRouters routers(point.system.topology.external);
    SimulationHooks hooks;
    std::optional<WaveSession> session;
    if (!waves.empty()) {
      hooks.observers.push_back(&session.emplace(WaveRequest{waves, {}, {}, 1'000'000'000, true}));
    }
    hooks.elaborate = [&](Elaboration& elaboration) {
      for (const std::string& node : point.system.topology.external.nis) {
        NiSignals& signals = elaboration.ni(node);
        nis.push_back(std::make_unique<ChainNi>(("own_" + node).c_str(), signals, fault));
        nis.back()->bind(elaboration.clock());
        elaboration.show(node, {"sent", 16, [&ni = *nis.back()] { return ni.messages_sent(); }});
      }
      routers.attach(elaboration);
    };
    return simulate_collective(topology, point, tables, hooks);
  });
}

TEST_CASE("A ring all-reduce is right with NIs behind signals") {
  const Topology topology = make_torus({4}, link_of(5));
  for (const FlowControlMode mode : test::kFlowControlModes) {
    const auto built_in = run_chain(collective_point(mode, {}), topology, Fault::none);
    for (const std::vector<std::string>& nis :
         {std::vector<std::string>{"r_0"}, {"r_2"}, {"r_0", "r_1", "r_2", "r_3"}}) {
      const auto outcome = run_chain(collective_point(mode, nis), topology, Fault::none);
      CAPTURE(nis.front(), nis.size(), static_cast<int>(mode));
      CHECK(outcome.failure == "");
      CHECK(outcome.verified);
      CHECK(outcome.flits_injected == built_in.flits_injected);
      CHECK(outcome.head_flits == built_in.head_flits);
      CHECK(outcome.flit_hops == built_in.flit_hops);
      CHECK(outcome.latency.messages == built_in.latency.messages);
      CHECK(outcome.cycles < built_in.cycles);  // without DMA latency and turnaround
    }
  }
}

// The changes, so many cycles later; without the value before cycle 0.
test::Waves::Changes later(const test::Waves::Changes& changes, Cycle cycles) {
  test::Waves::Changes moved;
  for (const auto& [at, value] : changes) {
    if (at != 0) moved.emplace_back(at + cycles, value);
  }
  return moved;
}

TEST_CASE(
    "Waveforms show the signals between external and built-in modules, and change no result") {
  constexpr Cycle kLatency = 5;
  const Topology topology = make_torus({4}, link_of(kLatency));
  const test::TemporaryFolder folder;
  const std::string file = folder.file("external.vcd");
  RunPoint point = collective_point(FlowControlMode::packet, {"r_1"});
  point.system.topology.external.routers = {"r_3"};
  const auto plain = run_chain(point, topology, Fault::none);
  const auto watched = run_chain(point, topology, Fault::none, 8192, file);
  REQUIRE(watched.failure == "");
  CHECK(watched.cycles == plain.cycles);
  CHECK(watched.flit_hops == plain.flit_hops);
  const test::Waves waves = test::read_vcd(file);

  // What a module writes in a cycle is on the wire of the model's channel in the same cycle.
  const auto& sent = waves.signals.at("net.ni_1.socket.out0.valid");
  CHECK(sent.size() > 4);
  CHECK((sent == waves.signals.at("net.r_1.in_ni0.valid")));
  // So it is for both links of the external router. What leaves a built-in module is at the pins of
  // its neighbour after the latency of the link.
  std::size_t seen = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto at_pins = [&](const std::string& port) {
      return waves.signals.at("net.r_3.socket." + port + std::to_string(i) + ".valid");
    };
    const auto on_wire = [&](LinkId link) {
      const TopologyLink& of = topology.link(link);
      return waves.signals.at("net." + topology.vertex_name(of.to) + ".in_" + of.in_name +
                              ".valid");
    };
    CHECK((at_pins("out") == on_wire(topology.out_links(NodeId(3))[i])));
    const auto arrives = later(at_pins("in"), 0);
    CHECK((arrives == later(on_wire(topology.in_links(NodeId(3))[i]), kLatency)));
    seen += arrives.size();
  }
  CHECK(seen > 4);
  CHECK(waves.signals.count("net.r_3.socket.in0.credits") == 1);
  CHECK(test::wave_number(waves.signals.at("net.ni_1.socket.own.sent").back().second) == 6);
  CHECK(waves.signals.count("net.ni_0.timestep") == 1);
  CHECK(waves.signals.count("net.ni_1.timestep") == 0);

  // All else is as beside a built-in router.
  point.system.topology.external.routers.clear();
  run_chain(point, topology, Fault::none, 8192, file);
  const test::Waves built_in = test::read_vcd(file);
  for (const auto& [name, changes] : built_in.signals) {
    CAPTURE(name);
    if (name.rfind("net.r_3.", 0) == 0) continue;
    CHECK((waves.signals.at(name) == changes));
  }
}

TEST_CASE("Timelines and explanations refuse external modules") {
  RunPoint point = collective_point(FlowControlMode::packet, {"r_1"});
  const Topology topology = make_torus({4}, link_of(5));
  const ScheduleTables tables = test::tables_for("ring", topology, 8192);
  CHECK_THROWS_WITH(test::outcome_of([&] {
                      RunRecorder recorder;
                      SimulationHooks hooks;
                      hooks.observers.push_back(&recorder);
                      hooks.elaborate = [](Elaboration& elaboration) {
                        static_cast<void>(elaboration.ni("r_1"));
                      };
                      return simulate_collective(topology, point, tables, hooks);
                    }),
                    Contains("follow messages through built-in routers"));
}

TEST_CASE("An NI behind signals that sends data before they arrive gives wrong data") {
  const Topology topology = make_torus({4}, link_of(5));
  const auto outcome =
      run_chain(collective_point(FlowControlMode::packet, {"r_1"}), topology, Fault::too_early);
  CHECK(outcome.complete);
  CHECK_FALSE(outcome.verified);
  CHECK_THAT(outcome.failure, Contains("wrong data at rank"));
}

TEST_CASE("Each broken rule of an NI's ports names place, cycle and rule") {
  // Slow links, so that credits run out.
  const Topology topology = make_torus({4}, link_of(5, test::kFlitPerCycle / 2));
  RunPoint point = collective_point(FlowControlMode::packet, {"r_1"});
  point.system.router.vcs = 4;
  point.system.router.vc_depth_flits = 17;
  point.system.ni.injection_vcs = InjectionVcs::one;
  const std::vector<std::pair<Fault, std::string>> rules{
      {Fault::unknown_flow, "flow 1000 to node 2 (reduce), which the schedule table does not send"},
      {Fault::short_packet, "a tail flit was sent on VC 0; flit 2 of the 17 flits of packet 1 of"},
      {Fault::no_credit, "a flit was sent on VC 0 without a credit"},
      {Fault::forbidden_vc, "a flit was sent on VC 2; the NI may use VCs 0x1"},
      {Fault::twice, "all of whose flits have been sent"},
  };
  for (const auto& [fault, rule] : rules) {
    const auto outcome = run_chain(point, topology, fault);
    CAPTURE(rule);
    CHECK_FALSE(outcome.verified);
    CHECK_THAT(outcome.failure, Contains("ni_1, port 0: cycle "));
    CHECK_THAT(outcome.failure, Contains(rule));
  }
  point.system.ni.injection_vcs = InjectionVcs::automatic;
  const auto outcome = run_chain(point, topology, Fault::other_vc);
  CHECK_THAT(outcome.failure, Contains("a body flit was sent on VC 1, where no packet has begun"));
}

TEST_CASE("An NI behind signals that stops sending is named by the watchdog") {
  const Topology topology = make_torus({4}, link_of(5));
  const ScheduleTables tables = test::tables_for("ring", topology, 4096);
  const RunPoint point = collective_point(FlowControlMode::packet, {"r_1"});
  const auto outcome = test::outcome_of([&] {
    SimulationHooks hooks;
    hooks.elaborate = [&](Elaboration& elaboration) { static_cast<void>(elaboration.ni("r_1")); };
    return simulate_collective(topology, point, tables, hooks);
  });
  CHECK_FALSE(outcome.complete);
  CHECK_THAT(outcome.failure, Contains("the external NI has not sent flow"));
}

}  // namespace
}  // namespace espalier
