// Where the time of a run went, as part of its result (docs/explain.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/observe/explain/delays.h"

namespace espalier {

struct RunPoint;

struct Explanation {
  CriticalPath path;
  std::vector<Delay> delays;
  std::vector<StepSlack> slack;  // empty where there are no timesteps
};

// The place of a message in its schedule: {"step": 17}, or its chunk and stage.
using DescribePlace = std::function<nlohmann::ordered_json(RecordIndex)>;

// A step of a program: its instruction and place.
[[nodiscard]] nlohmann::ordered_json describe_program_step(const ContextRecord::Step& step);

// The fields of docs/results.md, "Where the time went". Vertices and channels have their modules'
// names.
[[nodiscard]] nlohmann::ordered_json describe_explanation(const RunRecord& record,
                                                          const Explanation& explanation,
                                                          const DescribePlace& place);

// The account that describe_explanation() wrote for a run of `point`, with what decides its time:
// in one or two sentences (`verdict`) and as fields (`limit`): the bound, if the ratio to it that
// stands in `result` is near 1. A link is named with its rate if it is slower than most others, and
// a late NI with its delay. Channels get names for readers (`place`).
[[nodiscard]] nlohmann::ordered_json judged(const nlohmann::ordered_json& explanation,
                                            const nlohmann::ordered_json& result,
                                            const Topology& topology, const RunPoint& point);

enum class ExplanationDetail { brief, all };

// The account as text. `result`: a run's JSON with its "explanation".
[[nodiscard]] std::string explanation_text(const nlohmann::ordered_json& result,
                                           ExplanationDetail detail);

}  // namespace espalier
