// The values with which the lockstep down-counter is loaded, step by step.
#pragma once

#include <optional>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "hw/topology/link_timing.h"
#include "ni/engines/authors_table_engine.h"
#include "sims/system/simulation.h"

namespace espalier {

struct FaultsConfig;
struct RunPoint;
struct SystemConfig;

// estimate: the serialization time of the step's longest message if the NI buffer can hold the
// message, otherwise the time of the flits that do not fit (paper, footnote 4). full:
// serialization, flight over idle links and reduction of the step; the next step finds all data in
// place unless messages contend. Slow links count with their real rate. By step (index 0 is step
// 1); all zero in other modes.
[[nodiscard]] std::vector<Cycle> step_times(const ScheduleTables& tables,
                                            const SystemConfig& config, const SystemTiming& timing);

// `timing`: the links as the author of the schedule knows them. `ni_ports`: ports of each NI.
[[nodiscard]] TableEngine::Spec table_engine_spec(const RunPoint& point,
                                                  const ScheduleTables& tables,
                                                  const std::vector<PostedCollective>& posts,
                                                  const SystemTiming& timing,
                                                  std::uint32_t ni_ports);

// The same engine at a node whose host posts late or whose clock is wrong.
[[nodiscard]] TableEngine::Spec faulty_engine(TableEngine::Spec engine, const FaultsConfig& faults,
                                              NodeId node);

// nullopt if NIs do not follow the rules of MultiTree's authors.
[[nodiscard]] std::optional<AuthorsRules> authors_rules(const RunPoint& point,
                                                        const ScheduleTables& tables);

}  // namespace espalier
