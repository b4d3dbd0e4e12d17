// Reads what reports are made from: documents of `run --json`, folders of sweeps, lists of results.
#pragma once

#include <string>
#include <vector>

#include "sims/report/page/report_data.h"

namespace espalier::report {

struct ReadResult {
  ReportData data;
  std::vector<std::string> errors;  // "FILE: error: PLACE: what": nothing is reported on then
};

// A path is a folder with a manifest.json (a sweep), a file that ends in .jsonl (its gathered
// results, one JSON object a line) or else a document of `run --json`. Members that are not known
// are left alone; what is known must have its type. `version`: of this tool; files of later ones
// are refused.
[[nodiscard]] ReadResult read_report(const std::vector<std::string>& paths,
                                     const std::string& version);

}  // namespace espalier::report
