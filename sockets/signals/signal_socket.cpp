#include "sockets/signals/signal_socket.h"

#include <fmt/format.h>

namespace espalier {

void ProtocolWatch::report(const std::string& port, Cycle now, const std::string& rule) {
  if (is_broken()) return;
  problem_ = fmt::format("{}: cycle {}: {}", port, now, rule);
  clock_.stop();
}

namespace {

// The fields of a flit, as wide as what a module may write.
struct FlitField {
  const char* name;
  unsigned bits;
  std::uint64_t (*of)(const SignalFlit& flit);
};
constexpr FlitField kFlitFields[] = {
    {"vc", 32, [](const SignalFlit& flit) -> std::uint64_t { return flit.vc; }},
    {"type", 8, [](const SignalFlit& flit) { return static_cast<std::uint64_t>(flit.type); }},
    {"left", 32, [](const SignalFlit& flit) -> std::uint64_t { return flit.left_in_packet; }},
    {"out_port", 32, [](const SignalFlit& flit) -> std::uint64_t { return flit.out_port; }},
    {"message", 32, [](const SignalFlit& flit) -> std::uint64_t { return flit.message; }},
    {"source", 32, [](const SignalFlit& flit) -> std::uint64_t { return flit.source; }},
    {"destination", 32, [](const SignalFlit& flit) -> std::uint64_t { return flit.destination; }},
    {"flow", 32, [](const SignalFlit& flit) -> std::uint64_t { return flit.flow; }},
    {"kind", 8, [](const SignalFlit& flit) { return static_cast<std::uint64_t>(flit.kind); }},
};

void add_signals(const std::string& port, const FlitSignals& of, std::vector<RtlSignal>& all) {
  all.push_back({port + ".valid", 1, [&of] { return of.valid.read() ? 1 : 0; }});
  for (const FlitField& field : kFlitFields) {
    all.push_back(
        {port + "." + field.name, field.bits, [&of, &field] { return field.of(of.flit.read()); }});
  }
  all.push_back({port + ".credits", 32, [&of] { return of.credits.read(); }, RtlKind::mask});
}

}  // namespace

std::vector<RtlSignal> SignalSocket::signals() const {
  std::vector<RtlSignal> all;
  for (std::size_t i = 0; i < received().size(); ++i) {
    add_signals(fmt::format("in{}", i), *received()[i], all);
  }
  for (std::size_t o = 0; o < sent().size(); ++o) {
    add_signals(fmt::format("out{}", o), *sent()[o], all);
  }
  all.insert(all.end(), own_.begin(), own_.end());
  return all;
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
  // The signals of the cycle, before the bridges drive those of the next one.
  for (const SignalSocket* socket : sockets_) socket->show(now);
  for (SignalSocket* socket : sockets_) socket->sample(now);
  for (SignalSocket* socket : sockets_) socket->drive(now);
}

}  // namespace espalier
