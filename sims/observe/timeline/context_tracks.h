// Program contexts in a timeline: the steps that they run.
#pragma once

#include <cstdint>

#include "sims/observe/record/run_record.h"
#include "sims/observe/timeline/trace_file.h"

namespace espalier {

// Tracks of the NI's process: launches of calls, and one for each context, a slice a step.
void write_context_tracks(const NiRecord& ni, Cycle end, std::uint32_t process,
                          const TraceClock& clock, TraceFile& file);

}  // namespace espalier
