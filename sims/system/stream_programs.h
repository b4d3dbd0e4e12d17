// The programs of posted collectives: tables of a size are made when it is posted first.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "alg/schedule_table.h"
#include "ni/stream_program.h"
#include "sims/config/config.h"
#include "sims/system/side_routes.h"

namespace espalier {

// Of an all-reduce of so many bytes, certified. May throw.
using TablesOfSize = std::function<ScheduleTables(Bytes)>;

class StreamPrograms {
 public:
  // All arguments must outlive it.
  StreamPrograms(const Topology& topology, const RunPoint& point, const TablesOfSize& tables_of,
                 SideRoutes& routes)
      : topology_(topology), point_(point), tables_of_(tables_of), routes_(routes) {}

  // Throws what tables_of throws, and std::invalid_argument where the tables are no all-reduce of
  // this size on this network.
  [[nodiscard]] const StreamProgram& of_size(Bytes bytes);

 private:
  [[nodiscard]] std::unique_ptr<StreamProgram> load(Bytes bytes);
  // Of the routes that it uses; the others stay invalid.
  void bind_routes(StreamProgram& program);

  const Topology& topology_;
  const RunPoint& point_;
  const TablesOfSize& tables_of_;
  SideRoutes& routes_;
  std::map<Bytes, std::unique_ptr<StreamProgram>> programs_;
};

}  // namespace espalier
