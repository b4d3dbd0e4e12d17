#pragma once

#include <cstdint>

namespace espalier {

enum class SwitchHold : std::uint8_t {
  packet,  // the switch is held until the (sub-)packet's last flit has left
  flit,    // it is allocated anew for every flit: packets on different VCs interleave
};

enum class CrossbarInputs : std::uint8_t {
  port,  // the VCs of an input port share one crossbar input
  vc,    // each VC has a crossbar input of its own
};

}  // namespace espalier
