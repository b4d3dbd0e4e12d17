// Measures a module of hw/rtl with yosys. Without a user's library: its area in cells of
// Nangate45's areas, its delay in the OSU 0.18 um cells. With one: area, delay and leakage in its
// cells.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "hw/cost/cost_spec.h"

namespace espalier {

// A Verilog source of hw/rtl, built into the program.
struct RtlSource {
  const char* name;  // of the module
  const char* text;
};
[[nodiscard]] RtlSource rtl_source(RtlModule module);

// A file of this folder that is part of the program: map.abc maps for delay, with buffers and
// sizes, and prints the delay of the critical path; timing.tcl is OpenSTA's; probes.v and probes.ys
// try a library; delay.ys follows the mapping for area; areas.lib is the library without a user's.
[[nodiscard]] std::string synthesis_script(std::string_view name);

// E.g. "ni_control S=8 L=16 I=4".
[[nodiscard]] std::string describe(const RtlInstance& instance);

class Synthesizer {
 public:
  // Throws std::runtime_error with the Debian packages to install if the tool or the library is
  // missing.
  Synthesizer();
  // A user's Liberty file. Delays are OpenSTA's (Debian: opensta) if it is installed, and otherwise
  // abc's, which has no setup times; a library without timing gives none. Throws
  // std::runtime_error with the place if the file cannot be read, or if yosys cannot map a NAND2
  // and a flip-flop to its cells.
  explicit Synthesizer(const std::string& liberty);

  [[nodiscard]] const std::optional<UserLibrary>& user_library() const { return user_library_; }

  // Takes seconds; a tree over 64 keys of 32 bits takes about twenty. Throws std::runtime_error if
  // a tool fails or leaves cells without an area.
  [[nodiscard]] SynthesizedLogic measure(const RtlInstance& instance) const;

 private:
  std::string yosys_;
  std::string sta_;  // empty: not installed, or the library has no timing
  std::string library_;
  std::optional<UserLibrary> user_library_;
  bool has_timing_ = true;
  std::map<std::string, double> leakage_nw_;  // by cell; without cells whose leakage is not stated
};

}  // namespace espalier
