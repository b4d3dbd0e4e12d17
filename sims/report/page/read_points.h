// Points from parsed files. All throw JsonError with the place of what is wrong.
#pragma once

#include <string>
#include <vector>

#include "sims/report/page/report_data.h"
#include "sims/text/strict_json.h"

namespace espalier::report {

// Of `run --json`; fills the source's version.
[[nodiscard]] std::vector<ReportPoint> read_results_document(const JsonCursor& root,
                                                             const std::string& version,
                                                             ReportSource& source);

// The points of a sweep, all of them missing yet; fills the source's name.
[[nodiscard]] std::vector<ReportPoint> read_manifest(const JsonCursor& root,
                                                     const std::string& version,
                                                     ReportSource& source);

// What became of a point of a sweep: a result or a failure. Throws, too, where it is not the point
// that the manifest promised; a point without id takes the file's.
void fill_point(const JsonCursor& root, ReportPoint& point);

}  // namespace espalier::report
