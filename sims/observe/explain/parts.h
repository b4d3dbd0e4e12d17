// Accounts of one part of a run: a network interface, a link, a timestep, a message; and the slack
// of timesteps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hw/ids.h"
#include "ni/engines/authors_table_engine.h"
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
// The messages that a channel carried until the last delivery, and the messages that waited for
// the channel.
[[nodiscard]] Describer::Json link_account(const RecordedRun& run, const Describer& describer,
                                           std::uint32_t channel);
// From the event that let the message go until it is in memory, and its route.
[[nodiscard]] Describer::Json message_account(const Backtrack& back, const Describer& describer,
                                              RecordIndex message);
// What only runs of schedule tables have. `healthy`: the engine of an NI without faults. `authors`:
// nullopt if the NIs do not follow the rules of MultiTree's authors.
struct StepRules {
  const TableCauses& causes;
  const UnloadedNetwork& network;
  const TableEngine::Spec& healthy;
  const std::optional<AuthorsRules>& authors;
};
// All NIs with entries in a timestep; the last one to begin it comes first.
[[nodiscard]] Describer::Json step_account(const Backtrack& back, const Describer& describer,
                                           const StepRules& rules, Timestep step);
// By timestep and NI: by how many cycles the NI could have issued each entry of the timestep later
// without moving the last delivery, in cycle `end`. The critical-path method: every message takes
// as long as it did, its time in the NI's queue included, and tables and counters keep their rules.
// An NI is left out of the timesteps in which it has nothing that the end depends on.
[[nodiscard]] Describer::Json slack_account(const RecordedRun& run, const Describer& describer,
                                            const StepRules& rules, Cycle end);

}  // namespace espalier
