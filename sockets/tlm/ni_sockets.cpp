#include "sockets/tlm/ni_sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace espalier {

namespace {

constexpr const char* kReports = "/espalier/tlm";

using Stage = SocketTransaction::Stage;

}  // namespace

NiSockets::NiSockets(sc_core::sc_module_name module_name, NetworkInterface& ni, TlmNetwork& network)
    : sc_module(module_name), target("target"), initiator("initiator"), ni_(ni), network_(network) {
  target.register_nb_transport_fw(this, &NiSockets::nb_transport_fw);
  target.register_b_transport(this, &NiSockets::b_transport);
  initiator.register_nb_transport_bw(this, &NiSockets::nb_transport_bw);
  SC_HAS_PROCESS(NiSockets);
  SC_METHOD(step);
  sensitive << step_;
  dont_initialize();
}

std::uint64_t NiSockets::first_address() const {
  return network_.addresses().first_address(node());
}

void NiSockets::breach(const std::string& what) const {
  SC_REPORT_ERROR(kReports, fmt::format("{}: {}", name(), what).c_str());
}

// Requests of the initiator ----------------------------------------------------------------------

tlm::tlm_sync_enum NiSockets::nb_transport_fw(Payload& payload, Phase& phase, Time& delay) {
  if (phase == tlm::BEGIN_REQ) return begin_request(payload, delay);
  if (phase == tlm::END_RESP) {
    end_response(payload, delay);
  } else {
    breach(fmt::format("an initiator sends phase {}; the base protocol has BEGIN_REQ and END_RESP",
                       phase.get_name()));
  }
  return tlm::TLM_COMPLETED;
}

void NiSockets::b_transport(Payload& payload, Time&) {
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  breach(
      "b_transport is loosely timed: its caller would pass time that the network does not "
      "simulate. "
      "Call nb_transport_fw with BEGIN_REQ");
}

tlm::tlm_sync_enum NiSockets::begin_request(Payload& payload, const Time& delay) {
  std::string broken;
  if (requested_.valid()) {
    broken = "an initiator sends BEGIN_REQ before the END_REQ of its previous BEGIN_REQ";
  } else if (!payload.has_mm()) {
    broken =
        "a payload has no memory manager; nb_transport needs one (tlm_generic_payload::set_mm)";
  } else if (network_.is_in_flight(payload)) {
    broken = "an initiator sends BEGIN_REQ with a payload that is still in flight";
  } else if (network_.finished()) {
    broken = "an initiator sends BEGIN_REQ after the program has called Elaboration::finish()";
  }
  if (!broken.empty()) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    breach(broken);
    return tlm::TLM_COMPLETED;
  }
  const tlm::tlm_response_status status = network_.judge(payload, node());
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return tlm::TLM_COMPLETED;
  }
  operation_ = {};
  operation_.from = node();
  operation_.to = *network_.addresses().owner(payload.get_address(), payload.get_data_length());
  operation_.route = network_.route_(operation_.from, operation_.to);
  operation_.bytes = payload.get_data_length();
  operation_.traffic = network_.traffic_;
  operation_.ready = network_.clock_.edge_after(sc_core::sc_time_stamp() + delay);
  requested_ = network_.open(payload, *this);
  operation_.first_chunk = ChunkId(requested_.index());
  is_waiting_ = true;
  ni_.wake_source(operation_.ready);
  return tlm::TLM_ACCEPTED;
}

void NiSockets::pop() {
  is_waiting_ = false;
  is_taken_ = true;
  step_.notify(sc_core::SC_ZERO_TIME);
}

void NiSockets::send_end_request() {
  if (!std::exchange(is_taken_, false)) return;
  Payload& payload = *network_[requested_].payload;
  requested_ = {};  // the initiator may send its next request during the call
  Phase phase = tlm::END_REQ;
  Time delay;
  target->nb_transport_bw(payload, phase, delay);
}

// Responses to the initiator ---------------------------------------------------------------------

void NiSockets::answer(TransactionId id, const Time& at) {
  answers_.emplace(at, id);
  step_.notify(std::max(at, sc_core::sc_time_stamp()) - sc_core::sc_time_stamp());
}

