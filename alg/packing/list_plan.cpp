#include "alg/packing/round_plan.h"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

namespace espalier {

namespace {

// What happens next: an op's message arrives, or a link may send.
struct Event {
  std::uint64_t key = 0;  // twice the time; one more for links, because arrivals come first
  std::uint32_t id = 0;   // of the op or the link
  static Event arrival(std::uint64_t at, std::uint32_t op) { return {2 * at, op}; }
  static Event wake(std::uint64_t at, std::uint32_t link) { return {2 * at + 1, link}; }
  [[nodiscard]] bool arrives() const { return key % 2 == 0; }
  [[nodiscard]] std::uint64_t at() const { return key / 2; }
};

// The earliest event first. No event is earlier than one that has been taken, so events lie in
// buckets by the highest bit in which they differ from the last one taken (radix heap: Ahuja,
// Mehlhorn, Orlin, Tarjan 1990).
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  void push(Event event) {
    buckets_[bucket(event.key)].push_back(event);
    ++size_;
  }
  Event pop() {
    if (buckets_[0].empty()) move_first();
    const Event event = buckets_[0].back();
    buckets_[0].pop_back();
    --size_;
    return event;
  }

 private:
  [[nodiscard]] std::size_t bucket(std::uint64_t key) const {
    return key == last_ ? 0 : 64U - static_cast<std::size_t>(__builtin_clzll(key ^ last_));
  }
  void move_first() {
    std::size_t first = 1;
    while (buckets_[first].empty()) ++first;
    std::swap(moved_, buckets_[first]);
    last_ = std::min_element(moved_.begin(), moved_.end(), [](const Event& a, const Event& b) {
              return a.key < b.key;
            })->key;
    for (const Event& event : moved_) buckets_[bucket(event.key)].push_back(event);
    moved_.clear();
  }

  std::array<std::vector<Event>, 65> buckets_;
  std::vector<Event> moved_;
  std::uint64_t last_ = 0;
  std::size_t size_ = 0;
};

class ListPlanner {
 public:
  ListPlanner(const RoundTask& task, std::uint32_t segments, std::uint64_t lead_ps,
              std::uint64_t limit_ps)
      : ops_(task.ops),
        segments_(segments),
        lead_ps_(lead_ps),
        limit_ps_(limit_ps),
        after_(successors_of(ops_)),
        links_(task.topology.num_links()) {
    const MessageTimes times(task.topology, task.routes, task.timing);
    const std::vector<std::uint64_t> arrival = arrivals_of(task);
    const std::vector<std::uint64_t> remaining = remaining_paths(ops_, after_, arrival).remaining;
    copies_.resize(ops_.size());
    for (std::size_t o = 0; o < ops_.size(); ++o) {
      const LinkId link = task.routes.link(ops_[o].route, 0);
      copies_[o].link = link.value();
      copies_[o].occupied_ps = times.occupancy_ps(link, task.segment) * ops_[o].share;
      copies_[o].arrival_ps = arrival[o];
      copies_[o].remaining_ps = remaining[o];
      copies_[o].missing = static_cast<std::uint32_t>(ops_[o].after.size());
      copies_[o].all = task.messages(ops_[o], segments);
    }
  }

  RoundPlan plan() {
    const std::size_t count = ops_.size();
    RoundPlan plan;
    plan.start_ps.assign(count * segments_, 0);
    for (std::uint32_t o = 0; o < count; ++o) {
      if (ops_[o].after.empty() && copies_[o].all != 0) make_ready(o, copies_[o].all, 0);
    }
    while (!events_.empty() && plan.span_ps <= limit_ps_) {
      const Event event = events_.pop();
      if (event.arrives()) {
        arrive(event.id, event.at());
        continue;
      }
      Link& link = links_[event.id];
      const auto o = static_cast<std::uint32_t>(~link.ready.top().second);
      link.ready.pop();
      Copies& copies = copies_[o];
      plan.start_ps[copies.sent * count + o] = event.at();
      plan.span_ps = std::max(plan.span_ps, event.at() + copies.remaining_ps);
      if (++copies.sent < copies.ready) link.ready.push(first_ready(o));
      if (after_.begin[o] != after_.begin[o + 1]) {
        events_.push(Event::arrival(event.at() + copies.arrival_ps, o));
      }
      link.free_from = event.at() + copies.occupied_ps;
      link.asleep = link.ready.empty();
      if (!link.asleep) events_.push(Event::wake(link.free_from, event.id));
    }
    return plan;
  }

