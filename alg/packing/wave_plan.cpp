#include "alg/packing/wave_plan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "alg/packing/wave_plan_parts.h"

namespace espalier {

namespace {

class WavePlanner {
 public:
  explicit WavePlanner(const WaveTask& task)
      : topology_(task.topology),
        routes_(task.routes),
        ops_(task.ops),
        timing_(task.timing),
        times_(topology_, routes_, timing_),
        after_(successors_of(ops_)),
        arrival_(arrivals_of(task)),
        paths_(remaining_paths(ops_, after_, arrival_)) {
    for (std::size_t l = 0; l < topology_.num_links(); ++l) {
      slot_ps_.push_back(times_.occupancy_ps(LinkId(l), task.segment));
    }
    align_slots();
    find_held();
  }

  WavePlan plan(bool periodic, double stretch) {
    std::vector<std::uint64_t> load(topology_.num_links(), 0);
    for (const WaveOp& op : ops_) {
      for (std::size_t h = 0; h < routes_.hops(op.route); ++h) {
        load[routes_.link(op.route, h).index()] += slots_of(op, h);
      }
    }
    std::uint64_t least = 0;
    std::uint64_t slot = 0;  // of the busiest link
    for (std::size_t l = 0; l < load.size(); ++l) {
      const std::uint64_t busy = load[l] * slot_ps(LinkId(l));
      if (busy <= least) continue;
      least = busy;
      slot = slot_ps(LinkId(l));
    }
    WavePlan plan;
    if (!periodic) {
      if (!has_room_) leave_room();
      try_period(0, plan);
      return plan;
    }
    constexpr std::uint64_t kStep = 64;
    auto period = std::max(least, static_cast<std::uint64_t>(static_cast<double>(least) * stretch));
    while (!try_period(period, plan)) period += std::max(period / kStep, slot);
    plan.stretch = static_cast<double>(period) / static_cast<double>(least);
    return plan;
  }

  // Exchanges slots, so that the plan's span becomes shorter. The period stays.
  void shorten(WavePlan& plan) const {
    // More attempts gain little: the last unit soon waits for nothing but its own way.
    constexpr std::uint64_t kAttemptsPerOp = 100;
    constexpr std::uint64_t kMostAttempts = 3'000'000;
    OpSlots slots;
    slots.period_ps = plan.period_ps;
    slots.arrival_ps = arrival_;
    for (std::uint32_t o = 0; o < ops_.size(); ++o) {
      const WaveOp& op = ops_[o];
      const std::uint64_t length = slot_ps(main_link(op));
      const std::uint64_t offset = held_[o] ? phase(op) : 0;
      const std::uint64_t from = plan.start_ps[o] + plan.period_ps - offset % plan.period_ps;
      bool fixed = false;
      for (std::size_t h = 0; h < routes_.hops(op.route); ++h) {
        fixed = fixed || slots_of(op, h) != 1 || slot_ps(routes_.link(op.route, h)) != length;
      }
      slots.slot_ps.push_back(length);
      slots.phase_ps.push_back(offset % plan.period_ps);
      slots.slot.push_back(static_cast<std::uint32_t>(from % plan.period_ps / length));
      slots.fixed.push_back(fixed);
    }
    exchange_slots(routes_, ops_, slots, std::min(kMostAttempts, kAttemptsPerOp * ops_.size()));
    WavePlan shorter = plan;
    shorter.span_ps = 0;
    for (const std::uint32_t o : paths_.order) {
      std::uint64_t ready = 0;
      for (const std::uint32_t d : ops_[o].after) {
        ready = std::max(ready, shorter.start_ps[d] + arrival_[d]);
      }
      shorter.start_ps[o] =
          next_start(ready, slots.phase_ps[o] + slots.slot[o] * slots.slot_ps[o], plan.period_ps);
      shorter.span_ps = std::max(shorter.span_ps, shorter.start_ps[o] + arrival_[o]);
    }
    if (shorter.span_ps < plan.span_ps) plan = std::move(shorter);
  }

