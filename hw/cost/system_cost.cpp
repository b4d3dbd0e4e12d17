#include "hw/cost/system_cost.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {
// A stage as long as a period fits into it despite rounding.
constexpr double kSlack = 1 + 1e-9;
}  // namespace

Cycle cycles_of(const std::vector<double>& stages_ps, double period_ps) {
  Cycle cycles = 1;
  double used = 0;  // time taken in the current cycle
  for (const double stage : stages_ps) {
    if (used + stage <= period_ps * kSlack) {
      used += stage;
      continue;
    }
    if (used > 0) ++cycles;
    const auto whole = static_cast<Cycle>(std::ceil(stage / (period_ps * kSlack)));
    cycles += whole - 1;
    used = stage - static_cast<double>(whole - 1) * period_ps;
  }
  return cycles;
}

double shortest_period_ps(const std::vector<double>& stages_ps, Cycle cycles) {
  double sum = 0;
  for (const double stage : stages_ps) sum += stage;
  if (sum == 0) return 0;
  double too_short = sum / static_cast<double>(cycles) / 2;
  double enough = sum;
  for (int i = 0; i < 60; ++i) {
    const double middle = (too_short + enough) / 2;
    (cycles_of(stages_ps, middle) <= cycles ? enough : too_short) = middle;
  }
  return enough;
}

namespace {

constexpr double kPsPerSecond = 1e12;

std::vector<RouterCost> price_routers(const SystemShape& shape, const CostSpec& spec,
                                      const Technology& technology) {
  std::vector<RouterCost> routers;
  for (const std::vector<RouterSlice>& slices : shape.routers) {
    RouterCost router;
    for (const RouterSlice& slice : slices) {
      router.slices.push_back(price_slice(slice, spec, technology));
    }
    routers.push_back(std::move(router));
  }
  return routers;
}

class ClockJudge {
 public:
  void take(const BlockCost& block, double period_ps) {
    if (period_ps > limit_.period_ps) limit_ = {period_ps, block.block, block.delay_origin};
  }
  void take_over_cycles(const BlockCost& block, Cycle cycles) {
    take(block, block.delay_ps / static_cast<double>(cycles));
  }
  [[nodiscard]] const ClockLimit& limit() const { return limit_; }

 private:
  ClockLimit limit_;
};

// The chunks that arrive in the first cycle of a longer arbitration are compared from the next one
// on, when the queue holds them.
Cycle cycles_to_find(Cycle arbitration) { return std::max<Cycle>(2, arbitration) - 1; }

bool searches(const BlockCost& block) {
  return block.rtl && block.rtl->module == RtlModule::dimension_queue;
}

// Judges all stages of a slice together. The limit carries the name of the longest block.
void judge_router(const SliceCost& slice, Cycle cycles, ClockJudge& judge) {
  const BlockCost* longest = &slice.allocators;
  for (const BlockCost* block : {&slice.buffers, &slice.crossbar}) {
    if (block->delay_ps > longest->delay_ps) longest = block;
  }
  judge.take(*longest, shortest_period_ps(slice.stages_ps, cycles));
  judge.take(slice.fifo_control, slice.fifo_control.delay_ps);
}

// Adds up clocked bits and leakage. Without data for one block there is no sum.
void add_power(SystemCost& system) {
  system.leakage_mw = 0;
  const auto take = [&](const std::vector<BlockCost>& blocks, std::size_t count) {
    for (const BlockCost& block : blocks) {
      const double instances = static_cast<double>(count) * block.count;
      system.clocked_bits += instances * block.clocked_bits;
      if (block.block == CostBlock::router_phy && !block.leakage_mw) continue;
      if (!block.leakage_mw) system.leakage_mw.reset();
      if (system.leakage_mw) *system.leakage_mw += instances * *block.leakage_mw;
    }
  };
  for (const RouterCost& router : system.routers) take(router.blocks(), router.count);
  for (const NiKindCost& ni : system.nis) take(ni.cost.blocks, ni.count);
}

}  // namespace

AreaRange RouterCost::area() const { return area_of(blocks()); }

std::vector<BlockCost> RouterCost::blocks() const {
  std::vector<BlockCost> all;
  for (const SliceCost& slice : slices) {
    for (const BlockCost& block : slice.blocks()) all.push_back(block);
  }
  return all;
}

const SliceCost* RouterCost::slice(std::uint32_t dimension) const {
  const auto found = std::find_if(slices.begin(), slices.end(), [&](const SliceCost& s) {
    return s.slice.dimension == dimension;
  });
  return found == slices.end() ? nullptr : &*found;
}

SystemCost price_system(const SystemShape& shape, const CostSpec& spec) {
  const Technology technology(spec);
  SystemCost system;
  system.routers = price_routers(shape, spec, technology);
  for (const std::size_t kind : shape.router_of) ++system.routers[kind].count;
  for (const NiShape& ni : shape.nis) system.nis.push_back({price_ni(ni, spec, technology), 0});
  for (const std::size_t kind : shape.ni_of) ++system.nis[kind].count;

  ClockJudge judge;
  ClockJudge adders;
  const Cycle adding = std::max<Cycle>(1, shape.reduction_cycles);
  for (const RouterCost& router : system.routers) {
    system.area = system.area + static_cast<double>(router.count) * router.area();
    for (const SliceCost& slice : router.slices) {
      judge_router(slice, std::max<Cycle>(1, shape.router_cycles), judge);
      if (slice.adders) adders.take_over_cycles(*slice.adders, adding);
    }
  }
  for (const NiKindCost& ni : system.nis) {
    system.area = system.area + static_cast<double>(ni.count) * ni.cost.area();
    for (const BlockCost& block : ni.cost.blocks) {
      if (block.block == CostBlock::ni_adders) {
        adders.take_over_cycles(block, adding);
        continue;
      }
      judge.take_over_cycles(block, searches(block) ? cycles_to_find(shape.arbitration_cycles) : 1);
    }
  }
  system.clock_without_adders = judge.limit();
  const bool adders_limit = adders.limit().period_ps > judge.limit().period_ps;
  system.clock = adders_limit ? adders.limit() : judge.limit();
  add_power(system);
  return system;
}

ImpliedCycles implied_cycles(const SystemShape& shape, const CostSpec& spec,
                             std::uint64_t clock_hertz) {
  const Technology technology(spec);
  ImpliedCycles cycles;
  const auto of = [&](const std::vector<double>& stages_ps) {
    return cycles_of(stages_ps, kPsPerSecond / static_cast<double>(clock_hertz));
  };
  for (const RouterCost& router : price_routers(shape, spec, technology)) {
    for (const SliceCost& slice : router.slices) {
      cycles.router = std::max(cycles.router, of(slice.stages_ps));
      if (slice.adders) cycles.reduction = std::max(cycles.reduction, of({slice.adders->delay_ps}));
    }
  }
  for (const NiShape& ni : shape.nis) {
    for (const BlockCost& block : price_ni(ni, spec, technology).blocks) {
      const Cycle taken = of({block.delay_ps});
      if (block.block == CostBlock::ni_adders) cycles.reduction = std::max(cycles.reduction, taken);
      if (!searches(block)) continue;
      cycles.arbitration = std::max(cycles.arbitration, taken == 1 ? 1 : taken + 1);
    }
  }
  return cycles;
}

}  // namespace espalier
