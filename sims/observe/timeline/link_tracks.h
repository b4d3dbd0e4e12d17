// Links in a timeline: which flow is on the wire.
#pragma once

#include "sims/observe/record/run_record.h"
#include "sims/observe/timeline/trace_file.h"

namespace espalier {

// A track for each channel that carries anything, those from NIs to routers included. Flits occupy
// the wire for as long as the link takes to send them.
void write_link_tracks(const RunRecord& record, TraceFile& file);

}  // namespace espalier
