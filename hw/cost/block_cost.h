// What one kind of block costs, and where that number comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/cost/cost_spec.h"
#include "hw/cost/technology.h"

namespace espalier {

// formula: gate counts fitted to synthesis, SRAM fitted to CACTI; synthesized: this very size, by a
// synthesis tool; user: a macro that the user describes.
enum class Origin : std::uint8_t { formula, synthesized, user };
// wires: a crossbar whose wires need more room than its gates.
enum class Implementation : std::uint8_t { logic, flip_flop, sram, wires, macro };

[[nodiscard]] const char* to_string(Origin origin);
[[nodiscard]] const char* to_string(Implementation implementation);
// "router.buffers", as in results and, with the dot, in system.cost.macros.
[[nodiscard]] const char* to_string(CostBlock block);

// µm² of cells. Of logic both ends are the same.
struct AreaRange {
  double low = 0;
  double high = 0;
};
[[nodiscard]] constexpr AreaRange operator+(AreaRange a, AreaRange b) {
  return {a.low + b.low, a.high + b.high};
}
[[nodiscard]] constexpr AreaRange operator*(double n, AreaRange a) {
  return {n * a.low, n * a.high};
}

struct BlockCost {
  CostBlock block = CostBlock::router_buffers;
  std::uint32_t dimension = 0;  // from 1; 0: the system has none
  double count = 1;             // instances
  AreaRange each;
  Implementation implementation = Implementation::logic;
  double words = 0;                 // of a memory, or a table of bits; 0: it is none
  double bits = 0;                  // of a word
  Origin origin = Origin::formula;  // of the area
  Origin delay_origin = Origin::formula;
  Origin energy_origin = Origin::formula;
  double delay_ps = 0;  // critical path of logic, wires and setup included; access of a memory
  double delay_fo4 = 0;
  double read_pj = 0;              // of one use; a memory's: of one read
  double write_pj = 0;             // of one write
  std::optional<RtlInstance> rtl;  // the source that a synthesis tool could measure

  [[nodiscard]] AreaRange area() const { return count * each; }
  // "router.dim2.buffers" where there are dimensions.
  [[nodiscard]] std::string name() const;
};

[[nodiscard]] AreaRange area_of(const std::vector<BlockCost>& blocks);

// Gates and levels of a block that is logic alone. With `rtl`, what a synthesis tool found for that
// source, where the specification has it.
[[nodiscard]] BlockCost logic_block(CostBlock block, Gates gates, Depth depth,
                                    const std::optional<RtlInstance>& rtl, const CostSpec& spec,
                                    const Technology& technology);

// What the user says of the block in place of what the formulas say.
void apply_macro(BlockCost& cost, const UserMacro& macro, double fo4_ps);

}  // namespace espalier
