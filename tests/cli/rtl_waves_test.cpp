// Waveforms of runs in which Verilog decides: its registers stand beside the model's signals.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cli_test_support.h"
#include "ni/rtl/rtl_sequencer.h"
#include "vcd_reader.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::TemporaryFolder;
using test::wave_number;
using test::Waves;

namespace {

// True where the test has to be left out; ctest reads the word.
bool has_no_rtl_waves() {
  if (!has_rtl()) fmt::print("skipped: built without verilator\n");
  return !has_rtl();
}

bool is_of_rtl(const std::string& name) { return name.find(".rtl.") != std::string::npos; }

constexpr const char* kTableRun =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 16KiB}\n";
constexpr const char* kPlanRun =
    "system:\n"
    "  topology: {type: dimensions}\n"
    "  dimensions: {shape: [ring, switch], size: [4, 4], bandwidth: [32GB/s, 16GB/s],\n"
    "    latency: [50ns, 100ns]}\n"
    "  ni: {dimension_queue: {in_flight: 2}}\n"
    "collective: {op: all_reduce, algorithm: themis, size: 12KiB, chunks: 9}\n"
    "simulation: {fold: off}\n";
constexpr const char* kTrafficRun =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "traffic: {pattern: uniform, injection_rate: 0.4, warmup_cycles: 0, measure_cycles: 800,\n"
    "  drain_cycles: 0}\n";

// A configuration, with and without Verilog.
class RtlWaveRun {
 public:
  explicit RtlWaveRun(const char* config) : path_(folder_.write("run.yaml", config)) {}

  [[nodiscard]] Waves waves(std::vector<std::string> settings, const std::string& rtl,
                            const std::vector<std::string>& options = {}) const {
    settings.push_back("simulation.rtl=" + rtl);
    return test::waves_of(folder_, {path_, settings}, options);
  }
  // Checks that all other signals are those of a run without Verilog.
  [[nodiscard]] Waves checked_waves(const std::vector<std::string>& settings,
                                    const std::string& rtl) const {
    const Waves with = waves(settings, rtl);
    const Waves without = waves(settings, "none");
    std::size_t others = 0;
    for (const auto& [name, changes] : with.signals) {
      if (is_of_rtl(name)) continue;
      ++others;
      CAPTURE(name);
      REQUIRE(without.signals.count(name) == 1);
      CHECK((changes == without.signals.at(name)));
    }
    CHECK(others == without.signals.size());
    CHECK(others > 100);
    CHECK(with.signals.size() > others);
    CHECK(with.end == without.end);
    return with;
  }
  [[nodiscard]] std::string save_file() const {
    return test::read_text(folder_.file("waves.vcd.gtkw"));
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

// The values of a signal in every cycle. Only signals of the model may be unknown.
std::vector<std::uint64_t> values_of(const Waves& waves, const std::string& name) {
  CAPTURE(name);
  const Waves::Changes& changes = waves.signals.at(name);
  REQUIRE(!changes.empty());
  REQUIRE(changes.front().first == 0);
  std::vector<std::uint64_t> values(waves.end, kUnknown);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (is_of_rtl(name)) REQUIRE(changes[i].second != "x");
    if (changes[i].second == "x") continue;
    const std::uint64_t end = i + 1 < changes.size() ? changes[i + 1].first : waves.end;
    for (std::uint64_t at = changes[i].first; at < end; ++at) {
      values[at] = wave_number(changes[i].second);
    }
  }
  return values;
}

// The scopes whose Verilog has `module`: "net.ni_1_2".
std::vector<std::string> scopes_with(const Waves& waves, const std::string& module) {
  std::vector<std::string> scopes;
  for (const std::string& name : waves.names) {
    const std::size_t at = name.find(".rtl." + module + ".");
    if (at == std::string::npos) continue;
    const std::string scope = name.substr(0, at);
    if (scopes.empty() || scopes.back() != scope) scopes.push_back(scope);
  }
  return scopes;
}

// The cycles in which a down-counter that has been loaded reaches 0, by what is left in each
// change.
std::set<std::uint64_t> ends_of(const Waves::Changes& counter) {
  std::set<std::uint64_t> ends;
  for (const auto& [at, value] : counter) {
    if (wave_number(value) != 0) ends.insert(at + wave_number(value));
  }
  return ends;
}

std::size_t ones_of(const std::vector<std::uint64_t>& values) {
  std::size_t ones = 0;
  for (const std::uint64_t value : values) {
    ones += static_cast<std::size_t>(__builtin_popcountll(value));
  }
  return ones;
}

}  // namespace

