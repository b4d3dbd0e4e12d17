// Packetizer and injection channel of one NI port, in both fidelities.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "hw/ids.h"
#include "ni/send_queue.h"

namespace espalier {

// Sends the messages of its queue in order. Control messages have a queue of their own, and the two
// queues take turns, so a short control message never waits for the gradients queued before it. A
// packet starts when its data have been read and its VC has credits; then its flits follow without
// a gap.
class InjectionPort {
 public:
  explicit InjectionPort(const InjectionSpec& spec) : queue_(spec) {}
  virtual ~InjectionPort() = default;
  InjectionPort(const InjectionPort&) = delete;
  InjectionPort& operator=(const InjectionPort&) = delete;

  [[nodiscard]] SendQueue& queue() { return queue_; }
  [[nodiscard]] const SendQueue& queue() const { return queue_; }
  // Precondition: there are control messages (InjectionSpec::control_vcs).
  [[nodiscard]] virtual SendQueue& control_queue() {
    throw std::logic_error("this injection port has no queue for control messages");
  }

  // Prefetches state because evaluate() will be called soon.
  virtual void prefetch() const {}
  // Sends what can be sent in cycle `now`. Returns the next cycle in which there may be something
  // to do; kNever if that depends on the DMA engine, on credits or on a new message.
  virtual Cycle evaluate(Cycle now) = 0;
  // Train fidelity, at the start of cycle `now`: more credits are coming, and no packet waits for
  // them. `planned` is the last return value of evaluate(). Returns the value that evaluate() would
  // return now.
  [[nodiscard]] virtual Cycle credits_announced(Cycle now, Cycle planned) const {
    static_cast<void>(now);
    return planned;
  }
  // NiSpec::releases_early. The first message of the queue: flits of its packets that have left by
  // the end of cycle `now`.
  [[nodiscard]] virtual std::uint64_t packets_left(Cycle now) const = 0;
  // The cycle in which packets_left() reaches `flits`, if no evaluation comes before it; kNever if
  // one does.
  [[nodiscard]] virtual Cycle packets_left_at(std::uint64_t flits) const = 0;
  // The message whose last flit has left since the last call; an invalid id if none.
  [[nodiscard]] MessageId take_sent() { return std::exchange(sent_, MessageId()); }

  [[nodiscard]] std::uint64_t head_flits_sent() const { return head_flits_; }
  // Flits on the bulk lane that have left, up to cycle `now`, which is over.
  [[nodiscard]] virtual std::uint64_t flits_sent(Cycle now) const = 0;
  [[nodiscard]] std::uint64_t control_flits_sent() const { return control_flits_; }
  // True if data or credits for the next packet of a gradient are in flight.
  [[nodiscard]] virtual bool under_way(Cycle now) const = 0;
  // Why the port does not send although it has something to send; empty if it sends or has nothing.
  [[nodiscard]] const char* blocked_on() const { return blocked_on_; }
  // As blocked_on(), for control messages.
  [[nodiscard]] virtual const char* control_blocked_on() const { return ""; }
  // Hierarchical name of the link on which the port sends.
  [[nodiscard]] virtual const char* link_name() const = 0;

 protected:
  [[nodiscard]] std::uint64_t counted_flits() const { return flits_; }
  void count_flits(std::uint64_t flits, std::uint64_t head_flits) {
    flits_ += flits;
    head_flits_ += head_flits;
  }
  void count_control_flits(std::uint64_t flits) { control_flits_ += flits; }
  void set_blocked_on(const char* what) { blocked_on_ = what; }
  void set_sent(MessageId message) { sent_ = message; }

 private:
  SendQueue queue_;
  MessageId sent_;
  std::uint64_t flits_ = 0;
  std::uint64_t head_flits_ = 0;
  std::uint64_t control_flits_ = 0;
  const char* blocked_on_ = "";
};

}  // namespace espalier
