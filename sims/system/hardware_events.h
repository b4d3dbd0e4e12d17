// What the hardware did in a simulation, counted: the events that energy is spent on. Both
// fidelities count the same, and one NPU's events times all NPUs are those of all.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"

namespace espalier {

struct HardwareEvents {
  // Of a router in the network of one dimension.
  struct Router {
    NodeId vertex;
    bool is_switch = false;
    std::uint32_t dimension = 0;  // from 1; 0: there are none
    std::uint64_t flits = 0;      // written to its buffers, read, and through its crossbar
    std::uint64_t packets = 0;    // or sub-packets: each asks for VC and switch once
  };
  // Flits, by dimension (from 1; the first entry is that of systems without).
  using ByDimension = std::vector<std::uint64_t>;

  std::vector<Router> routers;  // that flits came to, by vertex, then dimension
  ByDimension link_flits;
  ByDimension injected_flits;       // by NPUs
  std::uint64_t decisions = 0;      // of all NPUs' issue engines: table entries read, stages picked
  std::uint64_t payload_bytes = 0;  // delivered, control messages included

  // What one NPU did, said of all.
  void scale(std::uint64_t nodes) {
    for (Router& router : routers) {
      router.flits *= nodes;
      router.packets *= nodes;
    }
    for (std::uint64_t& flits : link_flits) flits *= nodes;
    for (std::uint64_t& flits : injected_flits) flits *= nodes;
    decisions *= nodes;
    payload_bytes *= nodes;
  }
};

}  // namespace espalier