TEST_CASE("Waves of the table's Verilog step and count as the NI does in every lockstep mode") {
  if (has_no_rtl_waves()) return;
  const RtlWaveRun run(kTableRun);
  const std::string lockstep = GENERATE("off", "estimate", "drain", "full");
  const std::string fidelity = GENERATE("train", "cycle");
  CAPTURE(lockstep, fidelity);
  const Waves waves =
      run.checked_waves({"system.ni.lockstep=" + lockstep, "simulation.fidelity=" + fidelity},
                        "[ni_control, dependency_state]");
  const std::vector<std::string> nis = scopes_with(waves, "ni_control");
  REQUIRE(nis.size() == 16);
  for (const std::string& ni : nis) {
    CAPTURE(ni);
    const std::string rtl = ni + ".rtl.ni_control";
    const Waves::Changes& steps = waves.signals.at(ni + ".timestep");
    CHECK((waves.signals.at(rtl + ".timestep") == steps));
    CHECK(wave_number(steps.back().second) == 10);
    // The register follows a cycle after `enter_step`.
    const std::vector<std::uint64_t> timestep = values_of(waves, ni + ".timestep");
    const std::vector<std::uint64_t> step = values_of(waves, rtl + ".step");
    const std::vector<std::uint64_t> enters = values_of(waves, rtl + ".enter_step");
    CHECK(step[0] == 0);
    for (std::size_t t = 0; t + 1 < timestep.size(); ++t) {
      REQUIRE(step[t + 1] == timestep[t]);
      REQUIRE(enters[t] == timestep[t] - step[t]);
    }
    // Each entry of the table issues once.
    const std::uint64_t entries = wave_number(waves.signals.at(ni + ".entry").back().second) + 1;
    CHECK(ones_of(values_of(waves, rtl + ".issue")) == entries);
    // The counter of the Verilog is loaded at the end of the cycle in which `arms` is 1.
    const Waves::Changes& model = waves.signals.at(ni + ".lockstep");
    const Waves::Changes& counter = waves.signals.at(rtl + ".lockstep");
    CHECK((ends_of(counter) == ends_of(model)));
    const bool counts = lockstep == "estimate" || lockstep == "full";
    CHECK(ends_of(counter).size() == (counts ? 10 : 0));
    CHECK(ones_of(values_of(waves, rtl + ".arms")) == (counts ? 10 : 0));
  }
}

TEST_CASE("The lowest missing place of an NI's Verilog rises to the number of its messages") {
  if (has_no_rtl_waves()) return;
  const RtlWaveRun run(kTableRun);
  const Waves waves = run.checked_waves({"system.ni.turnaround_cycles=3"}, "[dependency_state]");
  const std::vector<std::string> nis = scopes_with(waves, "dependency_state");
  REQUIRE(nis.size() == 16);
  bool is_delayed = false;
  for (const std::string& ni : nis) {
    CAPTURE(ni);
    const std::string rtl = ni + ".rtl.dependency_state";
    const std::vector<std::uint64_t> missing = values_of(waves, rtl + ".missing");
    CHECK(missing.front() == 0);
    CHECK(missing.back() > 10);
    CHECK(std::is_sorted(missing.begin(), missing.end()));
    CHECK(waves.signals.at(rtl + ".missing").size() > 5);
    // A write-back moves a stage in each cycle; stage 0 is the last one.
    const std::vector<std::uint64_t> stages[] = {values_of(waves, rtl + ".delayed0"),
                                                 values_of(waves, rtl + ".delayed1"),
                                                 values_of(waves, rtl + ".delayed2")};
    CHECK(waves.signals.count(rtl + ".delayed3") == 0);
    for (std::size_t t = 0; t + 1 < missing.size(); ++t) {
      REQUIRE(stages[0][t + 1] == stages[1][t]);
      REQUIRE(stages[1][t + 1] == stages[2][t]);
      is_delayed = is_delayed || stages[2][t] != 0;
    }
  }
  CHECK(is_delayed);
}

