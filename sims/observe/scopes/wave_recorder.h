// Collects changes of signals, which are found out of order, and writes them in order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sims/observe/waves/change_queue.h"
#include "sims/observe/waves/gtkw_file.h"
#include "sims/observe/waves/wave_writer.h"

namespace espalier {

inline constexpr unsigned kFlowBits = 32;  // of a flow id as a signal

// A signal of a recorder; one that nobody wants to see is not valid, and changes of it are nothing.
using WaveSignal = SignalId;

class WaveRecorder {
 public:
  // `scopes`: patterns as of a shell for names of signals or of scopes; none: everything.
  WaveRecorder(std::unique_ptr<WaveWriter> writer, std::vector<std::string> scopes);

  // Values with texts are shown as these, others as decimal numbers, or as `display` says. `texts`
  // must outlive the recorder.
  [[nodiscard]] WaveSignal add(const std::string& path, unsigned bits,
                               const EnumText* texts = nullptr,
                               GtkwDisplay display = GtkwDisplay::decimal);
  // False: no signal below this scope is wanted. A quick look, before a scope is made.
  [[nodiscard]] bool may_want(const std::string& scope) const;
  void describe_scope(const std::string& path, const std::string& component) {
    writer_->describe_scope(path, component);
  }
  [[nodiscard]] std::size_t num_signals() const { return signals_.size(); }
  // Those that are wanted, in the order of add().
  [[nodiscard]] const std::vector<GtkwSignal>& signals() const { return signals_; }

  // Of one signal in the order of time, of several in any; not before the cycle of the last
  // flush(). A value that the signal has already is nothing.
  void change(Cycle at, WaveSignal signal, std::uint64_t value) {
    note(at, signal, {false, value});
  }
  void change_to_unknown(Cycle at, WaveSignal signal) { note(at, signal, {true, 0}); }

  // The window begins in this cycle, which no flush() has reached yet.
  void begin(Cycle first);
  // All changes before cycle `until` are there: writes them. Those before the window are kept in
  // mind.
  void flush(Cycle until);
  // After begin(). The time axis ends in cycle `end`. Throws std::runtime_error where the file is
  // not complete.
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
  std::vector<std::string> patterns_;  // of signals: those given, and what lies below them
  std::vector<GtkwSignal> signals_;
  ChangeQueue changes_;
  std::vector<Value> noted_;   // by signal: the last one
  std::vector<Value> before_;  // by signal: the last one before the window
  bool has_begun_ = false;
};

}  // namespace espalier
