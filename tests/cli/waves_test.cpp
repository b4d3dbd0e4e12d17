// `espalier run --waves FILE`: what hardware did, as a waveform.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli_test_support.h"
#include "sims/observe/waves/wave_format.h"
#include "vcd_reader.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Outcome;
using test::TemporaryFolder;
using test::wave_number;
using test::WaveRun;
using test::Waves;
using test::waves_of;

namespace {

constexpr const char* kWavesTorus =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 32KiB}\n";

// Contexts that wait for messages, slots, room, each other and their call.
constexpr const char* kWavesProgram =
    "system:\n"
    "  topology: {type: torus, dims: [2, 4]}\n"
    "  ni:\n"
    "    send_queue: 2\n"
    "    ports: 1\n"
    "    program: {slot: 1000B, request: 400B, requests: 2, memory_bytes_per_cycle: 24,\n"
    "      doorbell_cycles: 500}\n"
    "collective: {op: all_reduce, algorithm: gc3_allpairs, size: 20000B}\n";

}  // namespace

TEST_CASE("Waves of trains are those of flits, signal for signal and change for change") {
  const TemporaryFolder folder;
  const std::string torus = folder.write("torus.yaml", kWavesTorus);
  const std::string traffic =
      folder.write("traffic.yaml",
                   "system: {topology: {type: mesh, dims: [4, 3]}}\n"
                   "traffic: {pattern: uniform, injection_rate: 0.6, warmup_cycles: 0, "
                   "measure_cycles: 1500, drain_cycles: 0}\n");
  const std::string program = folder.write("program.yaml", kWavesProgram);
  const std::string calls = folder.write("calls.trace",
                                         "collective broadcast ranks 8 chunks 1 in_place\n"
                                         "root 0\n"
                                         "%1 = chunk rank 0 in 0\n"
                                         "%2 = copy %1 rank 1 in 0\n"
                                         "%3 = copy %1 rank 2 in 0\n"
                                         "call\n"
                                         "%4 = copy %2 rank 3 in 0\n"
                                         "%5 = copy %3 rank 6 in 0\n"
                                         "%6 = copy %4 rank 7 in 0\n"
                                         "copy %6 rank 4 in 0\n"
                                         "copy %5 rank 5 in 0\n");
  const std::vector<WaveRun> runs{
      {program, {}},
      {program, {"collective.algorithm=gc3_ring", "collective.program.protocol=LL"}},
      {program,
       {"collective.algorithm=gc3_hierarchical", "collective.program.ranks_per_server=4",
        "system.router.vc_depth_flits=40"}},
      {program, {"collective.algorithm=" + calls, "collective.op=broadcast"}},
      {torus, {}},
      {torus, {"system.flow_control.mode=packet"}},
      {torus, {"system.ni.lockstep=full"}},
      // Trees that meet on links, and buffers too short for the credit loop.
      {torus, {"collective.algorithm=dbtree", "system.router.vc_depth_flits=40"}},
      {torus, {"collective.algorithm=dbtree", "system.link.bandwidth=7GB/s"}},
      {torus, {"system.link.bandwidth=11GB/s", "system.router.pipeline_cycles=0"}},
      {traffic, {}},
      {traffic, {"system.router.vc_depth_flits=36", "system.link.bandwidth=12GB/s"}},
  };
  for (const WaveRun& run : runs) {
    CAPTURE(run.config, run.settings);
    // With a window, trains are shown flit by flit too.
    WaveRun train = run;
    train.settings.emplace_back("simulation.fidelity=train");
    WaveRun cycle = run;
    cycle.settings.emplace_back("simulation.fidelity=cycle");
    const Waves of_trains = waves_of(folder, train, {"--wave-from", "0"});
    const Waves of_flits = waves_of(folder, cycle, {"--wave-from", "0"});
    REQUIRE(of_trains.signals.size() > 100);
    CHECK((of_trains.signals == of_flits.signals));
  }
}

