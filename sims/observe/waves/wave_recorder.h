// Collects changes of signals, which are found out of order, and writes them in order to a file for
// a waveform viewer. Only changes are written, so a constant signal costs nothing. Which values are
// written does not depend on the format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sims/observe/waves/change_queue.h"
#include "sims/observe/waves/gtkw_file.h"
#include "sims/observe/waves/signal_tree.h"
#include "sims/observe/waves/wave_format.h"

namespace espalier {

inline constexpr unsigned kFlowBits = 32;  // width of a flow id as a signal

// First add() and describe_scope() in any order, then begin(), finish(). Disk errors are
// std::runtime_error with path and reason, at the latest from finish(). A recorder that is
// destroyed without finish() leaves an incomplete file.
class WaveRecorder {
 public:
  // Creates or empties the file. The extension of `path` selects the format: .vcd, or .fst (about a
  // twentieth of the size). Throws std::invalid_argument for another extension, for .fst in a build
  // without it, and for clocks outside 1 Hz to 1 THz; std::runtime_error if the file cannot be
  // written. `scopes`: patterns in shell syntax for names of signals or of scopes; empty: all
  // signals.
  WaveRecorder(const std::string& path, std::uint64_t clock_hertz,
               const std::vector<std::string>& scopes = {});
  WaveRecorder(std::unique_ptr<WaveFormat> format, WaveClock clock,
               const std::vector<std::string>& scopes = {});

  // `path` is the full name, e.g. "net.r_1_2.in_e.vc0.occupancy": the part before the last dot
  // names its scopes. A file shows scopes, and the signals of a scope, in order of their first
  // add(), signals before inner scopes. `bits`: 1 to 64. Values with texts are shown as texts,
  // other values as decimal numbers or according to `display`. `texts` must outlive the recorder;
  // equal names must have equal texts. If the user does not want the signal, the result is invalid,
  // and changes of it are ignored. Throws std::invalid_argument if the name is not a list of
  // identifiers with dots between them, if a signal or scope already has the name, if `bits` is out
  // of range, or if the texts do not fit.
  SignalId add(const std::string& path, unsigned bits, const EnumText* texts = nullptr,
               GtkwDisplay display = GtkwDisplay::decimal);
  // The kind of component of a scope; GTKWave shows "ni0 (NetworkInterface)". Ignored for a scope
  // without signals, and in VCD files.
  void describe_scope(const std::string& path, const std::string& component) {
    tree_.describe_scope(path, component);
  }
  // False if no signal below this scope is wanted. A fast test before a scope is created.
  [[nodiscard]] bool may_want(const std::string& scope);
  // After the last add(): the first pattern that no signal matches, with the nearest name; empty if
  // all match.
  [[nodiscard]] std::string unmatched() const;
  [[nodiscard]] std::size_t num_signals() const { return signals_.size(); }
  // The wanted signals, in the order of add().
  [[nodiscard]] const std::vector<GtkwSignal>& signals() const { return signals_; }

  // Changes of one signal must be in order of time; changes of different signals may be in any
  // order. `at` must not be before the cycle of the last flush(). A change to the same value is
  // ignored; the last of several values in one cycle counts. A value that does not fit into the
  // signal's bits throws std::out_of_range.
  void change(Cycle at, SignalId signal, std::uint64_t value) { note(at, signal, {value, true}); }
  void change_to_unknown(Cycle at, SignalId signal) { note(at, signal, {0, false}); }

  // The window begins in cycle `first`, which must not be before the cycle of the last flush(). The
  // file begins with every signal's value at the end of that cycle, unknown ("x") if the signal had
  // no value by then.
  void begin(Cycle first = 0);
  // Writes all changes before cycle `until`; no more of them may follow.
  void flush(Cycle until);
  // The time axis ends in cycle `end`; changes that were not flushed are dropped.
  void finish(Cycle end);

 private:
  struct State {
    std::uint64_t most = 0;  // the largest value of the signal's width
    WaveValue noted;         // the last change's
    WaveValue present;       // of the last flushed change
    WaveValue written;
    bool touched = false;  // changed in the cycle that is being written
  };
  void note(Cycle at, SignalId signal, WaveValue value) {
    if (!signal.valid()) return;
    State& state = states_[signal.index()];
    if (state.noted == value) return;
    if (value.bits > state.most) refuse_value(signal, value.bits);
    state.noted = value;
    changes_.add({at, value.bits, signal, !value.known});
  }
  [[noreturn]] void refuse_value(SignalId signal, std::uint64_t value) const;
  [[nodiscard]] bool is_wanted(const std::string& path);
  // Writes the values of the cycle that ends.
  void write_cycle();
  void write_time(std::uint64_t time);

  WaveClock clock_;
  std::unique_ptr<WaveFormat> format_;
  struct Pattern {
    std::string text;
    std::string below;  // for everything in a scope that `text` matches
    bool is_matched = false;
  };
  std::vector<Pattern> patterns_;
  std::vector<std::string>
      names_;  // of scopes and signals that were asked for, if there are patterns
  SignalTree tree_;
  std::vector<GtkwSignal> signals_;
  std::vector<State> states_;  // by signal
  ChangeQueue changes_;
  std::vector<SignalId> touched_;
  Cycle first_ = kNever;  // of the window; kNever: not begun
  Cycle now_ = kNever;
  bool any_written_ = false;
  std::uint64_t time_ = 0;  // the last time in the file
};

}  // namespace espalier
