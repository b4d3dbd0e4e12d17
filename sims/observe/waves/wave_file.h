// Which values a file gets: the same ones in every format.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sims/observe/waves/signal_tree.h"
#include "sims/observe/waves/wave_clock.h"
#include "sims/observe/waves/wave_format.h"
#include "sims/observe/waves/wave_writer.h"

namespace espalier {

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
    std::uint64_t most = 0;  // the largest value
    WaveValue written;
    WaveValue present;
    bool touched = false;  // in this cycle
  };

  void note(Cycle at, SignalId signal, WaveValue value);
  void go_to(Cycle cycle);
  // The values of the cycle that ends.
  void write_cycle();
  void write_time(std::uint64_t time);
  void expect(Stage stage, const char* what) const;

  std::unique_ptr<WaveFormat> format_;
  WaveClock clock_;
  SignalTree tree_;
  Stage stage_ = Stage::declaring;
  Cycle first_ = 0;
  Cycle last_ = kNever;
  Cycle now_ = kNever;  // kNever where changes are out of place
  bool any_written_ = false;
  std::uint64_t time_ = 0;  // the last one in the file
  std::vector<State> states_;
  std::vector<SignalId> touched_;  // room for all signals
};

}  // namespace espalier
