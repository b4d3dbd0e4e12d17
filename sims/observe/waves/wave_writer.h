// Writes values over time for a waveform viewer. Only changes are written, so a constant signal
// costs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// A signal of one writer, numbered in the order of add().
using SignalId = Id<struct SignalTag>;

// Texts that a viewer shows for numbers: texts[i] for value i; a larger value is shown as bits.
// Texts are not empty and have no line breaks. The name consists of letters, digits and
// underscores, because it becomes the name of a file beside a VCD file.
struct EnumText {
  std::string name;
  std::vector<std::string> texts;
};

// First add() and describe_scope() in any order, then begin(), changes, finish(). A call out of
// this order throws std::logic_error.
class WaveWriter {
 public:
  virtual ~WaveWriter() = default;

  // `path` is the full name, e.g. "net.r_1_2.in_e.vc0.occupancy": the part before the last dot
  // names its scopes. A file shows scopes, and the signals of a scope, in order of their first
  // add(), signals before inner scopes. `bits`: 1 to 64. `texts` are copied; equal names must have
  // equal texts. Throws std::invalid_argument if the name is not a list of identifiers with dots
  // between them, if a signal or scope already has the name, if `bits` is out of range, or if the
  // texts do not fit.
  virtual SignalId add(const std::string& path, unsigned bits, const EnumText* texts = nullptr) = 0;
  // The kind of component of a scope; GTKWave shows "ni0 (NetworkInterface)". Ignored for a scope
  // without signals, and in VCD files.
  virtual void describe_scope(const std::string& path, const std::string& component) = 0;

  // The window of cycles that is recorded. The file begins with every signal's value at the end of
  // cycle `first`, unknown ("x") if the signal had no value by then. Changes after `last` are
  // dropped. Throws std::invalid_argument if there is no signal, std::runtime_error with the file's
  // name if it cannot be written.
  virtual void begin(Cycle first = 0, Cycle last = kNever) = 0;

  // `at` never decreases, over all signals (std::logic_error). A value equal to the previous one is
  // dropped; the last of several values in one cycle counts. A value that does not fit into the
  // signal's bits throws std::out_of_range. Disk errors appear here, or in finish(), as
  // std::runtime_error.
  virtual void change(Cycle at, SignalId signal, std::uint64_t value) = 0;
  virtual void change_to_unknown(Cycle at, SignalId signal) = 0;

  // The time axis ends at `end`, or at the end of the window. Throws std::runtime_error with path
  // and reason if the file could not be written. A writer that is destroyed without finish() leaves
  // an incomplete file.
  virtual void finish(Cycle end) = 0;
};

// Creates or empties the file. The extension of `path` selects the format: .vcd, or .fst (about a
// twentieth of the size). Throws std::invalid_argument for another extension, for .fst in a build
// without it, and for clocks outside 1 Hz to 1 THz; std::runtime_error if the file cannot be
// written.
[[nodiscard]] std::unique_ptr<WaveWriter> make_wave_writer(const std::string& path,
                                                           std::uint64_t clock_hertz);

}  // namespace espalier
