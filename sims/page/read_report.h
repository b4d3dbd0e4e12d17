// Reads the input of reports: documents of `run --json`, folders of sweeps, lists of results.
#pragma once

#include <string>
#include <vector>

#include "sims/page/report_data.h"

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

}  // namespace espalier::report
