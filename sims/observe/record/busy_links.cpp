#include "sims/observe/record/busy_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "flowctl/channel_observer.h"
#include "sims/observe/record/run_record.h"
#include "sims/observe/record/run_recorder.h"
#include "sims/system/fabric.h"

namespace espalier {

namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 20;
constexpr std::uint32_t kFar = ~std::uint32_t{0};

// Hops from the nearest node, by vertex.
std::vector<std::uint32_t> hops_from_nodes(const Topology& topology) {
  std::vector<std::uint32_t> hops(topology.num_vertices(), kFar);
  std::vector<NodeId> reached;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    hops[n] = 0;
    reached.emplace_back(n);
  }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const LinkId link : topology.out_links(reached[i])) {
      const NodeId to = topology.link(link).to;
      if (hops[to.index()] != kFar) continue;
      hops[to.index()] = hops[reached[i].index()] + 1;
      reached.push_back(to);
    }
  }
  return hops;
}

// The dimension of a grid's link. A grid without some of its parts keeps the names of its ports.
std::optional<std::size_t> axis_of(const Topology& topology, LinkId id) {
  const TopologyLink& link = topology.link(id);
  if (topology.is_switch(link.from) || topology.is_switch(link.to)) return std::nullopt;
  if (topology.grid()) return grid_hop(topology, id).dim;
  constexpr std::string_view kPorts = "wensdu";  // the two of a dimension side by side
  const std::size_t out = kPorts.find(link.out_name.front());
  const std::size_t in = kPorts.find(link.in_name.front());
  const bool is_of_grid = !topology.shape().at.empty() && topology.num_switches() == 0 &&
                          out != std::string_view::npos && in == (out ^ 1U);
  return is_of_grid ? std::optional(out / 2) : std::nullopt;
}

}  // namespace

LinkKinds link_kinds(const Topology& topology) {
  const NetworkShape& shape = topology.shape();
  const auto& built = shape.joined ? shape.joined : shape.dimensions;
  const std::vector<std::uint32_t> hops = hops_from_nodes(topology);
  // Dimension or tier, the highest rate first, and the name.
  using Kind = std::tuple<std::size_t, std::uint64_t, std::string>;
  std::vector<Kind> kind_of;
  std::map<Kind, std::uint32_t> kinds;
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    const TopologyLink& link = topology.links()[l];
    const std::uint64_t rate = link.spec.bytes_per_second;
    Kind kind;
    if (built) {
      const auto d =
          built->dimension_of_port(topology.is_switch(link.from) ? link.in_port : link.out_port);
      kind = {d, 0, fmt::format("dim{}", d + 1)};
    } else if (const auto axis = axis_of(topology, LinkId(l))) {
      kind = {*axis, 0, std::string(1, "XYZ"[*axis])};
    } else {
      const std::uint32_t tier = std::min(hops[link.from.index()], hops[link.to.index()]);
      const bool is_direct = !topology.is_switch(link.from) && !topology.is_switch(link.to);
      kind = {tier, ~rate,
              fmt::format("{} of {:g} GB/s",
                          is_direct   ? "links"
                          : tier == 0 ? "node links"
                                      : fmt::format("tier {}", tier),
                          static_cast<double>(rate) / 1e9)};
    }
    kinds.emplace(kind, 0);
    kind_of.push_back(std::move(kind));
  }
  LinkKinds result;
  for (auto& [kind, number] : kinds) {
    number = static_cast<std::uint32_t>(result.names.size());
    result.names.push_back(std::get<std::string>(kind));
  }
  std::vector<std::uint64_t> rates(result.names.size());
  for (std::size_t l = 0; l < kind_of.size(); ++l) {
    result.of.push_back(kinds.at(kind_of[l]));
    rates[result.of.back()] = topology.links()[l].spec.bytes_per_second;
  }
  for (std::uint32_t k = 1; k < rates.size(); ++k) {
    if (rates[k] <= rates[result.slowest]) result.slowest = k;
  }
  return result;
}

// Watches a link.
class BusyLinks::Watcher : public ChannelObserver {
 public:
  Watcher(BusyLinks& use, const LinkTiming& timing, std::uint32_t vcs)
      : timing_(timing), use_(use), announced_(vcs) {}

