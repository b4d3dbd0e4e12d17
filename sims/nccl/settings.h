// The settings of a run that simulates what NCCL chooses: program, protocol, channels, FIFO slots,
// and the times of a step. Which kernel does what is from NCCL's sources, named beside each rule;
// the times are the machine's numbers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "alg/schedule/schedule.h"
#include "sims/nccl/machine.h"

namespace espalier {

// Operations that NCCL has: all_reduce, all_gather, reduce_scatter, all_to_all; custom stands for a
// message from each rank to the next one (sendrecv).
[[nodiscard]] bool nccl_computes(CollectiveOp op);

// Of the point that is rewritten.
struct NcclNode {
  std::uint64_t hertz = 1'000'000'000;
  std::uint64_t context_bytes_per_cycle = 0;  // of a channel with Simple; 0: not limited
  std::uint64_t doorbell_cycles = 0;          // launch
  double link_rate = 0;                       // of a GPU's links and of a NIC, GB/s
  double nic_rate = 0;
};

struct NcclPlan {
  // "ring LL128 x24; NCCL 2.22 estimates 314.2 us"
  std::string choice;
  // Dotted keys of the configuration with their values, as after -s.
  std::vector<std::pair<std::string, std::string>> settings;
  // The switch of the server adds: the point runs on the preset machine.in_switch.
  bool in_switch = false;
};

// Preconditions: check_nccl_machine() found no mistake, nccl_computes(op), size != 0.
[[nodiscard]] NcclPlan nccl_plan(const NcclMachine& machine, const NcclNode& node, CollectiveOp op,
                                 Bytes size);

}  // namespace espalier
