// Counts which of the expected messages of a simulation have arrived.
#pragma once

#include <algorithm>

#include "hw/clock/clock_domain.h"
#include "ni/network_interface.h"
#include "sims/system/control_traffic.h"
#include "sims/system/simulation.h"

namespace espalier {

// Learns when a message has become visible at its receiver.
class SideListener {
 public:
  virtual ~SideListener() = default;
  virtual void delivered(const Operation& operation, Cycle now) = 0;
};

// Stops the clock when everything has arrived: the last gradient, and all control messages posted
// until then.
class Deliveries : public DeliveryObserver {
 public:
  Deliveries(ClockDomain& clock, std::uint64_t expected, const DeliveryCallback& delivered)
      : clock_(clock), expected_(expected), delivered_(delivered) {}

  void connect_control(ControlTraffic& control) { control_ = &control; }
  // Messages of MessageSources. The simulation does not wait for them.
  void connect_side(SideListener& side) { side_ = &side; }
  // Messages of other tenants' hosts, which are behind switches. `num_nodes` is the vertex number
  // of the first switch.
  void connect_tenants(SideListener& tenants, std::size_t num_nodes) {
    tenants_ = &tenants;
    num_nodes_ = num_nodes;
  }
  // Hears of the messages of class `socket`.
  void connect_sockets(SideListener& sockets) { sockets_ = &sockets; }
  // Hears of every message that is not of a background class, after it is counted.
  void connect_traffic(SideListener& traffic) { traffic_ = &traffic; }
  // Until then, more messages may be expected than have been counted.
  void expect_exactly(std::uint64_t operations) {
    expected_ = operations;
    stop_if_all();
  }
  // Hosts post collectives of this many operations while the simulation runs. Precondition:
  // something is still expected.
  void expect_more(std::uint64_t operations) { expected_ += operations; }
  // The number of NIs that have work left when everything is delivered. Each of them reports when
  // it is done. A program begins when the hosts call it, which is before its first message.
  void expect_programs(std::size_t count) {
    programs_left_ = count;
    first_issue_ = 0;
  }
  void program_done(Cycle now) {
    last_delivery_ = std::max(last_delivery_, now);
    --programs_left_;
    if (all_gradients()) end_gradients(now);
  }
  void issued(const Operation& operation, Cycle now) override {
    if (!operation.is_background()) first_issue_ = std::min(first_issue_, now);
  }
  void delivered(const Operation& operation, Cycle now) override {
    if (operation.traffic == TrafficClass::socket) {
      control_bytes_ += operation.bytes;
      if (delivered_) delivered_(operation, now);
      sockets_->delivered(operation, now);
      return;
    }
    if (operation.is_background()) {
      if (control_ != nullptr) control_->delivered(now - operation.ready);
      SideListener* const side = operation.from.index() >= num_nodes_ ? tenants_ : side_;
      if (side != nullptr) side->delivered(operation, now);
      control_bytes_ += operation.bytes;
      if (delivered_) delivered_(operation, now);
      stop_if_all();
      return;
    }
    last_delivery_ = std::max(last_delivery_, now);
    bytes_ += operation.bytes;
    sum_latency_ += now - operation.ready;
    max_latency_ = std::max(max_latency_, now - operation.ready);
    if (delivered_) delivered_(operation, now);
    ++count_;
    if (traffic_ != nullptr) traffic_->delivered(operation, now);
    if (all_gradients()) end_gradients(now);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t expected() const { return expected_; }
  // Bytes of gradients or traffic.
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  // Bytes of background messages.
  [[nodiscard]] Bytes control_bytes() const { return control_bytes_; }
  [[nodiscard]] bool all() const {
    return all_gradients() && (control_ == nullptr || control_->all());
  }
  void stop_if_all() {
    if (all()) clock_.stop();
  }
  [[nodiscard]] LatencyStatistics latency() const {
    return {count_,
            count_ == 0 ? 0 : static_cast<double>(sum_latency_) / static_cast<double>(count_),
            max_latency_};
  }
  [[nodiscard]] Cycle cycles() const { return elapsed(last_delivery_); }
  // From the first issue to `now`.
  [[nodiscard]] Cycle elapsed(Cycle now) const {
    return first_issue_ == kNever ? 0 : now - first_issue_;
  }

 private:
  [[nodiscard]] bool all_gradients() const { return count_ == expected_ && programs_left_ == 0; }
  void end_gradients(Cycle now) {
    if (control_ != nullptr) control_->close(now);
    stop_if_all();
  }

  ClockDomain& clock_;
  std::uint64_t expected_;
  std::size_t programs_left_ = 0;
  const DeliveryCallback& delivered_;
  ControlTraffic* control_ = nullptr;
  SideListener* traffic_ = nullptr;
  SideListener* side_ = nullptr;
  SideListener* tenants_ = nullptr;
  SideListener* sockets_ = nullptr;
  std::size_t num_nodes_ = ~std::size_t{0};  // set if there are tenants
  std::uint64_t count_ = 0;
  Bytes bytes_ = 0;
  Bytes control_bytes_ = 0;
  Cycle first_issue_ = kNever;
  Cycle last_delivery_ = 0;
  Cycle sum_latency_ = 0;
  Cycle max_latency_ = 0;
};

}  // namespace espalier