TEST_CASE("A window shows what the whole waveform shows there") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kWavesTorus);
  const WaveRun cycle{config, {"simulation.fidelity=cycle"}};
  const Waves whole = waves_of(folder, cycle);
  const Waves window = waves_of(folder, {config, {"simulation.fidelity=train"}},
                                {"--wave-from", "700", "--wave-to", "1300"});
  REQUIRE(window.signals.size() == whole.signals.size());
  for (const auto& [name, changes] : whole.signals) {
    CAPTURE(name);
    Waves::Changes expected{{700, whole.at(name, 700)}};
    for (const auto& change : changes) {
      if (change.first > 700 && change.first < 1300) expected.push_back(change);
    }
    CHECK((window.signals.at(name) == expected));
  }
}

TEST_CASE("A window in timesteps begins where the first NI enters the step") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kWavesTorus);
  const Waves whole = waves_of(folder, {config, {}});
  const Waves window =
      waves_of(folder, {config, {}}, {"--wave-from", "step:3", "--wave-to", "step:4"});
  std::uint64_t entered = ~std::uint64_t{0};
  std::uint64_t over = 0;
  for (const auto& [name, changes] : whole.signals) {
    if (name.find(".timestep") == std::string::npos) continue;
    for (const auto& [at, value] : changes) {
      if (value.find('x') != std::string::npos) continue;
      if (wave_number(value) == 3) entered = std::min(entered, at);
      if (wave_number(value) == 5) over = std::max(over, at);
    }
  }
  REQUIRE(entered < over);
  for (const auto& [name, changes] : window.signals) {
    CAPTURE(name);
    CHECK(changes.front().first == entered);
    CHECK(changes.back().first < over);
  }
}

TEST_CASE("Waves of an NI tell its steps, what it waits for, and what has come") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kWavesTorus);
  const Waves waves = waves_of(folder, {config, {"system.ni.lockstep=full"}});
  const auto& steps = waves.signals.at("net.ni_1_2.timestep");
  for (std::size_t i = 1; i < steps.size(); ++i) {
    CHECK(wave_number(steps[i].second) == wave_number(steps[i - 1].second) + 1);
  }
  CHECK(wave_number(steps.back().second) == 10);  // of 4x4, five in each phase
  // The down-counter is loaded with the step, and shows what is left.
  const auto& counter = waves.signals.at("net.ni_1_2.lockstep");
  std::uint64_t until = 0;
  for (const auto& [at, value] : counter) {
    const std::uint64_t left = wave_number(value);
    if (left == 0) continue;
    if (at >= until) until = at + left;
    CHECK(at + left == until);
  }
  bool waits = false;
  for (const auto& [at, value] : waves.signals.at("net.ni_1_2.stall")) {
    waits = waits || value == "10";  // lockstep
  }
  CHECK(waits);
  // Of an all_reduce every node receives its share of both phases: 2 (N - 1) / N of the data.
  CHECK(wave_number(waves.signals.at("net.ni_1_2.delivered_bytes").back().second) ==
        2 * 32768 * 15 / 16);
  CHECK(wave_number(waves.signals.at("net.ni_1_2.active_sends").back().second) == 0);
  // A finished NI is done; it has no unknown values, which look like a fault of the RTL.
  CHECK(waves.signals.at("net.ni_1_2.op").back().second == "11");
  CHECK(waves.signals.at("net.ni_1_2.stall").back().second == "1010");
  for (const char* signal : {"entry", "flow", "step", "ready"}) {
    CAPTURE(signal);
    for (const auto& [at, value] : waves.signals.at(std::string("net.ni_1_2.") + signal)) {
      CHECK(value.find('x') == std::string::npos);
    }
  }
}

