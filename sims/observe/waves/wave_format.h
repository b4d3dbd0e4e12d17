// The interface of a waveform file format. WaveFile decides which values are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sims/observe/waves/wave_writer.h"

namespace espalier {

struct WaveSignal {
  std::string name;  // without scopes
  unsigned bits = 1;
  const EnumText* texts = nullptr;  // lives as long as the signal's writer
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

// Writes the lowest `bits` (1 to 64) bits as digits 0 and 1, highest first, without a terminating
// zero.
void write_binary(char* to, std::uint64_t value, unsigned bits);

// The number of bits without leading zeros; 1 for the value 0.
[[nodiscard]] unsigned significant_bits(std::uint64_t value);

}  // namespace espalier
