// The timeline of a step of training.
#pragma once

#include "sims/observe/record/busy_links.h"
#include "sims/observe/timeline/perfetto_file.h"
#include "sims/workload/graph/graph_hosts.h"

namespace espalier {

// Writes counters of the links by dimension, the critical path, and a process for each rank with
// tracks of its accelerator, host, groups, sends and receives. Arrows lead from a send to its
// receive, and from the last rank of a collective to the ranks that waited for it. Of a large job
// only some ranks: those of the critical path, and the first ones.
void write_step(const GraphHosts& hosts, const BusyLinks& links, const PerfettoClock& clock,
                PerfettoFile& file);

}  // namespace espalier
