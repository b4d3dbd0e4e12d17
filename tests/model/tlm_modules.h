// Foreign TLM-2.0 modules for tests of NI sockets: initiators that write listed messages, and
// targets that keep what is written.
#pragma once

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/ids.h"
#include "sockets/tlm/ni_extension.h"

namespace espalier::test {

using Payload = tlm::tlm_generic_payload;

// A byte of message `number`, which differs from its neighbours.
inline unsigned char byte_of(std::uint32_t number, std::size_t i) {
  return static_cast<unsigned char>(number * 37 + i * 11 + i / 256);
}

// Counts the payloads that are not released.
class PayloadPool : public tlm::tlm_mm_interface {
 public:
  Payload& take(std::uint64_t address, std::vector<unsigned char>& data) {
    auto* payload = new Payload(this);
    payload->acquire();
    payload->set_command(tlm::TLM_WRITE_COMMAND);
    payload->set_address(address);
    payload->set_data_ptr(data.data());
    payload->set_data_length(static_cast<unsigned>(data.size()));
    payload->set_streaming_width(static_cast<unsigned>(data.size()));
    ++live_;
    return *payload;
  }
  void free(Payload* payload) override {
    payload->reset();
    delete payload;
    --live_;
  }
  [[nodiscard]] std::uint64_t live() const { return live_; }

 private:
  std::uint64_t live_ = 0;
};

// When and how an initiator makes its calls.
struct CallStyle {
  unsigned deltas = 0;            // delta cycles after the time of the call
  std::uint64_t offset_ps = 0;    // after the clock edge
  std::uint64_t annotate_ps = 0;  // the call comes earlier by this time, which it annotates
  // 0: TLM_COMPLETED answers BEGIN_RESP; otherwise END_RESP is a call after this time.
  std::uint64_t end_response_ps = 0;
};

struct Write {
  Cycle cycle = 1;  // in which the NI gets the message
  std::uint64_t address = 0;
  Bytes bytes = 64;
  std::uint32_t number = 0;
};

struct WriteTimes {
  std::uint64_t end_req_ps = 0;
  std::uint64_t begin_resp_ps = 0;
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
};

inline std::uint64_t picoseconds() { return sc_core::sc_time_stamp().value() / 1000; }
inline sc_core::sc_time ps(std::uint64_t time) {
  return sc_core::sc_time(static_cast<double>(time), sc_core::SC_PS);
}

// Writes ascending messages at a clock of 1 GHz. It waits for END_REQ before its next request.
class ListInitiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<ListInitiator> socket{"socket"};

  ListInitiator(sc_core::sc_module_name module_name, std::vector<Write> writes,
                CallStyle style = {})
      : sc_module(module_name), writes_(std::move(writes)), style_(style), times_(writes_.size()) {
    socket.register_nb_transport_bw(this, &ListInitiator::nb_transport_bw);
    SC_HAS_PROCESS(ListInitiator);
    SC_THREAD(run);
    SC_METHOD(end_responses);
    sensitive << ending_.get_event();
    dont_initialize();
  }
  [[nodiscard]] const std::vector<WriteTimes>& times() const { return times_; }
  [[nodiscard]] const PayloadPool& pool() const { return pool_; }

 private:
  void run() {
    for (std::size_t w = 0; w < writes_.size(); ++w) {
      const Write& write = writes_[w];
      const std::uint64_t at = 1000 * (write.cycle - 1) + style_.offset_ps;
      const std::uint64_t early = std::min(style_.annotate_ps, at);
      if (at - early > picoseconds()) wait(ps(at - early - picoseconds()));
      for (unsigned d = 0; d < style_.deltas; ++d) wait(sc_core::SC_ZERO_TIME);
      auto& data = data_.emplace_back(write.bytes);
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = byte_of(write.number, i);
      Payload& payload = pool_.take(write.address, data);
      auto* extension = new NiExtension;
      extension->flow = write.number;
      payload.set_auto_extension(extension);
      numbers_[&payload] = w;
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = ps(at > picoseconds() ? at - picoseconds() : 0);
      const auto returned = socket->nb_transport_fw(payload, phase, delay);
      if (returned == tlm::TLM_COMPLETED) {
        finish(payload);
      } else {
        wait(request_ended_);
      }
    }
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    WriteTimes& times = times_[numbers_.at(&payload)];
    if (phase == tlm::END_REQ) {
      times.end_req_ps = picoseconds();
      request_ended_.notify();
      return tlm::TLM_ACCEPTED;
    }
    times.begin_resp_ps = picoseconds();
    if (style_.end_response_ps == 0) {
      finish(payload);
      return tlm::TLM_COMPLETED;
    }
    ending_.notify(payload, ps(style_.end_response_ps));
    return tlm::TLM_ACCEPTED;
  }
  void end_responses() {
    while (Payload* payload = ending_.get_next_transaction()) {
      tlm::tlm_phase phase = tlm::END_RESP;
      sc_core::sc_time delay;
      socket->nb_transport_fw(*payload, phase, delay);
      finish(*payload);
    }
  }
  void finish(Payload& payload) {
    times_[numbers_.at(&payload)].status = payload.get_response_status();
    numbers_.erase(&payload);
    payload.release();
  }

