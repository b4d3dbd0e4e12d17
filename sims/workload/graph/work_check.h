// What is wrong with a graph of work that can be seen before it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sims/workload/graph/work_graph.h"

namespace espalier {

struct WorkMistake {
  std::uint32_t rank = 0;  // whose work has it
  std::string what;        // names ranks, and nodes by id and name
};

// Mistakes that no order of issue can repair, `most` at most: peers that do not exist, groups of
// others, circles of waits, messages without a sender or a receiver or of two sizes, collectives
// that not all members of a set post, and dependencies that make ranks post collectives in
// different orders or wait for each other. Collectives are told apart by group, operation and size;
// those of a kind count as ordered only if dependencies order them at each rank. Linear in nodes
// and waits, apart from sorting.
[[nodiscard]] std::vector<WorkMistake> check_work(const WorkGraph& graph, std::size_t most = 10);

}  // namespace espalier
