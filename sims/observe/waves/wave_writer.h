// Values over time for a waveform viewer. Written where a value changes: a signal that rests costs
// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// A signal of one writer, numbered in the order of add().
using SignalId = Id<struct SignalTag>;

// How a viewer shows numbers: value i as texts[i], a value beyond them as bits. Texts are not empty
// and have no line breaks; the name, of letters, digits and underscores, names files beside VCD.
struct EnumText {
  std::string name;
  std::vector<std::string> texts;
};

// First add() and describe_scope() in any order, then begin(), changes, finish(). A call out of
// this order throws std::logic_error.
class WaveWriter {
 public:
  virtual ~WaveWriter() = default;

  // `path` is the full name, e.g. "net.r_1_2.in_e.vc0.occupancy": what stands before the last dot
  // are its scopes. A file shows scopes, and the signals of a scope, in the order in which they
  // first appear here, signals before inner scopes. `bits`: 1 to 64. `texts` are copied; equal
  // names must have equal texts.
  // Throws std::invalid_argument where the name is no identifiers with dots between them, where it
  // was there before as a signal or as a scope, where `bits` is out of range or the texts do not
  // fit.
  virtual SignalId add(const std::string& path, unsigned bits, const EnumText* texts = nullptr) = 0;
  // What kind of component the scope is, in GTKWave "ni0 (NetworkInterface)". Of no effect on a
  // scope without signals, and in formats that cannot hold it (VCD).
  virtual void describe_scope(const std::string& path, const std::string& component) = 0;

  // The window of cycles that is recorded. Changes before it are kept in mind, not written: the
  // file begins with every signal's value at the end of cycle `first`, unknown ("x") where none was
  // given. Changes after `last` are dropped.
  // Throws std::invalid_argument where there is no signal, std::runtime_error, naming the file,
  // where it cannot be written.
  virtual void begin(Cycle first = 0, Cycle last = kNever) = 0;

  // `at` never decreases, over all signals (std::logic_error). A value equal to the one before is
  // dropped; of several in one cycle the last counts. A value that does not fit into the signal's
  // bits throws std::out_of_range. Disk errors appear here, or in finish(), as std::runtime_error.
  virtual void change(Cycle at, SignalId signal, std::uint64_t value) = 0;
  virtual void change_to_unknown(Cycle at, SignalId signal) = 0;

  // The time axis ends at `end`, or earlier where the window does. Throws std::runtime_error with
  // path and reason where the file could not be written. A writer that is destroyed without leaves
  // a file that ends somewhere before.
  virtual void finish(Cycle end) = 0;
};

}  // namespace espalier
