// Measures a module of hw/rtl with yosys: its area in cells of Nangate45's areas, its delay in the
// OSU 0.18 um cells.
#pragma once

#include <string>

#include "hw/cost/cost_spec.h"

namespace espalier {

// E.g. "ni_control S=8 L=16 I=4".
[[nodiscard]] std::string describe(const RtlInstance& instance);

class Synthesizer {
 public:
  // Throws std::runtime_error with the Debian packages to install if the tool or the library is
  // missing.
  Synthesizer();

  // Takes seconds; a tree over 64 keys of 32 bits takes about twenty. Throws std::runtime_error if
  // the tool fails or leaves cells without an area.
  [[nodiscard]] SynthesizedLogic measure(const RtlInstance& instance) const;

 private:
  std::string yosys_;
  std::string library_;
};

}  // namespace espalier
