// A machine for NCCL's choice from the topology that NCCL writes to NCCL_TOPO_DUMP_FILE.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sims/config/presets.h"
#include "sims/formats/networks/network_formats.h"

namespace espalier {

// What the file does not have is as on the measured machine that is most alike; one warning
// says both. `gpu`: a row of NCCL's tables; empty: by the GPUs' compute capability. Returns
// nothing after an error.
[[nodiscard]] std::optional<Preset> machine_of(const NcclServer& server, const std::string& gpu,
                                               std::uint64_t servers, Diagnostics& diagnostics);

}  // namespace espalier
