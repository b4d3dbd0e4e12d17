// The built-in router as a SystemC module with ports made of signals. It decides in every cycle as
// the router that it replaces, which proves the ports; and it is an example of their use.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "flowctl/channel.h"
#include "flowctl/message.h"
#include "hw/clock/clock_domain.h"
#include "router/router.h"
#include "sockets/signals/flit_signals.h"
#include "sockets/signals/router_socket.h"

namespace espalier {

// Samples its inputs at the rising edge of `clk`, decides, and writes its outputs at the same edge.
class SignalRouter : public sc_core::sc_module {
 public:
  // A router with the parameters and the number of ports of `like`, which must outlive the module.
  SignalRouter(sc_core::sc_module_name module_name, const RouterSignals& like);
  ~SignalRouter() override;

  sc_core::sc_in<bool> clk{"clk"};
  std::vector<std::unique_ptr<FlitInPort>> inputs;
  std::vector<std::unique_ptr<FlitOutPort>> outputs;

  // Binds every port.
  void bind(sc_core::sc_clock& clock, RouterSignals& signals);

 private:
  // What the module notes while the router decides, and writes at the end of the cycle.
  class InputEnd;
  class OutputEnd;
  class EjectionEnd;

  void rise();
  void accept(std::size_t input, const SignalFlit& flit, Cycle now);
  // The signal of a flit that leaves on VC `vc`.
  [[nodiscard]] SignalFlit leaving(std::uint32_t vc, const Flit& flit);

  Switching switching_;
  std::size_t links_out_;
  ClockDomain domain_;
  MessageTable messages_;  // packets in the router (message mode: messages)
  PathTable paths_;        // one hop each
  std::map<std::pair<std::uint32_t, VcMask>, std::uint32_t> hops_;  // number in paths_
  std::vector<SignalFlit> headers_;                                 // by message in messages_
  std::vector<std::vector<MessageId>> entering_;  // by input and VC: the message that enters
  Router router_;
  std::vector<std::unique_ptr<InputEnd>> input_ends_;
  std::vector<std::unique_ptr<OutputEnd>> output_ends_;
  std::vector<std::unique_ptr<EjectionEnd>> ejection_ends_;
  Cycle cycle_ = 0;  // number of the next rising edge
};

}  // namespace espalier
