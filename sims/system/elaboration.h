// For programs that attach SystemC modules of their own to a simulated system (docs/plug_in.md).
#pragma once

#include <set>
#include <string>
#include <systemc>

#include "hw/ids.h"
#include "sims/system/fabric.h"
#include "sockets/signals/ni_socket.h"
#include "sockets/signals/router_socket.h"

namespace espalier {

// A system that is built and loaded, and has not begun to run. SimulationHooks::elaborate gets it.
// It makes its modules and binds their ports; the modules must outlive the simulation. A vertex is
// named as in the configuration: by its name, or a node by its number. Every function throws
// std::invalid_argument, with the names that are external, if the vertex is not.
class Elaboration {
 public:
  explicit Elaboration(Fabric& fabric) : fabric_(fabric) {}

  // The clock of external modules: its rising edges begin the cycles of system.router.clock.
  // Precondition: something is external.
  [[nodiscard]] sc_core::sc_clock& clock();
  // The ports of an external router.
  [[nodiscard]] RouterSignals& router(const std::string& vertex);
  // The ports of an external NI, and the messages that the collective asks it to send.
  [[nodiscard]] NiSignals& ni(const std::string& node);

  // After the hook: throws std::invalid_argument if no module has asked for an external vertex.
  void check_attached() const;

 private:
  [[nodiscard]] NodeId find(const std::string& vertex, const char* key,
                            const std::vector<NodeId>& external) const;
  [[nodiscard]] std::string names(const std::vector<NodeId>& vertices) const;

  Fabric& fabric_;
  std::set<NodeId> attached_;
};

}  // namespace espalier
