// The bridges between the model and modules behind signals, and their clock.
#pragma once

#include <systemc>
#include <vector>

#include "hw/clock/clock_domain.h"
#include "hw/ids.h"
#include "sockets/signals/protocol_watch.h"

namespace espalier {

// The bridges of one vertex. In every cycle, all sockets sample before any socket drives, so two
// external modules may be neighbours.
class SignalSocket {
 public:
  virtual ~SignalSocket() = default;
  // What the modules wrote in cycle `now`.
  virtual void sample(Cycle now) = 0;
  // What the modules read in cycle `now` + 1.
  virtual void drive(Cycle now) = 0;
};

// Owns the clock of external modules: cycle n begins with the clock's n-th rising edge, counted
// from 0. The sockets act at its falling edges.
class SocketClock : public sc_core::sc_module {
 public:
  SocketClock(sc_core::sc_module_name module_name, ClockDomain& domain);

  // Elaboration only. The socket must outlive the simulation.
  void add(SignalSocket& socket) { sockets_.push_back(&socket); }
  [[nodiscard]] sc_core::sc_clock& clock() { return clock_; }
  [[nodiscard]] ProtocolWatch& watch() { return watch_; }
  [[nodiscard]] const ProtocolWatch& watch() const { return watch_; }

 private:
  void fall();

  ClockDomain& domain_;
  sc_core::sc_clock clock_;
  ProtocolWatch watch_;
  std::vector<SignalSocket*> sockets_;
};

}  // namespace espalier
