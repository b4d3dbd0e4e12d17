#include "sockets/signals/flit_signals.h"

#include <fmt/format.h>

namespace espalier {

std::ostream& operator<<(std::ostream& out, const SignalFlit& flit) {
  return out << fmt::format("{} vc {} of message {}, {} left, to port {}", to_string(flit.type),
                            flit.vc, flit.message, flit.left_in_packet, flit.out_port);
}

namespace {

// The kernel keeps the addresses of traced variables. Enumerations are one byte here.
template <class Enum>
const unsigned char& as_byte(const Enum& value) {
  static_assert(sizeof(Enum) == 1);
  return reinterpret_cast<const unsigned char&>(value);
}

}  // namespace

void sc_trace(sc_core::sc_trace_file* file, const SignalFlit& flit, const std::string& name) {
  sc_core::sc_trace(file, flit.vc, name + ".vc");
  sc_core::sc_trace(file, as_byte(flit.type), name + ".type", 3);
  sc_core::sc_trace(file, flit.left_in_packet, name + ".left_in_packet");
  sc_core::sc_trace(file, flit.out_port, name + ".out_port");
  sc_core::sc_trace(file, flit.out_vcs, name + ".out_vcs");
  sc_core::sc_trace(file, flit.message, name + ".message");
  sc_core::sc_trace(file, flit.source, name + ".source");
  sc_core::sc_trace(file, flit.destination, name + ".destination");
  sc_core::sc_trace(file, flit.flow, name + ".flow");
  sc_core::sc_trace(file, as_byte(flit.kind), name + ".kind", 1);
  sc_core::sc_trace(file, flit.bytes, name + ".bytes");
  sc_core::sc_trace(file, flit.hop, name + ".hop");
}

}  // namespace espalier
