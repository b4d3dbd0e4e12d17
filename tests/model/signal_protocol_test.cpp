// Rules at the ports of an external router, and of the program that attaches it.
#include <catch2/catch.hpp>

#include <functional>
#include <memory>

#include "model_test_support.h"
#include "signal_systems.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::link_of;

// Changes what a router behind signals sends: valid and flit of each output, credits of each input.
struct Tampering {
  std::function<void(std::size_t output, bool& valid, SignalFlit& flit)> output;
  std::function<void(VcMask& credits)> credits;
};

// A router whose wires to the outside pass through a fault.
class TamperedRouter : public sc_core::sc_module {
 public:
  TamperedRouter(sc_core::sc_module_name module_name, sc_core::sc_clock& clock,
                 RouterSignals& outside, const Tampering& tampering)
      : sc_module(module_name), outside_(outside), tampering_(tampering) {
    inside_.spec = outside.spec;
    inside_.switching = outside.switching;
    inside_.pipeline = outside.pipeline;
    inside_.links_in = outside.links_in;
    inside_.links_out = outside.links_out;
    for (const auto& in : outside.inputs) {
      inside_.inputs.push_back(
          std::make_unique<FlitSignals>("in" + std::to_string(inside_.inputs.size()), in->spec));
    }
    for (const auto& out : outside.outputs) {
      inside_.outputs.push_back(
          std::make_unique<FlitSignals>("out" + std::to_string(inside_.outputs.size()), out->spec));
    }
    router_ = std::make_unique<SignalRouter>("router", inside_);
    router_->bind(clock, inside_);
    SC_HAS_PROCESS(TamperedRouter);
    SC_METHOD(pass_wires);
    for (std::size_t i = 0; i < inside_.inputs.size(); ++i) {
      sensitive << outside.inputs[i]->valid << outside.inputs[i]->flit
                << inside_.inputs[i]->credits;
    }
    for (std::size_t o = 0; o < inside_.outputs.size(); ++o) {
      sensitive << inside_.outputs[o]->valid << inside_.outputs[o]->flit
                << outside.outputs[o]->credits;
    }
  }

 private:
  void pass_wires() {
    for (std::size_t i = 0; i < inside_.inputs.size(); ++i) {
      inside_.inputs[i]->valid.write(outside_.inputs[i]->valid.read());
      inside_.inputs[i]->flit.write(outside_.inputs[i]->flit.read());
      VcMask credits = inside_.inputs[i]->credits.read();
      if (tampering_.credits) tampering_.credits(credits);
      outside_.inputs[i]->credits.write(credits);
    }
    for (std::size_t o = 0; o < inside_.outputs.size(); ++o) {
      bool valid = inside_.outputs[o]->valid.read();
      SignalFlit flit = inside_.outputs[o]->flit.read();
      if (tampering_.output) tampering_.output(o, valid, flit);
      outside_.outputs[o]->valid.write(valid);
      outside_.outputs[o]->flit.write(flit);
      inside_.outputs[o]->credits.write(outside_.outputs[o]->credits.read());
    }
  }

  RouterSignals& outside_;
  RouterSignals inside_;
  const Tampering& tampering_;
  std::unique_ptr<SignalRouter> router_;
};

RunPoint some_traffic() {
  RunPoint point;
  point.traffic.emplace();
  point.traffic->injection_rate = 0.3;
  point.traffic->warmup_cycles = 0;
  point.traffic->measure_cycles = 300;
  point.traffic->drain_cycles = 0;
  point.simulation.watchdog_cycles = 5000;
  point.system.router.vc_depth_flits = 17;
  point.system.topology.external.routers = {"r_1_1"};
  return point;
}

std::string failure_with(const Tampering& tampering) {
  const Topology topology = make_torus({4, 4}, link_of(2));
  const RunPoint point = some_traffic();
  const auto outcome = test::outcome_of([&] {
    std::unique_ptr<TamperedRouter> router;
    SimulationHooks hooks;
    hooks.elaborate = [&](Elaboration& elaboration) {
      router = std::make_unique<TamperedRouter>("own", elaboration.clock(),
                                                elaboration.router("r_1_1"), tampering);
    };
    return simulate_traffic(topology, point, hooks);
  });
  CHECK((outcome.failure.empty() ? outcome.verified : !outcome.verified));
  return outcome.failure;
}

