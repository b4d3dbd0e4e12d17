#include "alg/packing/round_plan.h"

#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "alg/packing/round_plan_parts.h"

namespace espalier {

namespace {

class RoundPlanner {
 public:
  explicit RoundPlanner(const RoundTask& task)
      : topology_(task.topology),
        routes_(task.routes),
        ops_(task.ops),
        timing_(task.timing),
        times_(topology_, routes_, timing_),
        after_(successors_of(ops_)),
        arrival_(arrivals_of(task)),
        paths_(remaining_paths(ops_, after_, arrival_)) {
    for (std::size_t l = 0; l < topology_.num_links(); ++l) {
      length_ps_.push_back(times_.occupancy_ps(LinkId(l), task.segment));
    }
    align_time_slots();
    find_held();
  }

  RoundPlan plan(bool periodic, double stretch) {
    std::vector<std::uint64_t> load(topology_.num_links(), 0);
    for (const RoundOp& op : ops_) {
      for (std::size_t h = 0; h < routes_.hops(op.route); ++h) {
        load[routes_.link(op.route, h).index()] += time_slots_of(op, h);
      }
    }
    std::uint64_t least = 0;
    std::uint64_t time_slot = 0;  // of the busiest link
    for (std::size_t l = 0; l < load.size(); ++l) {
      const std::uint64_t busy = load[l] * length_ps(LinkId(l));
      if (busy <= least) continue;
      least = busy;
      time_slot = length_ps(LinkId(l));
    }
    RoundPlan plan;
    if (!periodic) {
      if (!has_room_) leave_room();
      try_period(0, plan);
      return plan;
    }
    constexpr std::uint64_t kStep = 64;
    auto period = std::max(least, static_cast<std::uint64_t>(static_cast<double>(least) * stretch));
    std::uint64_t work = 0;
    for (; !try_period(period, plan); period += std::max(period / kStep, time_slot)) {
      work += plan.work;
    }
    plan.work += work;
    plan.stretch = static_cast<double>(period) / static_cast<double>(least);
    return plan;
  }

  // Exchanges time slots, so that the plan's span becomes shorter. The period stays.
  void shorten(RoundPlan& plan) const {
    // More attempts gain little: the last unit soon waits for nothing but its own way.
    constexpr std::uint64_t kAttemptsPerOp = 100;
    constexpr std::uint64_t kMostAttempts = 3'000'000;
    OpTimeSlots time_slots;
    time_slots.period_ps = plan.period_ps;
    time_slots.arrival_ps = arrival_;
    for (std::uint32_t o = 0; o < ops_.size(); ++o) {
      const RoundOp& op = ops_[o];
      const std::uint64_t length = length_ps(main_link(op));
      const std::uint64_t offset = held_[o] ? phase(op) : 0;
      const std::uint64_t from = plan.start_ps[o] + plan.period_ps - offset % plan.period_ps;
      bool fixed = false;
      for (std::size_t h = 0; h < routes_.hops(op.route); ++h) {
        fixed =
            fixed || time_slots_of(op, h) != 1 || length_ps(routes_.link(op.route, h)) != length;
      }
      time_slots.length_ps.push_back(length);
      time_slots.phase_ps.push_back(offset % plan.period_ps);
      time_slots.time_slot.push_back(static_cast<std::uint32_t>(from % plan.period_ps / length));
      time_slots.fixed.push_back(fixed);
    }
    exchange_time_slots(routes_, ops_, time_slots,
                        std::min(kMostAttempts, kAttemptsPerOp * ops_.size()));
    RoundPlan shorter = plan;
    shorter.span_ps = 0;
    for (const std::uint32_t o : paths_.order) {
      std::uint64_t ready = 0;
      for (const std::uint32_t d : ops_[o].after) {
        ready = std::max(ready, shorter.start_ps[d] + arrival_[d]);
      }
      shorter.start_ps[o] = next_start(
          ready, time_slots.phase_ps[o] + time_slots.time_slot[o] * time_slots.length_ps[o],
          plan.period_ps);
      shorter.span_ps = std::max(shorter.span_ps, shorter.start_ps[o] + arrival_[o]);
    }
    if (shorter.span_ps < plan.span_ps) plan = std::move(shorter);
  }

