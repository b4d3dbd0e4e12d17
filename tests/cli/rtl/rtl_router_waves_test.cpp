// Waveforms of runs in which Verilog of routers decides: its registers stand beside the model's
// signals.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "rtl_wave_run.h"

using namespace espalier;
using test::kUnknown;
using test::ones_of;
using test::RtlWaveRun;
using test::scopes_with;
using test::values_of;
using test::Waves;

namespace {

constexpr const char* kTrafficRun =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "traffic: {pattern: uniform, injection_rate: 0.4, warmup_cycles: 0, measure_cycles: 800,\n"
    "  drain_cycles: 0}\n";

// The packet that holds an output, from the cycle of its grant on.
struct HeldOutput {
  std::vector<std::uint64_t> holds, port, vc, out_vc;

  HeldOutput(const Waves& waves, const std::string& out)
      : holds(values_of(waves, out + ".holds")),
        port(values_of(waves, out + ".port")),
        vc(values_of(waves, out + ".vc")),
        out_vc(values_of(waves, out + ".out_vc")) {}
};

// A router's input channels in the order of its ports.
std::vector<std::string> channels_of(const Waves& waves, const std::string& router) {
  std::vector<std::string> channels;
  for (const std::string& name : waves.names) {
    const std::size_t at = name.find(".valid");
    if (at == std::string::npos || name.compare(0, router.size() + 1, router + ".") != 0) continue;
    channels.push_back(name.substr(0, at));
  }
  return channels;
}

constexpr std::size_t kRouterPorts = 8;  // four links, four ports of the NI
constexpr std::uint64_t kHoldVcs = 4;
constexpr std::uint64_t kActive = 3;  // the state of a VC whose packet has the switch

// Checks that a VC's packet has the switch where the Verilog says so. Returns in how many cycles.
std::size_t check_held(const Waves& waves, const std::string& router, bool always_while_active) {
  const std::vector<std::string> channels = channels_of(waves, router);
  REQUIRE(channels.size() == kRouterPorts);
  const std::string rtl = router + ".rtl.output_hold.";
  std::vector<HeldOutput> outputs;
  for (std::size_t o = 0; o < channels.size(); ++o) {
    outputs.emplace_back(waves, fmt::format("{}out{}", rtl, o));
  }
  CHECK(waves.signals.count(rtl + "out8.holds") == 0);
  CHECK(waves.signals.count(rtl + "in8.owns") == 0);
  std::size_t cycles = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    for (std::uint64_t vc = 0; vc < kHoldVcs; ++vc) {
      const std::string of_vc = fmt::format("{}.vc{}", channels[i], vc);
      CAPTURE(of_vc);
      const std::vector<std::uint64_t> state = values_of(waves, of_vc + ".state");
      const std::vector<std::uint64_t> grant = values_of(waves, of_vc + ".grant");
      for (std::size_t t = 0; t < waves.end; ++t) {
        std::uint64_t held = kUnknown;
        for (std::size_t o = 0; o < outputs.size(); ++o) {
          const HeldOutput& out = outputs[o];
          if (out.holds[t] != 0 && out.port[t] == i && out.vc[t] == vc) held = o;
        }
        if (held == kUnknown && !always_while_active) continue;
        REQUIRE((state[t] == kActive ? grant[t] : kUnknown) == held);
        cycles += held != kUnknown ? 1 : 0;
      }
    }
  }
  return cycles;
}

// A VC of the next channel has an owner, which is an input VC. Returns the most at a time.
std::size_t check_owners(const Waves& waves, const std::string& router) {
  std::vector<std::size_t> owned(waves.end);
  std::vector<std::size_t> owners(waves.end);
  for (std::size_t p = 0; p < kRouterPorts; ++p) {
    const std::string rtl = router + ".rtl.output_hold.";
    const auto by_output = values_of(waves, fmt::format("{}out{}.owned", rtl, p));
    const auto by_input = values_of(waves, fmt::format("{}in{}.owns", rtl, p));
    for (std::size_t t = 0; t < waves.end; ++t) {
      owned[t] += ones_of({by_output[t]});
      owners[t] += ones_of({by_input[t]});
    }
  }
  CHECK((owned == owners));
  return *std::max_element(owned.begin(), owned.end());
}

// Bits above the first `n` of a signal of `bits` bits.
std::uint64_t ones_from(std::uint64_t n, std::uint64_t bits) {
  return ((std::uint64_t{1} << bits) - 1) >> n << n;
}

// The arbiter of an output looks behind its last winner first: the order holds the requesters
// behind it. Returns the grants.
std::size_t check_orders(const Waves& waves, const std::string& router, bool is_shared) {
  std::size_t grants = 0;
  for (std::size_t o = 0; o < kRouterPorts; ++o) {
    const std::string out = fmt::format("{}.rtl.output_hold.out{}", router, o);
    const std::vector<std::uint64_t> grant = values_of(waves, out + ".grant");
    const HeldOutput winner(waves, out);
    for (std::size_t i = 0; i < (is_shared ? 1 : kRouterPorts); ++i) {
      const auto order =
          values_of(waves, is_shared ? out + ".order" : fmt::format("{}.order_in{}", out, i));
      CAPTURE(out, i);
      REQUIRE(order[0] == 0);
      for (std::size_t t = 0; t + 1 < waves.end; ++t) {
        std::uint64_t next = order[t];
        if (grant[t] != 0) {
          const std::uint64_t port = winner.port[t];
          next = is_shared   ? ones_from(port + 1, kRouterPorts)
                 : i == port ? ones_from(winner.vc[t] + 1, kHoldVcs)
                             : ones_from(i > port ? 0 : kHoldVcs, kHoldVcs);
        }
        REQUIRE(order[t + 1] == next);
      }
    }
    grants += ones_of(grant);
  }
  return grants;
}

}  // namespace

TEST_CASE("Waves of a router's Verilog show who holds its outputs and owns its VCs") {
  const RtlWaveRun run(kTrafficRun);
  const std::string hold = GENERATE("packet", "flit");
  const std::string crossbar_inputs = GENERATE("port", "vc");
  CAPTURE(hold, crossbar_inputs);
  const Waves waves = run.checked_waves(
      {"system.router.hold=" + hold, "system.router.crossbar_inputs=" + crossbar_inputs,
       "simulation.fidelity=cycle", fmt::format("system.router.vcs={}", kHoldVcs)},
      "[output_hold]");
  const std::vector<std::string> routers = scopes_with(waves, "output_hold");
  REQUIRE(routers.size() == 16);
  std::size_t held = 0;
  std::size_t owned = 0;
  std::size_t grants = 0;
  for (const std::string& router : routers) {
    CAPTURE(router);
    held += check_held(waves, router, hold == "packet");
    owned = std::max(owned, check_owners(waves, router));
    grants += check_orders(waves, router, crossbar_inputs == "port");
  }
  CHECK(held > 10'000);
  CHECK(owned > 2);
  CHECK(grants > 500);
}