TEST_CASE("Waves of a queue's Verilog show the chunks that wait, and the choice of each") {
  if (has_no_rtl_waves()) return;
  const RtlWaveRun run(kPlanRun);
  const std::string enforces = GENERATE("true", "false");
  const std::string fidelity = GENERATE("train", "cycle");
  const std::uint64_t arbitration = GENERATE(1U, 5U);
  CAPTURE(enforces, fidelity, arbitration);
  const Waves waves = run.checked_waves(
      {"system.ni.dimension_queue.enforce_order=" + enforces, "simulation.fidelity=" + fidelity,
       fmt::format("system.ni.dimension_queue.arbitration_cycles={}", arbitration)},
      "[dimension_queue]");
  const std::vector<std::string> queues = scopes_with(waves, "dimension_queue");
  REQUIRE(queues.size() == 32);
  for (const std::string& queue : queues) {
    CAPTURE(queue);
    const std::string rtl = queue + ".rtl.dimension_queue";
    const std::vector<std::uint64_t> waiting = values_of(waves, queue + ".depth");
    const std::vector<std::uint64_t> depth = values_of(waves, rtl + ".depth");
    const std::vector<std::uint64_t> busy = values_of(waves, rtl + ".busy");
    const std::vector<std::uint64_t> left = values_of(waves, rtl + ".left");
    const std::vector<std::uint64_t> begins = values_of(waves, rtl + ".begins");
    const std::vector<std::uint64_t> starts = values_of(waves, rtl + ".starts");
    const std::vector<std::uint64_t> chunk = values_of(waves, rtl + ".chunk");
    const std::vector<std::uint64_t> chosen = values_of(waves, queue + ".chosen");
    for (std::size_t t = 0; t + 1 < depth.size(); ++t) {
      // Registers have the state at the end of the cycle before. The chunk that is being chosen
      // has not left the queue.
      REQUIRE(depth[t + 1] - busy[t + 1] == waiting[t]);
      REQUIRE((busy[t] != 0) == (left[t] != 0));
      if (begins[t] != 0) REQUIRE(left[t + 1] == arbitration - 1);
      if (busy[t] != 0) REQUIRE(left[t + 1] == left[t] - 1);
      REQUIRE(starts[t] == (arbitration == 1 ? begins[t] : left[t] == 1 ? 1 : 0));
      if (starts[t] != 0) REQUIRE(chunk[t] == chosen[t]);
    }
    // Each of nine chunks passes each dimension twice.
    CHECK(ones_of(begins) == 18);
    CHECK(ones_of(starts) == 18);
    CHECK(*std::max_element(depth.begin(), depth.end()) > 1);
    CHECK(depth.back() == 0);
  }
}

