// AXI4-Stream in front of an NI's ports, for RTL that has no notion of flits, VCs and credits.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "sockets/signals/flit_signals.h"
#include "sockets/signals/ni_socket.h"

namespace espalier {

// The signals of one stream. A beat is the payload of one flit; it passes at a rising edge at which
// tvalid and tready are true. A packet, which ends with tlast, is a message.
struct AxiStreamSignals {
  explicit AxiStreamSignals(const std::string& name)
      : tvalid((name + "_tvalid").c_str()),
        tready((name + "_tready").c_str()),
        tlast((name + "_tlast").c_str()),
        tid((name + "_tid").c_str()),
        tdest((name + "_tdest").c_str()),
        tuser((name + "_tuser").c_str()),
        tdata((name + "_tdata").c_str()) {}

  sc_core::sc_signal<bool> tvalid;
  sc_core::sc_signal<bool> tready;
  sc_core::sc_signal<bool> tlast;
  sc_core::sc_signal<std::uint32_t> tid;    // flow
  sc_core::sc_signal<std::uint32_t> tdest;  // destination node
  // Bit 0: Reduce. Received beats have the source node in the bits above.
  sc_core::sc_signal<std::uint32_t> tuser;
  // The model moves the data's tags, not their values: what is sent is ignored, and what is
  // received is 0.
  sc_core::sc_signal<std::uint64_t> tdata;
};

// One stream in each direction for each port of the NI. The adapter makes packets with their head
// flits, chooses the lowest permitted VC with credits for the packet, and counts credits. A message
// that the node may not send, or that has another length than the schedule table says, is an error
// of the NI's port. Beats of several messages may alternate on `received`, because packets on
// different VCs do; tid, tuser and tdest tell them apart. The network does not wait for `received`:
// beats that are not taken wait in the adapter, which has room for any number.
class AxiStreamNi : public sc_core::sc_module {
 public:
  // For an NI with the ports of `like`, which must outlive the module.
  AxiStreamNi(sc_core::sc_module_name module_name, NiSignals& like);

  sc_core::sc_in<bool> clk{"clk"};
  std::vector<std::unique_ptr<AxiStreamSignals>> sent;      // by port; the RTL is the master
  std::vector<std::unique_ptr<AxiStreamSignals>> received;  // by port; the RTL is the slave

  // Binds the clock, and the ports towards the network.
  void bind(sc_core::sc_clock& clock);

  // Beats of a message on `sent`, tlast included.
  [[nodiscard]] static std::uint64_t beats(const NiSend& send) {
    return send.framing.flits() - send.framing.head_flits();
  }

 private:
  struct Beat {
    std::uint32_t id = 0;
    std::uint32_t dest = 0;
    std::uint32_t user = 0;
    bool last = false;
  };
  // A port's way to the network.
  struct Sender {
    explicit Sender(const std::string& name) : port(name) {}
    FlitOutPort port;
    std::vector<std::uint32_t> credits;  // by VC
    std::deque<Beat> beats;              // taken, and not sent
    const NiSend* message = nullptr;     // whose flits are being sent
    std::uint64_t packet = 0;
    std::uint32_t flit = 0;
    std::uint32_t vc = kNoVc;
  };
  struct Receiver {
    explicit Receiver(const std::string& name) : port(name) {}
    FlitInPort port;
    std::deque<Beat> beats;  // received, and not taken
    bool shown = false;      // the first one is on the signals
  };

  void rise();
  void take_beat(std::size_t port);
  void send_flit(std::size_t port);
  // Whether the packet has a VC, or gets one now.
  [[nodiscard]] bool has_vc(const FlitChannelSpec& spec, Sender& sender) const;
  void receive_flit(Receiver& receiver);
  void show_beat(std::size_t port);

  NiSignals& like_;
  std::vector<std::unique_ptr<Sender>> senders_;
  std::vector<std::unique_ptr<Receiver>> receivers_;
  std::map<std::uint32_t, std::uint64_t> beats_left_;  // by message that is being received
};

}  // namespace espalier