TEST_CASE("Credits and flits of a VC add up to its depth at every time") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kWavesTorus);
  const Waves waves =
      waves_of(folder, {config, {"simulation.fidelity=cycle", "system.link.latency=1ns"}},
               {"--wave-scope", "net.r_0_0.in_*.vc0"});
  for (const auto& [name, changes] : waves.signals) {
    if (name.find(".credits") == std::string::npos) continue;
    const std::string buffer = name.substr(0, name.size() - 8);
    CAPTURE(buffer);
    REQUIRE(wave_number(changes.front().second) == 318);
    for (const auto& [at, credits] : changes) {
      const std::uint64_t flits = wave_number(waves.at(buffer + ".occupancy", at));
      CHECK(wave_number(credits) + flits <= 318);
      // The link and the credit's way back hold a flit each.
      CHECK(wave_number(credits) + flits + 4 >= 318);
    }
    CHECK(wave_number(changes.back().second) + 4 >= 318);
  }
}

TEST_CASE("A dimension queue's waves show chunks that wait, and those under way") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("themis.yaml",
                   "system:\n"
                   "  topology: {type: dimensions}\n"
                   "  dimensions: {shape: [ring, switch], size: [4, 4],\n"
                   "    bandwidth: [200Gb/s, 100Gb/s], latency: [500ns, 700ns]}\n"
                   "collective: {op: all_reduce, algorithm: themis, size: 1MiB, chunks: 16}\n");
  const Waves waves = waves_of(folder, {config, {}}, {"--wave-scope", "net.ni_*.dim1"});
  REQUIRE(waves.signals.size() >= 4);
  std::uint64_t most = 0;
  for (const auto& [name, changes] : waves.signals) {
    if (name.find("in_flight") == std::string::npos) continue;
    for (const auto& [at, value] : changes) most = std::max(most, wave_number(value));
    CHECK(wave_number(changes.back().second) == 0);
  }
  CHECK(most > 0);
}

TEST_CASE("Waves of a program's contexts tell their steps, and what they wait for") {
  const TemporaryFolder folder;
  const std::string config = folder.write("program.yaml", kWavesProgram);
  const Waves waves = waves_of(folder, {config, {}}, {"--wave-scope", "net.ni_*.ctx*"});
  std::set<std::string> stalls;
  for (const auto& [name, changes] : waves.signals) {
    CAPTURE(name);
    if (name.find(".stall") != std::string::npos) {
      CHECK(changes.front().second == "1");  // launch
      for (const auto& [at, value] : changes) stalls.insert(value);
    } else if (name.find(".requests") != std::string::npos) {
      for (const auto& [at, value] : changes) CHECK(wave_number(value) <= 2);
      CHECK(wave_number(changes.back().second) == 0);
    } else if (name.find(".op") != std::string::npos) {
      CHECK(changes.back().second == "1001");  // done
    } else {
      CHECK(changes.back().second != "x");
    }
  }
  // All there are: this program has them all.
  CHECK(stalls.size() == 8);
  const std::string save = test::read_text(folder.file("waves.vcd.gtkw"));
  CHECK_THAT(save, Contains("net.ni_0_0.ctx0.pc[15:0]") && Contains("net.ni_3_1.ctx0.stall[2:0]"));
}

TEST_CASE("Waves of contexts do not depend on how often NIs are evaluated") {
  const TemporaryFolder folder;
  const std::string config = folder.write("program.yaml", kWavesProgram);
  const std::vector<std::string> scope{"--wave-scope", "net.ni_*"};
  const Waves on_events = waves_of(folder, {config, {"simulation.fidelity=cycle"}}, scope);
  const Waves always = waves_of(
      folder, {config, {"simulation.fidelity=cycle", "simulation.always_clocked=true"}}, scope);
  CHECK((on_events.signals == always.signals));
}

TEST_CASE("A save file for GTKWave lies beside the waves, NIs first") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kWavesTorus);
  waves_of(folder, {config, {}});
  const std::string save = test::read_text(folder.file("waves.vcd.gtkw"));
  CHECK_THAT(save, Contains("net.ni_0_0.timestep[15:0]") && Contains("net.ni_0_0.lockstep[31:0]") &&
                       Contains("net.r_0_0.in_e.valid"));
  CHECK(save.find("net.ni_3_3.stall") < save.find("net.r_0_0"));
}

