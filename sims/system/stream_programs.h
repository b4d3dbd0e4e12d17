// Programs of posted collectives. The tables of a collective are made when a host posts it for the
// first time, and again if they have been dropped since. Groups whose routes look alike share them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

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
  using Program = std::shared_ptr<StreamProgram>;
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

// What NIs execute for a collective, certified: tables, or a program with the settings of its
// contexts.
struct StreamWork {
  // NOLINTNEXTLINE(google-explicit-constructor): most makers make tables.
  StreamWork(ScheduleTables of_schedule) : tables(std::move(of_schedule)) {}

  ScheduleTables tables;  // of a program: empty, but for `taken`
  std::shared_ptr<const Program> program = {};
  std::shared_ptr<const RunPoint> point = {};  // of the program: its size and its contexts
  std::uint32_t ranks_per_server = 0;          // ContextSpec
  std::uint32_t root = 0;
};

// The work of a collective. It names the members of the group, by their places in the group,
// instead of nodes; that of group 0 names nodes, if every node has a rank. An all_to_all may have
// tables of an all_to_allv. May throw.
using TablesOf = std::function<StreamWork(const HostCollective&)>;

// The tables of one group fit another group if the pattern of its routes (route_pattern) is the
// same, member by member: the link of each route has its counterpart, of the same rate, latency and
// VC class, so what the certifier has proven of the one group holds for the other.
class StreamPrograms {
 public:
  // All arguments must outlive this object. `groups`: by HostCollective::group.
  StreamPrograms(const Topology& topology, const RunPoint& point,
                 const std::vector<StreamGroup>& groups, const TablesOf& tables_of,
                 SideRoutes& routes);

  // Throws the exceptions of tables_of, and std::invalid_argument if the tables are not this
  // collective's on this network, or if its messages and other messages of the job could wait for
  // each other in a circle: each collective alone is certified, and any of them may be in flight
  // together.
  [[nodiscard]] StreamProgramCache::Program of(const HostCollective& what);
  // All schedules so far take the routes of packets alone. Programs have more channels.
  [[nodiscard]] bool keep_to_packet_routes() const { return keep_to_packet_routes_; }

 private:
  struct Model {
    std::uint32_t group;
    std::vector<std::uint64_t> pattern;  // empty: not needed yet
  };
  [[nodiscard]] StreamProgramCache::Program load(const HostCollective& what);
  // The first group whose tables fit this one.
  [[nodiscard]] std::uint32_t model_of(std::uint32_t group);
  [[nodiscard]] std::vector<std::uint64_t> pattern_of(std::uint32_t group) const;
  // Notes which routes of packets the tables use, if they use no others.
  void note_turns(StreamProgram& program, const StreamGroup& group) const;
  // Binds the routes that the program uses among the group's nodes.
  void bind(StreamProgram& program, const StreamGroup& group);
  // The same by the links of its tables. Precondition: they have not been dropped.
  [[nodiscard]] BoundRoutes bind_links(const StreamProgram& program, std::size_t members);
  [[nodiscard]] StreamProgram load_blocks(StreamWork& work, const StreamGroup& group) const;
  [[nodiscard]] BoundRoutes bind_blocks(const StreamBlocks& blocks, const StreamGroup& group);

  const Topology& topology_;
  const RunPoint& point_;
  const std::vector<StreamGroup>& groups_;
  const TablesOf& tables_of_;
  SideRoutes& routes_;
  // Of the healthy system, because the tables are filled without knowledge of faults.
  const SystemTiming timing_;
  StreamProgramCache cache_;
  bool keep_to_packet_routes_ = true;
  std::map<std::size_t, std::vector<Model>> models_;  // by number of ranks
  std::map<std::uint32_t, std::uint32_t> model_of_;   // by group
};

}  // namespace espalier
