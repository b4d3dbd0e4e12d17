// One dimension's queue of stages whose chunk is ready, and the choice of the next one (Themis,
// sections 4.3 and 4.6.2). A choice takes the cycles of the arbitration; one is made at a time.
// hw/rtl/dimension_queue.v decides the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/stage_arbiter.h"
#include "hw/ids.h"
#include "hw/rtl_probe.h"

namespace espalier {

class DimensionArbiter {
 public:
  // What the choice depends on besides the waiting stages.
  struct Inputs {
    bool open = false;  // a place in flight is free
    // The only stage that may be next, if the order of starts is fixed. Unchanged while a choice is
    // made.
    std::optional<StageRef> next;
    bool is_fixed = false;  // without `next`: no stage is left
  };

  DimensionArbiter() = default;
  virtual ~DimensionArbiter() = default;
  DimensionArbiter(const DimensionArbiter&) = delete;
  DimensionArbiter& operator=(const DimensionArbiter&) = delete;

  // A stage arrives in the cycle that is decided next. `key`: see arbitration_key().
  virtual void push(StageRef stage, std::uint64_t key) = 0;
  // Returns the stage that leaves the queue and starts in cycle `now`. Cycles ascend. Between two
  // decisions nothing arrives, and the inputs stay as rest() was given them.
  virtual std::optional<StageRef> decide(Cycle now, const Inputs& inputs) = 0;
  // The inputs from the cycle after the last decision on, until the next one. Returns the cycle of
  // the next decision that they lead to, or kNever.
  virtual Cycle rest(const Inputs& inputs) = 0;

  // A choice is being made; it ends after this cycle.
  [[nodiscard]] virtual bool is_choosing() const = 0;
  // Stages that wait, without the one that is being chosen.
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual bool holds(StageRef stage) const = 0;  // or it is being chosen
  // If the order is not fixed: the stage that is being chosen, or the stage that a choice would
  // take.
  [[nodiscard]] virtual std::optional<StageRef> head() const = 0;

  // nullptr if no Verilog decides.
  [[nodiscard]] virtual RtlProbe* rtl_probe() { return nullptr; }
};

// `arbitration`: cycles of a choice, at least 1. `stages`: the most that ever wait.
using MakeArbiter = std::function<std::unique_ptr<DimensionArbiter>(
    const ArbiterSpec& spec, Cycle arbitration, std::size_t stages)>;
[[nodiscard]] std::unique_ptr<DimensionArbiter> make_arbiter(const ArbiterSpec& spec,
                                                             Cycle arbitration, std::size_t stages);

}  // namespace espalier
