#include "sims/cli/commands.h"

#include <filesystem>

#include "sims/cli/output.h"
#include "sims/cli/version.h"
#include "sims/page/page.h"
#include "sims/text/people.h"

namespace espalier {

int report_command(const ReportOptions& options) {
  std::vector<CommandFile> files;
  for (const std::string& path : options.results) {
    files.push_back({"results file", path});
    for (const char* name : {"results.jsonl", "results.csv", "manifest.json"}) {
      files.push_back({"file of the sweep", (std::filesystem::path(path) / name).string()});
    }
  }
  if (!can_write({{"--output", options.output}}, files)) return kUsageError;
  const report::ReadResult read = report::read_report(options.results, kVersion);
  for (const std::string& error : read.errors) tell(stderr, "{}\n", error);
  if (!read.errors.empty()) return kUsageError;
  report::ViewOptions view_options{options.facet, options.color, options.mark,
                                   options.tolerance_percent / 100};
  const report::ReportView view(read.data, view_options);
  const std::vector<std::string> problems = view.problems();
  for (const std::string& problem : problems) tell(stderr, "{}\n", problem);
  if (!problems.empty()) return kUsageError;
  const std::string html = report::report_html(view, options.title, kVersion);
  return write_text(options.output, html) ? kGood : kUsageError;
}

}  // namespace espalier
