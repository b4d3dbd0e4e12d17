#include "sims/report/page/report.h"

#include "sims/report/page/page.h"
#include "sims/report/page/sections.h"

namespace espalier::report {

std::string report_html(const ReportData& data, const std::string& title,
                        const std::string& version) {
  const ReportView view(data);
  return page_html(
      title, version,
      {summary_section(view), bandwidth_section(view), pareto_section(view), area_section(view),
       links_section(view), schedule_section(view), activity_section(view), runs_section(view)});
}

}  // namespace espalier::report
