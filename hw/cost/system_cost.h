// All routers and NIs of a system, each kind priced once.
#pragma once

#include <cstddef>
#include <vector>

#include "hw/cost/ni_cost.h"
#include "hw/cost/router_cost.h"
#include "hw/ids.h"

namespace espalier {

// The clock cycles that logic takes. Delays are in ps, in the order in which a flit meets them.
// Neighbouring stages share a cycle as long as they fit; a longer one takes as many cycles as it
// needs, pipelined, with registers of its own.
[[nodiscard]] Cycle cycles_of(const std::vector<double>& stages_ps, double period_ps);

// The shortest period with which `stages_ps` take at most `cycles` >= 1.
[[nodiscard]] double shortest_period_ps(const std::vector<double>& stages_ps, Cycle cycles);

// The kinds of routers and NIs that a system has, and where.
struct SystemShape {
  std::vector<std::vector<RouterSlice>> routers;  // kinds; a slice per network that it serves
  std::vector<std::size_t> router_of;             // kind, by vertex
  std::vector<NiShape> nis;                       // kinds
  std::vector<std::size_t> ni_of;                 // kind, by node
  // What the system takes for them, against which the clock is judged.
  Cycle router_cycles = 1;       // a router's stages
  Cycle arbitration_cycles = 1;  // a choice among the chunks of a dimension queue
};

struct RouterCost {
  std::vector<SliceCost> slices;
  std::size_t count = 0;

  [[nodiscard]] AreaRange area() const;
  [[nodiscard]] std::vector<BlockCost> blocks() const;
  // nullptr where it has none for that dimension (0: without dimensions).
  [[nodiscard]] const SliceCost* slice(std::uint32_t dimension) const;
};

struct NiKindCost {
  NiCost cost;
  std::size_t count = 0;
};

struct ClockLimit {
  double period_ps = 0;
  CostBlock block = CostBlock::router_crossbar;  // the first that a faster clock would break
  Origin origin = Origin::formula;               // of its delay
};

struct SystemCost {
  std::vector<RouterCost> routers;  // by kind
  std::vector<NiKindCost> nis;      // by kind
  AreaRange area;                   // of cells, µm²
  ClockLimit clock;
};

[[nodiscard]] SystemCost price_system(const SystemShape& shape, const CostSpec& spec);

// Cycles of `clock_hertz` that the slowest router's stages take, and the slowest SCF finder; at
// least 1 each.
[[nodiscard]] Cycle implied_router_cycles(const SystemShape& shape, const CostSpec& spec,
                                          std::uint64_t clock_hertz);
[[nodiscard]] Cycle implied_arbitration_cycles(const SystemShape& shape, const CostSpec& spec,
                                               std::uint64_t clock_hertz);

}  // namespace espalier