TEST_CASE("Each broken rule of a router's ports names place, cycle and rule") {
  CHECK(failure_with({}) == "");
  const std::string forged =
      failure_with({[](std::size_t, bool&, SignalFlit& flit) { flit.message += 50'000; }, {}});
  CHECK_THAT(forged, Contains("r_1_1, output "));
  CHECK_THAT(forged, Contains(": cycle "));
  CHECK_THAT(forged, Contains("but no flit of this message is in the router"));
  CHECK_THAT(failure_with({[](std::size_t, bool&, SignalFlit& flit) { flit.vc = 4; }, {}}),
             Contains("a flit was sent on VC 4; the "));
  CHECK_THAT(failure_with({[](std::size_t output, bool&, SignalFlit& flit) {
                             if (output < 4) flit.vc = flit.out_vcs == 3 ? 2 : 0;
                           },
                           {}}),
             Contains("its route permits VCs "));
  CHECK_THAT(
      failure_with({[](std::size_t, bool&, SignalFlit& flit) { ++flit.left_in_packet; }, {}}),
      Contains("the packet's last flit and its tail are not the same flit"));
  CHECK_THAT(failure_with({[was = false](std::size_t output, bool& valid, SignalFlit&) mutable {
                             if (output != 0) return;
                             was = was || valid;
                             valid = was;  // sends its flits for ever
                           },
                           {}}),
             Contains("r_1_1, output 0: cycle "));
  CHECK_THAT(failure_with({{}, [](VcMask& credits) { credits |= 1U; }}),
             Contains("a credit for VC 0 was returned, but no flit of this VC is held"));
  CHECK_THAT(failure_with({{}, [](VcMask& credits) { credits |= 16U; }}),
             Contains("name a VC above 3"));
}

TEST_CASE("A router behind signals that returns no credits is named by the watchdog") {
  CHECK_THAT(failure_with({{}, [](VcMask& credits) { credits = 0; }}),
             Contains("the external router holds "));
}

TEST_CASE("A program that attaches modules wrongly is told what is external") {
  const Topology topology = make_torus({4, 4}, link_of(2));
  const auto failure = [&](const RunPoint& point, const SimulationHooks& hooks) {
    try {
      test::outcome_of([&] { return simulate_traffic(topology, point, hooks); });
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const RunPoint point = some_traffic();
  CHECK_THAT(failure(point, {}), Contains("docs/plug_in.md"));
  SimulationHooks hooks;
  hooks.elaborate = [](Elaboration& elaboration) {
    static_cast<void>(elaboration.router("r_2_2"));
  };
  CHECK_THAT(failure(point, hooks),
             Contains("'r_2_2' is not in system.topology.external.routers, which names: r_1_1"));
  hooks.elaborate = [](Elaboration& elaboration) { static_cast<void>(elaboration.ni("r_1_1")); };
  CHECK_THAT(failure(point, hooks),
             Contains("'r_1_1' is not in system.topology.external.nis, which names: none"));
  hooks.elaborate = [](Elaboration&) {};
  CHECK_THAT(failure(point, hooks), Contains("no module is attached to r_1_1"));
  RunPoint plain = point;
  plain.system.topology.external = {};
  hooks.elaborate = [](Elaboration& elaboration) { static_cast<void>(elaboration.clock()); };
  CHECK_THAT(failure(plain, hooks), Contains("no router and no NI is external"));
}

TEST_CASE("Systems that are not exact with external modules are refused by name") {
  const Topology topology = make_torus({4, 4}, link_of(2));
  const auto refusal = [&](const std::function<void(RunPoint&)>& change) {
    RunPoint point = some_traffic();
    change(point);
    SimulationHooks hooks;
    hooks.elaborate = [](Elaboration&) {};
    try {
      test::outcome_of([&] { return simulate_traffic(topology, point, hooks); });
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK_THAT(refusal([](RunPoint& p) { p.system.topology.external.routers = {"r_1_9"}; }),
             Contains("the network has no vertex 'r_1_9'"));
  CHECK_THAT(refusal([](RunPoint& p) {
               p.system.topology.external.routers = {"r_1_1", "5"};
             }),
             Contains("'5' is given twice"));
  CHECK_THAT(refusal([](RunPoint& p) { p.system.topology.external.nis = {"r_1_1"}; }),
             Contains("router and NI of 'r_1_1' are both external"));
  CHECK_THAT(refusal([](RunPoint& p) { p.system.topology.external.nis = {"r_0_1"}; }),
             Contains("section traffic posts messages at every NI"));
  CHECK_THAT(refusal([](RunPoint& p) { p.simulation.stall_probability = 0.1; }),
             Contains("simulation.stall_probability"));
  CHECK_THAT(refusal([](RunPoint& p) { p.simulation.fidelity = Fidelity::train; }),
             Contains("train is not exact with system.topology.external"));
  CHECK_THAT(refusal([](RunPoint& p) { p.control.emplace(); }), Contains("control messages"));
  CHECK_THAT(refusal([](RunPoint& p) {
               p.faults.slow_links = {{"r_0_0", "r_1_0", 12'800'000'000, 0}};
             }),
             Contains("every so many cycles and a fraction"));
}

}  // namespace
}  // namespace espalier