  // The messages of all waves as the ops of a single wave, each as early as gaps allow.
  [[nodiscard]] WavePlan justified(const WavePlan& plan, std::uint32_t waves) const {
    LinkUses uses;
    for (const WaveOp& op : ops_) {
      for (std::size_t h = 0; h < routes_.hops(op.route); ++h) {
        const LinkId l = routes_.link(op.route, h);
        const std::uint64_t flight = has_room_ ? 0 : times_.flight_ps(op.route, h);
        uses.uses.push_back({l.value(), flight, slots_of(op, h) * slot_ps(l)});
      }
      uses.begin.push_back(static_cast<std::uint32_t>(uses.uses.size()));
    }
    uses.arrival_ps = arrival_;
    WavePlan all;
    all.stretch = plan.stretch;
    for (std::uint32_t w = 0; w < waves; ++w) {
      for (const std::uint64_t start : plan.start_ps) {
        all.start_ps.push_back(start + w * plan.period_ps);
      }
    }
    justify_sends(ops_, after_, uses, all.start_ps);
    for (std::size_t s = 0; s < all.start_ps.size(); ++s) {
      all.span_ps = std::max(all.span_ps, all.start_ps[s] + uses.arrival_ps[s % ops_.size()]);
    }
    return all;
  }

 private:
  // The remaining path of an op, and the complement of its number: the lower number wins ties.
  using Ready = std::pair<std::uint64_t, std::uint32_t>;
  // A time, and a link or an op.
  using Event = std::pair<std::uint64_t, std::uint32_t>;
  using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

  [[nodiscard]] std::uint64_t slot_ps(LinkId link) const { return slot_ps_[link.index()]; }
  // The link on which the op's slots are looked for: the slowest of its route.
  [[nodiscard]] LinkId main_link(const WaveOp& op) const {
    const RouteSet::Links links = routes_.links(op.route);
    return *std::max_element(links.begin(), links.end(),
                             [&](LinkId a, LinkId b) { return slot_ps(a) < slot_ps(b); });
  }
  [[nodiscard]] std::uint64_t phase(const WaveOp& op) const {
    return phase_[routes_.link(op.route, 0).index()];
  }

  // How many of its own slots a hop takes: a switch passes a packet at the rate of the slower of
  // its two links.
  [[nodiscard]] std::uint32_t slots_of(const WaveOp& op, std::size_t hop) const {
    const std::uint64_t own = slot_ps(routes_.link(op.route, hop));
    return static_cast<std::uint32_t>((slot_ps(main_link(op)) + own - 1) / own) * op.share;
  }

  // Heads come to a shared link after different times. Where all routes agree, the link's slots
  // begin by that time later than the slots of the link before. Elsewhere slots have room for
  // it: a message that comes later than its slot would delay all messages behind it.
  void align_slots() {
    find_phases();
    const auto aligned = [&](const WaveOp& op) {
      for (std::size_t h = 1; h < routes_.hops(op.route); ++h) {
        if (phase_[routes_.link(op.route, h).index()] !=
            phase(op) + times_.flight_ps(op.route, h)) {
          return false;
        }
      }
      return true;
    };
    if (std::all_of(ops_.begin(), ops_.end(), aligned)) return;
    phase_.assign(phase_.size(), 0);
    leave_room();
  }

  void leave_room() {
    const std::uint64_t room = skew();
    for (std::uint64_t& length : slot_ps_) length += room;
    has_room_ = true;
  }

  void find_phases() {
    const std::size_t links = topology_.num_links();
    std::vector<std::vector<std::uint32_t>> behind(links);
    for (const WaveOp& op : ops_) {
      for (std::size_t h = 1; h < routes_.hops(op.route); ++h) {
        behind[routes_.link(op.route, h - 1).index()].push_back(routes_.link(op.route, h).value());
      }
    }
    std::vector<std::uint32_t> before(links, 0);
    for (auto& list : behind) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      for (const std::uint32_t l : list) ++before[l];
    }
    phase_.assign(links, 0);
    std::vector<std::uint32_t> order;
    for (std::uint32_t l = 0; l < links; ++l) {
      if (before[l] == 0) order.push_back(l);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t l = order[i];
      const std::uint64_t next = phase_[l] + times_.hop_ps(LinkId(l));
      for (const std::uint32_t b : behind[l]) {
        phase_[b] = std::max(phase_[b], next);
        if (--before[b] == 0) order.push_back(b);
      }
    }
    // From the end: what can start later without being late does.
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::uint32_t l = order[i];
      if (behind[l].empty()) continue;
      std::uint64_t latest = LinkSlots::kNever;
      for (const std::uint32_t b : behind[l]) latest = std::min(latest, phase_[b]);
      const std::uint64_t flight = times_.hop_ps(LinkId(l));
      if (latest > flight) phase_[l] = latest - flight;
    }
  }

