#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "flowctl/channel_observer.h"
#include "flowctl/flit.h"
#include "flowctl/virtual_channels.h"
#include "hw/bits.h"
#include "sims/observe/record/run_record.h"
#include "sims/observe/scopes/vc_scope.h"
#include "sims/observe/scopes/wave_scopes.h"

namespace espalier {

namespace {

const EnumText kStates{"vc_state", {"idle", "routing", "waiting", "active"}};
const EnumText kTypes{
    "flit_type",
    {"head", "body", "tail", "head_tail", "sub_head", "sub_body", "sub_tail", "message_tail"}};
constexpr unsigned kPortBits = 16;

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

  void sent(std::uint64_t flow, const FlitRun& run) {
    if (!runs_.empty() && runs_.back().flow == flow && runs_.back().flits.goes_on_with(run)) {
      runs_.back().flits.n += run.n;
    } else {
      runs_.push_back({flow, run});
    }
  }
  void cut(std::uint64_t n) {
    cut_runs(runs_, n, [](Run& run) -> FlitRun& { return run.flits; });
  }
  // See VcStateScope.
  void generate(Cycle until, WaveRecorder& recorder) {
    const auto set_free = [&](Cycle at) {
      is_busy_ = false;
      recorder.change(at, signals_.valid, 0);
      recorder.change_to_unknown(at, signals_.flow);
    };
    if (!is_shown_) {
      is_shown_ = true;
      set_free(0);
    }
    while (!runs_.empty() && runs_.front().flits.start < until * q_) {
      FlitRun& run = runs_.front().flits;
      const std::uint64_t n = run.before(until * q_);
      const Cycle first = run.start / q_;
      if (is_busy_ && busy_until_ < first) set_free(busy_until_);
      if (!is_busy_ || shown_flow_ != runs_.front().flow) {
        is_busy_ = true;
        shown_flow_ = runs_.front().flow;
        recorder.change(first, signals_.valid, 1);
        recorder.change(first, signals_.flow, shown_flow_);
      }
      // The wire is busy until the end of the last flit's time on it.
      busy_until_ = std::max(run.tick_of(n - 1) / q_ + 1, (run.tick_of(n) + q_ - 1) / q_);
      run.drop(n);
      if (run.n == 0) runs_.pop_front();
    }
    if (is_busy_ && busy_until_ < until) set_free(busy_until_);
  }

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

class ChannelScope : public WaveScope, public ChannelObserver {
 public:
  ChannelScope(const ChannelPlace& place, bool shows_flits, WaveRecorder& recorder,
               DescribeMessage describe)
      : recorder_(recorder),
        describe_(std::move(describe)),
        latency_(place.link.latency * place.spec.ticks_per_cycle),
        ticks_per_flit_(place.link.ticks_per_flit),
        link_(
            {recorder.add(place.name + ".valid", 1), recorder.add(place.name + ".flow", kFlowBits)},
            place.spec.ticks_per_cycle) {
    const ChannelSpec& channel = place.spec;
    const Tick q = channel.ticks_per_cycle;
    for (std::uint32_t vc = 0; vc < channel.vcs; ++vc) {
      const std::string scope = fmt::format("{}.vc{}", place.name, vc);
      const VcStateScope::Signals state{recorder.add(scope + ".state", 2, &kStates),
                                        recorder.add(scope + ".flow", kFlowBits),
                                        recorder.add(scope + ".grant", kPortBits)};
      states_.emplace_back(state, channel.receiver_pipeline, q);
      if (!shows_flits) continue;
      const std::uint32_t depth = channel.depth_of(vc);
      const VcFlitScope::Signals flits{recorder.add(scope + ".type", 3, &kTypes),
                                       recorder.add(scope + ".occupancy", bits_to_count(depth)),
                                       recorder.add(scope + ".credits", bits_to_count(depth))};
      flits_.emplace_back(flits, depth, channel.credit_latency, q);
    }
  }

  void generate(Cycle from, Cycle until) override {
    link_.generate(until, recorder_);
    for (VcStateScope& vc : states_) vc.generate(until, recorder_);
    for (VcFlitScope& vc : flits_) vc.generate(from, until, recorder_);
  }
  void stop() override { is_over_ = true; }

  void flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) override {
    if (is_over_) return;
    ArrivingRun run;
    run.message = describe_(flit.message, flit.hop);
    run.has_type = true;
    run.type = flit.type;
    arriving(vc, run, {departure, ticks_per_flit_, 1});
  }
  void run_sent(const SentRun& sent) override {
    if (is_over_) return;
    ArrivingRun run;
    run.message = describe_(sent.message, sent.hop);
    run.offset = sent.offset;
    arriving(sent.vc, run, sent.flits);
  }
  void run_cut(std::uint32_t vc, std::uint64_t n) override {
    if (is_over_) return;
    link_.cut(n);
    states_[vc].arriving_cut(n);
    if (!flits_.empty()) flits_[vc].arriving_cut(n);
  }
  void flits_left(std::uint32_t vc, const FlitRun& flits) override {
    if (is_over_) return;
    states_[vc].leaving(flits);
    if (!flits_.empty()) flits_[vc].leaving(flits);
  }
  void leaving_cut(std::uint32_t vc, std::uint64_t n) override {
    if (is_over_) return;
    states_[vc].leaving_cut(n);
    if (!flits_.empty()) flits_[vc].leaving_cut(n);
  }

 private:
  // Flits leave as `sent` says; `run.landing` follows from the link's latency.
  void arriving(std::uint32_t vc, ArrivingRun run, const FlitRun& sent) {
    run.landing = sent;
    run.landing.start += latency_;
    link_.sent(run.message.flow, sent);
    states_[vc].arriving(run);
    if (!flits_.empty()) flits_[vc].arriving(run, sent);
  }

  WaveRecorder& recorder_;
  DescribeMessage describe_;
  Tick latency_;
  Tick ticks_per_flit_;
  LinkScope link_;
  std::vector<VcStateScope> states_;  // by VC
  std::vector<VcFlitScope> flits_;    // by VC; empty if they are not shown
  bool is_over_ = false;
};

}  // namespace

std::unique_ptr<WaveScope> channel_scope(const ChannelPlace& place, bool shows_flits,
                                         WaveRecorder& recorder, DescribeMessage describe) {
  const std::size_t before = recorder.num_signals();
  auto scope = std::make_unique<ChannelScope>(place, shows_flits, recorder, std::move(describe));
  if (recorder.num_signals() == before) return nullptr;
  place.observe(*scope);
  return scope;
}

}  // namespace espalier