  std::vector<Write> writes_;
  CallStyle style_;
  std::vector<WriteTimes> times_;
  PayloadPool pool_;
  std::deque<std::vector<unsigned char>> data_;
  std::map<Payload*, std::size_t> numbers_;
  sc_core::sc_event request_ended_;
  tlm_utils::peq_with_get<Payload> ending_{"ending"};
};

// Runs a script in a thread of its own, with a payload that has the pool's memory manager.
class ScriptedInitiator : public sc_core::sc_module {
 public:
  using Script = std::function<void(ScriptedInitiator&)>;
  tlm_utils::simple_initiator_socket<ScriptedInitiator> socket{"socket"};

  ScriptedInitiator(sc_core::sc_module_name module_name, Script script)
      : sc_module(module_name), script_(std::move(script)) {
    socket.register_nb_transport_bw(this, &ScriptedInitiator::nb_transport_bw);
    SC_HAS_PROCESS(ScriptedInitiator);
    SC_THREAD(run);
  }
  Payload& payload(std::uint64_t address, Bytes bytes = 64) {
    auto& data = data_.emplace_back(bytes, static_cast<unsigned char>(1));
    return pool_.take(address, data);
  }
  tlm::tlm_sync_enum call(Payload& payload, tlm::tlm_phase phase) {
    sc_core::sc_time delay;
    return socket->nb_transport_fw(payload, phase, delay);
  }
  // Waits until the next END_REQ.
  void wait_for_end_request() { wait(request_ended_); }

 private:
  void run() { script_(*this); }
  tlm::tlm_sync_enum nb_transport_bw(Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase == tlm::END_REQ) request_ended_.notify();
    return tlm::TLM_ACCEPTED;
  }

  Script script_;
  PayloadPool pool_;
  std::deque<std::vector<unsigned char>> data_;
  sc_core::sc_event request_ended_;
};

enum class Answer { at_once, updated, by_calls, never };

struct Arrival {
  std::uint64_t time_ps;
  std::uint64_t address;
  std::uint32_t number;
  NodeId source;
  bool right_bytes;
};

// Takes each write, and answers it by one of the ways of the base protocol.
class KeepingTarget : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<KeepingTarget> socket{"socket"};

  // By calls: END_REQ comes `accept_ps` after BEGIN_REQ, and BEGIN_RESP `respond_ps` after END_REQ.
  // `updated` annotates the sum.
  KeepingTarget(sc_core::sc_module_name module_name, Answer answer, std::uint64_t accept_ps = 0,
                std::uint64_t respond_ps = 0)
      : sc_module(module_name), answer_(answer), accept_ps_(accept_ps), respond_ps_(respond_ps) {
    socket.register_nb_transport_fw(this, &KeepingTarget::nb_transport_fw);
    SC_HAS_PROCESS(KeepingTarget);
    SC_METHOD(accept);
    sensitive << accepting_.get_event();
    dont_initialize();
    SC_METHOD(respond);
    sensitive << responding_.get_event();
    dont_initialize();
  }
  [[nodiscard]] const std::vector<Arrival>& arrivals() const { return arrivals_; }

 private:
  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    const auto* extension = payload.get_extension<NiExtension>();
    bool right = true;
    for (unsigned i = 0; i < payload.get_data_length(); ++i) {
      right = right && payload.get_data_ptr()[i] == byte_of(extension->flow, i);
    }
    arrivals_.push_back(
        {picoseconds(), payload.get_address(), extension->flow, extension->source, right});
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    switch (answer_) {
      case Answer::at_once:
        return tlm::TLM_COMPLETED;
      case Answer::updated:
        phase = tlm::BEGIN_RESP;
        delay += ps(accept_ps_ + respond_ps_);
        return tlm::TLM_UPDATED;
      case Answer::by_calls:
        payload.acquire();
        accepting_.notify(payload, ps(accept_ps_));
        return tlm::TLM_ACCEPTED;
      case Answer::never:
        return tlm::TLM_ACCEPTED;
    }
    return tlm::TLM_ACCEPTED;
  }
  void accept() {
    while (Payload* payload = accepting_.get_next_transaction()) {
      call(*payload, tlm::END_REQ);
      responding_.notify(*payload, ps(respond_ps_));
    }
  }
  void respond() {
    while (Payload* payload = responding_.get_next_transaction()) {
      call(*payload, tlm::BEGIN_RESP);
      payload->release();
    }
  }
  void call(Payload& payload, tlm::tlm_phase phase) {
    sc_core::sc_time delay;
    socket->nb_transport_bw(payload, phase, delay);
  }

  Answer answer_;
  std::uint64_t accept_ps_;
  std::uint64_t respond_ps_;
  tlm_utils::peq_with_get<Payload> accepting_{"accepting"};
  tlm_utils::peq_with_get<Payload> responding_{"responding"};
  std::vector<Arrival> arrivals_;
};

}  // namespace espalier::test
