// Collects changes of signals, which are found out of order, and writes them in order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sims/observe/waves/change_queue.h"
#include "sims/observe/waves/gtkw_file.h"
#include "sims/observe/waves/wave_writer.h"

namespace espalier {

inline constexpr unsigned kFlowBits = 32;  // width of a flow id as a signal

// A signal of a recorder. If the user does not want a signal, its id is invalid, and changes of it
// are ignored.
using WaveSignal = SignalId;

class WaveRecorder {
 public:
  // `scopes`: patterns in shell syntax for names of signals or of scopes; empty: all signals.
  WaveRecorder(std::unique_ptr<WaveWriter> writer, std::vector<std::string> scopes);

  // Values with texts are shown as texts, other values as decimal numbers or according to
  // `display`. `texts` must outlive the recorder.
  [[nodiscard]] WaveSignal add(const std::string& path, unsigned bits,
                               const EnumText* texts = nullptr,
                               GtkwDisplay display = GtkwDisplay::decimal);
  // False if no signal below this scope is wanted. A fast test before a scope is created.
  [[nodiscard]] bool may_want(const std::string& scope) const;
  void describe_scope(const std::string& path, const std::string& component) {
    writer_->describe_scope(path, component);
  }
  [[nodiscard]] std::size_t num_signals() const { return signals_.size(); }
  // The wanted signals, in the order of add().
  [[nodiscard]] const std::vector<GtkwSignal>& signals() const { return signals_; }

  // Changes of one signal must be in order of time; changes of different signals may be in any
  // order. `at` must not be before the cycle of the last flush(). A change to the same value is
  // ignored.
  void change(Cycle at, WaveSignal signal, std::uint64_t value) {
    note(at, signal, {false, value});
  }
  void change_to_unknown(Cycle at, WaveSignal signal) { note(at, signal, {true, 0}); }

  // The window begins in cycle `first`, which must not be before the cycle of the last flush().
  void begin(Cycle first);
  // Writes all changes before cycle `until`; no more of them may follow. Of changes before the
  // window, only the last value of each signal is kept.
  void flush(Cycle until);
  // To be called after begin(). The time axis ends in cycle `end`. Throws std::runtime_error if the
  // file is not complete.
  void finish(Cycle end);

 private:
  struct Value {
    bool is_unknown = true;
    std::uint64_t bits = 0;
  };
  void note(Cycle at, WaveSignal signal, Value value) {
    if (!signal.valid()) return;
    Value& last = noted_[signal.index()];
    if (last.is_unknown == value.is_unknown && last.bits == value.bits) return;
    last = value;
    changes_.add({at, value.bits, signal, value.is_unknown});
  }
  [[nodiscard]] bool is_wanted(const std::string& path) const;
  void write(const WaveChange& change);

  std::unique_ptr<WaveWriter> writer_;
  std::vector<std::string> patterns_;  // the given patterns, and patterns for everything below them
  std::vector<GtkwSignal> signals_;
  ChangeQueue changes_;
  std::vector<Value> noted_;   // by signal: last value
  std::vector<Value> before_;  // by signal: last value before the window
  bool has_begun_ = false;
};

}  // namespace espalier
