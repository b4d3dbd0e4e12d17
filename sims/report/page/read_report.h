// Reads the input of reports: documents of `run --json`, folders of sweeps, lists of results.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sims/report/page/report_data.h"
#include "sims/text/strict_json.h"

namespace espalier::report {

struct ReadResult {
  ReportData data;
  std::vector<std::string> errors;  // "FILE: error: PLACE: what"; if not empty, no report is made
};

// A path is a folder with a manifest.json (a sweep), a .jsonl file (gathered results of a sweep,
// one JSON object per line) or a document of `run --json`. Unknown members are ignored; known
// members must have their type. Files of versions later than `version` are refused.
[[nodiscard]] ReadResult read_report(const std::vector<std::string>& paths,
                                     const std::string& version);

// The same for a document of `run --json` in memory, whose paths start in `folder`.
[[nodiscard]] ReportData report_of(const nlohmann::ordered_json& document,
                                   const std::string& version, const std::string& folder);

// Reads a document of `run --json`; fills the source's version. This and the next two functions
// throw JsonError with the place of a mistake.
[[nodiscard]] std::vector<ReportPoint> read_results_document(const JsonCursor& root,
                                                             const std::string& version,
                                                             ReportSource& source);

// Reads the points of a sweep as missing; fills the source's name and title, and adds the axes
// whose kind the sweep's file gives.
[[nodiscard]] std::vector<ReportPoint> read_manifest(const JsonCursor& root,
                                                     const std::string& version,
                                                     ReportSource& source,
                                                     std::map<std::string, bool>& workload_axes);

// Reads the result or the failure of a point of a sweep. Throws if the file belongs to another
// point than the manifest says. A point without an id takes the file's id.
void fill_point(const JsonCursor& root, ReportPoint& point);

}  // namespace espalier::report