void NiSockets::send_responses() {
  while (!responded_.valid() && !answers_.empty() &&
         std::max(answers_.begin()->first, responses_free_at_) <= sc_core::sc_time_stamp()) {
    const TransactionId id = answers_.begin()->second;
    answers_.erase(answers_.begin());
    responded_ = id;
    Payload& payload = *network_[id].payload;
    Phase phase = tlm::BEGIN_RESP;
    Time delay;
    const tlm::tlm_sync_enum returned = target->nb_transport_bw(payload, phase, delay);
    // END_RESP may also have come as a call during the call.
    if (responded_ != id) continue;
    if (returned == tlm::TLM_COMPLETED ||
        (returned == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
      end_response(payload, delay);
    }
  }
}

void NiSockets::end_response(const Payload& payload, const Time& delay) {
  if (!responded_.valid() || network_[responded_].payload != &payload) {
    return breach("an initiator sends END_RESP for a payload that has not got BEGIN_RESP");
  }
  responses_free_at_ = sc_core::sc_time_stamp() + delay;
  network_.close(std::exchange(responded_, {}));
  ++network_.completed_;
  if (!answers_.empty()) step_.notify(delay);
  network_.done_();
}

// Writes into the target -------------------------------------------------------------------------

void NiSockets::arrive(TransactionId id) {
  arrivals_.push_back(id);
  step_.notify(sc_core::SC_ZERO_TIME);
}

void NiSockets::offer_arrivals() {
  while (!offered_.valid() && !arrivals_.empty() && offers_free_at_ <= sc_core::sc_time_stamp()) {
    const TransactionId id = arrivals_.front();
    arrivals_.pop_front();
    offered_ = id;
    ++in_target_;
    SocketTransaction& transaction = network_[id];
    transaction.stage = Stage::offered;
    Payload& payload = *transaction.payload;
    payload.set_address(network_.addresses().offset(transaction.address));
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    Phase phase = tlm::BEGIN_REQ;
    Time delay;
    const tlm::tlm_sync_enum returned = initiator->nb_transport_fw(payload, phase, delay);
    // The target may also have answered by calls during the call.
    if (returned == tlm::TLM_COMPLETED ||
        (returned == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
      take_answer(id, delay);
    } else if (returned == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
      end_offer(delay);
    }
  }
}

tlm::tlm_sync_enum NiSockets::nb_transport_bw(Payload& payload, Phase& phase, Time& delay) {
  const TransactionId id = network_.number_of(payload);
  const bool is_here = id.valid() && (network_[id].stage == Stage::offered ||
                                      network_[id].stage == Stage::in_target);
  if (phase == tlm::END_REQ && is_here && id == offered_) {
    end_offer(delay);
    return tlm::TLM_ACCEPTED;
  }
  if (phase == tlm::BEGIN_RESP && is_here) {
    take_answer(id, delay);
    return tlm::TLM_COMPLETED;
  }
  breach(fmt::format("a target sends phase {} for a payload that does not wait for this phase",
                     phase.get_name()));
  return tlm::TLM_COMPLETED;
}

void NiSockets::end_offer(const Time& delay) {
  network_[offered_].stage = Stage::in_target;
  offered_ = {};
  offers_free_at_ = sc_core::sc_time_stamp() + delay;
  if (!arrivals_.empty()) step_.notify(delay);
}

// A response also ends a request that is without END_REQ.
void NiSockets::take_answer(TransactionId id, const Time& delay) {
  SocketTransaction& transaction = network_[id];
  if (offered_ == id) end_offer(delay);
  --in_target_;
  transaction.stage = Stage::answered;
  transaction.payload->set_address(transaction.address);
  transaction.sender->answer(id, sc_core::sc_time_stamp() + delay);
}

// ------------------------------------------------------------------------------------------------

void NiSockets::step() {
  send_end_request();
  send_responses();
  offer_arrivals();
  const Time now = sc_core::sc_time_stamp();
  if (!responded_.valid() && !answers_.empty()) {
    step_.notify(std::max(answers_.begin()->first, responses_free_at_) - now);
  }
  if (!offered_.valid() && !arrivals_.empty()) step_.notify(offers_free_at_ - now);
}

std::string NiSockets::describe_waits() const {
  std::string waits;
  const auto add = [&](const std::string& wait) { waits += (waits.empty() ? "" : ", ") + wait; };
  if (offered_.valid()) add("for END_REQ of its target");
  if (in_target_ != 0) add(fmt::format("for {} BEGIN_RESP of its target", in_target_));
  if (responded_.valid()) add("for END_RESP of its initiator");
  return waits.empty() ? waits : fmt::format("{} waits {}", name(), waits);
}

}  // namespace espalier
