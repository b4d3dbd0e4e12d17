// The report as a whole.
#pragma once

#include <string>

#include "sims/report/page/report_data.h"

namespace espalier::report {

// One HTML file; the same data and title give the same bytes.
[[nodiscard]] std::string report_html(const ReportData& data, const std::string& title,
                                      const std::string& version);

}  // namespace espalier::report
