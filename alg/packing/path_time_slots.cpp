#include "alg/packing/round_plan_parts.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace espalier {

namespace {

// In one period. More make periods a few percent shorter and planning as much longer.
constexpr std::uint64_t kMostLooks = 1'000'000;
constexpr std::uint64_t kMostLooksPerMessage = 500;
// If a small plan still has an unplaced message after this many attempts, give up.
constexpr std::uint64_t kMostLooksOfFew = 4000;

std::uint64_t most_looks(std::uint64_t messages) {
  return std::min(kMostLooks, kMostLooksOfFew * messages) + kMostLooksPerMessage * messages;
}

}  // namespace

PathTimeSlots::PathTimeSlots(const RouteSet& routes, const std::vector<RoundOp>& ops,
                             std::vector<std::uint64_t> length_ps, std::uint64_t period_ps)
    : routes_(routes),
      ops_(ops),
      length_ps_(std::move(length_ps)),
      period_ps_(period_ps),
      user_(length_ps_.size()),
      time_slot_of_(ops.size(), kNone),
      ejections_(ops.size(), 0),
      views_(length_ps_.size()) {
  for (std::size_t l = 0; l < user_.size(); ++l) user_[l].assign(period_ps / length_ps_[l], kNone);
  for (const RoundOp& op : ops) {
    const RouteSet::Links links = routes.links(op.route);
    main_.push_back(*std::max_element(links.begin(), links.end(), [&](LinkId a, LinkId b) {
      return length_ps_[a.index()] < length_ps_[b.index()];
    }));
    for (const LinkId l : links) add_view(l, length_ps_[main_.back().index()]);
  }
}

template <class Visit>
void PathTimeSlots::for_each_place(LinkId link, std::uint64_t main_ps, std::uint32_t time_slot,
                                   Visit visit) const {
  const std::uint64_t link_ps = length_ps_[link.index()];
  const std::uint64_t all = time_slots(link);
  const std::uint64_t in_row = (main_ps + link_ps - 1) / link_ps;
  std::uint64_t place = time_slot * main_ps / link_ps % all;
  for (std::uint64_t i = 0; i < in_row; ++i) {
    visit(static_cast<std::uint32_t>(place));
    if (++place == all) place = 0;
  }
}

void PathTimeSlots::add_view(LinkId link, std::uint64_t main_ps) {
  for (const View& known : views_[link.index()]) {
    if (known.main_ps == main_ps) return;
  }
  View& v = views_[link.index()].emplace_back();
  v.main_ps = main_ps;
  const std::uint64_t link_ps = length_ps_[link.index()];
  v.in_row = static_cast<std::uint32_t>((main_ps + link_ps - 1) / link_ps);
  if (v.in_row > time_slots(link)) return;  // no such op finds a place
  v.cost.assign(period_ps_ / main_ps, 0);
  const auto for_each_pair = [&](auto visit) {
    for (std::uint32_t s = 0; s < v.cost.size(); ++s) {
      for_each_place(link, main_ps, s, [&](std::uint32_t place) { visit(s, place); });
    }
  };
  v.begin.assign(time_slots(link) + std::size_t{1}, 0);
  for_each_pair([&](std::uint32_t, std::uint32_t place) { ++v.begin[place + 1]; });
  std::partial_sum(v.begin.begin(), v.begin.end(), v.begin.begin());
  v.seen_by.resize(v.begin.back());
  std::vector<std::uint32_t> next(v.begin.begin(), v.begin.end() - 1);
  for_each_pair([&](std::uint32_t s, std::uint32_t place) { v.seen_by[next[place]++] = s; });
}

const PathTimeSlots::View& PathTimeSlots::view(LinkId link, std::uint32_t op) const {
  const std::vector<View>& views = views_[link.index()];
  return *std::find_if(views.begin(), views.end(),
                       [&](const View& v) { return v.main_ps == length_ps_[main_[op].index()]; });
}

bool PathTimeSlots::add(std::uint32_t op, std::uint64_t wanted_ps) {
  const std::uint32_t count = time_slots(main_[op]);
  if (count == 0) return false;
  for (const LinkId l : routes_.links(ops_[op].route)) {
    if (view(l, op).in_row > time_slots(l)) return false;
  }
  const auto wanted = static_cast<std::uint32_t>(wanted_ps / length_ps_[main_[op].index()] % count);
  std::vector<std::uint32_t> waiting{op};
  while (!waiting.empty()) {
    const std::uint32_t o = waiting.back();
    waiting.pop_back();
    const std::uint32_t from = o == op ? wanted : time_slot_of_[o];
    const std::uint32_t turns = time_slots(main_[o]);
    std::uint32_t found = find_free(o, from, turns);
    if (found == kNone) found = find_free(o, 0, from);
    looks_ += turns;
    if (found != kNone) {
      set(o, found);
      continue;
    }
    if (crosses_one_switch(o) && move_chain(o)) continue;
    if (looks_ > most_looks(ops_.size())) return false;
    eject_for(o, waiting);
  }
  return true;
}

