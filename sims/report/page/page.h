// A report as one self-contained HTML file.
#pragma once

#include <string>
#include <vector>

#include "sims/report/page/section.h"

namespace espalier::report {

// `title` is plain text; `version` is the version of the tool. Empty sections are listed with their
// reasons.
[[nodiscard]] std::string page_html(const std::string& title, const std::string& version,
                                    const std::vector<Section>& sections);

// Equal data and titles give equal bytes.
[[nodiscard]] std::string report_html(const ReportView& view, const std::string& title,
                                      const std::string& version);

}  // namespace espalier::report
