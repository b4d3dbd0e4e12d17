#include "sims/formats/program/xml_report.h"

#include <fmt/format.h>

namespace espalier {

namespace {
constexpr std::size_t kMostXmlErrors = 200;
}

void XmlReport::error(const char* at, std::string message, std::string hint) {
  if (full()) return;
  diagnostics_.error(source_.place(at), std::move(message), std::move(hint));
}

void XmlReport::warning(const char* at, std::string message, std::string hint) {
  diagnostics_.warning(source_.place(at), std::move(message), std::move(hint));
}

void XmlReport::end() {
  for (const auto& [what, ignored] : ignored_) {
    const std::string more =
        ignored.times > 1 ? fmt::format(", {} times in this file", ignored.times) : "";
    diagnostics_.warning(ignored.first, fmt::format("{} is ignored{}", what, more), ignored.hint);
  }
  ignored_.clear();
}

bool XmlReport::full() const {
  return diagnostics_.num_errors() - errors_before_ >= kMostXmlErrors;
}

}  // namespace espalier
