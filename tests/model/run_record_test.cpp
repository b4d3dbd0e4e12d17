// What a run's record holds: nothing is lost, everything in order, and the same in either fidelity.
#include "sims/observe/record/run_record.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <sstream>

#include "model_test_support.h"
#include "sims/config/reader.h"
#include "sims/experiment/point_runner.h"
#include "sims/observe/record/run_recorder.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

constexpr const char* kTorus =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 32KiB}\n";
constexpr const char* kTraffic =
    "system: {topology: {type: mesh, dims: [4, 3]}}\n"
    "traffic: {pattern: uniform, injection_rate: 0.6, warmup_cycles: 0, measure_cycles: 1500, "
    "drain_cycles: 0}\n";
constexpr const char* kThemis =
    "system:\n"
    "  topology: {type: dimensions}\n"
    "  dimensions: {shape: [ring, switch], size: [4, 4],\n"
    "    bandwidth: [200Gb/s, 100Gb/s], latency: [500ns, 700ns]}\n"
    "collective: {op: all_reduce, algorithm: themis, size: 256KiB, chunks: 16}\n";
constexpr const char* kControl =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 32KiB}\n"
    "control: {pattern: uniform, injection_rate: 0.02, message: 16B, vcs: own}\n";

std::string text_of(const FlitRun& run) {
  return fmt::format("{}+{}x{}", run.start, run.rate, run.n);
}

// A line for each thing written down.
std::string text_of(const RunRecord& record) {
  std::string text = fmt::format("end {} ticks {}\n", record.end, record.ticks_per_cycle);
  for (std::size_t i = 0; i < record.messages.size(); ++i) {
    const MessageRecord& m = record.messages[i];
    text += fmt::format(
        "message {}: flow {} {} -> {} route {} bytes {} flits {} channel {} whole {} issued {} "
        "read {} sent {} visible {} adding {} done {} room by {} held for {}\n",
        i, m.operation.flow.value(), m.operation.from.value(), m.operation.to.value(),
        m.operation.route.value(), m.operation.bytes, m.grid.flits, m.channel, m.whole, m.issued,
        m.read, m.sent, m.visible, m.adding, m.done, m.room_by, m.held_for);
  }
  for (const ChannelRecord& channel : record.channels) {
    for (std::size_t v = 0; v < channel.vcs.size(); ++v) {
      const std::string name = fmt::format("{}.vc{}", channel.name, v);
      for (const CarriedRun& run : channel.vcs[v].carried) {
        text += fmt::format("{} carried message {} hop {} from {}: {}\n", name, run.message,
                            run.hop, run.offset, text_of(run.flits));
      }
      for (const FlitRun& run : channel.vcs[v].left) {
        text += fmt::format("{} left {}\n", name, text_of(run));
      }
    }
  }
  for (const NiRecord& ni : record.nis) {
    text += fmt::format("ni '{}'\n", ni.name);
    const auto add = [&](const char* what, std::size_t number, const NiRecord::Released& of) {
      text += fmt::format("{} {} {} at {}: reason {}, entry {}, message {}\n", ni.name, what,
                          number, of.at, static_cast<int>(of.why), of.after, of.message);
    };
    for (std::size_t s = 1; s < ni.steps.size(); ++s) add("step", s, ni.steps[s]);
    for (std::size_t e = 0; e < ni.entries.size(); ++e) add("entry", e, ni.entries[e]);
  }
  return text;
}

std::vector<Tick> ticks_of(const FlitRun& run) {
  std::vector<Tick> ticks;
  for (std::uint64_t i = 0; i < run.n; ++i) ticks.push_back(run.tick_of(i));
  return ticks;
}

