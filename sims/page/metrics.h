// The numbers of a run by which a page tells designs apart: columns of tables, and axes that a
// reader may choose.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sims/page/view.h"

namespace espalier::report {

enum class MetricForm { number, percent, bytes };

struct Metric {
  std::string id;
  std::string title;  // with its unit
  MetricForm form = MetricForm::number;
  bool in_summary = false;
  std::function<std::optional<double>(const ReportPoint&)> value;

  // Empty if the point has no value.
  [[nodiscard]] std::string text(const ReportPoint& point) const;
};

// The metrics that some point has, in the order of columns. "compared" is the time by which designs
// are compared (time_ns_of).
[[nodiscard]] std::vector<Metric> metrics_of(const ReportView& view);

}  // namespace espalier::report
