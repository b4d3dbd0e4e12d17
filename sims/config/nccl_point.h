// algorithm nccl: the keys of the run that simulates NCCL's choice.
#pragma once

#include <optional>
#include <string>

#include "sims/config/given_keys.h"
#include "sims/config/presets.h"
#include "sims/point/config.h"

namespace espalier {

[[nodiscard]] bool runs_nccl(const RunPoint& point);

// `given`, whose lists have one value each, with the keys that NCCL's choice sets. `asked`: the
// point of these keys, before the choice. `machine`: its preset; nullptr: none. Nothing if NCCL
// does not run there, for which an error is recorded, or if the size is not known. `is_alone`: no
// other algorithm reads the keys, so that those without effect are warned of.
[[nodiscard]] std::optional<GivenKeys> keys_of_nccl(const GivenKeys& given, const RunPoint& asked,
                                                    const Preset* machine, bool is_alone,
                                                    Diagnostics& diagnostics);

// Warns of a program of NCCL with less than half of the channels that its machine has.
void check_nccl_channels(const RunPoint& point, const Preset* machine, const GivenKeys& given,
                         Diagnostics& diagnostics);

}  // namespace espalier
