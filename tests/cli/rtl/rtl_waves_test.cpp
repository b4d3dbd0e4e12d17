// Waveforms of runs in which Verilog of NIs decides: its registers stand beside the model's
// signals.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "rtl_wave_run.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::ones_of;
using test::RtlWaveRun;
using test::scopes_with;
using test::values_of;
using test::wave_number;
using test::Waves;

namespace {

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

// The cycles in which a down-counter that has been loaded reaches 0, by what is left in each
// change.
std::set<std::uint64_t> ends_of(const Waves::Changes& counter) {
  std::set<std::uint64_t> ends;
  for (const auto& [at, value] : counter) {
    if (wave_number(value) != 0) ends.insert(at + wave_number(value));
  }
  return ends;
}

}  // namespace

TEST_CASE("Waves of the table's Verilog step and count as the NI does in every lockstep mode") {
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

TEST_CASE("Waves of the Verilog do not depend on fidelity, nor on how often NIs are evaluated") {
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