// What is wrong with it, a line each.
std::string flaws_of(const RunRecord& record) {
  std::string flaws;
  const auto flaw = [&](const std::string& what) { flaws += "flaw: " + what + "\n"; };
  const Tick q = record.ticks_per_cycle;
  // By message and hop: which flits passed, and when the last one did.
  std::map<std::pair<RecordIndex, std::uint16_t>, std::vector<bool>> passed;
  std::vector<Cycle> injected(record.messages.size(), 0);
  for (std::size_t c = 0; c < record.channels.size(); ++c) {
    const ChannelRecord& channel = record.channels[c];
    std::vector<Tick> wire;
    for (const VcRecord& vc : channel.vcs) {
      std::vector<Tick> came;
      std::vector<Tick> left;
      for (const CarriedRun& run : vc.carried) {
        const auto& grid = record.messages[run.message].grid;
        auto& flits = passed[{run.message, run.hop}];
        flits.resize(grid.flits);
        for (std::uint64_t i = run.offset; i < run.offset + run.flits.n; ++i) {
          if (flits[i]) flaw(fmt::format("{} carries flit {} twice", channel.name, i));
          flits[i] = true;
        }
        const auto ticks = ticks_of(run.flits);
        came.insert(came.end(), ticks.begin(), ticks.end());
        if (run.hop != 0) continue;
        if (record.messages[run.message].channel != c) flaw("injected elsewhere");
        injected[run.message] = std::max(injected[run.message], ticks.back() / q);
      }
      for (const FlitRun& run : vc.left) {
        const auto ticks = ticks_of(run);
        left.insert(left.end(), ticks.begin(), ticks.end());
      }
      if (came.size() != left.size()) flaw(channel.name + " keeps flits");
      for (std::size_t i = 0; i < std::min(came.size(), left.size()); ++i) {
        const Cycle usable = came[i] / q + channel.link.latency + channel.spec.receiver_pipeline;
        if (left[i] / q < usable) flaw(channel.name + ": a flit leaves before it is usable");
      }
      wire.insert(wire.end(), came.begin(), came.end());
    }
    std::sort(wire.begin(), wire.end());
    for (std::size_t i = 1; i < wire.size(); ++i) {
      if (wire[i] - wire[i - 1] < channel.link.ticks_per_flit) flaw(channel.name + " is too fast");
    }
  }
  for (const auto& [place, flits] : passed) {
    const bool all = std::all_of(flits.begin(), flits.end(), [](bool b) { return b; });
    if (!all) flaw(fmt::format("message {} loses flits at hop {}", place.first, place.second));
  }
  for (std::size_t i = 0; i < record.messages.size(); ++i) {
    const MessageRecord& m = record.messages[i];
    if (m.sent != injected[i]) flaw(fmt::format("message {} is not sent with its last flit", i));
    const bool reduce = m.operation.on_arrival == TransferKind::reduce;
    if (reduce != (m.adding != kNever)) flaw("a Gather is added, or a Reduce is not");
    if (m.issued >= m.sent || m.sent >= m.visible || m.visible > m.done || m.done == kNever ||
        (m.read != kNever && m.read < m.issued) ||
        (reduce && (m.adding < m.visible || m.adding > m.done)) || m.done >= record.end) {
      flaw(fmt::format("message {} passes its stations out of order", i));
    }
    if (record.nis.at(m.operation.to.index()).name.empty()) flaw("nobody is there to receive");
    if (record.messages[m.whole].whole != m.whole) flaw("a share of a share");
    if (i != 0 && m.issued < record.messages[i - 1].issued) flaw("not in order of issue");
  }
  for (const NiRecord& ni : record.nis) {
    for (std::size_t s = 2; s < ni.steps.size(); ++s) {
      if (ni.steps[s].at <= ni.steps[s - 1].at) flaw(ni.name + " begins two steps in a cycle");
    }
  }
  return flaws;
}

ConfigResult read_config(const std::string& config, const std::vector<std::string>& settings) {
  const bool is_file = config.find('\n') == std::string::npos;
  return is_file ? read_run_config(config, settings)
                 : read_run_config_text("test", config, {}, settings);
}

