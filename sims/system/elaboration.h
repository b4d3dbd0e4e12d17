// A built system, as a program sees it that attaches SystemC modules of its own (docs/plug_in.md).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <systemc>

#include "hw/ids.h"
#include "sims/system/fabric.h"
#include "sims/system/socket_traffic.h"
#include "sockets/signals/ni_socket.h"
#include "sockets/signals/router_socket.h"
#include "sockets/tlm/ni_sockets.h"

namespace espalier {

// SimulationHooks::elaborate gets it when the system is built and loaded, and before the first
// cycle: the program makes its modules and binds their ports. It stays valid until the simulation
// ends; the program's modules must outlive the simulation. Functions that take a vertex throw
// std::invalid_argument, which names the vertices that exist, if there is no such vertex.
class Elaboration {
 public:
  Elaboration(Fabric& fabric, SocketTraffic& sockets) : fabric_(fabric), sockets_(sockets) {}

  // Signals: a vertex is named as in system.topology.external, by its name, or a node by its
  // number. The clock of external modules: its rising edges begin the cycles of
  // system.router.clock. Precondition: something is external.
  [[nodiscard]] sc_core::sc_clock& clock();
  // The ports of an external router.
  [[nodiscard]] RouterSignals& router(const std::string& vertex);
  // The ports of an external NI, and the messages that the collective asks it to send.
  [[nodiscard]] NiSignals& ni(const std::string& node);

  // A signal of the module at an external vertex, for waveforms: net.<vertex>.socket.own.<name>. It
  // is read in every cycle after the module's rising edge. Ask for the vertex's ports first.
  void show(const std::string& vertex, RtlSignal signal);

  // TLM-2.0: the sockets at a node's NI. During elaboration only.
  [[nodiscard]] NiSockets& tlm(const std::string& node) { return sockets_.at(node); }
  // Node n owns the 2^bits addresses from n << bits on; 32 bits if this is not called. During
  // elaboration only. Throws std::invalid_argument if the addresses do not fit into 64 bits.
  void set_address_bits(std::uint32_t bits) { sockets_.set_address_bits(bits); }
  // While the simulation runs: no initiator posts another message. A run of traffic.pattern sockets
  // ends with the last END_RESP. Without this call it ends when the kernel has no event left, which
  // never happens beside an sc_clock.
  void finish() { sockets_.finish(); }

  // After the hook: throws std::invalid_argument if no module has asked for an external vertex.
  void check_attached() const;

 private:
  [[nodiscard]] NodeId find(const std::string& vertex, const char* key,
                            const std::vector<NodeId>& external) const;
  [[nodiscard]] std::string names(const std::vector<NodeId>& vertices) const;

  Fabric& fabric_;
  SocketTraffic& sockets_;
  std::set<NodeId> attached_;
};

}  // namespace espalier
