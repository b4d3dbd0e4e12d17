// The TLM-2.0 sockets of one network interface: approximately timed, base protocol.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <deque>
#include <map>
#include <string>
#include <systemc>
#include <tlm>

#include "ni/network_interface.h"
#include "ni/operation.h"
#include "sockets/tlm/tlm_network.h"

namespace espalier {

// Phases and times: docs/plug_in.md. Foreign modules are called from a process of this module,
// never during an evaluation of the clock domain. A breach of the base protocol is an error of
// SystemC's report handler, "/espalier/tlm".
class NiSockets : public sc_core::sc_module, public MessageSource {
 public:
  // A foreign initiator binds to `target`: its writes become messages of this NI. `initiator` binds
  // to a foreign target, which gets the writes that arrive here. Either may stay unbound.
  tlm_utils::simple_target_socket_optional<NiSockets> target;
  tlm_utils::simple_initiator_socket_optional<NiSockets> initiator;

  NiSockets(sc_core::sc_module_name module_name, NetworkInterface& ni, TlmNetwork& network);

  [[nodiscard]] NodeId node() const { return ni_.node(); }
  // The first of this node's addresses.
  [[nodiscard]] std::uint64_t first_address() const;

  // For the NI.
  [[nodiscard]] Cycle next_ready() const override {
    return is_waiting_ ? operation_.ready : kNever;
  }
  [[nodiscard]] const Operation& front() override { return operation_; }
  void pop() override;

  // For TlmNetwork: the message is visible in memory.
  void arrive(TransactionId id);
  // The initiator of transaction `id` gets BEGIN_RESP at time `at` or later.
  void answer(TransactionId id, const sc_core::sc_time& at);
  // What this module waits for from foreign modules; empty if for nothing.
  [[nodiscard]] std::string describe_waits() const;

 private:
  using Payload = tlm::tlm_generic_payload;
  using Phase = tlm::tlm_phase;
  using Time = sc_core::sc_time;

  // From the foreign initiator.
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, Phase& phase, Time& delay);
  void b_transport(Payload& payload, Time& delay);
  tlm::tlm_sync_enum begin_request(Payload& payload, const Time& delay);
  void end_response(const Payload& payload, const Time& delay);
  // From the foreign target.
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, Phase& phase, Time& delay);
  void end_offer(const Time& delay);
  void take_answer(TransactionId id, const Time& delay);

  // Sends the phases that are due, and asks to be run again when the next one is.
  void step();
  void send_end_request();
  void send_responses();
  void offer_arrivals();
  void breach(const std::string& what) const;

  NetworkInterface& ni_;
  TlmNetwork& network_;
  sc_core::sc_event step_;

  // Towards the initiator. One request at a time is without END_REQ, and one response without
  // END_RESP.
  Operation operation_;
  bool is_waiting_ = false;                     // the NI has not taken operation_
  TransactionId requested_;                     // invalid: the initiator may send BEGIN_REQ
  bool is_taken_ = false;                       // END_REQ is due
  std::multimap<Time, TransactionId> answers_;  // by the time from which BEGIN_RESP may be sent
  TransactionId responded_;                     // invalid: BEGIN_RESP may be sent
  Time responses_free_at_;

  // Towards the target. One request at a time is without END_REQ.
  std::deque<TransactionId> arrivals_;
  TransactionId offered_;
  Time offers_free_at_;
  std::uint64_t in_target_ = 0;  // transactions without the target's BEGIN_RESP
};

}  // namespace espalier
