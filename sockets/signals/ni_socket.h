// The place of an external NI in the system: the injection and ejection channels of its router are
// ports made of signals, and it sends the messages of the node's schedule table.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "flowctl/framing.h"
#include "hw/ids.h"
#include "ni/message_store.h"
#include "ni/network_interface.h"
#include "ni/send_queue.h"
#include "sockets/signals/flit_bridge.h"
#include "sockets/signals/flit_signals.h"
#include "sockets/signals/signal_socket.h"

namespace espalier {

// A message that the collective asks the node to send. Flow, destination and kind identify it.
struct NiSend {
  std::uint32_t flow = 0;
  std::uint32_t destination = 0;  // node
  TransferKind kind = TransferKind::copy;
  std::uint64_t bytes = 0;
  std::uint32_t port = 0;  // injection port, given by the route
  Framing framing{{}, 1};  // packets, and the type of each of their flits
};

struct NiSignals {
  std::string name;  // of the NI, e.g. "ni_0_0"
  NodeId node;
  std::vector<std::unique_ptr<FlitSignals>> injection;  // by port: from the module
  std::vector<std::unique_ptr<FlitSignals>> ejection;   // by port: to the module, without credits
  std::vector<NiSend> sends;                            // in the order of the schedule table
  FramingSpec framing;                                  // of every message
};

// Data move by tags: a message's tags are read from the rank's memory in the cycle in which its
// head flit leaves, and written in the cycle in which the module can read the message's last flit.
// A module that sends before its data have arrived therefore fails the check of the data.
class NiSocket : public sc_core::sc_module,
                 public PacketSink,
                 public SignalSocket,
                 private EjectionObserver {
 public:
  // `ejection_latency`: cycles from leaving the router until the module reads the flit. All
  // references must outlive the socket.
  NiSocket(sc_core::sc_module_name module_name, NodeId node, MessageStore& messages,
           const std::vector<BoundRoute>& routes, DeliveryObserver& observer, ProtocolWatch& watch,
           Cycle ejection_latency);

  // Elaboration: port p injects into `channel`, and ejection port p leads back to this NI.
  void add_port(Channel& channel, const InjectionSpec& spec);
  // The node's part of the collective, in table order, and the rank's memory.
  void load(const std::vector<Operation>& sends, DataMemory& memory);
  [[nodiscard]] NiSignals& ports() { return signals_; }

  [[nodiscard]] NodeId node() const { return signals_.node; }
  [[nodiscard]] std::uint64_t flits_sent(std::size_t port) const {
    return ports_[port]->bridge.flits_sent();
  }
  [[nodiscard]] std::uint64_t head_flits_sent() const { return head_flits_; }
  [[nodiscard]] std::uint64_t received_flits() const { return received_flits_; }
  [[nodiscard]] std::size_t num_ports() const { return ports_.size(); }
  [[nodiscard]] bool under_way(Cycle now) const;
  // For the watchdog: messages that the module has not sent.
  void explain_waits(WaitList& waits) const;

  void packets_end(std::uint32_t port, MessageId message, std::uint64_t count, std::uint32_t flits,
                   Cycle first, Cycle arrival) override;
  [[nodiscard]] EjectionObserver* flit_observer() override { return this; }

  void sample(Cycle now) override;
  void drive(Cycle now) override;

 private:
  [[nodiscard]] const std::vector<std::unique_ptr<FlitSignals>>& received() const override {
    return signals_.ejection;
  }
  [[nodiscard]] const std::vector<std::unique_ptr<FlitSignals>>& sent() const override {
    return signals_.injection;
  }
  // A message whose first head flit has left.
  struct Sending {
    MessageId message;
    std::size_t send;  // in NiSignals::sends
    std::uint64_t next_packet = 0;
    std::uint64_t packets_left;
  };
  // The packet that enters a VC. In message mode the message keeps the VC.
  struct Entering {
    Sending* message = nullptr;
    std::uint64_t packet = 0;
    std::uint32_t flit = 0;
  };
  struct Port {
    Port(Channel& channel, FlitSignals& out, FlitSignals& in, ProtocolWatch& watch,
         const std::string& name)
        : bridge(channel, out, watch, name), display(in), vcs(channel.spec().vcs) {}
    SenderBridge bridge;
    FlitDisplay display;
    std::vector<Entering> vcs;
    VcMask permitted = 0;
    FramingSpec framing;
    Switching switching = Switching::vct;
  };
  struct Arrival {
    Cycle at;
    MessageId message;
  };

  void flit_ejected(std::uint32_t port, std::uint32_t vc, const Flit& flit) override;
  void take(std::size_t port, const SignalFlit& flit, Cycle now);
  // The message that a head flit names; nullptr if the node may not send it now.
  [[nodiscard]] Sending* message_of(std::size_t port, const SignalFlit& flit, Cycle now);
  void end_packet(Entering& entering);
  void complete(MessageId message, Cycle now);

  NiSignals signals_;
  MessageStore& messages_;
  const std::vector<BoundRoute>& routes_;
  DeliveryObserver& observer_;
  ProtocolWatch& watch_;
  Cycle ejection_latency_;
  Cycle now_ = 0;  // the cycle that begins next
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<Operation> operations_;  // by number in NiSignals::sends
  std::vector<bool> is_begun_;         // likewise
  DataMemory* memory_ = nullptr;
  std::list<Sending> sending_;
  std::vector<Arrival> arrivals_;
  std::uint64_t head_flits_ = 0;
  std::uint64_t received_flits_ = 0;
};

}  // namespace espalier
