// Which runs are drawn where there is no room for all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sims/report/page/view.h"

namespace espalier::report {

struct Shown {
  std::vector<std::size_t> runs;  // in the report's order
  bool are_groups = false;        // some are chosen from several
};

// Of each group of runs that `group` gives one name, the fastest of those with the largest size; of
// the first `most` groups.
[[nodiscard]] Shown chosen_by(const ReportView& view, const std::vector<std::size_t>& runs,
                              std::size_t most,
                              const std::function<std::string(std::size_t)>& group);

// A sentence, with a space before it, where fewer are shown than there are; else empty.
[[nodiscard]] std::string what_is_left_out(const Shown& shown, std::size_t all);

// What a run's picture is called: algorithm, topology, size.
[[nodiscard]] std::string title_of_run(const ReportView& view, std::size_t index);

}  // namespace espalier::report
