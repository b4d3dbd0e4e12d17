// Events of the hardware in a simulation, which energy is computed from. Both fidelities count the
// same events. In a folded system, the events of one NPU times the number of NPUs are the events of
// all.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"

namespace espalier {

struct HardwareEvents {
  // Events of a router in the network of one dimension.
  struct Router {
    NodeId vertex;
    bool is_switch = false;
    std::uint32_t dimension = 0;  // counted from 1; 0: the system has no dimensions
    std::uint64_t flits = 0;      // written to the buffers, read, and sent through the crossbar
    std::uint64_t packets = 0;    // packets or sub-packets; each asks for VC and switch once
  };
  // Flits by dimension, counted from 1. Index 0: a system without dimensions.
  using ByDimension = std::vector<std::uint64_t>;

  std::vector<Router> routers;  // routers that flits came to; by vertex, then dimension
  ByDimension link_flits;
  ByDimension injected_flits;          // by NPUs
  ByDimension ejected_flits;           // to NPUs
  std::uint64_t injected_packets = 0;  // by NPUs; packets or sub-packets
  std::uint64_t added_bytes = 0;       // by the reduction units of NPUs and switches
  // By the NPUs' issue engines: table rows read, stages picked, instructions executed.
  std::uint64_t decisions = 0;
  std::uint64_t payload_bytes = 0;  // delivered, including control messages

  // Multiplies the events of one NPU by the number of NPUs for which it stands.
  void scale(std::uint64_t nodes) {
    for (Router& router : routers) {
      router.flits *= nodes;
      router.packets *= nodes;
    }
    for (std::uint64_t& flits : link_flits) flits *= nodes;
    for (std::uint64_t& flits : injected_flits) flits *= nodes;
    for (std::uint64_t& flits : ejected_flits) flits *= nodes;
    injected_packets *= nodes;
    added_bytes *= nodes;
    decisions *= nodes;
    payload_bytes *= nodes;
  }
};

}  // namespace espalier