void PathTimeSlots::sum_costs(std::uint32_t op, std::uint32_t begin, std::uint32_t end) {
  sums_.assign(end - begin, 0);
  for (const LinkId l : routes_.links(ops_[op].route)) {
    const std::uint32_t* cost = view(l, op).cost.data() + begin;
    for (std::uint32_t s = 0; s < end - begin; ++s) sums_[s] += cost[s];
  }
}

std::uint32_t PathTimeSlots::find_free(std::uint32_t op, std::uint32_t begin, std::uint32_t end) {
  constexpr std::uint32_t kAtOnce = 64;  // most often the first few time slots have a free one
  for (; begin < end; begin += kAtOnce) {
    sum_costs(op, begin, std::min(end, begin + kAtOnce));
    const auto free = std::find(sums_.begin(), sums_.end(), 0U);
    if (free != sums_.end()) return begin + static_cast<std::uint32_t>(free - sums_.begin());
  }
  return kNone;
}

// The op's time slots of all links.
void PathTimeSlots::mark(std::uint32_t op, std::uint32_t user) {
  const std::uint32_t weight = 1 + ejections_[op];
  for (const LinkId l : routes_.links(ops_[op].route)) {
    const std::uint64_t main_ps = length_ps_[main_[op].index()];
    for_each_place(l, main_ps, time_slot_of_[op], [&](std::uint32_t place) {
      user_[l.index()][place] = user;
      for (View& v : views_[l.index()]) {
        if (v.begin.empty()) continue;
        for (std::uint32_t i = v.begin[place]; i < v.begin[place + 1]; ++i) {
          std::uint32_t& cost = v.cost[v.seen_by[i]];
          cost = user == kNone ? cost - weight : cost + weight;
        }
      }
    });
  }
}

void PathTimeSlots::set(std::uint32_t op, std::uint32_t time_slot) {
  time_slot_of_[op] = time_slot;
  mark(op, op);
}

void PathTimeSlots::clear(std::uint32_t op) { mark(op, kNone); }

bool PathTimeSlots::crosses_one_switch(std::uint32_t op) const {
  const RouteId route = ops_[op].route;
  return routes_.hops(route) == 2 &&
         length_ps_[routes_.link(route, 0).index()] == length_ps_[routes_.link(route, 1).index()];
}

LinkId PathTimeSlots::other(std::uint32_t op, LinkId link) const {
  const RouteId route = ops_[op].route;
  const LinkId first = routes_.link(route, 0);
  return first == link ? routes_.link(route, 1) : first;
}

// The op's first link has a free time slot a, its second one a free time slot b. The messages from
// the second link that alternate between a and b change places, so that a is free on both.
bool PathTimeSlots::move_chain(std::uint32_t op) {
  const LinkId in = routes_.link(ops_[op].route, 0);
  const LinkId out = routes_.link(ops_[op].route, 1);
  const auto first_free = [&](LinkId link) {
    const auto& user = user_[link.index()];
    const auto found = std::find(user.begin(), user.end(), kNone);
    return found == user.end() ? kNone : static_cast<std::uint32_t>(found - user.begin());
  };
  const std::uint32_t a = first_free(in);
  const std::uint32_t b = first_free(out);
  if (a == kNone || b == kNone) return false;
  std::vector<std::uint32_t> chain;
  LinkId link = out;
  for (std::uint32_t s = a; user_[link.index()][s] != kNone; s = s == a ? b : a) {
    const std::uint32_t moved = user_[link.index()][s];
    if (!crosses_one_switch(moved)) return false;
    chain.push_back(moved);
    link = other(moved, link);
    if (link == in) return false;
  }
  for (const std::uint32_t moved : chain) clear(moved);
  for (const std::uint32_t moved : chain) set(moved, time_slot_of_[moved] == a ? b : a);
  set(op, a);
  return true;
}

void PathTimeSlots::eject_for(std::uint32_t op, std::vector<std::uint32_t>& ejected) {
  const std::uint32_t count = time_slots(main_[op]);
  // A message that is ejected often becomes expensive, so that two messages do not eject each other
  // forever. A random time slot to begin with.
  const auto from = static_cast<std::ptrdiff_t>(random_() % count);
  sum_costs(op, 0, count);
  const std::uint32_t least = *std::min_element(sums_.begin(), sums_.end());
  auto found = std::find(sums_.begin() + from, sums_.end(), least);
  if (found == sums_.end()) found = std::find(sums_.begin(), sums_.end(), least);
  const auto best = static_cast<std::uint32_t>(found - sums_.begin());
  looks_ += count;
  std::vector<std::uint32_t> users;
  for (const LinkId l : routes_.links(ops_[op].route)) {
    for_each_place(l, length_ps_[main_[op].index()], best, [&](std::uint32_t place) {
      const std::uint32_t user = user_[l.index()][place];
      if (user == kNone || std::find(users.begin(), users.end(), user) != users.end()) return;
      users.push_back(user);
    });
  }
  for (const std::uint32_t user : users) {
    clear(user);
    ++ejections_[user];
    ejected.push_back(user);
  }
  set(op, best);
}

}  // namespace espalier
