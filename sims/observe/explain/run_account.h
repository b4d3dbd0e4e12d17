// Records one run, and explains where its time went when it is over.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/program/program.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "ni/engines/dimension_program.h"
#include "sims/observe/explain/parts.h"
#include "sims/observe/explain/table_causes.h"
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
  [[nodiscard]] nlohmann::ordered_json explain_program(const Topology& topology,
                                                       const RunPoint& point,
                                                       const Program& program);

  // The next account also answers these questions; a folded system has the answers for its one NPU.
  void ask(PartQuestions questions) { questions_ = std::move(questions); }
  // Why a question has no answer, after one of the explain functions; empty if all have one.
  [[nodiscard]] const std::string& mistake() const { return mistake_; }

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
  // `steps`: nullptr without schedule tables.
  [[nodiscard]] nlohmann::ordered_json account(const Backtrack& back,
                                               const std::vector<Delay>& delays,
                                               const Topology& topology, const StepRules* steps,
                                               const DescribePlace& place);
  [[nodiscard]] nlohmann::ordered_json answers(const Backtrack& back, const Describer& describer,
                                               const Topology& topology, const StepRules* steps);
  void note_highlights(const TimePath& path, const std::vector<Delay>& delays);

  RunRecorder recorder_;
  Highlights highlights_;
  PartQuestions questions_;
  std::string mistake_;
};

}  // namespace espalier
