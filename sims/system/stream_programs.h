// The programs of posted collectives: tables of a size are made when it is posted first, and again
// when it comes back after many others.
#pragma once

#include <functional>

#include "alg/schedule/schedule_table.h"
#include "ni/engines/stream_engine.h"
#include "sims/point/config.h"
#include "sims/system/side_routes.h"
#include "sims/system/stream_program_cache.h"

namespace espalier {

// Of an all-reduce of so many bytes, certified. May throw.
using TablesOfSize = std::function<ScheduleTables(Bytes)>;

class StreamPrograms {
 public:
  // All arguments must outlive it.
  StreamPrograms(const Topology& topology, const RunPoint& point, const TablesOfSize& tables_of,
                 SideRoutes& routes);

  // Throws what tables_of throws, and std::invalid_argument where the tables are no all-reduce of
  // this size on this network.
  [[nodiscard]] StreamProgramCache::Program of_size(Bytes bytes);

 private:
  [[nodiscard]] StreamProgramCache::Program load(Bytes bytes);
  // Of the routes that it uses; the others stay invalid.
  void bind_routes(StreamProgram& program);

  const Topology& topology_;
  const RunPoint& point_;
  const TablesOfSize& tables_of_;
  SideRoutes& routes_;
  StreamProgramCache cache_;
};

}  // namespace espalier