namespace {

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
  if (has_no_rtl_waves()) return;
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

TEST_CASE("Waves of the Verilog do not depend on fidelity, nor on how often NIs are evaluated") {
  if (has_no_rtl_waves()) return;
  const bool of_plan = GENERATE(false, true);
  const RtlWaveRun run(of_plan ? kPlanRun : kTableRun);
  const std::string rtl = of_plan ? "[dimension_queue]" : "[ni_control, dependency_state]";
  std::vector<std::string> settings{"system.ni.lockstep=full"};
  if (of_plan) settings = {"system.ni.dimension_queue.arbitration_cycles=40"};
  // With a window, down-counters are shown in every cycle.
  std::vector<std::string> options{"--wave-scope", "net.ni_*"};
  if (GENERATE(false, true)) options.insert(options.end(), {"--wave-from", "0"});
  const auto waves = [&](const std::string& setting, const std::string& clocked) {
    std::vector<std::string> all = settings;
    all.push_back("simulation.fidelity=" + setting);
    all.push_back("simulation.always_clocked=" + clocked);
    return run.waves(all, rtl, options).signals;
  };
  const auto trains = waves("train", "false");
  CHECK(trains.size() > 200);
  CHECK((waves("cycle", "false") == trains));
  CHECK((waves("cycle", "true") == trains));
}

TEST_CASE("A down-counter of the Verilog is shown in stairs, in a window in every cycle") {
  if (has_no_rtl_waves()) return;
  const RtlWaveRun run(kTableRun);
  const std::vector<std::string> settings{"system.ni.lockstep=full", "collective.size=256KiB"};
  const std::string name = "net.ni_1_2.rtl.ni_control.lockstep";
  const Waves whole = run.waves(settings, "[ni_control]", {"--wave-scope", name});
  const Waves window = run.waves(settings, "[ni_control]",
                                 {"--wave-scope", name, "--wave-from", "0", "--wave-to", "4000"});
  REQUIRE(whole.signals.size() == 1);
  // At most eight stairs, the load and the end, in each of ten steps.
  CHECK(whole.signals.at(name).size() <= 1 + 10 * 11);
  CHECK(whole.signals.at(name).size() >= 1 + 10 * 6);
  const std::vector<std::uint64_t> counter = values_of(window, name);
  REQUIRE(counter.size() == 4000);
  std::size_t counts = 0;
  for (std::size_t t = 0; t + 1 < counter.size(); ++t) {
    if (counter[t] != 0) ++counts;
    if (counter[t] != 0) REQUIRE(counter[t + 1] == counter[t] - 1);
  }
  CHECK(counts > 3000);
  // Each stair has the counter's value.
  for (const auto& [at, value] : whole.signals.at(name)) {
    if (at < counter.size()) CHECK(counter[at] == wave_number(value));
  }
}

TEST_CASE("Options choose the Verilog's signals, and the save file has them beside their module") {
  if (has_no_rtl_waves()) return;
  const RtlWaveRun run(kTableRun);
  const std::string all = "[ni_control, dependency_state, output_hold]";
  const Waves steps = run.waves({}, all, {"--wave-scope", "net.ni_*.rtl.ni_control.step"});
  CHECK(steps.signals.size() == 16);
  CHECK(steps.signals.count("net.ni_3_3.rtl.ni_control.step") == 1);
  const Waves output = run.waves({}, all, {"--wave-scope", "net.r_1_2.rtl.output_hold.out4"});
  CHECK(output.names.size() == 9);
  const Waves modules = run.waves({}, all, {"--wave-scope", "net.ni_0_0", "--wave-to", "step:2"});
  CHECK(modules.signals.count("net.ni_0_0.rtl.dependency_state.missing") == 1);
  CHECK(modules.signals.count("net.r_0_0.rtl.output_hold.out0.held") == 0);
  const Waves whole = run.waves({}, all);
  const std::string save = run.save_file();
  CHECK_THAT(save, Contains("net.ni_3_3.rtl.ni_control.counter[31:0]"));
  const std::size_t ni = save.find("net.ni_0_0.stall");
  const std::size_t rtl = save.find("net.ni_0_0.rtl.ni_control.step");
  CHECK(ni < rtl);
  CHECK(rtl < save.find("net.ni_0_1.stall"));
  CHECK(save.find("net.r_3_3.in_n.valid") < save.find("net.r_0_0.rtl.output_hold"));
}
