#include "sims/cli/report_command.h"

#include <fmt/format.h>

#include "sims/cli/exit_codes.h"
#include "sims/cli/version.h"
#include "sims/cli/write_text.h"
#include "sims/report/page/read_report.h"
#include "sims/report/page/report.h"

namespace espalier {

int report_command(const ReportOptions& options) {
  const report::ReadResult read = report::read_report(options.results, kVersion);
  for (const std::string& error : read.errors) fmt::print(stderr, "{}\n", error);
  if (!read.errors.empty()) return kUsageError;
  const std::string html = report::report_html(read.data, options.title, kVersion);
  return write_text(options.output, html) ? kGood : kUsageError;
}

}  // namespace espalier
