// Routes and steps for networks in which every node can send to a different node at the same time,
// again and again until all have sent to all.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/packing/round_plan.h"

namespace espalier {

// In every step each node sends one message and receives one, and no link carries two.
struct ShiftRoutes {
  struct Send {
    NodeId from;
    NodeId to;
    std::vector<LinkId> path;
  };
  std::vector<std::vector<Send>> steps;  // nodes - 1; each in the order of the senders
  std::uint64_t rate = 0;                // bytes per second, of the slowest link of a path
};

// Of each plane: switches that are connected without nodes. Nothing unless in every plane each node
// has one link to and one from its leaf switch, all leaf switches have as many nodes m, and each
// pair of leaf switches has m links each way, direct ones or over switches that all leaf switches
// share.
//
// Step (G, J) sends from node j of leaf g to node (j + J) mod m of leaf g + G. All messages of a
// leaf go to one other leaf and to different nodes there. The message to its node i takes the i-th
// way, so no two meet: with spines, the spine is chosen by the destination (D-mod-k routing, Zahavi
// 2010). Steps within leaves come first, since their heads arrive earlier.
[[nodiscard]] std::vector<ShiftRoutes> shift_routes(const Topology& topology);

// Where an op is sent. Ops of step `turn` and later wait for the arrival of all others of the
// plane.
struct ShiftStep {
  std::uint32_t plane = 0;
  std::uint32_t step = 0;
};

// The plan of ops that are sent in steps, one step after the other without gaps. `steps`: by op.
// `turns`: by plane.
[[nodiscard]] RoundPlan plan_steps(const RoundTask& task, const std::vector<ShiftStep>& steps,
                                   const std::vector<std::uint32_t>& turns, bool periodic);

}  // namespace espalier