  // The largest difference between the heads' times at a link.
  [[nodiscard]] std::uint64_t skew() const {
    std::vector<std::uint64_t> least(topology_.num_links(), LinkSlots::kNever);
    std::vector<std::uint64_t> most(topology_.num_links(), 0);
    for (const WaveOp& op : ops_) {
      for (std::size_t h = 0; h < routes_.hops(op.route); ++h) {
        const std::size_t l = routes_.link(op.route, h).index();
        const std::uint64_t head = times_.head_ps(op.route, h);
        least[l] = std::min(least[l], head);
        most[l] = std::max(most[l], head);
      }
    }
    std::uint64_t skew = 0;
    for (std::size_t l = 0; l < least.size(); ++l) {
      if (most[l] > least[l]) skew = std::max(skew, most[l] - least[l]);
    }
    return skew;
  }

  // Messages that pass a switch, and messages that share a link with them, get their slots first.
  void find_held() {
    std::vector<bool> shared(topology_.num_links(), false);
    for (const WaveOp& op : ops_) {
      if (routes_.hops(op.route) == 1) continue;
      for (const LinkId l : routes_.links(op.route)) shared[l.index()] = true;
    }
    held_.assign(ops_.size(), false);
    for (std::size_t o = 0; o < ops_.size(); ++o) {
      for (const LinkId l : routes_.links(ops_[o].route)) {
        held_[o] = held_[o] || shared[l.index()];
      }
      holds_any_ = holds_any_ || held_[o];
    }
  }

  // The first time, not before `ps`, that is `within` the period.
  [[nodiscard]] static std::uint64_t next_start(std::uint64_t ps, std::uint64_t within,
                                                std::uint64_t period) {
    const std::uint64_t at = ps / period * period + within % period;
    return at >= ps ? at : at + period;
  }

