// The two ends of a flit channel whose sender or receiver is a module behind signals. Bridges act
// at the falling edge, half a cycle after the modules: all signals of the cycle are stable then.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flowctl/channel.h"
#include "flowctl/channel_observer.h"
#include "ni/message_store.h"
#include "sockets/signals/flit_signals.h"
#include "sockets/signals/signal_socket.h"

namespace espalier {

// What the ports of a channel's sender and receiver say of the channel.
[[nodiscard]] FlitChannelSpec channel_spec(const Channel& channel);

// The signal of a flit, without the route of a router.
[[nodiscard]] SignalFlit describe_flit(const MessageStore& messages, std::uint32_t vc,
                                       const Flit& flit);

// Shows flits to a module, each in the cycle in which it arrives.
class FlitDisplay {
 public:
  explicit FlitDisplay(FlitSignals& signals) : signals_(signals) {}

  // `arrival`: later than now. Arrivals ascend.
  void add(const SignalFlit& flit, Cycle arrival) { coming_.push_back({arrival, flit}); }
  // At the falling edge in cycle `now`: drives valid and flit for cycle now + 1. Returns the flit
  // that arrives then, if any.
  std::optional<SignalFlit> drive(Cycle now);
  [[nodiscard]] bool empty() const { return coming_.empty(); }

 private:
  struct Coming {
    Cycle arrival;
    SignalFlit flit;
  };
  FlitSignals& signals_;
  std::deque<Coming> coming_;
};

// Describes a flit of a channel as a signal.
using DescribeFlit = std::function<SignalFlit(std::uint32_t vc, const Flit& flit)>;

// The receiver of `channel` is a module. A flit's slot stays taken until the module returns the
// credit, so the sender sees the module's buffer as it is. Precondition: the channel has no
// receiver pipeline, because that is the module's own affair.
class ReceiverBridge : public FlitReceiver, private FlitObserver {
 public:
  // `port`: for errors. All references must outlive the bridge.
  ReceiverBridge(Channel& channel, FlitSignals& signals, DescribeFlit describe,
                 ProtocolWatch& watch, std::string port);

  // At the falling edge in cycle `now`: takes the credits that the module wrote in this cycle.
  void sample(Cycle now);
  // Afterwards: shows the flit that arrives in the next cycle, and returns it, if any.
  std::optional<SignalFlit> drive(Cycle now);

  [[nodiscard]] Channel& channel() const { return channel_; }
  [[nodiscard]] bool has_flits_on_the_link() const { return !display_.empty(); }
  // Flits of a VC that the module has and has returned no credit for.
  [[nodiscard]] std::uint32_t held(std::uint32_t vc) const { return held_[vc]; }

 private:
  void flit_coming(Cycle) override {}
  void flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) override;

  Channel& channel_;
  FlitSignals& signals_;
  DescribeFlit describe_;
  ProtocolWatch& watch_;
  std::string port_;
  FlitDisplay display_;
  std::vector<std::uint32_t> held_;  // by VC
};

// The sender of `channel` is a module.
class SenderBridge : private FlitObserver {
 public:
  SenderBridge(Channel& channel, FlitSignals& signals, ProtocolWatch& watch, std::string port);

  // At the falling edge in cycle `now`: the flit that the module sends in this cycle, if it may
  // send one. Reports a flit on an unknown VC, one that comes too soon after the last one, and one
  // without a credit.
  [[nodiscard]] std::optional<SignalFlit> sample(Cycle now);
  // The flit leaves in cycle `now`. Reports flits of a packet that do not follow each other.
  void send(std::uint32_t vc, const Flit& flit, Cycle now);
  // Afterwards: shows the credits that the module sees in the next cycle.
  void drive(Cycle now);

  [[nodiscard]] std::uint64_t flits_sent() const { return flits_sent_; }
  [[nodiscard]] const std::string& port() const { return port_; }
  [[nodiscard]] bool under_way(Cycle now) const;

 private:
  struct Credits {
    Cycle seen;
    VcMask vcs;
  };
  void flits_left(std::uint32_t vc, const FlitRun& flits) override;

  Channel& channel_;
  FlitSignals& signals_;
  ProtocolWatch& watch_;
  std::string port_;
  Cycle free_at_ = 0;  // the link carries no flit before
  std::deque<Credits> credits_;
  std::uint64_t flits_sent_ = 0;
};

}  // namespace espalier
