// A channel in a waveform: its link, and the VCs of the buffer at its end.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "flowctl/channel_observer.h"
#include "flowctl/flit.h"
#include "flowctl/virtual_channels.h"
#include "sims/observe/scopes/vc_scope.h"
#include "sims/observe/waves/wave_recorder.h"

namespace espalier {

// Whether a link's wire carries a flit, and of which flow. A flit occupies the wire for as long as
// the link takes to send it, but at least one cycle.
class LinkScope {
 public:
  struct Signals {
    SignalId valid;
    SignalId flow;  // unknown while the wire is free
  };
  LinkScope(const Signals& signals, Tick ticks_per_cycle)
      : signals_(signals), q_(ticks_per_cycle) {}

  void sent(std::uint64_t flow, const FlitRun& run);
  void cut(std::uint64_t n);
  // See VcStateScope.
  void generate(Cycle until, WaveRecorder& recorder);

 private:
  struct Run {
    std::uint64_t flow;
    FlitRun flits;
  };
  Signals signals_;
  Tick q_;
  std::deque<Run> runs_;
  std::uint64_t shown_flow_ = 0;
  Cycle busy_until_ = 0;
  bool is_busy_ = false;
  bool is_shown_ = false;
};

// Describes a message. `hop` is the number of routers that it has passed when it reaches the
// receiver.
using DescribeMessage = std::function<MessageFacts(MessageId, std::uint16_t hop)>;

class ChannelScope : public ChannelObserver {
 public:
  struct Spec {
    std::string name;  // of the link: "net.r_1_2.in_e"; VCs are scopes in it: "net.r_1_2.in_e.vc0"
    ChannelSpec channel;
    LinkTiming link;
    bool shows_flits = false;  // VcFlitScope is shown too
  };
  ChannelScope(const Spec& spec, WaveRecorder& recorder, DescribeMessage describe);

  // True if the user has asked for one of its signals.
  [[nodiscard]] bool is_wanted() const { return is_wanted_; }
  // Reports all changes before cycle `until`. Changes of VcFlitScope are reported only from cycle
  // `from` on.
  void generate(Cycle from, Cycle until, WaveRecorder& recorder);

  // Ignores flits from now on.
  void stop() { is_over_ = true; }

  void flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) override;
  void run_sent(const SentRun& run) override;
  void run_cut(std::uint32_t vc, std::uint64_t n) override;
  void flits_left(std::uint32_t vc, const FlitRun& flits) override;
  void leaving_cut(std::uint32_t vc, std::uint64_t n) override;

 private:
  // Flits leave as `sent` says; `run.landing` follows from the link's latency.
  void arriving(std::uint32_t vc, ArrivingRun run, const FlitRun& sent);

  Spec spec_;
  DescribeMessage describe_;
  LinkScope link_;
  std::vector<VcStateScope> states_;  // by VC
  std::vector<VcFlitScope> flits_;    // by VC; empty if they are not shown
  bool is_wanted_ = false;
  bool is_over_ = false;
};

}  // namespace espalier
