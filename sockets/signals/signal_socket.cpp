#include "sockets/signals/signal_socket.h"

#include <fmt/format.h>

namespace espalier {

void ProtocolWatch::report(const std::string& port, Cycle now, const std::string& rule) {
  if (is_broken()) return;
  problem_ = fmt::format("{}: cycle {}: {}", port, now, rule);
  clock_.stop();
}

SocketClock::SocketClock(sc_core::sc_module_name module_name, ClockDomain& domain)
    : sc_module(module_name),
      domain_(domain),
      clock_("clk", domain.period(), 0.5, sc_core::SC_ZERO_TIME, true),
      watch_(domain) {
  domain.run_every_cycle();
  SC_HAS_PROCESS(SocketClock);
  SC_METHOD(fall);
  sensitive << clock_.negedge_event();
  dont_initialize();
}

void SocketClock::fall() {
  const Cycle now = sc_core::sc_time_stamp().value() / domain_.period().value();
  // The clock of the model stops in a cycle that the sockets still complete.
  if (domain_.stopped() && now > domain_.now()) return;
  for (SignalSocket* socket : sockets_) socket->sample(now);
  for (SignalSocket* socket : sockets_) socket->drive(now);
}

}  // namespace espalier
