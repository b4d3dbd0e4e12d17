// The sections of a report, each from the points that have what it shows.
#pragma once

#include <vector>

#include "sims/report/page/section.h"
#include "sims/report/page/view.h"

namespace espalier::report {

// What ran, what differs, what came out.
[[nodiscard]] Section summary_section(const ReportView& view);
// Bandwidth against size, with the proven bound.
[[nodiscard]] Section bandwidth_section(const ReportView& view);
// Area against time, and which designs nothing dominates.
[[nodiscard]] Section pareto_section(const ReportView& view);
// Where the area goes.
[[nodiscard]] Section area_section(const ReportView& view);
// How busy links are, on the topology; dimensions of multi-dimensional systems.
[[nodiscard]] Section links_section(const ReportView& view);
// A flow's tree, and which nodes send in which timestep.
[[nodiscard]] Section schedule_section(const ReportView& view);
// Dimensions over time.
[[nodiscard]] Section activity_section(const ReportView& view);
// Every run with its configuration and how to do it again.
[[nodiscard]] Section runs_section(const ReportView& view);

}  // namespace espalier::report