  // The messages of all rounds as the ops of a single round, each as early as gaps allow.
  [[nodiscard]] RoundPlan justified(const RoundTask& task, const RoundPlan& plan,
                                    std::uint32_t rounds) const {
    LinkUses uses;
    for (const RoundOp& op : ops_) {
      // Without the room of time slots: the head's time to each link is exact here.
      const std::uint64_t length = length_ps(main_link(op)) - room_ps_;
      for (std::size_t h = 0; h < routes_.hops(op.route); ++h) {
        const LinkId l = routes_.link(op.route, h);
        uses.uses.push_back({l.value(), times_.flight_ps(op.route, h), op.share * length});
      }
      uses.begin.push_back(static_cast<std::uint32_t>(uses.uses.size()));
    }
    uses.arrival_ps = arrival_;
    RoundPlan all;
    all.stretch = plan.stretch;
    for (std::uint32_t w = 0; w < rounds; ++w) {
      for (const std::uint64_t start : plan.start_ps) {
        all.start_ps.push_back(start + w * plan.period_ps);
      }
    }
    all.span_ps = justify_sends(task, after_, uses, all.start_ps);
    return all;
  }

 private:
  // The remaining path of an op, and the complement of its number: the lower number wins ties.
  using Ready = std::pair<std::uint64_t, std::uint32_t>;
  // A time, and a link or an op.
  using Event = std::pair<std::uint64_t, std::uint32_t>;
  using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

  [[nodiscard]] std::uint64_t length_ps(LinkId link) const { return length_ps_[link.index()]; }
  // The link on which the op's time slots are looked for: the slowest of its route.
  [[nodiscard]] LinkId main_link(const RoundOp& op) const {
    const RouteSet::Links links = routes_.links(op.route);
    return *std::max_element(links.begin(), links.end(),
                             [&](LinkId a, LinkId b) { return length_ps(a) < length_ps(b); });
  }
  [[nodiscard]] std::uint64_t phase(const RoundOp& op) const {
    return phase_[routes_.link(op.route, 0).index()];
  }

  // How many of its own time slots a hop takes: a switch passes a packet at the rate of the slower
  // of its two links.
  [[nodiscard]] std::uint32_t time_slots_of(const RoundOp& op, std::size_t hop) const {
    const std::uint64_t own = length_ps(routes_.link(op.route, hop));
    return static_cast<std::uint32_t>((length_ps(main_link(op)) + own - 1) / own) * op.share;
  }

