// A collective as the NIs of a system execute it any number of times: loaded once for all.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "ni/engines/schedule_table_engine.h"
#include "ni/engines/table_program.h"

namespace espalier {

struct StreamProgram {
  // What node frames need of the tables; those of the nodes are in `programs`.
  ScheduleTables tables;
  std::vector<TableProgram> programs;  // one per node, or the one that all hold
  ScheduleTableEngine::Spec engine;
  std::vector<RouteId> bound;                     // by route of the tables: what operations call it
  std::vector<std::vector<TableEvent>> arrivals;  // by node: messages, ascending
  std::uint64_t operations = 0;                   // of all nodes
  std::size_t numbers = 0;                        // flows and chunks are numbered below it

  [[nodiscard]] const TableProgram& program(NodeId node) const {
    return programs.size() == 1 ? programs.front() : programs[node.index()];
  }
};

// All but `engine` and `bound`. Precondition: the tables pass the certifier.
[[nodiscard]] StreamProgram load_stream(ScheduleTables tables, std::size_t nodes);

}  // namespace espalier
