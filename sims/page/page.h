// Reports: reads results, and makes one self-contained HTML file of them.
#pragma once

#include <string>
#include <vector>

#include "sims/page/report_data.h"
#include "sims/page/view.h"

namespace espalier::report {

// What was read from documents of `run --json` and folders of sweeps.
struct ReadResult {
  ReportData data;
  std::vector<std::string> errors;  // "FILE: error: PLACE: what"; if not empty, no report is made
};

// A path is a folder with a manifest.json (a sweep) or a document of `run --json`. Unknown members
// are ignored; known members must have their type. Files of versions later than `version` are
// refused.
[[nodiscard]] ReadResult read_report(const std::vector<std::string>& paths,
                                     const std::string& version);

// The same for a document of `run --json` in memory, whose paths start in `folder`.
[[nodiscard]] ReportData report_of(const nlohmann::ordered_json& document,
                                   const std::string& version, const std::string& folder);

// `title` is plain text; empty: the title of the sweep. `version` is the version of the tool. Equal
// data and titles give equal bytes.
[[nodiscard]] std::string report_html(const ReportView& view, const std::string& title,
                                      const std::string& version);

}  // namespace espalier::report
