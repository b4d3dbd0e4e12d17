// The schedule tables of a configuration's algorithm.
#pragma once

#include <vector>

#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/experiment/choices.h"
#include "sims/experiment/confirm_choice.h"
#include "sims/point/collective_config.h"
#include "sims/point/ni_config.h"

namespace espalier {

struct SystemConfig;

// Precondition: the algorithm fits the topology (the reader checked it).
// `algorithm: auto`: the tables of the fastest schedule, without programs. Schedules are ranked by
// planned time; where the best two are nearer than planned times are exact, they are simulated on
// the healthy system, alone and in child processes, and `choice` says what decided. So call it
// before this process simulates. A question that `choices` knows is not asked again; its schedule
// alone is generated.
[[nodiscard]] ScheduleTables generate_tables(const Topology& topology, const SystemConfig& system,
                                             const CollectiveConfig& collective,
                                             const Choices& choices = Choices());

// The same for auto, without asking `choices`. `rivals`: the schedule that was taken, then the
// next.
struct ChosenSchedule {
  Choice choice;
  ScheduleTables tables;
  std::vector<Rival> rivals;
};
[[nodiscard]] ChosenSchedule fastest_tables(const Topology& topology, const SystemConfig& system,
                                            const CollectiveConfig& collective,
                                            const Choices& choices);

// What generate_tables() takes for auto, without its tables: generate_chosen() makes them, in any
// process and at any time.
[[nodiscard]] Choice choose_schedule(const Topology& topology, const SystemConfig& system,
                                     const CollectiveConfig& collective, const Choices& choices);
[[nodiscard]] ScheduleTables generate_chosen(const Topology& topology, const SystemConfig& system,
                                             const CollectiveConfig& collective,
                                             const Choice& choice);

// Stores the tables as the NIs' memories do: in rows that repeat, if `ni.table_repeat` is set.
void store_rows(ScheduleTables& tables, const NiConfig& ni);

}  // namespace espalier
