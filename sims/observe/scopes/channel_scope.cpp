#include "sims/observe/scopes/channel_scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/bits.h"
#include "sims/observe/record/run_record.h"

namespace espalier {

void LinkScope::sent(std::uint64_t flow, const FlitRun& run) {
  if (!runs_.empty() && runs_.back().flow == flow && runs_.back().flits.goes_on_with(run)) {
    runs_.back().flits.n += run.n;
  } else {
    runs_.push_back({flow, run});
  }
}

void LinkScope::cut(std::uint64_t n) {
  cut_runs(runs_, n, [](Run& run) -> FlitRun& { return run.flits; });
}

void LinkScope::generate(Cycle until, WaveRecorder& recorder) {
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

namespace {

const EnumText kStates{"vc_state", {"idle", "routing", "waiting", "active"}};
const EnumText kTypes{
    "flit_type",
    {"head", "body", "tail", "head_tail", "sub_head", "sub_body", "sub_tail", "message_tail"}};
constexpr unsigned kPortBits = 16;

}  // namespace

ChannelScope::ChannelScope(const Spec& spec, WaveRecorder& recorder, DescribeMessage describe)
    : spec_(spec), describe_(std::move(describe)), link_({}, spec.channel.ticks_per_cycle) {
  const std::size_t before = recorder.num_signals();
  const Tick q = spec.channel.ticks_per_cycle;
  const SignalId valid = recorder.add(spec.name + ".valid", 1);
  link_ = LinkScope({valid, recorder.add(spec.name + ".flow", kFlowBits)}, q);
  for (std::uint32_t vc = 0; vc < spec.channel.vcs; ++vc) {
    const std::string scope = fmt::format("{}.vc{}", spec.name, vc);
    VcStateScope::Signals state;
    state.state = recorder.add(scope + ".state", 2, &kStates);
    state.flow = recorder.add(scope + ".flow", kFlowBits);
    state.grant = recorder.add(scope + ".grant", kPortBits);
    states_.emplace_back(state, spec.channel.receiver_pipeline, q);
    if (!spec.shows_flits) continue;
    const std::uint32_t depth = spec.channel.depth_of(vc);
    VcFlitScope::Signals flits;
    flits.type = recorder.add(scope + ".type", 3, &kTypes);
    flits.occupancy = recorder.add(scope + ".occupancy", bits_to_count(depth));
    flits.credits = recorder.add(scope + ".credits", bits_to_count(depth));
    flits_.emplace_back(flits, depth, spec.channel.credit_latency, q);
  }
  is_wanted_ = recorder.num_signals() != before;
}

void ChannelScope::generate(Cycle from, Cycle until, WaveRecorder& recorder) {
  link_.generate(until, recorder);
  for (VcStateScope& vc : states_) vc.generate(until, recorder);
  for (VcFlitScope& vc : flits_) vc.generate(from, until, recorder);
}

void ChannelScope::arriving(std::uint32_t vc, ArrivingRun run, const FlitRun& sent) {
  run.landing = sent;
  run.landing.start += spec_.link.latency * spec_.channel.ticks_per_cycle;
  link_.sent(run.message.flow, sent);
  states_[vc].arriving(run);
  if (!flits_.empty()) flits_[vc].arriving(run, sent);
}

void ChannelScope::flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) {
  if (is_over_) return;
  ArrivingRun run;
  run.message = describe_(flit.message, flit.hop);
  run.has_type = true;
  run.type = flit.type;
  arriving(vc, run, {departure, spec_.link.ticks_per_flit, 1});
}

void ChannelScope::run_sent(const SentRun& sent) {
  if (is_over_) return;
  ArrivingRun run;
  run.message = describe_(sent.message, sent.hop);
  run.offset = sent.offset;
  arriving(sent.vc, run, sent.flits);
}

void ChannelScope::run_cut(std::uint32_t vc, std::uint64_t n) {
  if (is_over_) return;
  link_.cut(n);
  states_[vc].arriving_cut(n);
  if (!flits_.empty()) flits_[vc].arriving_cut(n);
}

void ChannelScope::flits_left(std::uint32_t vc, const FlitRun& flits) {
  if (is_over_) return;
  states_[vc].leaving(flits);
  if (!flits_.empty()) flits_[vc].leaving(flits);
}

void ChannelScope::leaving_cut(std::uint32_t vc, std::uint64_t n) {
  if (is_over_) return;
  states_[vc].leaving_cut(n);
  if (!flits_.empty()) flits_[vc].leaving_cut(n);
}

}  // namespace espalier