// `config`: its text, or a file's path.
std::string record_of(const std::string& config, std::vector<std::string> settings,
                      const std::string& fidelity) {
  if (!fidelity.empty()) settings.push_back("simulation.fidelity=" + fidelity);
  return test::in_child([&] {
           const ConfigResult read = read_config(config, settings);
           if (!read.ok) throw std::runtime_error(read.diagnostics);
           RunRecorder recorder;
           SimulationHooks hooks;
           hooks.observers = {&recorder};
           const PointReport report =
               run_point(*read.topology, read.points.front(), std::nullopt, hooks);
           if (!report.failure.empty()) throw std::runtime_error(report.failure);
           return test::Report{{}, flaws_of(recorder.record()) + text_of(recorder.record())};
         })
      .text;
}

std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream one(a);
  std::istringstream other(b);
  for (std::string x, y;;) {
    const bool more_x = static_cast<bool>(std::getline(one, x));
    const bool more_y = static_cast<bool>(std::getline(other, y));
    if (!more_x && !more_y) return {};
    if (more_x != more_y || x != y) return "train: " + x + "\ncycle: " + y;
  }
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

// Returns the record.
std::string check_fidelities(const std::string& config, const std::vector<std::string>& settings) {
  CAPTURE(config, settings);
  const std::string of_trains = record_of(config, settings, "train");
  const std::string of_flits = record_of(config, settings, "cycle");
  CHECK(first_difference(of_trains, of_flits) == "");
  CHECK(of_trains.substr(0, of_trains.find("end ")) == "");  // flaws stand first
  return of_trains;
}

}  // namespace

TEST_CASE("The record of trains is that of flits, run for run") {
  struct Run {
    const char* config;
    std::vector<std::string> settings;
  };
  const std::vector<Run> runs{
      {kTorus, {}},
      {kTorus, {"system.flow_control.mode=packet"}},
      {kTorus, {"system.ni.lockstep=full"}},
      {kTorus, {"system.ni.dma.bandwidth=16GB/s"}},
      {kTorus, {"system.ni.reduction.mode=after_message", "system.ni.reduction.bytes_per_cycle=8"}},
      // Trees that meet on links, and buffers too short for the credit loop.
      {kTorus, {"collective.algorithm=dbtree", "system.router.vc_depth_flits=40"}},
      {kTorus, {"collective.algorithm=dbtree", "system.link.bandwidth=7GB/s"}},
      {kTorus, {"system.link.bandwidth=11GB/s", "system.router.pipeline_cycles=0"}},
      {kTraffic, {}},
      {kTraffic, {"system.router.vc_depth_flits=36", "system.link.bandwidth=12GB/s"}},
      {kTraffic,
       {"system.router.vc_depth_flits=20", "system.flow_control.mode=packet",
        "traffic.message=1KiB", "system.link.bandwidth=13GB/s"}},
      {kThemis, {}},
      {kThemis, {"simulation.fold=off"}},
  };
  test::ShareOfCases share(3);
  for (const Run& run : runs) {
    if (!share.take()) continue;
    const std::string text = check_fidelities(run.config, run.settings);
    CHECK(count(text, "message ") > 10);
  }
}

// Systems in which trains were once wrong: links of several rates one after the other, short
// buffers, packets that overtake each other.
TEST_CASE("The record is the same in either fidelity in systems that were hard to get right") {
  std::size_t systems = 0;
  const auto folder = std::string(ESPALIER_SOURCE_DIR) + "/tests/fuzz/regressions";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    check_fidelities((entry.path() / "config.yaml").string(), {});
    ++systems;
  }
  CHECK(systems > 4);
}

TEST_CASE("A record contains control messages and gradients") {
  const std::string text = record_of(kControl, {}, "");
  CHECK(count(text, "flaw: ") == 0);
  CHECK(count(text, "bytes 16 ") > 10);
}

TEST_CASE("The size of a record depends on the number of messages, not on their lengths") {
  const std::string small = record_of(kTorus, {"collective.size=64KiB"}, "");
  const std::string large =
      record_of(kTorus, {test::kSanitized ? "collective.size=512KiB" : "collective.size=2MiB"}, "");
  CHECK(count(small, "flaw: ") == 0);
  CHECK(count(small, "\n") > 100);
  CHECK(count(large, "\n") < 2 * count(small, "\n"));
}

}  // namespace espalier
