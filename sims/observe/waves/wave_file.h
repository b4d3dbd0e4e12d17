// Decides which values are written to a waveform file, in the same way for every format.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hw/ids.h"
#include "hw/topology/link_timing.h"
#include "sims/observe/waves/signal_tree.h"
#include "sims/observe/waves/wave_format.h"
#include "sims/observe/waves/wave_writer.h"

namespace espalier {

// Converts cycles to the time axis, which is the same in all formats.
class WaveClock {
 public:
  // Throws std::invalid_argument outside 1 Hz to 1 THz: at faster clocks, cycles would be shorter
  // than the unit of time.
  explicit WaveClock(std::uint64_t hertz);

  // The unit of time is 10 to this power in seconds: -9 at 1 GHz, so that the axis shows cycles,
  // and -12 at every other clock.
  [[nodiscard]] int timescale() const { return counts_cycles_ ? -9 : -12; }

  // The beginning of a cycle in this unit, rounded down. Different cycles have different times.
  [[nodiscard]] std::uint64_t time(Cycle cycle) const {
    return counts_cycles_ ? cycle : picoseconds_of(cycle, clock_);
  }

 private:
  ClockSpec clock_;
  bool counts_cycles_;
};

class WaveFile final : public WaveWriter {
 public:
  WaveFile(std::unique_ptr<WaveFormat> format, WaveClock clock);

  SignalId add(const std::string& path, unsigned bits, const EnumText* texts) override;
  void describe_scope(const std::string& path, const std::string& component) override;
  void begin(Cycle first, Cycle last) override;
  void change(Cycle at, SignalId signal, std::uint64_t value) override;
  void change_to_unknown(Cycle at, SignalId signal) override;
  void finish(Cycle end) override;

 private:
  enum class Stage { declaring, recording, finished };

  struct State {
    std::uint64_t most = 0;  // the largest value of the signal's width
    WaveValue written;
    WaveValue present;
    bool touched = false;  // changed in this cycle
  };

  void note(Cycle at, SignalId signal, WaveValue value);
  void go_to(Cycle cycle);
  // Writes the values of the cycle that ends.
  void write_cycle();
  void write_time(std::uint64_t time);
  void expect(Stage stage, const char* what) const;

  std::unique_ptr<WaveFormat> format_;
  WaveClock clock_;
  SignalTree tree_;
  Stage stage_ = Stage::declaring;
  Cycle first_ = 0;
  Cycle last_ = kNever;
  Cycle now_ = kNever;  // kNever while changes are not allowed
  bool any_written_ = false;
  std::uint64_t time_ = 0;  // the last time in the file
  std::vector<State> states_;
  std::vector<SignalId> touched_;  // capacity for all signals
};

}  // namespace espalier
