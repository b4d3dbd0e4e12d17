// From gates, logic levels and memories to µm², ps and pJ: the only place that knows a process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/cost/cost_spec.h"

namespace espalier {

// Area of logic in gate equivalents: one is the library's drive-1 NAND2.
struct Gates {
  double value = 0;
};
[[nodiscard]] constexpr Gates operator+(Gates a, Gates b) { return {a.value + b.value}; }
[[nodiscard]] constexpr Gates operator*(double n, Gates a) { return {n * a.value}; }

// Delay of logic in inverters that drive four of their kind.
struct Depth {
  double fo4 = 0;
};
[[nodiscard]] constexpr Depth operator+(Depth a, Depth b) { return {a.fo4 + b.fo4}; }
[[nodiscard]] constexpr Depth operator*(double n, Depth a) { return {n * a.fo4}; }

// A cell library as read from its Liberty or LEF file. Areas in µm²; 0: the library has no such
// cell, or none that is comparable.
struct LibraryCells {
  CellLibrary library;
  const char* name;
  double feature_nm;
  double nand2;
  double inverter;
  double flip_flop;
  double full_adder;
  double mux2;
  double xor2;
  double latch;
};
[[nodiscard]] const std::vector<LibraryCells>& cell_libraries();
[[nodiscard]] const LibraryCells& cells_of(CellLibrary library);

// A library at a feature size, which need not be its own: areas go with the feature size squared
// (CACTI: exactly; Nangate45 scaled so against DSENT's own 32 and 22 nm: within 8 %).
class Technology {
 public:
  explicit Technology(const CostSpec& spec);

  [[nodiscard]] const LibraryCells& cells() const { return cells_; }
  [[nodiscard]] double node_nm() const { return node_nm_; }
  [[nodiscard]] double feature_um() const { return node_nm_ / 1000; }

  // Cell area, before utilization.
  [[nodiscard]] double um2(Gates gates) const { return gates.value * nand2_um2_; }
  // Wires and setup included.
  [[nodiscard]] double ps(Depth depth) const { return depth.fo4 * fo4_ps_ * (1 + wire_margin_); }
  [[nodiscard]] double fo4_ps() const { return fo4_ps_; }
  // Of intermediate metal, which crossbars are wired in. µm.
  [[nodiscard]] double wire_pitch_um() const;
  // Energy of an event against the same at 45 nm: of flip-flops, gates and wires as DSENT has it
  // (supplies of 1.0, 0.9, 0.8, 0.6 V at 45, 32, 22, 11 nm), and of SRAM as CACTI has it.
  [[nodiscard]] double logic_energy_factor() const;
  [[nodiscard]] double sram_energy_factor() const;

 private:
  const LibraryCells& cells_;
  double node_nm_;
  double nand2_um2_;
  double fo4_ps_;
  double wire_margin_;
};

}  // namespace espalier