  // By op, within the period: where a held op starts. Nothing if some op finds no slot.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> held_starts(std::uint64_t period) const {
    PathSlots slots(routes_, ops_, slot_ps_, period);
    std::vector<std::uint64_t> usable(ops_.size(), 0);  // if nothing else keeps the op waiting
    for (const std::uint32_t o : paths_.longest_first()) {
      std::uint64_t start = 0;
      for (const std::uint32_t d : ops_[o].after) start = std::max(start, usable[d]);
      if (held_[o]) {
        const std::uint64_t slot = slot_ps(main_link(ops_[o]));
        const std::uint64_t wanted = start + period - phase(ops_[o]) % period;
        if (!slots.add(o, wanted % period + slot - 1)) return std::nullopt;
        start = next_start(start, slots.start_ps(o) + phase(ops_[o]), period);
      }
      usable[o] = start + arrival_[o];
    }
    std::vector<std::uint64_t> starts(ops_.size(), 0);
    for (std::uint32_t o = 0; o < ops_.size(); ++o) {
      if (held_[o]) starts[o] = (slots.start_ps(o) + phase(ops_[o])) % period;
    }
    return starts;
  }

  // False if some op finds no place in this period.
  bool try_period(std::uint64_t period, WavePlan& plan) {
    plan = {};
    plan.period_ps = period;
    plan.start_ps.assign(ops_.size(), 0);
    std::vector<LinkSlots> slots;
    slots.reserve(topology_.num_links());
    for (std::size_t l = 0; l < topology_.num_links(); ++l) {
      slots.emplace_back(slot_ps(LinkId(l)), period);
    }
    std::vector<std::priority_queue<Ready>> ready(topology_.num_links());
    Events wakes;
    Events arrivals;
    std::vector<std::uint64_t> woken(topology_.num_links(), LinkSlots::kNever);
    std::vector<std::uint32_t> missing(ops_.size());
    std::vector<std::uint32_t> tries(ops_.size(), 0);
    const auto wake = [&](std::uint32_t link, std::uint64_t from) {
      const std::uint64_t at = slots[link].first_free(from, 1);
      if (at == LinkSlots::kNever || at >= woken[link]) return at != LinkSlots::kNever;
      woken[link] = at;
      wakes.push({at, link});
      return true;
    };
    bool fits = true;
    std::optional<std::vector<std::uint64_t>> held;
    if (period != 0 && holds_any_) {
      held = held_starts(period);
      if (!held) return false;
    }
    const auto start = [&](std::uint32_t o, std::uint64_t at) {
      plan.start_ps[o] = at;
      plan.span_ps = std::max(plan.span_ps, at + arrival_[o]);
      arrivals.push({at + arrival_[o], o});
    };
    const auto make_ready = [&](std::uint32_t o, std::uint64_t now) {
      if (held && held_[o]) {
        start(o, next_start(now, (*held)[o], period));
        return;
      }
      const std::uint32_t link = main_link(ops_[o]).value();
      ready[link].push({paths_.remaining[o], ~o});
      fits = wake(link, now) && fits;
    };
    for (std::uint32_t o = 0; o < ops_.size(); ++o) {
      missing[o] = static_cast<std::uint32_t>(ops_[o].after.size());
      if (missing[o] == 0) make_ready(o, 0);
    }
    std::vector<Ready> refused;
    while (fits && (!wakes.empty() || !arrivals.empty())) {
      if (wakes.empty() || (!arrivals.empty() && arrivals.top().first <= wakes.top().first)) {
        const auto [at, op] = arrivals.top();
        arrivals.pop();
        for (std::uint32_t s = after_.begin[op]; s < after_.begin[op + 1]; ++s) {
          if (--missing[after_.successors[s]] == 0) make_ready(after_.successors[s], at);
        }
        continue;
      }
      const auto [now, link] = wakes.top();
      wakes.pop();
      if (woken[link] != now) continue;
      woken[link] = LinkSlots::kNever;
      auto& queue = ready[link];
      refused.clear();
      std::uint64_t next = 0;
      while (!queue.empty() && refused.size() < kMostRefused) {
        const Ready r = queue.top();
        queue.pop();
        const std::uint32_t op = ~r.second;
        const std::uint64_t again = place(op, now, slots);
        if (again != 0) {
          refused.push_back(r);
          next = next == 0 ? again : std::min(next, again);
          fits = (period == 0 || ++tries[op] < kMostTries) && fits;
          continue;
        }
        next = now + 1;
        start(op, now);
        break;
      }
      for (const Ready& r : refused) queue.push(r);
      if (!queue.empty()) fits = wake(link, next) && fits;
    }
    return fits;
  }

  // Takes the op's slots at `at` on all links of its route and returns 0; or, if one is not free,
  // returns when to ask again.
  std::uint64_t place(std::uint32_t o, std::uint64_t at, std::vector<LinkSlots>& slots) const {
    const WaveOp& op = ops_[o];
    const std::size_t hops = routes_.hops(op.route);
    std::uint64_t again = 0;
    for (std::size_t h = 0; h < hops; ++h) {
      const LinkId l = routes_.link(op.route, h);
      const std::uint64_t first = slots[l.index()].first_free(at, slots_of(op, h));
      if (first != at) again = std::max(again, first);
    }
    if (again != 0) return again;
    for (std::size_t h = 0; h < hops; ++h) {
      const LinkId l = routes_.link(op.route, h);
      slots[l.index()].take(at, slots_of(op, h));
    }
    return 0;
  }

  static constexpr std::uint32_t kMostTries = 4096;
  static constexpr std::size_t kMostRefused = 64;  // ops that are looked at in one place

  const Topology& topology_;
  const RouteSet& routes_;
  const std::vector<WaveOp>& ops_;
  const MessageTiming& timing_;
  MessageTimes times_;
  WaveSuccessors after_;
  std::vector<std::uint64_t> arrival_;  // by op
  RemainingPaths paths_;
  std::vector<std::uint64_t> slot_ps_;  // by link
  std::vector<std::uint64_t> phase_;    // by link: of its slots
  bool has_room_ = false;
  std::vector<bool> held_;  // by op
  bool holds_any_ = false;
};

}  // namespace