  // Heads come to a shared link after different times. Where all routes agree, the link's time
  // slots begin by that time later than those of the link before. Elsewhere time slots have room
  // for it: a message that comes later than its time slot would delay all messages behind it.
  void align_time_slots() {
    find_phases();
    const auto aligned = [&](const RoundOp& op) {
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
    room_ps_ = skew();
    for (std::uint64_t& length : length_ps_) length += room_ps_;
    has_room_ = true;
  }

  void find_phases() {
    const std::size_t links = topology_.num_links();
    std::vector<std::vector<std::uint32_t>> behind(links);
    for (const RoundOp& op : ops_) {
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
      std::uint64_t latest = LinkTimeSlots::kNever;
      for (const std::uint32_t b : behind[l]) latest = std::min(latest, phase_[b]);
      const std::uint64_t flight = times_.hop_ps(LinkId(l));
      if (latest > flight) phase_[l] = latest - flight;
    }
  }

  // The largest difference between the heads' times at a link.
  [[nodiscard]] std::uint64_t skew() const {
    std::vector<std::uint64_t> least(topology_.num_links(), LinkTimeSlots::kNever);
    std::vector<std::uint64_t> most(topology_.num_links(), 0);
    for (const RoundOp& op : ops_) {
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

  // Messages that pass a switch, and those that share a link with them, get time slots first.
  void find_held() {
    std::vector<bool> shared(topology_.num_links(), false);
    for (const RoundOp& op : ops_) {
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

  // By op, within the period: where a held op starts. Nothing if some op finds no time slot.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> held_starts(std::uint64_t period,
                                                                      std::uint64_t& work) const {
    PathTimeSlots time_slots(routes_, ops_, length_ps_, period);
    std::vector<std::uint64_t> usable(ops_.size(), 0);  // if nothing else keeps the op waiting
    for (const std::uint32_t o : paths_.longest_first()) {
      std::uint64_t start = 0;
      for (const std::uint32_t d : ops_[o].after) start = std::max(start, usable[d]);
      if (held_[o]) {
        const std::uint64_t time_slot = length_ps(main_link(ops_[o]));
        const std::uint64_t wanted = start + period - phase(ops_[o]) % period;
        const bool found = time_slots.add(o, wanted % period + time_slot - 1);
        if (!found) {
          work += time_slots.work();
          return std::nullopt;
        }
        start = next_start(start, time_slots.start_ps(o) + phase(ops_[o]), period);
      }
      usable[o] = start + arrival_[o];
    }
    work += time_slots.work();
    std::vector<std::uint64_t> starts(ops_.size(), 0);
    for (std::uint32_t o = 0; o < ops_.size(); ++o) {
      if (held_[o]) starts[o] = (time_slots.start_ps(o) + phase(ops_[o])) % period;
    }
    return starts;
  }

  // False if some op finds no place in this period.
  bool try_period(std::uint64_t period, RoundPlan& plan) {
    plan = {};
    plan.period_ps = period;
    constexpr std::uint64_t kWorkOfOp = 500;
    plan.work = kWorkOfOp * ops_.size();
    plan.start_ps.assign(ops_.size(), 0);
    std::vector<LinkTimeSlots> time_slots;
    time_slots.reserve(topology_.num_links());
    for (std::size_t l = 0; l < topology_.num_links(); ++l) {
      time_slots.emplace_back(length_ps(LinkId(l)), period);
    }
    std::vector<std::priority_queue<Ready>> ready(topology_.num_links());
    Events wakes;
    Events arrivals;
    std::vector<std::uint64_t> woken(topology_.num_links(), LinkTimeSlots::kNever);
    std::vector<std::uint32_t> missing(ops_.size());
    std::vector<std::uint32_t> tries(ops_.size(), 0);
    const auto wake = [&](std::uint32_t link, std::uint64_t from) {
      const std::uint64_t at = time_slots[link].first_free(from, 1);
      if (at == LinkTimeSlots::kNever || at >= woken[link]) return at != LinkTimeSlots::kNever;
      woken[link] = at;
      wakes.push({at, link});
      return true;
    };
    bool fits = true;
    std::optional<std::vector<std::uint64_t>> held;
    if (period != 0 && holds_any_) {
      held = held_starts(period, plan.work);
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
      woken[link] = LinkTimeSlots::kNever;
      auto& queue = ready[link];
      refused.clear();
      std::uint64_t next = 0;
      while (!queue.empty() && refused.size() < kMostRefused) {
        const Ready r = queue.top();
        queue.pop();
        const std::uint32_t op = ~r.second;
        const std::uint64_t again = place(op, now, time_slots);
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

  // Takes the op's time slots at `at` on all links of its route and returns 0; or, if one is not
  // free, returns when to ask again.
  std::uint64_t place(std::uint32_t o, std::uint64_t at,
                      std::vector<LinkTimeSlots>& time_slots) const {
    const RoundOp& op = ops_[o];
    const std::size_t hops = routes_.hops(op.route);
    std::uint64_t again = 0;
    for (std::size_t h = 0; h < hops; ++h) {
      const LinkId l = routes_.link(op.route, h);
      const std::uint64_t first = time_slots[l.index()].first_free(at, time_slots_of(op, h));
      if (first != at) again = std::max(again, first);
    }
    if (again != 0) return again;
    for (std::size_t h = 0; h < hops; ++h) {
      const LinkId l = routes_.link(op.route, h);
      time_slots[l.index()].take(at, time_slots_of(op, h));
    }
    return 0;
  }

  static constexpr std::uint32_t kMostTries = 4096;
  static constexpr std::size_t kMostRefused = 64;  // ops looked at in a place; if off: 5.1 % slower

  const Topology& topology_;
  const RouteSet& routes_;
  const std::vector<RoundOp>& ops_;
  const MessageTiming& timing_;
  MessageTimes times_;
  RoundSuccessors after_;
  std::vector<std::uint64_t> arrival_;  // by op
  RemainingPaths paths_;
  std::vector<std::uint64_t> length_ps_;  // by link
  std::vector<std::uint64_t> phase_;      // by link: of its time slots
  bool has_room_ = false;
  std::uint64_t room_ps_ = 0;  // of every time slot
  std::vector<bool> held_;     // by op
  bool holds_any_ = false;
};

}  // namespace

std::vector<RoundOp> tree_copies(const std::vector<RoundOp>& ops, std::uint32_t together) {
  if (together == 1) return ops;
  std::vector<RoundOp> result;
  result.reserve(ops.size() * together);
  for (std::uint32_t i = 0; i < together; ++i) {
    for (const RoundOp& op : ops) {
      RoundOp copy = op;
      copy.unit = op.unit * together + i;
      for (std::uint32_t& d : copy.after) d += i * static_cast<std::uint32_t>(ops.size());
      result.push_back(std::move(copy));
    }
  }
  return result;
}

RoundSuccessors successors_of(const std::vector<RoundOp>& ops) {
  RoundSuccessors after;
  after.begin.assign(ops.size() + 1, 0);
  for (const RoundOp& op : ops) {
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

RemainingPaths remaining_paths(const std::vector<RoundOp>& ops, const RoundSuccessors& after,
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

std::vector<std::uint64_t> arrivals_of(const RoundTask& task) {
  const MessageTimes times(task.topology, task.routes, task.timing);
  std::vector<bool> turns(task.ops.size(), false);
  for (const RoundOp& op : task.ops) {
    if (op.kind != TransferKind::copy) continue;
    for (const std::uint32_t d : op.after) {
      turns[d] = turns[d] || task.ops[d].kind == TransferKind::reduce;
    }
  }
  std::vector<std::uint64_t> arrivals;
  for (std::size_t o = 0; o < turns.size(); ++o) {
    const RoundOp& op = task.ops[o];
    arrivals.push_back(times.arrival_ps(op, task.segment * op.share) +
                       (turns[o] ? task.timing.turnaround_ps : 0));
  }
  return arrivals;
}

RoundPlan plan_round(const RoundTask& task, bool periodic, double stretch) {
  return RoundPlanner(task).plan(periodic, stretch);
}

void shorten_span(const RoundTask& task, RoundPlan& plan) {
  if (plan.period_ps != 0) RoundPlanner(task).shorten(plan);
}

RoundPlan justified(const RoundTask& task, const RoundPlan& plan, std::uint32_t rounds) {
  return RoundPlanner(task).justified(task, plan, rounds);
}

std::vector<RoundSend> all_sends(const RoundPlan& plan, std::uint32_t rounds) {
  // In each period, the ops start at their places in it; of two equal places the earlier round goes
  // first. So the ops are sorted once, not the sends of all rounds.
  struct Place {
    std::uint64_t within;  // the period
    std::uint64_t period;  // in which round 0 starts it
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
  std::vector<RoundSend> sends;
  sends.reserve(ops * rounds);
  for (std::uint64_t period = 0; period < last + rounds; ++period) {
    for (const Place& place : places) {
      if (period < place.period || period - place.period >= rounds) continue;
      sends.push_back({plan.start_ps[place.op] + (period - place.period) * plan.period_ps,
                       static_cast<std::uint32_t>(period - place.period), place.op});
    }
  }
  return sends;
}

void add_sends(Schedule& schedule, const std::vector<RoundOp>& ops, const RoundPlan& plan,
               std::uint32_t rounds, bool held,
               const std::function<ChunkId(const RoundOp& op, std::uint32_t round)>& chunk_of) {
  schedule.num_steps = 1;
  schedule.listed_order = true;
  std::vector<TransferId> id(ops.size() * rounds);
  std::vector<TransferId> after;
  for (const RoundSend& send : all_sends(plan, rounds)) {
    const RoundOp& op = ops[send.op];
    Transfer t;
    t.from = op.from;
    t.to = op.to;
    t.first_chunk = chunk_of(op, send.round);
    t.flow = FlowId(t.first_chunk.index());
    t.route = op.route;
    t.kind = op.kind;
    if (held) t.not_before_ps = send.start_ps;
    if (schedule.chunks[t.first_chunk.index()].size == 0) continue;
    after.clear();
    for (const std::uint32_t d : op.after) after.push_back(id[d * rounds + send.round]);
    id[send.op * rounds + send.round] = schedule.add(t, after);
  }
  // True only of schedules so small that no link carries a second message.
  schedule.contention_free = is_contention_free(schedule);
}

bool shares_links(const RouteSet& routes, const std::vector<RoundOp>& ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [&](const RoundOp& op) { return routes.hops(op.route) > 1; });
}

bool mixes_rates(const RoundTask& task) {
  const auto rate = [&](LinkId l) { return task.topology.link(l).spec.bytes_per_second; };
  return std::any_of(task.ops.begin(), task.ops.end(), [&](const RoundOp& op) {
    const RouteSet::Links links = task.routes.links(op.route);
    return std::any_of(links.begin(), links.end(),
                       [&](LinkId l) { return rate(l) != rate(*links.begin()); });
  });
}

RoundTask guarded(RoundTask task) {
  constexpr std::uint32_t kGuardFlits = 2;
  if (!mixes_rates(task)) return task;
  const Bytes longer = task.segment + Bytes{kGuardFlits} * task.timing.flit_bytes;
  for (Bytes& bytes : task.unit_bytes) bytes = (bytes + task.segment - 1) / task.segment * longer;
  task.segment = longer;
  return task;
}

std::uint64_t replay_ps(const RoundTask& task, const RoundPlan& plan, std::uint32_t rounds) {
  const auto& [topology, routes, ops, segment, timing, unit_bytes] = task;
  MessageTimeline times(topology, routes, timing);
  std::vector<std::uint64_t> flight;    // start on the first link to usable
  std::vector<std::uint64_t> occupied;  // links
  for (const RoundOp& op : ops) {
    flight.push_back(times.arrival_ps(op, segment * op.share) - times.head_ps(op.route, 0));
    occupied.push_back(times.slowest_ps(op.route, segment) * op.share);
  }
  std::vector<std::uint64_t> issued(topology.num_vertices(), 0);
  std::vector<std::uint64_t> arrived(ops.size() * rounds, 0);
  std::uint64_t end = 0;
  for (const RoundSend& send : all_sends(plan, rounds)) {
    const RoundOp& op = ops[send.op];
    std::uint64_t issue = issued[op.from.index()];
    for (const std::uint32_t d : op.after) {
      issue =
          std::max(issue, arrived[d * rounds + send.round] + times.turn_ps(ops[d].kind, op.kind));
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
    arrived[send.op * rounds + send.round] = usable;
    end = std::max(end, usable);
  }
  return end;
}

}  // namespace espalier
