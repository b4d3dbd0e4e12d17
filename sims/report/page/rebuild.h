// What a result stands for, built again from its resolved configuration: the results themselves
// carry neither topology nor schedule.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/report/page/report_data.h"

namespace espalier::report {

struct RebuiltSystem {
  RunPoint point;
  std::shared_ptr<const Topology> topology;
};

// Empty where the configuration is not known in full or cannot be read; `why` says so then, in
// words that follow a colon.
[[nodiscard]] std::optional<RebuiltSystem> rebuild_system(const ReportData& data,
                                                          const ReportPoint& point,
                                                          std::string& why);

// Of all nodes. Empty where the point has none, with `why` as above. Preconditions: the system is
// the point's, the point has a collective.
[[nodiscard]] std::optional<Schedule> rebuild_schedule(const RebuiltSystem& system,
                                                       std::string& why);

}  // namespace espalier::report
