// AXI4-Stream in front of an NI behind signals.
#include <catch2/catch.hpp>

#include <memory>

#include "examples/verilog_ni/axi_stream.h"
#include "model_test_support.h"
#include "signal_systems.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::link_of;

struct StreamHabits {
  std::uint32_t takes_one_in = 1;     // of so many cycles, tready is true in one
  std::uint32_t sends_one_in = 1;     // likewise tvalid
  std::int64_t more_beats = 0;        // than a message has
  std::uint32_t other_flow_from = 0;  // names another flow from this message on; 0: never
};

// Sends message s of its node when s messages have arrived: RING's chain.
class StreamingChain : public sc_core::sc_module {
 public:
  StreamingChain(sc_core::sc_module_name module_name, NiSignals& ni, AxiStreamNi& axi,
                 const StreamHabits& habits, sc_core::sc_clock& clock)
      : sc_module(module_name), ni_(ni), axi_(axi), habits_(habits) {
    SC_HAS_PROCESS(StreamingChain);
    SC_METHOD(rise);
    sensitive << clock.posedge_event();
    dont_initialize();
  }

 private:
  void rise() {
    ++cycle_;
    AxiStreamSignals& in = *axi_.received[0];
    if (in.tvalid.read() && in.tready.read() && in.tlast.read()) ++messages_in_;
    in.tready.write(cycle_ % habits_.takes_one_in == 0);
    AxiStreamSignals& out = *axi_.sent[0];
    if (out.tvalid.read() && out.tready.read()) {
      is_valid_ = false;
      ++beat_;
      if (beat_ == beats_) {
        beat_ = 0;
        ++next_;
      }
    }
    if (!is_valid_ && next_ < ni_.sends.size() && messages_in_ >= next_) {
      is_valid_ = cycle_ % habits_.sends_one_in == 0;
    }
    out.tvalid.write(is_valid_);
    if (!is_valid_) return;
    const NiSend& send = ni_.sends[next_];
    beats_ = AxiStreamNi::beats(send) + static_cast<std::uint64_t>(habits_.more_beats);
    const bool is_other = habits_.other_flow_from != 0 && next_ >= habits_.other_flow_from;
    out.tid.write(is_other ? 77 : send.flow);
    out.tdest.write(send.destination);
    out.tuser.write(send.kind == TransferKind::reduce ? 1 : 0);
    out.tlast.write(beat_ + 1 == beats_);
  }

  NiSignals& ni_;
  AxiStreamNi& axi_;
  const StreamHabits& habits_;
  std::uint64_t cycle_ = 0;
  std::size_t messages_in_ = 0;
  std::size_t next_ = 0;
  std::uint64_t beat_ = 0;
  std::uint64_t beats_ = 0;
  bool is_valid_ = false;
};

SimulationOutcome run_streams(FlowControlMode mode, const StreamHabits& habits) {
  const Topology topology = make_torus({4}, link_of(3));
  const ScheduleTables tables = test::tables_for("ring", topology, 5000);
  RunPoint point;
  point.system = test::in_mode(mode);
  point.system.ni.ports = 1;
  point.system.router.vc_depth_flits = 17;
  point.collective.emplace();
  point.simulation.watchdog_cycles = 20'000;
  point.system.topology.external.nis = {"r_0", "r_2"};
  return test::outcome_of([&] {
    std::vector<std::unique_ptr<AxiStreamNi>> adapters;
    std::vector<std::unique_ptr<StreamingChain>> chains;
    SimulationHooks hooks;
    hooks.elaborate = [&](Elaboration& elaboration) {
      for (const std::string& node : point.system.topology.external.nis) {
        NiSignals& ni = elaboration.ni(node);
        adapters.push_back(std::make_unique<AxiStreamNi>(("axi_" + node).c_str(), ni));
        adapters.back()->bind(elaboration.clock());
        chains.push_back(std::make_unique<StreamingChain>(
            ("chain_" + node).c_str(), ni, *adapters.back(), habits, elaboration.clock()));
      }
    };
    return simulate_collective(topology, point, tables, hooks);
  });
}

TEST_CASE("A ring all-reduce is right over AXI4-Stream, however slowly beats are sent and taken") {
  Cycle fastest = 0;
  for (const FlowControlMode mode : test::kFlowControlModes) {
    for (const std::uint32_t takes : {1U, 3U}) {
      for (const std::uint32_t sends : {1U, 2U}) {
        const auto outcome = run_streams(mode, {takes, sends, 0, 0});
        CAPTURE(static_cast<int>(mode), takes, sends);
        CHECK(outcome.failure == "");
        CHECK(outcome.verified);
        if (takes == 1 && sends == 1) fastest = outcome.cycles;
        if (takes != 1 || sends != 1) CHECK(outcome.cycles > fastest);
      }
    }
  }
}

TEST_CASE("A stream that sends another message or another length is an error of the NI's port") {
  const auto failure = [](const StreamHabits& habits) {
    const auto outcome = run_streams(FlowControlMode::packet, habits);
    CHECK_FALSE(outcome.verified);
    return outcome.failure;
  };
  CHECK_THAT(failure({1, 1, 1, 0}), Contains("a body flit was sent on VC 0; flit 15 of the 15"));
  CHECK_THAT(failure({1, 1, -1, 0}), Contains("a tail flit was sent on VC 0; flit 14 of the 15"));
  CHECK_THAT(failure({1, 1, 0, 2}), Contains("a head flit names flow 77 to node "));
}

}  // namespace
}  // namespace espalier
