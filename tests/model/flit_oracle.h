// The network once more, flit by flit in plain C++ and without SystemC: an oracle for the engines.
// Written from docs/timing.md, not from the sources it judges, and as slow as that makes it: one
// queue of flits per VC, every module looked at in every cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"

namespace espalier::test {

struct OracleMessage {
  std::size_t from = 0;
  std::size_t to = 0;
  Bytes bytes = 0;
  Cycle ready = 0;
  std::vector<LinkId> links;  // the route, in travel order
};

struct OracleResult {
  std::vector<Cycle> issued;              // by message; kNever: not within the limit
  std::vector<Cycle> delivered;           // by message: cycle of visibility; kNever: likewise
  std::uint64_t flit_hops = 0;            // routers passed, summed over the flits
  std::vector<std::uint64_t> link_flits;  // by LinkId
};

// Copies each message from its sender's NI to its receiver's, per sender in the order given
// (ascending `ready`), and stops when all are delivered or cycles 0 to `limit` - 1 are over.
// `ni_ports` is what a node has where its router has as many links. Throws std::invalid_argument
// where the configuration asks for a DMA engine of limited bandwidth, wormhole switching or a
// switch allocated flit by flit: these are not modelled, nor are reductions and link stalls.
[[nodiscard]] OracleResult run_oracle(const Topology& topology, const SystemConfig& config,
                                      const std::vector<OracleMessage>& messages,
                                      std::uint32_t ni_ports, Cycle limit);

}  // namespace espalier::test
