#include "sims/trace/wave_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sims/waves/gtkw_file.h"
#include "sims/waves/make_wave_writer.h"

namespace espalier {

WaveSession::WaveSession(const WaveRequest& request)
    : request_(request),
      recorder_(make_wave_writer(request.path, request.clock_hertz), request.scopes) {}

void WaveSession::begin(Fabric& fabric) {
  // NIs first: that is where one begins to look.
  watch_nis(fabric);
  watch_channels(fabric);
  if (recorder_.num_signals() == 0) {
    throw std::invalid_argument(fmt::format("no signal has a name like '{}'; for example {}",
                                            fmt::join(request_.scopes, "' or '"),
                                            std::string(fabric.ni(NodeId(0)).name())));
  }
}

void WaveSession::watch_nis(Fabric& fabric) {
  steps_ = std::make_unique<StepClock>(fabric.num_nis());
  const bool in_steps = request_.window.from_step || request_.window.to_step;
  for (std::size_t n = 0; n < fabric.num_nis(); ++n) {
    NetworkInterface& ni = fabric.ni(NodeId(n));
    if (!in_steps && !recorder_.may_want(ni.name())) continue;
    auto scope = std::make_unique<NiScope>(ni, recorder_, *steps_);
    if (!scope->is_wanted() && !in_steps) continue;
    ni.observe(*scope);
    nis_.push_back(std::move(scope));
  }
}

void WaveSession::watch_channels(Fabric& fabric) {
  const auto describe = [&fabric](MessageId id, std::uint16_t hop) {
    const Message& routing = fabric.messages().routing(id);
    MessageFacts facts;
    facts.flow = fabric.messages()[id].operation.flow.value();
    facts.out_port = fabric.paths().hop(routing.path, hop).out_port;
    facts.grid = routing.grid;
    return facts;
  };
  for (const ChannelPlace& place : fabric.channels()) {
    if (!recorder_.may_want(place.name)) continue;
    const ChannelScope::Spec spec{place.name, place.spec, place.link, request_.shows_flits};
    auto scope = std::make_unique<ChannelScope>(spec, recorder_, describe);
    if (!scope->is_wanted()) continue;
    place.observe(*scope);
    channels_.push_back(std::move(scope));
  }
}

Cycle WaveSession::window_begin() const {
  const WaveWindow& window = request_.window;
  if (window.from_step) return steps_->begin_of(*window.from_step);
  return window.from.value_or(0);
}

Cycle WaveSession::window_end() const {
  const WaveWindow& window = request_.window;
  if (window.to_step) return steps_->end_of(*window.to_step);
  return window.to.value_or(kNever);
}

void WaveSession::advance(Cycle until) {
  if (is_closed_) return;
  const Cycle begin = window_begin();
  const Cycle end = std::min(until, window_end());
  for (const auto& ni : nis_) ni->generate(end);
  for (const auto& channel : channels_) channel->generate(begin, end, recorder_);
  if (!has_begun_ && begin < end) {
    recorder_.flush(begin);
    recorder_.begin(begin);
    first_ = begin;
    has_begun_ = true;
  }
  recorder_.flush(end);
  if (window_end() <= until) close(end);
}

void WaveSession::finish(Cycle end) {
  advance(end);
  if (is_closed_) return;
  if (!has_begun_) {
    throw std::runtime_error(fmt::format("{}: the window begins after the run's last cycle, {}",
                                         request_.path, end - 1));
  }
  close(end);
}

void WaveSession::close(Cycle end) {
  is_closed_ = true;
  for (const auto& channel : channels_) channel->stop();
  recorder_.finish(end);
  write_save_file(end);
}

// A group for each scope, NIs first, as they were added. What is too much for a screen the viewer
// finds in its tree.
void WaveSession::write_save_file(Cycle end) const {
  constexpr std::size_t kOpenGroups = 8;
  constexpr std::size_t kMostSignals = 4000;
  GtkwView view;
  view.waves = request_.path;
  view.clock_hertz = request_.clock_hertz;
  view.first = first_;
  view.end = end;
  std::size_t signals = 0;
  for (const GtkwSignal& signal : recorder_.signals()) {
    if (signals++ == kMostSignals) break;
    const std::string scope = signal.path.substr(0, signal.path.rfind('.'));
    if (view.groups.empty() || view.groups.back().title != scope) {
      view.groups.push_back({scope, view.groups.size() < kOpenGroups, {}});
    }
    view.groups.back().signals.push_back(signal);
  }
  write_gtkw_file(view);
}

}  // namespace espalier
