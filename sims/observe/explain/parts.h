// Accounts of one part of a run: a network interface, a link, a timestep, a message.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "hw/ids.h"
#include "ni/engines/table_engine.h"
#include "sims/observe/explain/critical_path.h"
#include "sims/observe/explain/delays.h"
#include "sims/observe/explain/explanation.h"

namespace espalier {

struct PartQuestions {
  std::vector<NodeId> nis;
  std::vector<LinkId> links;
  std::vector<Timestep> steps;
  std::vector<RecordIndex> messages;
};

// What an NI waited for, span after span: from the hosts' call to its last event.
[[nodiscard]] Describer::Json ni_account(const Backtrack& back, const Describer& describer,
                                         NodeId ni);
// The messages that a channel carried until the last delivery, and those that waited for it.
[[nodiscard]] Describer::Json link_account(const RecordedRun& run, const Describer& describer,
                                           std::uint32_t channel);
// From the event that let the message go until it is in memory, and its route.
[[nodiscard]] Describer::Json message_account(const Backtrack& back, const Describer& describer,
                                              RecordIndex message);
// What only runs of schedule tables have. `healthy`: the engine of an NI without faults.
struct StepRules {
  const TableCauses& causes;
  const UnloadedNetwork& network;
  const TableEngine::Spec& healthy;
};
// All NIs with entries in a timestep; the last one to begin it comes first.
[[nodiscard]] Describer::Json step_account(const Backtrack& back, const Describer& describer,
                                           const StepRules& rules, Timestep step);

}  // namespace espalier
