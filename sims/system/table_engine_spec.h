// What the issue engines of a system's NIs are configured with, to execute schedule tables.
#pragma once

#include <vector>

#include "alg/schedule/schedule_table.h"
#include "hw/topology/link_timing.h"
#include "ni/engines/schedule_table_engine.h"
#include "sims/point/config.h"
#include "sims/system/simulation.h"

namespace espalier {

// `timing`: the links as whoever made the schedule knows them. `ni_ports`: of each NI.
[[nodiscard]] ScheduleTableEngine::Spec table_engine_spec(
    const SystemConfig& config, const ScheduleTables& tables,
    const std::vector<PostedCollective>& posts, const SystemTiming& timing, std::uint32_t ni_ports);

}  // namespace espalier
