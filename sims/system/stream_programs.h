// Programs of posted collectives. The tables of a collective are made when a host posts it for the
// first time, and again if they have been dropped since.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "alg/schedule/schedule_table.h"
#include "hw/ids.h"
#include "hw/topology/link_timing.h"
#include "ni/engines/stream_engine.h"
#include "sims/system/side_routes.h"
#include "sims/workload/graph/host_services.h"

namespace espalier {

struct RunPoint;

// Loaded programs, because jobs repeat collectives. Keeps programs with up to
// `most_operations` operations in total, about 200 bytes each. If there are more, drops the least
// recently used program that is not running.
class StreamProgramCache {
 public:
  using Program = std::shared_ptr<const StreamProgram>;
  using Load = std::function<Program(const HostCollective&)>;

  explicit StreamProgramCache(std::uint64_t most_operations) : most_operations_(most_operations) {}

  // Calls `load` if no program of this collective is kept. Throws what `load` throws.
  [[nodiscard]] Program get(const HostCollective& what, const Load& load) {
    const auto known = kept_.find(what);
    if (known != kept_.end()) {
      known->second.last_use = ++uses_;
      return known->second.program;
    }
    Program program = load(what);
    operations_ += program->operations;
    drop_beyond_limit();
    kept_.emplace(what, Kept{program, ++uses_});
    return program;
  }

 private:
  struct Kept {
    Program program;
    std::uint64_t last_use;
  };

  void drop_beyond_limit() {
    while (operations_ > most_operations_) {
      auto oldest = kept_.end();
      for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
        if (kept->second.program.use_count() != 1) continue;
        if (oldest == kept_.end() || kept->second.last_use < oldest->second.last_use) oldest = kept;
      }
      if (oldest == kept_.end()) return;
      operations_ -= oldest->second.program->operations;
      kept_.erase(oldest);
    }
  }

  std::uint64_t most_operations_;
  std::uint64_t operations_ = 0;  // of all kept programs
  std::uint64_t uses_ = 0;
  std::map<HostCollective, Kept> kept_;
};

// Certified tables of a collective. They name the members of its group, by their places in the
// group, instead of nodes; those of group 0 name nodes, if every node has a rank. May throw.
using TablesOf = std::function<ScheduleTables(const HostCollective&)>;

class StreamPrograms {
 public:
  // All arguments must outlive this object.
  StreamPrograms(const Topology& topology, const RunPoint& point, const TablesOf& tables_of,
                 SideRoutes& routes, ChannelDependencies& waits);

  // Throws the exceptions of tables_of, and std::invalid_argument if the tables are not this
  // collective's on this network, or if its messages and other messages of the job could wait for
  // each other in a circle: each collective alone is certified, and any of them may be in flight
  // together. `members`: of its group.
  [[nodiscard]] StreamProgramCache::Program of(const HostCollective& what, std::size_t members);

 private:
  [[nodiscard]] StreamProgramCache::Program load(const HostCollective& what, std::size_t members);
  // Binds the routes that the program uses.
  void bind_routes(StreamProgram& program, std::size_t members);

  const RunPoint& point_;
  const TablesOf& tables_of_;
  SideRoutes& routes_;
  ChannelDependencies& waits_;  // of all routes of the job so far
  // Of the healthy system, because the tables are filled without knowledge of faults.
  const SystemTiming timing_;
  StreamProgramCache cache_;
};

}  // namespace espalier
