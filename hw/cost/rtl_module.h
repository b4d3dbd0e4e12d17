// The modules of hw/rtl, which a synthesis tool can measure in place of a formula.
#pragma once

#include <cstdint>

namespace espalier {

enum class RtlModule : std::uint8_t {
  ni_control,
  dependency_table,
  fifo_control,
  scf_finder,
  readiness_table
};

// A module with its parameters in the order of its source: ni_control S, L; dependency_table N, K;
// fifo_control A, 0; scf_finder N, K; readiness_table UNITS, CHILDREN.
struct RtlInstance {
  RtlModule module = RtlModule::ni_control;
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  [[nodiscard]] friend bool operator==(const RtlInstance& a, const RtlInstance& b) {
    return a.module == b.module && a.first == b.first && a.second == b.second;
  }
};

// What a synthesis tool found for it: area in drive-1 NAND2s and critical path in FO4, both of the
// library it was mapped to; wires and setup not included.
struct SynthesizedLogic {
  RtlInstance instance;
  double gates = 0;
  double fo4 = 0;
};

}  // namespace espalier
