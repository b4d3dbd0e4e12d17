// A report as one self-contained HTML file.
#pragma once

#include <string>

#include "sims/page/view.h"

namespace espalier::report {

// `title` is plain text; empty: the title of the sweep. `version` is the version of the tool. Equal
// data and titles give equal bytes.
[[nodiscard]] std::string report_html(const ReportView& view, const std::string& title,
                                      const std::string& version);

}  // namespace espalier::report
