// What waveforms cost: wave_speed FOLDER. 64 network interfaces of 20 signals for 50000 cycles, a
// change in every fifth signal and cycle.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "sims/observe/waves/wave_format.h"
#include "sims/observe/waves/wave_recorder.h"

using namespace espalier;

namespace {

constexpr std::size_t kInterfaces = 64;
constexpr Cycle kCycles = 50'000;

// Counters that step, flags, an operation and a table entry now and then.
struct Kind {
  unsigned bits;
  Cycle period;
};

const std::vector<Kind> kSignals = {
    {8, 200}, {16, 1}, {16, 2}, {2, 20}, {64, 20}, {1, 3},  {1, 5},  {1, 7},   {9, 2},  {9, 4},
    {9, 8},   {9, 16}, {4, 10}, {4, 30}, {32, 5},  {12, 9}, {1, 50}, {1, 100}, {8, 12}, {6, 25}};

// The number of changes.
std::uint64_t write(WaveRecorder& waves) {
  std::vector<SignalId> ids;
  for (std::size_t n = 0; n < kInterfaces; ++n) {
    for (std::size_t s = 0; s < kSignals.size(); ++s) {
      ids.push_back(waves.add(fmt::format("net.ni_{}.s_{}", n, s), kSignals[s].bits));
    }
  }
  waves.begin();
  std::uint64_t changes = 0;
  for (Cycle cycle = 0; cycle < kCycles; ++cycle) {
    if (cycle % 1000 == 0) waves.flush(cycle);
    for (std::size_t n = 0; n < kInterfaces; ++n) {
      for (std::size_t s = 0; s < kSignals.size(); ++s) {
        const Kind& kind = kSignals[s];
        const Cycle phase = cycle + 37 * n;
        if (phase % kind.period != 0) continue;
        const std::uint64_t step = phase / kind.period;
        const std::uint64_t value = kind.bits == 64 ? step * 0x9E3779B97F4A7C15ULL : step;
        waves.change(cycle, ids[n * kSignals.size() + s],
                     value & (~std::uint64_t{0} >> (64 - kind.bits)));
        ++changes;
      }
    }
  }
  waves.flush(kCycles);
  waves.finish(kCycles);
  return changes;
}

void report(const std::string& name, WaveRecorder& waves, const std::string& path) {
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t changes = write(waves);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  fmt::print("{:<8} {:>12} {:>8.2f} {:>10.1f} {:>12.2f} {:>14.1f}\n", name, changes, taken.count(),
             bytes / 1e6, bytes / static_cast<double>(changes),
             1e9 * taken.count() / static_cast<double>(changes));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  fmt::print("{:<8} {:>12} {:>8} {:>10} {:>12} {:>14}\n", "", "changes", "s", "MB", "B/change",
             "ns/change");
  for (const std::string ending : {"vcd", "fst"}) {
    if (ending == "fst" && !has_fst()) continue;
    const std::string path = fmt::format("{}/waves.{}", argv[1], ending);
    WaveRecorder waves(path, 1'000'000'000);
    report(ending, waves, path);
  }
}
