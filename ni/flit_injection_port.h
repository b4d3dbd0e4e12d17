// An injection port of cycle fidelity.
#pragma once

#include <optional>

#include "ni/flit_lane.h"
#include "ni/injection_port.h"

namespace espalier {

// Sends at most one flit per cycle. A gradient's (sub-)packet leaves without a gap; a control
// packet goes on while it can, and lets gradients pass where it cannot; where both could start, the
// one goes that did not start last.
class FlitInjectionPort : public InjectionPort {
 public:
  FlitInjectionPort(Channel& channel, const InjectionSpec& spec);

  [[nodiscard]] SendQueue& control_queue() override { return control_->queue; }
  void prefetch() const override { gradients_.prefetch(); }
  Cycle evaluate(Cycle now) override;
  [[nodiscard]] bool under_way(Cycle now) const override { return gradients_.under_way(now); }
  [[nodiscard]] const char* control_blocked_on() const override {
    return control_ ? control_->lane.blocked_on() : "";
  }
  [[nodiscard]] const char* link_name() const override { return channel_.link().name(); }

 private:
  struct Control {
    Control(Channel& channel, const InjectionSpec& spec)
        : queue(spec), lane(channel, queue, Switching::wormhole, spec.control_vcs) {}
    SendQueue queue;
    FlitLane lane;
    bool is_next = true;  // where gradients and control could start, control does
  };

  Cycle evaluate_both(Cycle now);
  bool start_gradient(Cycle now, VcMask taken, Cycle& ask_again);
  // Either sends a flit, starting a packet where it must; false if it cannot.
  bool send_gradient(Cycle now, Cycle& ask_again);
  bool send_control(Cycle now, Cycle& ask_again);
  void send(FlitLane& lane, Cycle now) {
    const MessageId sent = lane.send_flit(now);
    if (sent.valid()) set_sent(sent);
  }

  Channel& channel_;
  FlitLane gradients_;
  std::optional<Control> control_;
};

}  // namespace espalier