TEST_CASE("NIs and channels of a network with positions stand by rows in the save file") {
  const TemporaryFolder folder;
  folder.write("graph.yaml",
               "nodes: [{name: a, at: [0, 2]}, {name: b, at: [1, 1]}, {name: c, at: [0, 1]}]\n"
               "links: [{between: [a, b]}, {between: [b, c]}, {between: [a, c]}]\n");
  const std::string config =
      folder.write("run.yaml",
                   "system: {topology: {type: file, file: graph.yaml}}\n"
                   "collective: {algorithm: ring, size: 1KiB}\nsimulation: {fidelity: cycle}\n");
  // A window has no critical path, whose NIs would stand first.
  waves_of(folder, {config, {}}, {"--wave-from", "0"});
  const std::string save = test::read_text(folder.file("waves.vcd.gtkw"));
  std::size_t last = 0;
  for (const char* scope :
       {"net.ni_c.", "net.ni_b.", "net.ni_a.", "net.c.in", "net.b.in", "net.a.in"}) {
    CAPTURE(scope);
    REQUIRE(save.find(scope) != std::string::npos);
    CHECK(save.find(scope) > last);
    last = save.find(scope);
  }
}

TEST_CASE("FST holds the waves in a fraction of VCD's bytes") {
  if (!has_fst()) {
    WARN("skipped: no FST in this build");
    return;
  }
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kWavesTorus);
  for (const char* name : {"w.vcd", "w.fst"}) {
    REQUIRE(test::espalier({"run", config, "-s", "collective.algorithm=ring", "-s",
                            "simulation.fidelity=cycle", "--waves", folder.file(name)})
                .exit_code == 0);
  }
  CHECK(8 * std::filesystem::file_size(folder.file("w.fst")) <
        std::filesystem::file_size(folder.file("w.vcd")));
}

TEST_CASE("VCD and FST of a run hold the same values at the same times") {
  if (!has_fst() || std::system("command -v fst2vcd > /dev/null 2>&1") != 0) {
    WARN("skipped: no FST in this build, or no fst2vcd");
    return;
  }
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kWavesTorus);
  const Waves vcd = waves_of(folder, {config, {"simulation.fidelity=cycle"}});
  REQUIRE(test::espalier(
              {"run", config, "-s", "simulation.fidelity=cycle", "--waves", folder.file("w.fst")})
              .exit_code == 0);
  const std::string command = "fst2vcd " + folder.file("w.fst") + " -o " + folder.file("fst.vcd");
  REQUIRE(std::system(command.c_str()) == 0);
  const Waves fst = test::read_vcd(folder.file("fst.vcd"));
  REQUIRE(fst.signals.size() == vcd.signals.size());
  // fst2vcd writes all bits of a vector.
  const auto shortest = [](const std::string& value) {
    if (value.find('x') != std::string::npos) return std::string("x");
    const std::size_t one = value.find('1');
    return one == std::string::npos ? std::string("0") : value.substr(one);
  };
  for (const auto& [name, changes] : vcd.signals) {
    CAPTURE(name);
    const Waves::Changes& others = fst.signals.at(name);
    REQUIRE(others.size() == changes.size());
    for (std::size_t i = 0; i < changes.size(); ++i) {
      REQUIRE(others[i].first == changes[i].first);
      REQUIRE(shortest(others[i].second) == shortest(changes[i].second));
    }
  }
}

