// All routers and NIs of a system. Each kind is priced once.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hw/cost/ni_cost.h"
#include "hw/cost/router_cost.h"
#include "hw/ids.h"

namespace espalier {

// The clock cycles that a pipeline of logic takes. Delays are in ps, in the order in which a flit
// meets the stages. Neighbouring stages share a cycle as long as they fit. A stage longer than a
// cycle is pipelined over several cycles with registers of its own.
[[nodiscard]] Cycle cycles_of(const std::vector<double>& stages_ps, double period_ps);

// The shortest period with which `stages_ps` take at most `cycles` cycles. Precondition: cycles >=
// 1.
[[nodiscard]] double shortest_period_ps(const std::vector<double>& stages_ps, Cycle cycles);

// The kinds of routers and NIs of a system, and which vertex has which kind.
struct SystemShape {
  // by kind; one slice for each network that the router serves
  std::vector<std::vector<RouterSlice>> routers;
  std::vector<std::size_t> router_of;  // kind, by vertex
  std::vector<NiShape> nis;            // by kind
  std::vector<std::size_t> ni_of;      // kind, by node
  // Cycles that the configuration grants. The shortest clock period follows from them.
  Cycle router_cycles = 1;       // for all stages of a router
  Cycle arbitration_cycles = 1;  // for one choice among the chunks of a dimension queue
  Cycle reduction_cycles = 1;    // pipeline of the adders
};

struct RouterCost {
  std::vector<SliceCost> slices;
  std::size_t count = 0;

  [[nodiscard]] AreaRange area() const;
  [[nodiscard]] std::vector<BlockCost> blocks() const;
  // nullptr if the router has no slice for this dimension (0: a system without dimensions).
  [[nodiscard]] const SliceCost* slice(std::uint32_t dimension) const;
};

struct NiKindCost {
  NiCost cost;
  std::size_t count = 0;
};

struct ClockLimit {
  double period_ps = 0;
  CostBlock block = CostBlock::router_crossbar;  // the block that limits the clock
  Origin origin = Origin::formula;               // of the limiting delay
};

struct SystemCost {
  std::vector<RouterCost> routers;  // by kind
  std::vector<NiKindCost> nis;      // by kind
  AreaRange area;                   // cells, µm²; with PHYs if the user has described them
  ClockLimit clock;
  ClockLimit clock_without_adders;
  double clocked_bits = 0;
  std::optional<double>
      leakage_mw;  // of routers and NIs with their links' PHYs, if these are given
};

[[nodiscard]] SystemCost price_system(const SystemShape& shape, const CostSpec& spec);

// Cycles of a clock of `clock_hertz` that the slowest router's stages, the slowest choice of a
// dimension queue and the slowest adders take.
struct ImpliedCycles {
  Cycle router = 1;
  Cycle arbitration = 1;
  Cycle reduction = 1;
};
[[nodiscard]] ImpliedCycles implied_cycles(const SystemShape& shape, const CostSpec& spec,
                                           std::uint64_t clock_hertz);

}  // namespace espalier
