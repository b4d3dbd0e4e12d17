// What a network knows of a router that moves single flits: the built-in Router, or a module behind
// signals (sockets/signals/router_socket.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flowctl/channel.h"
#include "flowctl/flit.h"
#include "flowctl/wait_list.h"
#include "hw/counters.h"
#include "hw/rtl_probe.h"

namespace espalier {

class FlitRouter {
 public:
  FlitRouter() = default;
  virtual ~FlitRouter() = default;
  FlitRouter(const FlitRouter&) = delete;
  FlitRouter& operator=(const FlitRouter&) = delete;

  // Elaboration: the sender at the other end of an input's link gets its channel. Outputs are
  // numbered in the order of the calls. connect() must follow.
  [[nodiscard]] virtual Channel& input_channel(std::size_t input) = 0;
  [[nodiscard]] virtual std::size_t num_inputs() const = 0;
  virtual void add_output(Channel& channel) = 0;
  virtual void add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency) = 0;
  virtual void connect() = 0;

  // Flits that have passed this router.
  [[nodiscard]] virtual std::uint64_t flit_hops() const = 0;
  // Flits of messages on the control lane that have passed this router.
  [[nodiscard]] virtual std::uint64_t control_flit_hops() const = 0;
  [[nodiscard]] virtual Counters counters() const = 0;
  // True if a flit is on its way to this router, a wire is busy, or a credit is on its way back.
  [[nodiscard]] virtual bool under_way(Cycle now) const = 0;
  // For the watchdog: adds what each VC waits for.
  virtual void explain_waits(Cycle now, WaitList& waits) const = 0;
  // The Verilog models that decide in this router. To be called after connect().
  [[nodiscard]] virtual std::vector<RtlPlace> rtl() { return {}; }
};

}  // namespace espalier
