// Collects changes of signals, which are found out of order, and writes them in order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sims/trace/wave_window.h"
#include "sims/waves/wave_writer.h"

namespace espalier {

// A signal of a recorder; one that nobody wants to see is not valid, and changes of it are nothing.
using WaveSignal = SignalId;

class WaveRecorder {
 public:
  // `scopes`: patterns as of a shell for names of signals or of scopes; none: everything.
  WaveRecorder(std::unique_ptr<WaveWriter> writer, std::vector<std::string> scopes);

  [[nodiscard]] WaveSignal add(const std::string& path, unsigned bits,
                               const EnumText* texts = nullptr);
  void describe_scope(const std::string& path, const std::string& component) {
    writer_->describe_scope(path, component);
  }
  [[nodiscard]] std::size_t num_signals() const { return num_signals_; }

  // In any order, but not before the cycle of the last flush().
  void change(Cycle at, WaveSignal signal, std::uint64_t value) {
    if (signal.valid()) changes_.push_back({at, signal, false, value});
  }
  void change_to_unknown(Cycle at, WaveSignal signal) {
    if (signal.valid()) changes_.push_back({at, signal, true, 0});
  }

  // The window begins in this cycle, which no flush() has reached yet.
  void begin(Cycle first);
  // All changes before cycle `until` are there: writes them. Those before the window are kept in
  // mind.
  void flush(Cycle until);
  // The time axis ends in cycle `end`. Throws std::runtime_error where the file is not complete.
  void finish(Cycle end);

 private:
  struct Change {
    Cycle at;
    WaveSignal signal;
    bool is_unknown;
    std::uint64_t value;
  };
  [[nodiscard]] bool is_wanted(const std::string& path) const;
  void write(const Change& change);

  std::unique_ptr<WaveWriter> writer_;
  std::vector<std::string> scopes_;
  std::size_t num_signals_ = 0;
  std::vector<Change> changes_;
  std::vector<Change> due_;  // kept for its memory
  // Before the window: the last value of each signal.
  std::vector<Change> values_;
  Cycle first_ = kNever;
  bool has_begun_ = false;
};

}  // namespace espalier
