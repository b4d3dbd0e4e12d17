#include "alg/packing/wave_plan.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace espalier {

namespace {

class ListPlanner {
 public:
  ListPlanner(const WaveTask& task, std::uint32_t segments, std::uint64_t lead_ps,
              std::uint64_t limit_ps)
      : ops_(task.ops),
        segments_(segments),
        lead_ps_(lead_ps),
        limit_ps_(limit_ps),
        arrival_(arrivals_of(task)),
        after_(successors_of(ops_)),
        remaining_(remaining_paths(ops_, after_, arrival_).remaining),
        ready_(task.topology.num_links()) {
    const MessageTimes times(task.topology, task.routes, task.timing);
    for (const WaveOp& op : ops_) {
      const LinkId link = task.routes.link(op.route, 0);
      link_.push_back(link.value());
      occupied_.push_back(times.occupancy_ps(link, task.segment) * op.share);
    }
  }

  WavePlan plan() {
    const std::size_t count = ops_.size();
    WavePlan plan;
    plan.start_ps.assign(count * segments_, 0);
    std::vector<std::uint16_t> missing(count * segments_);
    free_from_.assign(ready_.size(), 0);
    asleep_.assign(ready_.size(), true);
    for (std::uint32_t o = 0; o < count; ++o) {
      for (std::uint32_t s = 0; s < segments_; ++s) {
        missing[s * count + o] = static_cast<std::uint16_t>(ops_[o].after.size());
        if (ops_[o].after.empty()) make_ready(o, s, 0);
      }
    }
    while (!events_.empty() && plan.span_ps <= limit_ps_) {
      const Event event = events_.top();
      events_.pop();
      if (event.arrives()) {
        const std::uint32_t o = event.id() % static_cast<std::uint32_t>(count);
        const std::uint32_t s = event.id() / static_cast<std::uint32_t>(count);
        for (std::uint32_t i = after_.begin[o]; i < after_.begin[o + 1]; ++i) {
          const std::uint32_t next = after_.successors[i];
          if (--missing[s * count + next] == 0) make_ready(next, s, event.at);
        }
        continue;
      }
      const std::uint32_t link = event.id();
      auto& queue = ready_[link];
      const std::uint32_t id = ~queue.top().second;
      queue.pop();
      const std::uint32_t o = id % static_cast<std::uint32_t>(count);
      plan.start_ps[id] = event.at;
      plan.span_ps = std::max(plan.span_ps, event.at + remaining_[o]);
      if (after_.begin[o] != after_.begin[o + 1]) {
        events_.push(Event::arrival(event.at + arrival_[o], id));
      }
      free_from_[link] = event.at + occupied_[o];
      asleep_[link] = queue.empty();
      if (!queue.empty()) events_.push(Event::wake(free_from_[link], link));
    }
    return plan;
  }

 private:
  // The priority of a message, and the complement of its number, copy by copy: the lower number
  // wins ties.
  using Ready = std::pair<std::uint64_t, std::uint32_t>;
  // An arrival (id of the message), or a link that may send (id of the link): arrivals first.
  struct Event {
    std::uint64_t at;
    std::uint64_t key;
    static constexpr std::uint64_t kWake = std::uint64_t{1} << 32;
    static Event arrival(std::uint64_t at, std::uint32_t id) { return {at, id}; }
    static Event wake(std::uint64_t at, std::uint32_t id) { return {at, kWake | id}; }
    [[nodiscard]] bool arrives() const { return key < kWake; }
    [[nodiscard]] std::uint32_t id() const { return static_cast<std::uint32_t>(key); }
    friend bool operator>(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.key > b.key;
    }
  };

  void make_ready(std::uint32_t o, std::uint32_t copy, std::uint64_t now) {
    const std::uint32_t link = link_[o];
    ready_[link].push({remaining_[o] + lead_ps_ * (segments_ - 1 - copy),
                       ~(copy * static_cast<std::uint32_t>(ops_.size()) + o)});
    if (!asleep_[link]) return;
    asleep_[link] = false;
    events_.push(Event::wake(std::max(now, free_from_[link]), link));
  }

  const std::vector<WaveOp>& ops_;
  std::uint32_t segments_;
  std::uint64_t lead_ps_;
  std::uint64_t limit_ps_;
  std::vector<std::uint32_t> link_;      // by op
  std::vector<std::uint64_t> occupied_;  // by op: the link's time
  std::vector<std::uint64_t> arrival_;   // by op: from its start to its use
  WaveSuccessors after_;
  std::vector<std::uint64_t> remaining_;  // by op
  std::vector<std::priority_queue<Ready>> ready_;
  std::vector<std::uint64_t> free_from_;  // by link
  std::vector<bool> asleep_;              // by link: it has nothing to send
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

WavePlan plan_list(const WaveTask& task, std::uint32_t segments, std::uint64_t lead_ps,
                   std::uint64_t limit_ps) {
  return ListPlanner(task, segments, lead_ps, limit_ps).plan();
}

std::uint64_t busiest_link_ps(const WaveTask& task) {
  const MessageTimes times(task.topology, task.routes, task.timing);
  std::vector<std::uint64_t> busy(task.topology.num_links(), 0);
  for (const WaveOp& op : task.ops) {
    for (const LinkId l : task.routes.links(op.route)) {
      busy[l.index()] += times.occupancy_ps(l, task.segment) * op.share;
    }
  }
  return *std::max_element(busy.begin(), busy.end());
}

}  // namespace espalier
