// The bridges between the model and modules behind signals, and their clock.
#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "hw/clock/clock_domain.h"
#include "hw/ids.h"
#include "hw/rtl_probe.h"
#include "sockets/signals/flit_signals.h"

namespace espalier {

// Collects what external modules do wrong at their ports. The first broken rule stops the
// simulation, because nothing after it can be trusted.
class ProtocolWatch {
 public:
  explicit ProtocolWatch(ClockDomain& clock) : clock_(clock) {}

  // `port`: hierarchical name of the port's vertex and the port, e.g. "r_1_1, output 2".
  void report(const std::string& port, Cycle now, const std::string& rule);
  // "r_1_1, output 2: cycle 17: ..."; empty if no rule has been broken.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool is_broken() const { return !problem_.empty(); }

 private:
  ClockDomain& clock_;
  std::string problem_;
};

// The bridges of one vertex. In every cycle, all sockets sample before any socket drives, so two
// external modules may be neighbours. A waveform shows their signals in scope "socket", and below
// "socket.own" what the module adds.
class SignalSocket : public RtlProbe {
 public:
  // What the modules wrote in cycle `now`.
  virtual void sample(Cycle now) = 0;
  // What the modules read in cycle `now` + 1.
  virtual void drive(Cycle now) = 0;

  void show(Cycle now) const { settled(now); }
  // Elaboration: a signal of the module behind the ports.
  void add_own(RtlSignal signal) {
    signal.name = "own." + signal.name;
    own_.push_back(std::move(signal));
  }
  [[nodiscard]] const char* module() const override { return "socket"; }
  [[nodiscard]] std::vector<RtlSignal> signals() const override;
  void catch_up(Cycle) override {}

 private:
  [[nodiscard]] virtual const std::vector<std::unique_ptr<FlitSignals>>& received() const = 0;
  [[nodiscard]] virtual const std::vector<std::unique_ptr<FlitSignals>>& sent() const = 0;

  std::vector<RtlSignal> own_;
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
