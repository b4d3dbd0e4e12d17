// Why a graph of work took as long as it did: the chain of work that leads to its end.
#pragma once

#include <string>
#include <vector>

#include "hw/ids.h"
#include "sims/workload/graph/graph_hosts.h"

namespace espalier {

// A part of the chain. Parts follow each other without gaps, and without overlap.
struct PathPart {
  RankId rank;
  std::uint32_t node = 0;  // number in RankWork::nodes
  Cycle from = 0;
  Cycle to = 0;
};

// Back from the rank that ended last. Before a node comes the end that let it begin: of a node that
// it waits for, or of the node that had its place. A collective runs from the last rank's post on,
// and before it comes the reason of this post. Before a receive whose message came late comes the
// send. Precondition: the hosts have finished without a failure, and have kept the times of nodes.
// In the order of time; nodes without time are left out.
[[nodiscard]] std::vector<PathPart> critical_path(const WorkGraph& graph, const GraphHosts& hosts);

// The phase of the step to which work belongs by its name: "forward", "backward" or "optimizer" in
// SimAI's texts, and where a trace's name says so; STAGE's names are tensors, of which gradients
// (dx, dw) are of the backward phase. Empty: the name does not say it.
[[nodiscard]] const char* phase_of(const std::string& name);

}  // namespace espalier
