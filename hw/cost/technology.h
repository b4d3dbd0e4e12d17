// Converts gates, logic levels and memories to µm², ps and pJ. Only this file depends on the
// process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hw/cost/cost_spec.h"

namespace espalier {

// Area of logic in gate equivalents. One gate equivalent is the library's drive-1 NAND2.
struct Gates {
  double value = 0;
};
[[nodiscard]] constexpr Gates operator+(Gates a, Gates b) { return {a.value + b.value}; }
[[nodiscard]] constexpr Gates operator*(double n, Gates a) { return {n * a.value}; }

// Delay of logic in FO4: delays of an inverter that drives four inverters like itself.
struct Depth {
  double fo4 = 0;
};
[[nodiscard]] constexpr Depth operator+(Depth a, Depth b) { return {a.fo4 + b.fo4}; }
[[nodiscard]] constexpr Depth operator*(double n, Depth a) { return {n * a.fo4}; }

// A cell library as read from its Liberty or LEF file. Areas in µm²; 0: the library has no such
// cell, or no comparable one.
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

// A library at any feature size. Areas scale with the square of the feature size (CACTI: exactly;
// Nangate45 scaled so, against DSENT's own 32 and 22 nm: within 8 %).
class Technology {
 public:
  explicit Technology(const CostSpec& spec);

  // Of the cell library, or of the user's.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const LibraryCells& cells() const { return cells_; }
  [[nodiscard]] double node_nm() const { return node_nm_; }
  [[nodiscard]] double feature_um() const { return node_nm_ / 1000; }

  // Cell area, before utilization.
  [[nodiscard]] double um2(Gates gates) const { return gates.value * nand2_um2_; }
  // Wires and setup included.
  [[nodiscard]] double ps(Depth depth) const { return depth.fo4 * fo4_ps_ * (1 + wire_margin_); }
  [[nodiscard]] double fo4_ps() const { return fo4_ps_; }
  // Pitch in µm of intermediate metal, in which crossbars are wired.
  [[nodiscard]] double wire_pitch_um() const;
  // Ratio of an event's energy to its energy at 45 nm. Flip-flops, gates and wires scale as in
  // DSENT (supplies of 1.0, 0.9, 0.8, 0.6 V at 45, 32, 22, 11 nm), SRAM as in CACTI.
  [[nodiscard]] double logic_energy_factor() const;
  [[nodiscard]] double sram_energy_factor() const;
  // Energy in pJ of the clock tree for one flip-flop and cycle. DSENT's router (five ports of 128
  // bits, 0.3 flits per cycle and port) takes 0.61 pJ per flit at 45 nm; its 1920 pipeline
  // flip-flops are clocked in every cycle, the words of its buffers only when they are written.
  [[nodiscard]] double clock_pj_per_flip_flop() const;
  // Leakage at 340 K. Empty outside of the nodes for which there are data: 11 to 45 nm.
  // Logic, mW per gate equivalent: DSENT's router leaks 29.5 mW at 45 nm.
  [[nodiscard]] std::optional<double> leakage_mw_per_gate() const;
  // SRAM, relative to 45 nm: CACTI, 32 and 22 nm; below, as logic.
  [[nodiscard]] std::optional<double> sram_leakage_factor() const;

 private:
  const LibraryCells& cells_;
  std::string name_;
  double node_nm_;
  double nand2_um2_;
  double fo4_ps_;
  double wire_margin_;
};

}  // namespace espalier
