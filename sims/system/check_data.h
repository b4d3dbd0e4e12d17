#pragma once

#include <string>
#include <vector>

#include "alg/schedule.h"
#include "sims/system/fabric.h"

namespace espalier {

// Whether every rank's memory holds what the collective promises it; the first rank and chunk that
// are wrong, empty if none are.
[[nodiscard]] std::string check_data(Fabric& fabric, CollectiveOp op,
                                     const std::vector<Chunk>& chunks);

}  // namespace espalier
