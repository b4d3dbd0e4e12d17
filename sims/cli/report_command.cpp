#include "sims/cli/report_command.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "sims/cli/exit_codes.h"
#include "sims/cli/version.h"
#include "sims/report/read_report.h"
#include "sims/report/report.h"

namespace espalier {

int report_command(const ReportOptions& options) {
  const report::ReadResult read = report::read_report(options.results, kVersion);
  for (const std::string& error : read.errors) fmt::print(stderr, "{}\n", error);
  if (!read.errors.empty()) return kUsageError;
  const std::string html = report::report_html(read.data, options.title, kVersion);
  if (options.output == "-") {
    std::cout << html;
    return kGood;
  }
  std::ofstream file(options.output, std::ios::binary);
  file << html;
  file.close();
  if (!file.fail()) return kGood;
  fmt::print(stderr, "{}: error: cannot be written\n", options.output);
  return kUsageError;
}

}  // namespace espalier
