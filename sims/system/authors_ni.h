// The NIs of MultiTree's authors in a simulation (NiRules).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ni/engines/authors_table_engine.h"
#include "ni/network_interface.h"
#include "sims/system/simulation.h"

namespace espalier {

// What the authors' NIs do with these tables; nullopt if the system has other NIs.
[[nodiscard]] std::optional<AuthorsRules> authors_rules(const RunPoint& point,
                                                        const ScheduleTables& tables);

// The hosts' second post (AuthorsRules::posted_step): when the last message of the steps before it
// is in memory, every NI may start the step from the next cycle on.
class LatePost {
 public:
  void count(const TableProgram& program, Timestep posted_step) {
    for (const ProgramEntry& entry : program.entries) {
      if (entry.step < posted_step) left_ += entry.num_sends;
    }
  }
  void add(NetworkInterface& ni, AuthorsTableEngine& engine) { nis_.push_back({&ni, &engine}); }
  // `hooks` with a count of the messages that arrive. Both must outlive the simulation.
  [[nodiscard]] const SimulationHooks& hooked(const SimulationHooks& hooks);

 private:
  struct LoadedNi {
    NetworkInterface* ni;
    AuthorsTableEngine* engine;
  };
  void post(Cycle at);

  std::uint64_t left_ = 0;
  std::vector<LoadedNi> nis_;
  SimulationHooks hooks_;
};

}  // namespace espalier
