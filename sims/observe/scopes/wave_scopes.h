// What a waveform shows of network interfaces, channels and Verilog models. All scopes are made
// before the simulation, and connect themselves to their module.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "hw/ids.h"
#include "hw/rtl_probe.h"
#include "ni/network_interface.h"
#include "sims/observe/scopes/vc_scope.h"
#include "sims/observe/waves/wave_recorder.h"
#include "sims/system/fabric.h"

namespace espalier {

class WaveScope {
 public:
  virtual ~WaveScope() = default;
  // Reports all changes before cycle `until`. Changes with every flit are reported only from cycle
  // `from` on.
  virtual void generate(Cycle from, Cycle until) = 0;
  // Ignores the module from now on.
  virtual void stop() {}
};

// Records when NIs enter the steps of a schedule.
class StepClock {
 public:
  explicit StepClock(std::size_t nis) : nis_(nis) {}
  void entered(Timestep step, Cycle now) {
    if (step >= steps_.size()) steps_.resize(step + 1);
    Step& entered = steps_[step];
    entered.first = std::min(entered.first, now);
    entered.last = std::max(entered.last, now);
    ++entered.entered;
  }
  // The cycle in which the first NI entered the step; kNever if none has.
  [[nodiscard]] Cycle begin_of(Timestep step) const {
    return step < steps_.size() ? steps_[step].first : kNever;
  }
  // The cycle in which the last NI entered a later step or ended its last step; kNever if an NI has
  // not.
  [[nodiscard]] Cycle end_of(Timestep step) const {
    const bool is_over = step + 1 < steps_.size() && steps_[step + 1].entered == nis_;
    return is_over ? steps_[step + 1].last : kNever;
  }

 private:
  struct Step {
    Cycle first = kNever;
    std::size_t entered = 0;
    Cycle last = 0;
  };
  std::size_t nis_;
  std::vector<Step> steps_;  // by step
};

// The hardware of an NI's issue engine, and the state of its back end. The NI's engine is loaded.
// `always`: even if the user has asked for none of its signals; nullptr otherwise.
[[nodiscard]] std::unique_ptr<WaveScope> ni_scope(NetworkInterface& ni, WaveRecorder& recorder,
                                                  StepClock& steps, bool always);

// Describes a message. `hop` is the number of routers that it has passed when it reaches the
// receiver.
using DescribeMessage = std::function<MessageFacts(MessageId, std::uint16_t hop)>;

// A channel's link ("net.r_1_2.in_e"), and the VCs of the buffer at its end ("net.r_1_2.in_e.vc0").
// `shows_flits`: VcFlitScope is shown too. nullptr if the user has asked for none of its signals.
[[nodiscard]] std::unique_ptr<WaveScope> channel_scope(const ChannelPlace& place, bool shows_flits,
                                                       WaveRecorder& recorder,
                                                       DescribeMessage describe);

// A Verilog model that decides inside of the simulation. `every_count`: down-counters are shown in
// every cycle. nullptr if the user has asked for none of its signals.
[[nodiscard]] std::unique_ptr<WaveScope> rtl_scope(const RtlPlace& place, WaveRecorder& recorder,
                                                   bool every_count);

}  // namespace espalier
