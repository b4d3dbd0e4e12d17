#include "alg/packing/round_plan_parts.h"

#include <algorithm>
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
      user_(length_ps_.size()),
      time_slot_of_(ops.size(), kNone),
      ejections_(ops.size(), 0) {
  for (std::size_t l = 0; l < user_.size(); ++l) user_[l].assign(period_ps / length_ps_[l], kNone);
  for (const RoundOp& op : ops) {
    const RouteSet::Links links = routes.links(op.route);
    main_.push_back(*std::max_element(links.begin(), links.end(), [&](LinkId a, LinkId b) {
      return length_ps_[a.index()] < length_ps_[b.index()];
    }));
  }
}

bool PathTimeSlots::add(std::uint32_t op, std::uint64_t wanted_ps) {
  const std::uint32_t count = time_slots(main_[op]);
  if (count == 0) return false;
  for (const LinkId l : routes_.links(ops_[op].route)) {
    if (time_slots_at(op, 0, l).count == 0) return false;
  }
  const auto wanted = static_cast<std::uint32_t>(wanted_ps / length_ps_[main_[op].index()] % count);
  std::vector<std::uint32_t> waiting{op};
  while (!waiting.empty()) {
    const std::uint32_t o = waiting.back();
    waiting.pop_back();
    const std::uint32_t from = o == op ? wanted : time_slot_of_[o];
    std::uint32_t found = kNone;
    const std::uint32_t turns = time_slots(main_[o]);
    for (std::uint32_t turn = 0; turn < turns && found == kNone; ++turn) {
      const std::uint32_t s = (from + turn) % turns;
      if (is_free(o, s)) found = s;
    }
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

PathTimeSlots::TimeSlots PathTimeSlots::time_slots_at(std::uint32_t op, std::uint32_t time_slot,
                                                      LinkId link) const {
  const std::uint64_t main_ps = length_ps_[main_[op].index()];
  const std::uint64_t link_ps = length_ps_[link.index()];
  const std::uint32_t all = time_slots(link);
  const auto count = static_cast<std::uint32_t>((main_ps + link_ps - 1) / link_ps);
  if (count > all) return {};
  return {static_cast<std::uint32_t>(time_slot * main_ps / link_ps % all), count};
}

bool PathTimeSlots::is_free(std::uint32_t op, std::uint32_t time_slot) const {
  for (const LinkId l : routes_.links(ops_[op].route)) {
    const TimeSlots at = time_slots_at(op, time_slot, l);
    const auto& user = user_[l.index()];
    for (std::uint32_t i = 0; i < at.count; ++i) {
      if (user[(at.begin + i) % user.size()] != kNone) return false;
    }
  }
  return true;
}

// The op's time slots of all links.
void PathTimeSlots::mark(std::uint32_t op, std::uint32_t user) {
  for (const LinkId l : routes_.links(ops_[op].route)) {
    const TimeSlots at = time_slots_at(op, time_slot_of_[op], l);
    auto& users = user_[l.index()];
    for (std::uint32_t i = 0; i < at.count; ++i) users[(at.begin + i) % users.size()] = user;
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
  const std::uint32_t from = static_cast<std::uint32_t>(random_() % count);
  std::uint32_t best = kNone;
  std::uint64_t least = 0;
  const auto for_each_user = [&](std::uint32_t time_slot, auto visit) {
    for (const LinkId l : routes_.links(ops_[op].route)) {
      const TimeSlots at = time_slots_at(op, time_slot, l);
      const auto& user = user_[l.index()];
      for (std::uint32_t i = 0; i < at.count; ++i) {
        const std::uint32_t u = user[(at.begin + i) % user.size()];
        if (u != kNone) visit(u);
      }
    }
  };
  for (std::uint32_t turn = 0; turn < count; ++turn) {
    const std::uint32_t s = (from + turn) % count;
    std::uint64_t cost = 0;
    for_each_user(s, [&](std::uint32_t user) { cost += 1 + std::uint64_t{ejections_[user]}; });
    if (best != kNone && cost >= least) continue;
    best = s;
    least = cost;
  }
  looks_ += count;
  std::vector<std::uint32_t> users;
  for_each_user(best, [&](std::uint32_t user) {
    if (std::find(users.begin(), users.end(), user) == users.end()) users.push_back(user);
  });
  for (const std::uint32_t user : users) {
    ++ejections_[user];
    clear(user);
    ejected.push_back(user);
  }
  set(op, best);
}

}  // namespace espalier
