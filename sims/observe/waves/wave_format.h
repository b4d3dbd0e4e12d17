// The interface of a waveform file format, and the formats. WaveRecorder decides which values are
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "hw/topology/link_timing.h"

namespace espalier {

// A signal of one file, numbered in the order in which signals are added.
using SignalId = Id<struct SignalTag>;

// Texts that a viewer shows for numbers: texts[i] for value i; a larger value is shown as bits.
// Texts are not empty and have no line breaks. The name consists of letters, digits and
// underscores, because it becomes the name of a file beside a VCD file.
struct EnumText {
  std::string name;
  std::vector<std::string> texts;
};

struct WaveSignal {
  std::string name;  // without scopes
  unsigned bits = 1;
  const EnumText* texts = nullptr;  // lives as long as the signal's format
};

struct WaveValue {
  std::uint64_t bits = 0;
  bool known = false;

  friend bool operator==(WaveValue a, WaveValue b) {
    return a.bits == b.bits && a.known == b.known;
  }
};

// Errors of the disk are std::runtime_error with path and reason, at the latest from close().
// A format that is destroyed without close() leaves an incomplete file.
class WaveFormat {
 public:
  virtual ~WaveFormat() = default;

  // The header. Scopes nest, and every signal is declared once.
  virtual void begin_header(int timescale, std::size_t num_signals) = 0;
  virtual void open_scope(const std::string& name, const std::string& component) = 0;
  virtual void declare(SignalId id, const WaveSignal& signal) = 0;
  virtual void close_scope() = 0;
  virtual void end_header() = 0;

  // Times in ascending order, each followed by the values that changed. The first time is followed
  // by the values of all signals.
  virtual void time(std::uint64_t time) = 0;
  virtual void value(SignalId id, WaveValue value) = 0;
  virtual void close() = 0;
};

// Value change dump (VCD), IEEE 1364: a text format that every viewer reads. The file has no date,
// so that equal runs give equal files. The format has no texts for values; gtkw_file.h writes them.
// Throws std::runtime_error if the file cannot be written.
[[nodiscard]] std::unique_ptr<WaveFormat> open_vcd(const std::string& path);

// FST (fast signal trace), GTKWave's packed format, written with GTKWave's own writer. Throws
// std::invalid_argument if has_fst() is false, std::runtime_error if the file cannot be written. A
// full disk may be noticed only in close(): the writer collects 128 MiB before it packs them. Until
// then it keeps names in a file "<path>.hier", which a killed process leaves behind.
[[nodiscard]] std::unique_ptr<WaveFormat> open_fst(const std::string& path);
// False if the sources of this writer were not found at build time.
[[nodiscard]] bool has_fst();

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

// Writes the lowest `bits` (1 to 64) bits as digits 0 and 1, highest first, without a terminating
// zero.
void write_binary(char* to, std::uint64_t value, unsigned bits);

// The number of bits without leading zeros; 1 for the value 0.
[[nodiscard]] unsigned significant_bits(std::uint64_t value);

}  // namespace espalier
