// What a file format has to know how to write. Which values there are to write is decided before,
// once for all formats, in wave_file.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sims/observe/waves/wave_writer.h"

namespace espalier {

// As a format writes it.
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
// Destroyed without close(), a format leaves what it has.
class WaveFormat {
 public:
  virtual ~WaveFormat() = default;

  // Header: scopes nest, every signal is declared once.
  virtual void begin_header(int timescale, std::size_t num_signals) = 0;
  virtual void open_scope(const std::string& name, const std::string& component) = 0;
  virtual void declare(SignalId id, const WaveSignal& signal) = 0;
  virtual void close_scope() = 0;
  virtual void end_header() = 0;

  // Then times, ascending, and after each the values that are new. After the first time these are
  // all signals'.
  virtual void time(std::uint64_t time) = 0;
  virtual void value(SignalId id, WaveValue value) = 0;
  virtual void close() = 0;
};

}  // namespace espalier