 private:
  // The copies of an op become ready and are sent in their order: all take as long to arrive, and
  // a lower copy has the higher priority.
  struct Copies {
    std::uint64_t remaining_ps = 0;
    std::uint64_t occupied_ps = 0;  // the link's time
    std::uint64_t arrival_ps = 0;   // from its start to its use
    std::uint32_t link = 0;
    std::uint32_t all = 0;
    std::uint32_t missing = 0;  // ops whose copy `ready` has not arrived, of those it waits for
    std::uint32_t ready = 0;    // how many are, or were
    std::uint32_t sent = 0;
    std::uint32_t arrived = 0;
  };
  // The priority of a message, and the complement of its number, copy by copy: the lower number
  // wins ties.
  using Ready = std::pair<std::uint64_t, std::uint64_t>;
  struct Link {
    std::priority_queue<Ready> ready;  // the first copy of every op that has one
    std::uint64_t free_from = 0;
    bool asleep = true;  // it has nothing to send
  };

  [[nodiscard]] Ready first_ready(std::uint32_t o) const {
    const Copies& copies = copies_[o];
    return {copies.remaining_ps + lead_ps_ * (segments_ - 1 - copies.sent),
            ~(std::uint64_t{copies.sent} << 32 | o)};
  }

  void make_ready(std::uint32_t o, std::uint32_t more, std::uint64_t now) {
    Copies& copies = copies_[o];
    Link& link = links_[copies.link];
    if (copies.sent == copies.ready) link.ready.push(first_ready(o));
    copies.ready += more;
    if (!link.asleep) return;
    link.asleep = false;
    events_.push(Event::wake(std::max(now, link.free_from), copies.link));
  }

  void arrive(std::uint32_t o, std::uint64_t now) {
    const std::uint32_t copy = copies_[o].arrived++;
    for (std::uint32_t i = after_.begin[o]; i < after_.begin[o + 1]; ++i) {
      const std::uint32_t next = after_.successors[i];
      Copies& copies = copies_[next];
      if (copies.ready != copy || --copies.missing != 0) continue;
      make_ready(next, 1, now);
      for (const std::uint32_t d : ops_[next].after) {
        copies.missing += copies_[d].arrived == copies.ready ? 1U : 0U;
      }
    }
  }

  const std::vector<RoundOp>& ops_;
  std::uint32_t segments_;
  std::uint64_t lead_ps_;
  std::uint64_t limit_ps_;
  RoundSuccessors after_;
  std::vector<Copies> copies_;  // by op
  std::vector<Link> links_;
  EventQueue events_;
};

}  // namespace

RoundPlan plan_list(const RoundTask& task, std::uint32_t segments, std::uint64_t lead_ps,
                    std::uint64_t limit_ps) {
  return ListPlanner(task, segments, lead_ps, limit_ps).plan();
}

std::uint64_t busiest_link_ps(const RoundTask& task) {
  LinkLoads loads(task.topology, task.routes, task.timing);
  for (const RoundOp& op : task.ops) {
    const Bytes bytes = task.unit_bytes.empty() ? task.segment : task.unit_bytes[op.unit];
    loads.add(op.route, std::min(bytes, task.segment), op.share);
  }
  return loads.busiest_ps();
}

}  // namespace espalier
