// A save file for GTKWave: which signals to show, and in which form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "sims/observe/waves/wave_format.h"

namespace espalier {

// For signals of several bits. GTKWave draws a single bit as a line in every display.
enum class GtkwDisplay { decimal, hex, binary, analog_step, enum_text };

struct GtkwSignal {
  std::string path;  // as given to WaveRecorder::add, like bits and texts
  unsigned bits = 1;
  GtkwDisplay display = GtkwDisplay::decimal;
  const EnumText* texts = nullptr;  // for enum_text
};

struct GtkwGroup {
  std::string title;
  bool open = true;
  std::vector<GtkwSignal> signals;
};

struct GtkwView {
  std::string waves;  // the file, .vcd or .fst
  std::uint64_t clock_hertz = 1'000'000'000;
  // The window that is visible after opening.
  Cycle first = 0;
  Cycle end = 0;
  std::optional<Cycle> marker;  // of the primary marker, at which GTKWave shows all values
  std::vector<GtkwGroup> groups;
};

// Writes "run.fst.gtkw" for waves "run.fst", and returns its path. An FST file contains the texts
// for values; for a VCD file they are written to a folder "run.vcd.flt" beside it. Waves, save file
// and folder may be moved together. Throws std::invalid_argument for enum_text without texts, and
// std::runtime_error with path and reason if a file cannot be written.
std::string write_gtkw_file(const GtkwView& view);

}  // namespace espalier
