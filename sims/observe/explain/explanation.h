// Where the time of a run went, as part of its result (docs/explain.md).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/observe/explain/critical_path.h"
#include "sims/observe/explain/slack.h"
#include "sims/observe/explain/slips.h"

namespace espalier {

struct Explanation {
  CriticalPath path;
  std::vector<Slip> slips;
  std::vector<StepSlack> slack;  // empty where there are no timesteps
};

// What a message is in its schedule: {"step": 17}, or its chunk and stage.
using DescribePlace = std::function<nlohmann::ordered_json(RecordIndex)>;

// A step of a program: its instruction, and where it stands.
[[nodiscard]] nlohmann::ordered_json describe_program_step(const ContextRecord::Step& step);

// The fields of docs/results.md, "Where the time went". Names are those of the modules.
[[nodiscard]] nlohmann::ordered_json describe_explanation(const RunRecord& record,
                                                          const Explanation& explanation,
                                                          const DescribePlace& place);

}  // namespace espalier
