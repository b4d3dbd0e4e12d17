// algorithm nccl: the keys of the run that simulates NCCL's choice.
#pragma once

#include <optional>

#include "sims/config/given_keys.h"
#include "sims/config/presets.h"
#include "sims/point/config.h"

namespace espalier {

[[nodiscard]] bool runs_nccl(const RunPoint& point);

// Returns the keys in `given` with those that NCCL's choice sets. Every key has one value. Returns
// nullopt after an error, which says why NCCL does not run there, and if the size is not known.
// `asked`: the point that `given` describes. `machine`: its preset; nullptr if it has none.
// `is_alone`: no other algorithm is asked for, so keys that the choice replaces are warned of. In a
// step NCCL chooses for each collective (with_nccl_choice); here its keys are only checked.
[[nodiscard]] std::optional<GivenKeys> keys_of_nccl(const GivenKeys& given, const RunPoint& asked,
                                                    const Preset* machine, bool is_alone,
                                                    Diagnostics& diagnostics);

// The point of one collective of a step, with its operation and size, by what NCCL takes among
// `gpus` GPUs in each of `servers` servers. The network, and its VCs, stay those of the step.
// Precondition: point.collective->nccl.
[[nodiscard]] RunPoint with_nccl_choice(RunPoint point, std::uint32_t servers, std::uint32_t gpus);

// Warns of a program of NCCL with less than half of the channels that its machine has.
void check_nccl_channels(const RunPoint& point, const Preset* machine, const GivenKeys& given,
                         Diagnostics& diagnostics);

}  // namespace espalier