WaveSuccessors successors_of(const std::vector<WaveOp>& ops) {
  WaveSuccessors after;
  after.begin.assign(ops.size() + 1, 0);
  for (const WaveOp& op : ops) {
    for (const std::uint32_t d : op.after) ++after.begin[d + 1];
  }
  for (std::size_t o = 0; o < ops.size(); ++o) after.begin[o + 1] += after.begin[o];
  after.successors.resize(after.begin.back());
  std::vector<std::uint32_t> next(after.begin.begin(), after.begin.end() - 1);
  for (std::uint32_t o = 0; o < ops.size(); ++o) {
    for (const std::uint32_t d : ops[o].after) after.successors[next[d]++] = o;
  }
  return after;
}

RemainingPaths remaining_paths(const std::vector<WaveOp>& ops, const WaveSuccessors& after,
                               const std::vector<std::uint64_t>& arrival) {
  RemainingPaths paths;
  std::vector<std::uint32_t> missing(ops.size(), 0);
  for (std::uint32_t o = 0; o < ops.size(); ++o) {
    missing[o] = static_cast<std::uint32_t>(ops[o].after.size());
    if (missing[o] == 0) paths.order.push_back(o);
  }
  for (std::size_t i = 0; i < paths.order.size(); ++i) {
    const std::uint32_t o = paths.order[i];
    for (std::uint32_t s = after.begin[o]; s < after.begin[o + 1]; ++s) {
      if (--missing[after.successors[s]] == 0) paths.order.push_back(after.successors[s]);
    }
  }
  paths.remaining.assign(ops.size(), 0);
  for (std::size_t i = paths.order.size(); i-- > 0;) {
    const std::uint32_t o = paths.order[i];
    std::uint64_t behind = 0;
    for (std::uint32_t s = after.begin[o]; s < after.begin[o + 1]; ++s) {
      behind = std::max(behind, paths.remaining[after.successors[s]]);
    }
    paths.remaining[o] = behind + arrival[o];
  }
  return paths;
}

std::vector<std::uint32_t> RemainingPaths::longest_first() const {
  std::vector<std::uint32_t> ops(remaining.size());
  std::iota(ops.begin(), ops.end(), 0U);
  std::stable_sort(ops.begin(), ops.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return remaining[a] > remaining[b]; });
  return ops;
}

std::vector<std::uint64_t> arrivals_of(const WaveTask& task) {
  const MessageTimes times(task.topology, task.routes, task.timing);
  std::vector<bool> turns(task.ops.size(), false);
  for (const WaveOp& op : task.ops) {
    if (op.kind != TransferKind::copy) continue;
    for (const std::uint32_t d : op.after) {
      turns[d] = turns[d] || task.ops[d].kind == TransferKind::reduce;
    }
  }
  std::vector<std::uint64_t> arrivals;
  for (std::size_t o = 0; o < turns.size(); ++o) {
    const WaveOp& op = task.ops[o];
    arrivals.push_back(times.arrival_ps(op, task.segment * op.share) +
                       (turns[o] ? task.timing.turnaround_ps : 0));
  }
  return arrivals;
}

WavePlan plan_wave(const WaveTask& task, bool periodic, double stretch) {
  return WavePlanner(task).plan(periodic, stretch);
}

void shorten_span(const WaveTask& task, WavePlan& plan) {
  if (plan.period_ps != 0) WavePlanner(task).shorten(plan);
}

WavePlan justified(const WaveTask& task, const WavePlan& plan, std::uint32_t waves) {
  return WavePlanner(task).justified(plan, waves);
}

