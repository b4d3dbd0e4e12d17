// Where one run's time went: records it, and explains it when it is over.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "alg/program/program.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "ni/engines/dimension_program.h"
#include "sims/observe/explain/explanation.h"
#include "sims/observe/record/run_recorder.h"
#include "sims/point/config.h"
#include "sims/system/simulation.h"

namespace espalier {

class RunAccount {
 public:
  // Watches the run.
  [[nodiscard]] RunRecorder& recorder() { return recorder_; }

  // Preconditions of all: the run is complete, and was of this.
  [[nodiscard]] nlohmann::ordered_json explain_tables(const Topology& topology,
                                                      const RunPoint& point,
                                                      const ScheduleTables& tables,
                                                      const std::vector<PostedCollective>& posts,
                                                      std::uint32_t ni_ports);
  [[nodiscard]] nlohmann::ordered_json explain_plan(const Topology& topology, const RunPoint& point,
                                                    const DimensionPlan& plan, bool folded);
  // `cycles`: that it took.
  [[nodiscard]] nlohmann::ordered_json explain_program(const Topology& topology,
                                                       const RunPoint& point,
                                                       const Program& program, Cycle cycles);

  // The channels of the critical path, in its order; once it is explained.
  [[nodiscard]] const std::vector<std::string>& critical_channels() const {
    return critical_channels_;
  }

 private:
  void note_channels(const CriticalPath& path);

  RunRecorder recorder_;
  std::vector<std::string> critical_channels_;
};

}  // namespace espalier
