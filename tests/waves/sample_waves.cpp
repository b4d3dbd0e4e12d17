// Writes one small recording as FOLDER/sample.vcd and, where the build has it, FOLDER/sample.fst,
// each with its save file for GTKWave: what tests/waves/gtkwave.sh opens. Prints the save files.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "sims/observe/waves/gtkw_file.h"
#include "sims/observe/waves/wave_format.h"
#include "sims/observe/waves/wave_recorder.h"

using namespace espalier;

namespace {

constexpr std::uint64_t kClock = 1'000'000'000;
constexpr Cycle kFirst = 1000;
constexpr Cycle kEnd = 6000;
constexpr std::size_t kNodes = 12;

const EnumText kOperation{"operation", {"NOP", "REDUCE", "GATHER out"}};
const EnumText kState{"state", {"asleep", "awake"}};

struct Shown {
  std::string name;
  unsigned bits;
  GtkwDisplay display;
  const EnumText* texts;
};

const std::vector<Shown> kSignals = {
    {"timestep", 8, GtkwDisplay::decimal, nullptr},
    {"lockstep", 16, GtkwDisplay::analog_step, nullptr},
    {"table_head", 64, GtkwDisplay::hex, nullptr},
    {"operation", 2, GtkwDisplay::enum_text, &kOperation},
    {"state", 1, GtkwDisplay::enum_text, &kState},
    {"stalled", 1, GtkwDisplay::binary, nullptr},
    {"dma.credits", 4, GtkwDisplay::binary, nullptr},
};

std::string scope(std::size_t node) { return fmt::format("net.ni_{}", node); }

void write_sample(const std::string& path) {
  WaveRecorder waves(path, kClock);
  std::vector<std::vector<SignalId>> ids(kNodes);
  GtkwView view;
  view.waves = path;
  view.clock_hertz = kClock;
  view.first = kFirst;
  view.end = kEnd;
  for (std::size_t n = 0; n < kNodes; ++n) {
    waves.describe_scope(scope(n), "NetworkInterface");
    GtkwGroup group{fmt::format("NI {}", n), n < 3, {}};
    for (const Shown& shown : kSignals) {
      const std::string name = scope(n) + "." + shown.name;
      ids[n].push_back(waves.add(name, shown.bits, shown.texts));
      group.signals.push_back({name, shown.bits, shown.display, shown.texts});
    }
    view.groups.push_back(group);
  }
  waves.begin(kFirst);
  for (Cycle cycle = 0; cycle < kEnd; ++cycle) {
    for (std::size_t n = 0; n < kNodes; ++n) {
      const Cycle phase = cycle + 140 * n;
      const std::vector<std::uint64_t> values = {
          phase / 500,     499 - phase % 500, phase * 0x9E3779B97F4A7C15ULL >> (phase % 64),
          phase / 100 % 3, phase / 250 % 2,   phase / 30 % 2,
          phase / 10 % 16};
      for (std::size_t s = 0; s < values.size(); ++s) waves.change(cycle, ids[n][s], values[s]);
      // Nothing to do, and nothing in the table: for a while in every thousand cycles.
      if (cycle % 1000 > 900) waves.change_to_unknown(cycle, ids[n][3]);
    }
  }
  waves.flush(kEnd);
  waves.finish(kEnd);
  fmt::print("{}\n", write_gtkw_file(view));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  write_sample(folder + "/sample.vcd");
  if (has_fst()) write_sample(folder + "/sample.fst");
}
