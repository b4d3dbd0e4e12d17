#include "hw/cost/technology.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

struct NodeValue {
  double node_nm;
  double value;
};

// Interpolates linearly between two nodes, in the logarithms of node and value. Outside the table,
// the first or last segment is extended.
double interpolate(const std::vector<NodeValue>& table, double node_nm) {
  std::size_t i = 0;
  while (i + 2 < table.size() && node_nm > table[i + 1].node_nm) ++i;
  const NodeValue& a = table[i];
  const NodeValue& b = table[i + 1];
  const double exponent = std::log(b.value / a.value) / std::log(b.node_nm / a.node_nm);
  return a.value * std::pow(node_nm / a.node_nm, exponent);
}

// Measured with the libraries' cell timing, without wires: OSU 0.18 99 ps, ASAP7 RVT TT 19.5 ps. In
// between, FO4 is proportional to the feature size (rule of thumb: 0.5 ps per nm). Below, it stays
// at ASAP7's value, because supply voltages no longer fall with the feature size.
constexpr double kFo4PsPerNm = 99.0 / 180.0;
constexpr double kShortestFo4Ps = 19.5;

}  // namespace

const std::vector<LibraryCells>& cell_libraries() {
  // ASAP7's NAND2 is NAND2xp5; ASAP7 is a predictive library that no foundry makes. IHP's flip-flop
  // has a reset.
  static const std::vector<LibraryCells> table{
      {CellLibrary::osu050, "osu050", 500, 216, 144, 864, 1080, 432, 504, 0},
      {CellLibrary::osu035, "osu035", 350, 96, 64, 384, 480, 192, 224, 0},
      {CellLibrary::osu018, "osu018", 180, 24, 16, 96, 120, 48, 56, 0},
      {CellLibrary::gf180mcu, "gf180mcu", 180, 10.976, 8.781, 63.66, 72.44, 28.54, 26.34, 0},
      {CellLibrary::ihp_sg13g2, "ihp_sg13g2", 130, 7.258, 5.443, 52.62, 0, 18.14, 14.52, 30.84},
      {CellLibrary::sky130hd, "sky130hd", 130, 3.754, 3.754, 20.02, 20.02, 11.26, 8.758, 15.01},
      {CellLibrary::nangate45, "nangate45", 45, 0.798, 0.532, 4.522, 4.256, 1.862, 1.596, 2.660},
      {CellLibrary::asap7, "asap7", 7, 0.05832, 0.04374, 0.2916, 0.2041, 0, 0.1750, 0.2187},
  };
  return table;
}

const LibraryCells& cells_of(CellLibrary library) {
  return cell_libraries()[static_cast<std::size_t>(library)];
}

Technology::Technology(const CostSpec& spec)
    : cells_(cells_of(spec.library)),
      name_(spec.user_library ? spec.user_library->name : cells_.name),
      node_nm_(spec.node_nm != 0 ? static_cast<double>(spec.node_nm) : cells_.feature_nm),
      nand2_um2_(spec.user_library ? spec.user_library->nand2_um2
                                   : cells_.nand2 * std::pow(node_nm_ / cells_.feature_nm, 2)),
      fo4_ps_(spec.fo4_ps != 0 ? static_cast<double>(spec.fo4_ps)
                               : std::max(kFo4PsPerNm * node_nm_, kShortestFo4Ps)),
      wire_margin_(spec.wire_margin) {}

double Technology::wire_pitch_um() const {
  // From DSENT's technology files, where 45 and 32 nm have the same pitch.
  static const std::vector<NodeValue> dsent{{11, 0.08}, {22, 0.11}, {32, 0.22}, {45, 0.22}};
  if (node_nm_ > 45) return 0.22 * node_nm_ / 45;
  if (node_nm_ < 11) return 0.08 * node_nm_ / 11;
  return interpolate(dsent, node_nm_);
}

double Technology::logic_energy_factor() const {
  // DSENT: energy of a buffer write and read, relative to 8.93 pJ at 45 nm. Crossbars and
  // allocators are within 7 %.
  static const std::vector<NodeValue> dsent{
      {11, 0.71 / 8.93}, {22, 2.30 / 8.93}, {32, 4.92 / 8.93}, {45, 1}};
  return interpolate(dsent, node_nm_);
}

double Technology::sram_energy_factor() const {
  // CACTI 7: mean over reads and writes of six shapes, each within 8 % of the mean. Below 22 nm
  // SRAM scales as logic does.
  static const std::vector<NodeValue> cacti{
      {11, 0.281 * 0.71 / 2.30}, {22, 0.281}, {32, 0.543}, {45, 1}};
  return interpolate(cacti, node_nm_);
}

double Technology::clock_pj_per_flip_flop() const {
  static const std::vector<NodeValue> dsent{{11, 0.06}, {22, 0.20}, {32, 0.35}, {45, 0.61}};
  constexpr double kFlitsPerCycle = 5 * 0.3;
  constexpr double kFlipFlops = 2 * 5 * 128 + 5 * 128;  // of buffers and crossbar
  return interpolate(dsent, node_nm_) * kFlitsPerCycle / kFlipFlops;
}

std::optional<double> Technology::leakage_mw_per_gate() const {
  // mW of a router of five ports, 128 bits, four VCs of four flits: so many gates by the formulas.
  static const std::vector<NodeValue> dsent{{11, 6.4}, {22, 21.6}, {32, 25.2}, {45, 29.5}};
  constexpr double kGates = 121'800;
  if (node_nm_ < 11 || node_nm_ > 45) return std::nullopt;
  return interpolate(dsent, node_nm_) / kGates;
}

std::optional<double> Technology::sram_leakage_factor() const {
  // Mean over six shapes, each within 4 % of the mean.
  static const std::vector<NodeValue> cacti{
      {11, 0.120 * 6.4 / 21.6}, {22, 0.120}, {32, 0.245}, {45, 1}};
  if (node_nm_ < 11 || node_nm_ > 45) return std::nullopt;
  return interpolate(cacti, node_nm_);
}

}  // namespace espalier
