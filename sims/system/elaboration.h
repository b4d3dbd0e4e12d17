// A built system, as a program sees it that attaches SystemC modules of its own.
#pragma once

#include <cstdint>
#include <string>

#include "sims/system/socket_traffic.h"
#include "sockets/tlm/ni_sockets.h"

namespace espalier {

// SimulationHooks::elaborate gets it before the first cycle. It stays valid until the simulation
// ends. The program's modules must outlive the simulation.
class Elaboration {
 public:
  explicit Elaboration(SocketTraffic& sockets) : sockets_(sockets) {}

  // The TLM sockets at a node's NI, "r_0_0" for example. During elaboration only. Throws
  // std::invalid_argument, which names the nodes, if no node has this name.
  [[nodiscard]] NiSockets& tlm(const std::string& node_name) { return sockets_.at(node_name); }
  // Node n owns the 2^bits addresses from n << bits on; 32 bits if this is not called. During
  // elaboration only. Throws std::invalid_argument if the addresses do not fit into 64 bits.
  void set_address_bits(std::uint32_t bits) { sockets_.set_address_bits(bits); }

  // While the simulation runs: no initiator posts another message. A run of traffic.pattern sockets
  // ends with the last END_RESP. Without this call it ends when the kernel has no event left, which
  // never happens beside an sc_clock.
  void finish() { sockets_.finish(); }

 private:
  SocketTraffic& sockets_;
};

}  // namespace espalier
