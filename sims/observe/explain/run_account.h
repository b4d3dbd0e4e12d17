// Records one run, and explains where its time went when it is over.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "alg/program/program.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "ni/engines/dimension_program.h"
#include "sims/observe/explain/explanation.h"
#include "sims/observe/record/run_recorder.h"
#include "sims/system/simulation.h"

namespace espalier {

struct RunPoint;

class RunAccount {
 public:
  // To be connected to the run before it starts.
  [[nodiscard]] RunRecorder& recorder() { return recorder_; }

  // Preconditions of the three: the run is complete, and simulated what the arguments describe.
  [[nodiscard]] nlohmann::ordered_json explain_tables(const Topology& topology,
                                                      const RunPoint& point,
                                                      const ScheduleTables& tables,
                                                      const std::vector<PostedCollective>& posts,
                                                      std::uint32_t ni_ports);
  [[nodiscard]] nlohmann::ordered_json explain_plan(const Topology& topology, const RunPoint& point,
                                                    const DimensionPlan& plan, bool folded);
  // `cycles`: the duration of the run.
  [[nodiscard]] nlohmann::ordered_json explain_program(const Topology& topology,
                                                       const RunPoint& point,
                                                       const Program& program, Cycle cycles);

  // What a waveform should show first, after one of the explain functions: the channels of the
  // critical path in its order, the NIs at which the path spends most time first, and the cycle of
  // the worst slip.
  struct Highlights {
    std::vector<std::string> channels;
    std::vector<std::string> nis;
    std::optional<Cycle> worst_slip;
  };
  [[nodiscard]] const Highlights& highlights() const { return highlights_; }

 private:
  void note_highlights(const Explanation& explanation);

  RunRecorder recorder_;
  Highlights highlights_;
};

}  // namespace espalier
