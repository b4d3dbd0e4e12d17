// Counters over a run's time in a timeline: how busy links are, and messages under way.
#pragma once

#include <vector>

#include "sims/observe/record/run_record.h"
#include "sims/observe/timeline/trace_file.h"

namespace espalier {

// `is_link`: by channel; the others lead from NIs to routers.
void write_counters(const RunRecord& record, const std::vector<bool>& is_link,
                    const TraceClock& clock, TraceFile& file);

}  // namespace espalier