TEST_CASE("A run that waves cannot show is refused with the reason") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kWavesTorus);
  const auto error = [&](const std::vector<std::string>& more, int code = 2) {
    std::vector<std::string> words{"run", config};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = test::espalier(words);
    CHECK(outcome.exit_code == code);
    return outcome.err;
  };
  const std::string file = folder.file("w.vcd");
  CHECK_THAT(error({"--wave-from", "3"}), Contains("--waves FILE"));
  CHECK_THAT(error({"--waves", folder.file("w.txt")}), Contains(".vcd") && Contains(".fst"));
  CHECK_THAT(error({"--waves", folder.file("missing/w.vcd")}), Contains("missing/w.vcd"));
  CHECK_THAT(error({"--waves", file, "--wave-from", "soon"}), Contains("step:17"));
  CHECK_THAT(error({"--waves", file, "--wave-from", "7", "--wave-to", "7"}), Contains("not after"));
  CHECK_THAT(error({"--waves", file, "-s", "collective.algorithm=[ring, multitree]"}),
             Contains("one run, but there are 2"));
  const std::string traffic =
      folder.write("traffic.yaml",
                   "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                   "traffic: {pattern: uniform, injection_rate: 0.1, warmup_cycles: 0, "
                   "measure_cycles: 100, drain_cycles: 0}\n");
  const Outcome steps = test::espalier({"run", traffic, "--waves", file, "--wave-to", "step:3"});
  CHECK(steps.exit_code == 2);
  CHECK_THAT(steps.err, Contains("need schedule tables"));
  CHECK_THAT(error({"--waves", file, "--wave-scope", "net.nothing"}),
             Contains("no signal matches 'net.nothing'; signals are for example net.ni_0_0"));
  CHECK_THAT(error({"--waves", file, "--wave-from", "99999999"}),
             Contains("the window begins after its last cycle"));
  // The end is a cycle and the beginning a timestep, and the other way round.
  CHECK_THAT(error({"--waves", file, "--wave-from", "step:2", "--wave-to", "2"}),
             Contains("the window begins after its last cycle, 1"));
  CHECK_THAT(error({"--waves", file, "--wave-from", "99999999", "--wave-to", "step:1"}),
             Contains("the window begins after its last cycle"));
}

TEST_CASE("A scope of waves is a node's number or name, and an unknown one leaves no empty table") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kWavesTorus);
  const auto signals_of = [&](const std::string& scope) {
    const std::string file = folder.file("run.vcd");
    const Outcome outcome =
        test::espalier({"run", config, "--waves", file, "--wave-scope", scope, "-q"});
    CHECK(outcome.exit_code == 0);
    return test::read_text(file);
  };
  const std::string of_ni = signals_of("net.ni_2_1");
  CHECK(signals_of("net.ni_9") == of_ni);
  CHECK(signals_of("ni_2_1") == of_ni);
  const std::string of_node = signals_of("9");
  CHECK(of_node.size() > of_ni.size());
  CHECK(signals_of("r_2_1") == of_node);
  CHECK(signals_of("2_1") == of_node);
}

TEST_CASE("Each scope of waves that matches nothing is refused before the run, with a near name") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kWavesTorus);
  const std::string file = folder.file(has_fst() ? "run.fst" : "run.vcd");
  const auto refusal = [&](const std::vector<std::string>& words) {
    std::vector<std::string> command{"run", "--waves", file};
    command.insert(command.end(), words.begin(), words.end());
    const Outcome outcome = test::espalier(command);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK_FALSE(std::filesystem::exists(file));
    return outcome.err;
  };
  CHECK_THAT(refusal({config, "--wave-scope", "net.ni_16"}),
             Contains("--wave-scope: error: no signal matches 'net.ni_16'; did you mean 'net.ni_"));
  // The first scope is right, and the second one almost.
  CHECK_THAT(refusal({config, "--wave-scope", "net.ni_*", "--wave-scope", "net.r_0_0.in_ee"}),
             Contains("no signal matches 'net.r_0_0.in_ee'; did you mean 'net.r_0_0.in_e'?"));
  CHECK_THAT(refusal({config, "--wave-scope", "net.ni_0_0.timestp"}),
             Contains("did you mean 'net.ni_0_0.timestep'?"));
  // One NPU stands for all.
  const std::string folded = folder.write("folded.yaml",
                                          "system: {preset: themis_3d_fc_ring_sw}\n"
                                          "collective: {algorithm: baseline, size: 100MB}\n");
  CHECK_THAT(refusal({folded, "--wave-scope", "3"}), Contains("simulation.fold: off"));
}