std::vector<WaveSend> all_sends(const WavePlan& plan, std::uint32_t waves) {
  // In each period, the ops start at their places in it; of two equal places the earlier wave goes
  // first. So the ops are sorted once, not the sends of all waves.
  struct Place {
    std::uint64_t within;  // the period
    std::uint64_t period;  // in which wave 0 starts it
    std::uint32_t op;
  };
  const std::size_t ops = plan.start_ps.size();
  const std::uint64_t length =
      plan.period_ps != 0 ? plan.period_ps : std::numeric_limits<std::uint64_t>::max();
  std::vector<Place> places;
  places.reserve(ops);
  std::uint64_t last = 0;
  for (std::uint32_t o = 0; o < ops; ++o) {
    places.push_back({plan.start_ps[o] % length, plan.start_ps[o] / length, o});
    last = std::max(last, places.back().period);
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.within, b.period, a.op) < std::tie(b.within, a.period, b.op);
  });
  std::vector<WaveSend> sends;
  sends.reserve(ops * waves);
  for (std::uint64_t period = 0; period < last + waves; ++period) {
    for (const Place& place : places) {
      if (period < place.period || period - place.period >= waves) continue;
      sends.push_back({plan.start_ps[place.op] + (period - place.period) * plan.period_ps,
                       static_cast<std::uint32_t>(period - place.period), place.op});
    }
  }
  return sends;
}

void add_sends(Schedule& schedule, const std::vector<WaveOp>& ops, const WavePlan& plan,
               std::uint32_t waves, bool held,
               const std::function<ChunkId(const WaveOp& op, std::uint32_t wave)>& chunk_of) {
  schedule.num_steps = 1;
  schedule.listed_order = true;
  std::vector<TransferId> id(ops.size() * waves);
  std::vector<TransferId> after;
  for (const WaveSend& send : all_sends(plan, waves)) {
    const WaveOp& op = ops[send.op];
    Transfer t;
    t.from = op.from;
    t.to = op.to;
    t.first_chunk = chunk_of(op, send.wave);
    t.flow = FlowId(t.first_chunk.index());
    t.route = op.route;
    t.kind = op.kind;
    if (held) t.not_before_ps = send.start_ps;
    if (schedule.chunks[t.first_chunk.index()].size == 0) continue;
    after.clear();
    for (const std::uint32_t d : op.after) after.push_back(id[d * waves + send.wave]);
    id[send.op * waves + send.wave] = schedule.add(t, after);
  }
  // True only of schedules so small that no link carries a second message.
  schedule.contention_free = is_contention_free(schedule);
}

bool shares_links(const RouteSet& routes, const std::vector<WaveOp>& ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [&](const WaveOp& op) { return routes.hops(op.route) > 1; });
}

std::uint64_t replay_ps(const WaveTask& task, const WavePlan& plan, std::uint32_t waves) {
  const auto& [topology, routes, ops, segment, timing] = task;
  MessageTimeline times(topology, routes, timing);
  std::vector<std::uint64_t> flight;    // start on the first link to usable
  std::vector<std::uint64_t> occupied;  // links
  for (const WaveOp& op : ops) {
    flight.push_back(times.arrival_ps(op, segment * op.share) - times.head_ps(op.route, 0));
    occupied.push_back(times.slowest_ps(op.route, segment) * op.share);
  }
  std::vector<std::uint64_t> issued(topology.num_vertices(), 0);
  std::vector<std::uint64_t> arrived(ops.size() * waves, 0);
  std::uint64_t end = 0;
  for (const WaveSend& send : all_sends(plan, waves)) {
    const WaveOp& op = ops[send.op];
    std::uint64_t issue = issued[op.from.index()];
    for (const std::uint32_t d : op.after) {
      issue = std::max(issue, arrived[d * waves + send.wave] + times.turn_ps(ops[d].kind, op.kind));
    }
    const LinkId first = routes.link(op.route, 0);
    issue = std::max(issue, times.room_ps(first));
    issued[op.from.index()] = issue;
    std::uint64_t start = issue + times.head_ps(op.route, 0);
    std::uint64_t offset = 0;
    for (const LinkId l : routes.links(op.route)) {
      const std::uint64_t free = times.free_ps(l);
      start = std::max(start, free > offset ? free - offset : 0);
      offset += times.hop_ps(l);
    }
    offset = 0;
    for (const LinkId l : routes.links(op.route)) {
      times.keep_busy(l, start + offset + occupied[send.op]);
      offset += times.hop_ps(l);
    }
    times.leave_queue(first, start);
    const std::uint64_t usable = start + flight[send.op];
    arrived[send.op * waves + send.wave] = usable;
    end = std::max(end, usable);
  }
  return end;
}

}  // namespace espalier
