// The cost of one kind of block, and the origin of each number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/cost/cost_spec.h"
#include "hw/cost/technology.h"

namespace espalier {

// formula: gate counts fitted to synthesis, SRAM fitted to CACTI, clock tree and leakage of DSENT.
// published: of a paper, scaled to the node. synthesized: a synthesis tool measured a block of
// exactly this size. user: a macro that the user describes.
enum class Origin : std::uint8_t { formula, published, synthesized, user };
// wires: a crossbar whose wires need more area than its gates.
enum class Implementation : std::uint8_t { logic, flip_flop, sram, wires, macro };

[[nodiscard]] const char* to_string(Origin origin);
[[nodiscard]] const char* to_string(Implementation implementation);

// What a block is. A macro of the block has the numbers of its kind.
enum class BlockKind : std::uint8_t {
  memory,
  table,  // a memory that is written before the run, so its writes are not counted
  logic,
  uncounted,  // logic whose uses no simulation counts
  phy
};
[[nodiscard]] BlockKind kind_of(CostBlock block);
// The name in results, e.g. "router.buffers".
[[nodiscard]] const char* to_string(CostBlock block);

// Cell area in µm². For logic, `low` and `high` are equal.
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
  std::uint32_t dimension = 0;  // counted from 1; 0: the system has no dimensions
  double count = 1;             // instances
  AreaRange each;
  Implementation implementation = Implementation::logic;
  double words = 0;                 // of a memory or of a table of bits; 0: the block is pure logic
  double bits = 0;                  // of one word
  Origin origin = Origin::formula;  // of the area
  Origin delay_origin = Origin::formula;
  Origin energy_origin = Origin::formula;
  double delay_ps = 0;  // logic: critical path with wires and setup; memory: access time
  double delay_fo4 = 0;
  double read_pj = 0;                // logic: energy of one use; memory: energy of one read
  double write_pj = 0;               // energy of one write
  double clocked_bits = 0;           // flip-flops of one instance that are clocked in every cycle
  std::optional<double> leakage_mw;  // of one instance; empty: no data for this node
  Origin leakage_origin = Origin::formula;
  std::optional<RtlInstance> rtl;  // the Verilog source that a synthesis tool could measure

  [[nodiscard]] AreaRange area() const { return count * each; }
  // In a system with dimensions, e.g. "router.dim2.buffers".
  [[nodiscard]] std::string name() const;
};

[[nodiscard]] AreaRange area_of(const std::vector<BlockCost>& blocks);

// Cost of a block of pure logic. If `rtl` is given and the specification has a measurement of that
// source, the measurement replaces `gates` and `depth`.
[[nodiscard]] BlockCost logic_block(CostBlock block, Gates gates, Depth depth,
                                    const std::optional<RtlInstance>& rtl, const CostSpec& spec,
                                    const Technology& technology);

// Leakage of so many gate equivalents; empty without data for this node.
[[nodiscard]] std::optional<double> leakage_of(Gates gates, const Technology& technology);

// Replaces numbers of the formulas by the user's numbers.
void apply_macro(BlockCost& cost, const UserMacro& macro, double fo4_ps);

// The adders with which a reduction unit adds a chunk that arrives to the chunk in memory.
struct Adders {
  std::uint32_t count = 0;
  std::uint32_t element_bytes = 4;  // 1: integers; 2, 4, 8: FP16, FP32, FP64

  [[nodiscard]] friend bool operator==(const Adders& a, const Adders& b) {
    return a.count == b.count && a.element_bytes == b.element_bytes;
  }
};

// The adders that add `bytes` of `element_bytes` each in a cycle. Elements of another size than 1,
// 2, 4 or 8 bytes are vectors of the largest of these numbers that divides the size.
[[nodiscard]] Adders adders_for(std::uint64_t bytes, std::uint32_t element_bytes);

// Area and energy of FP32, FP16 and INT8 are published for 45 nm: energy by Horowitz ("Computing's
// energy problem", ISSCC 2014), area by Dally (tutorial "High-performance hardware for machine
// learning", NIPS 2015: the adders of that table, synthesized). FP64 is scaled from FP32 with the
// gates of hw/rtl/fp_adder.v. The delay is that of the same source without pipeline registers.
[[nodiscard]] BlockCost price_adders(CostBlock block, const Adders& adders, const CostSpec& spec,
                                     const Technology& technology);

}  // namespace espalier
