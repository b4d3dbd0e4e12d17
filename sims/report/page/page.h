// A report as one self-contained HTML file.
#pragma once

#include <string>
#include <vector>

#include "sims/report/page/report_data.h"
#include "sims/report/page/section.h"

namespace espalier::report {

// `title` is plain text, `version` the tool's. Empty sections are listed with their reasons.
[[nodiscard]] std::string page_html(const std::string& title, const std::string& version,
                                    const std::vector<Section>& sections);

// The same data and title give the same bytes.
[[nodiscard]] std::string report_html(const ReportData& data, const std::string& title,
                                      const std::string& version);

}  // namespace espalier::report