  void flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) override {
    announce(vc, flit.message, {departure, timing_.ticks_per_flit, 1});
  }
  void run_sent(const SentRun& run) override { announce(run.vc, run.message, run.flits); }
  void run_cut(std::uint32_t vc, std::uint64_t n) override {
    cut_runs(announced_[vc], n, [](Announced& run) -> FlitRun& { return run.flits; });
  }
  void flits_left(std::uint32_t, const FlitRun&) override {}
  void leaving_cut(std::uint32_t, std::uint64_t) override {}

  // Counts the flits that leave before tick `end`, at which nothing takes them back: of whole runs,
  // or of all where the simulation is over.
  void count(Tick end, bool is_over) {
    for (std::vector<Announced>& runs : announced_) {
      auto run = runs.begin();
      while (run != runs.end() && (is_over || run->flits.before(end) == run->flits.n)) {
        add(*run++, end);
      }
      runs.erase(runs.begin(), run);
    }
  }

  // By window and user: ticks in which the link was busy.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Tick> cells;

 private:
  struct Announced {
    std::uint32_t user = 0;
    FlitRun flits;
  };

  void announce(std::uint32_t vc, MessageId message, const FlitRun& flits) {
    const std::uint32_t user = use_.user_of_(use_.fabric_->messages()[message].operation);
    std::vector<Announced>& runs = announced_[vc];
    if (!runs.empty() && runs.back().user == user && runs.back().flits.goes_on_with(flits)) {
      runs.back().flits.n += flits.n;
    } else {
      runs.push_back({user, flits});
    }
  }
  Tick& cell(Tick window, std::uint32_t user) {
    return cells[{static_cast<std::uint32_t>(window), user}];
  }
  void add(const Announced& run, Tick end) {
    const std::uint64_t all = run.flits.before(end);
    const Tick length = use_.window_ * use_.ticks_per_cycle_;
    for (std::uint64_t counted = 0; counted < all;) {
      const Tick window = run.flits.tick_of(counted) / length;
      const std::uint64_t until = std::min(all, run.flits.before((window + 1) * length));
      // The last flit may be on the wire until a later window.
      const Tick last = run.flits.tick_of(until - 1) + timing_.ticks_per_flit;
      Tick late = std::max(last, (window + 1) * length) - (window + 1) * length;
      cell(window, run.user) += (until - counted) * timing_.ticks_per_flit - late;
      for (Tick next = window + 1; late != 0; ++next) {
        const Tick part = std::min(late, length);
        cell(next, run.user) += part;
        late -= part;
      }
      counted = until;
    }
  }

  LinkTiming timing_;
  BusyLinks& use_;
  std::vector<std::vector<Announced>> announced_;  // by VC
};

BusyLinks::BusyLinks(LinkKinds kinds, UserOf user_of)
    : kinds_(std::move(kinds)), user_of_(std::move(user_of)) {}
BusyLinks::~BusyLinks() = default;

void BusyLinks::begin(Fabric& fabric) {
  refuse_sockets(fabric);
  fabric_ = &fabric;
  ticks_per_cycle_ = fabric.timing().ticks_per_cycle;
  std::map<std::string, ChannelPlace> places;
  for (ChannelPlace& place : fabric.channels()) places.emplace(place.name, place);
  for (const TopologyLink& link : fabric.topology().links()) {
    const std::string to = fabric.topology().vertex_name(link.to);
    const ChannelPlace& place = places.at(fmt::format("net.{}.in_{}", to, link.in_name));
    watchers_.push_back(std::make_unique<Watcher>(*this, place.link, place.spec.vcs));
    place.observe(*watchers_.back());
  }
}

void BusyLinks::count(Cycle until, bool is_over) {
  std::size_t cells = 0;
  for (const auto& watcher : watchers_) {
    watcher->count(until * ticks_per_cycle_, is_over);
    cells += watcher->cells.size();
  }
  // Longer windows, so that a long run needs no more memory.
  while (cells > kMostCells) {
    window_ *= 2;
    cells = 0;
    for (const auto& watcher : watchers_) {
      for (const auto& [cell, ticks] : std::exchange(watcher->cells, {})) {
        watcher->cells[{cell.first / 2, cell.second}] += ticks;
      }
      cells += watcher->cells.size();
    }
  }
}

std::map<std::uint32_t, double> BusyLinks::shares(LinkId link, Cycle from, Cycle to) const {
  std::map<std::uint32_t, double> shares;
  const Watcher& watcher = *watchers_[link.index()];
  for (auto cell = watcher.cells.lower_bound({from / window_, 0});
       cell != watcher.cells.end() && cell->first.first * window_ < to; ++cell) {
    const Cycle begin = std::max(from, cell->first.first * window_);
    const Cycle end = std::min(to, (cell->first.first + 1) * window_);
    shares[cell->first.second] += static_cast<double>(cell->second) *
                                  static_cast<double>(end - begin) /
                                  static_cast<double>(window_ * (to - from) * ticks_per_cycle_);
  }
  return shares;
}

std::vector<double> BusyLinks::busy(std::uint32_t kind) const {
  std::vector<double> busy;
  const auto links = static_cast<double>(std::count(kinds_.of.begin(), kinds_.of.end(), kind));
  const Tick length = window_ * ticks_per_cycle_;
  for (std::size_t l = 0; l < watchers_.size(); ++l) {
    if (kinds_.of[l] != kind) continue;
    const Watcher& watcher = *watchers_[l];
    for (const auto& [cell, ticks] : watcher.cells) {
      if (busy.size() <= cell.first) busy.resize(cell.first + 1, 0);
      busy[cell.first] += static_cast<double>(ticks) / (links * static_cast<double>(length));
    }
  }
  return busy;
}

}  // namespace espalier
