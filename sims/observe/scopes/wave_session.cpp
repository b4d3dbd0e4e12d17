#include "sims/observe/scopes/wave_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "hw/topology/vertex_names.h"
#include "sims/observe/waves/gtkw_file.h"

namespace espalier {

WaveSession::WaveSession(const WaveRequest& request)
    : request_(request), recorder_(request.path, request.clock_hertz, request.scopes) {}

void WaveSession::begin(Fabric& fabric) {
  order_by_position(fabric.topology());
  // NIs come first, because a user begins with them.
  watch_nis(fabric);
  watch_channels(fabric);
  watch_rtl(fabric.router_rtl());
  watch_rtl(fabric.socket_signals());
  for (const RtlPlace& router : fabric.router_rtl()) router_names_.insert(router.scope);
  mistake_ = recorder_.unmatched();
  if (mistake_.empty()) return;
  if (fabric.topology().dimensions() && fabric.num_nis() == 1) {
    mistake_ += "; one NPU is simulated for all, and simulation.fold: off simulates each";
  }
  throw std::invalid_argument(mistake_);
}

void WaveSession::order_by_position(const Topology& topology) {
  const std::vector<Position>& at = topology.shape().at;
  std::vector<std::size_t> sorted(at.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(at[a].z, at[a].y, at[a].x) < std::tie(at[b].z, at[b].y, at[b].x);
  });
  for (std::size_t place = 0; place < sorted.size(); ++place) {
    const std::string& name = topology.vertex_name(NodeId(sorted[place]));
    order_["net." + name] = order_["net." + ni_name(name)] = place;
  }
}

void WaveSession::watch_nis(Fabric& fabric) {
  const Sockets* const sockets = fabric.sockets();
  const std::size_t external = sockets == nullptr ? 0 : sockets->parts.nis.size();
  steps_ = std::make_unique<StepClock>(fabric.num_nis() - external);
  const bool in_steps = request_.window.from_step || request_.window.to_step;
  for (std::size_t n = 0; n < fabric.num_nis(); ++n) {
    NetworkInterface* const ni = fabric.ni_at(NodeId(n));
    if (ni == nullptr || (!in_steps && !recorder_.may_want(ni->name()))) continue;
    keep(ni_scope(*ni, recorder_, *steps_, in_steps));
    watch_rtl(ni->rtl());
  }
}

void WaveSession::watch_rtl(const std::vector<RtlPlace>& models) {
  for (const RtlPlace& place : models) {
    keep(rtl_scope(place, recorder_, !request_.window.is_whole_run()));
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
    const std::size_t before = scopes_.size();
    keep(channel_scope(place, request_.shows_flits, recorder_, describe));
    if (scopes_.size() != before) channel_names_.insert(place.name);
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

template <class Write>
void WaveSession::attempt(const Write& write) {
  try {
    write();
  } catch (const std::runtime_error& error) {
    problem_ = error.what();
    is_closed_ = true;
    for (const auto& scope : scopes_) scope->stop();
  }
}

void WaveSession::advance(Cycle until) {
  if (!is_closed_) attempt([&] { record(until); });
}

void WaveSession::record(Cycle until) {
  const Cycle begin = window_begin();
  const Cycle end = std::min(until, window_end());
  for (const auto& scope : scopes_) scope->generate(begin, end);
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
  attempt([&] { close(end); });
}

void WaveSession::close(Cycle end) {
  if (!has_begun_) {
    throw std::runtime_error(fmt::format("{}: the window begins after its last cycle, {}",
                                         request_.path, std::max<Cycle>(end, 1) - 1));
  }
  is_closed_ = true;
  for (const auto& scope : scopes_) scope->stop();
  recorder_.finish(end);
  end_ = end;
  write_save_file();
}

void WaveSession::show_first(const WaveFocus& focus) {
  focus_ = focus;
  if (problem_.empty()) attempt([&] { write_save_file(); });
}

// The channel of a scope that is a channel or one of its VCs; empty for the scope of an NI.
std::string WaveSession::channel_of(const std::string& scope) const {
  for (const std::string& name : {scope, scope.substr(0, scope.rfind('.'))}) {
    if (channel_names_.count(name) != 0) return name;
  }
  return {};
}

// The NI or router of a scope that is neither a channel nor in one: "net.ni_1_2".
std::string WaveSession::module_of(const std::string& scope) {
  return scope.substr(0, scope.find('.', scope.find('.') + 1));
}

// Writes a group for each scope: NIs, the NIs of show_first() before the others, then channels in
// the same way. Others stand by position, or in the order in which they were added. Signals beyond
// the limit are found in the viewer's tree.
void WaveSession::write_save_file() const {
  constexpr std::size_t kOpenGroups = 8;
  constexpr std::size_t kMostSignals = 4000;
  const auto places = [](const std::vector<std::string>& names) {
    std::map<std::string, std::size_t> place_of;
    for (const std::string& name : names) place_of.emplace(name, place_of.size());
    return place_of;
  };
  const std::map<std::string, std::size_t> ni_place = places(focus_.nis);
  const std::map<std::string, std::size_t> channel_place = places(focus_.channels);
  std::vector<GtkwGroup> groups;
  for (const GtkwSignal& signal : recorder_.signals()) {
    const std::string scope = signal.path.substr(0, signal.path.rfind('.'));
    if (groups.empty() || groups.back().title != scope) groups.push_back({scope, false, {}});
    groups.back().signals.push_back(signal);
  }
  // Channels behind NIs, Verilog of routers behind both, and unnamed ones behind named ones.
  const auto rank = [&](const GtkwGroup& group) {
    const std::string channel = channel_of(group.title);
    const std::string module = module_of(group.title);
    const auto& place_of = channel.empty() ? ni_place : channel_place;
    const auto found = place_of.find(channel.empty() ? module : channel);
    const int kind = !channel.empty() ? 1 : router_names_.count(module) != 0 ? 2 : 0;
    const auto ordered = order_.find(module);
    return std::tuple(kind, found == place_of.end() ? place_of.size() : found->second,
                      ordered == order_.end() ? 0 : ordered->second);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const GtkwGroup& a, const GtkwGroup& b) { return rank(a) < rank(b); });
  GtkwView view;
  view.waves = request_.path;
  view.clock_hertz = request_.clock_hertz;
  view.first = first_;
  view.end = end_;
  if (focus_.marker && *focus_.marker >= first_ && *focus_.marker < end_) {
    view.marker = focus_.marker;
  }
  std::size_t signals = 0;
  for (GtkwGroup& group : groups) {
    signals += group.signals.size();
    if (signals > kMostSignals) break;
    group.open = view.groups.size() < kOpenGroups;
    view.groups.push_back(std::move(group));
  }
  write_gtkw_file(view);
}

}  // namespace espalier
