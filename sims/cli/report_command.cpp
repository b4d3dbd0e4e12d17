#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <filesystem>

#include "sims/cli/output.h"
#include "sims/cli/version.h"
#include "sims/report/page/page.h"
#include "sims/report/page/read_report.h"

namespace espalier {

int report_command(const ReportOptions& options) {
  std::vector<CommandFile> files;
  for (const std::string& path : options.results) {
    files.push_back({"results file", path});
    for (const char* name : {"results.jsonl", "results.csv", "manifest.json"}) {
      files.push_back({"file of the sweep", (std::filesystem::path(path) / name).string()});
    }
  }
  const std::string mistake = output_mistake({{"--output", options.output}}, files);
  if (!mistake.empty()) {
    fmt::print(stderr, "{}\n", mistake);
    return kUsageError;
  }
  const report::ReadResult read = report::read_report(options.results, kVersion);
  for (const std::string& error : read.errors) fmt::print(stderr, "{}\n", error);
  if (!read.errors.empty()) return kUsageError;
  const std::string html = report::report_html(read.data, options.title, kVersion);
  return write_text(options.output, html) ? kGood : kUsageError;
}

}  // namespace espalier
