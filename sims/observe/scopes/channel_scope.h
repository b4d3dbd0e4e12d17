// A channel in a waveform: its link, and per VC of its buffer what VcStateScope and VcFlitScope
// show.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flowctl/channel_observer.h"
#include "flowctl/virtual_channels.h"
#include "sims/observe/scopes/link_scope.h"
#include "sims/observe/scopes/vc_flit_scope.h"
#include "sims/observe/scopes/vc_state_scope.h"

namespace espalier {

// Of a message that is sent; `hop`: routers passed at the receiver.
using DescribeMessage = std::function<MessageFacts(MessageId, std::uint16_t hop)>;

class ChannelScope : public ChannelObserver {
 public:
  struct Spec {
    std::string name;  // of the link, the VCs below it: "net.r_1_2.in_e", "net.r_1_2.in_e.vc0"
    ChannelSpec channel;
    LinkTiming link;
    bool shows_flits = false;  // VcFlitScope too
  };
  ChannelScope(const Spec& spec, WaveRecorder& recorder, DescribeMessage describe);

  // Whether anybody wants to see any of its signals.
  [[nodiscard]] bool is_wanted() const { return is_wanted_; }
  // All changes before cycle `until`, those of flits from cycle `from` on alone.
  void generate(Cycle from, Cycle until, WaveRecorder& recorder);

  // What passes from now on is nothing to it.
  void stop() { is_over_ = true; }

  void flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) override;
  void run_sent(const SentRun& run) override;
  void run_cut(std::uint32_t vc, std::uint64_t n) override;
  void flits_left(std::uint32_t vc, const FlitRun& flits) override;
  void leaving_cut(std::uint32_t vc, std::uint64_t n) override;

 private:
  void arriving(std::uint32_t vc, const ArrivingRun& run, const FlitRun& sent);

  Spec spec_;
  DescribeMessage describe_;
  LinkScope link_;
  std::vector<VcStateScope> states_;  // by VC
  std::vector<VcFlitScope> flits_;    // by VC; none where they are not shown
  bool is_wanted_ = false;
  bool is_over_ = false;
};

}  // namespace espalier
