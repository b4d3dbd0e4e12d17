// A TLM-2.0 initiator, approximately timed, that knows nothing of Espalier: it writes a block of
// bytes to each address of a list, one every `interval`.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm>
#include <vector>

struct Initiator : sc_core::sc_module, tlm::tlm_mm_interface {
  tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};

  Initiator(sc_core::sc_module_name module_name, std::vector<std::uint64_t> to, unsigned bytes,
            sc_core::sc_time interval)
      : sc_module(module_name), to_(std::move(to)), data_(bytes), interval_(interval) {
    socket.register_nb_transport_bw(this, &Initiator::nb_transport_bw);
    SC_HAS_PROCESS(Initiator);
    SC_THREAD(write_all);
  }
  void write_all() {
    for (const std::uint64_t address : to_) {
      auto* payload = new tlm::tlm_generic_payload(this);
      payload->acquire();
      payload->set_write();
      payload->set_address(address);
      payload->set_data_ptr(data_.data());
      payload->set_data_length(static_cast<unsigned>(data_.size()));
      payload->set_streaming_width(payload->get_data_length());
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay;
      socket->nb_transport_fw(*payload, phase, delay);
      const sc_core::sc_time begin = sc_core::sc_time_stamp();
      wait(taken_);
      wait(begin + interval_ - sc_core::sc_time_stamp());
    }
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) {
    if (phase == tlm::END_REQ) return taken_.notify(), tlm::TLM_ACCEPTED;
    payload.release();  // BEGIN_RESP: the data are in the receiver's memory
    return tlm::TLM_COMPLETED;
  }
  void free(tlm::tlm_generic_payload* payload) override { delete payload; }

  std::vector<std::uint64_t> to_;
  std::vector<unsigned char> data_;
  sc_core::sc_time interval_;
  sc_core::sc_event taken_;
};
