#include "alg/time/schedule_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "alg/time/message_timeline.h"

namespace espalier {

namespace {

// All transfers of a schedule whose first root stands for all roots: transfers of root r follow
// transfers of root r - 1.
Schedule of_all_roots(const Schedule& schedule) {
  const Translations& group = *schedule.symmetry;
  Schedule all = schedule;
  all.symmetry.reset();
  const std::size_t count = schedule.transfers.size();
  std::vector<TransferId> after;
  for (std::size_t root = 1; root < group.num_nodes(); ++root) {
    for (std::size_t t = 0; t < count; ++t) {
      Transfer moved = schedule.transfers[t];
      moved.from = group.add(moved.from, NodeId(root));
      moved.to = group.add(moved.to, NodeId(root));
      moved.route = RouteSet::single(group.translate(LinkId(moved.route.index()), NodeId(root)));
      after.clear();
      for (const TransferId d : schedule.dependencies_of(TransferId(t))) {
        after.emplace_back(d.index() + root * count);
      }
      all.add(moved, after);
    }
  }
  return all;
}

class ScheduleTime {
 public:
  ScheduleTime(const Topology& topology, const Schedule& schedule, const MessageTiming& timing)
      : schedule_(schedule),
        stores_(timing.stored_bytes != 0),
        links_(topology, schedule.routes, timing),
        loads_(topology, schedule.routes, timing),
        queue_(topology.num_vertices()),  // relays of a process group are switches here
        next_(topology.num_vertices(), 0),
        issued_(topology.num_vertices(), 0),
        usable_(schedule.transfers.size(), 0),
        missing_(schedule.transfers.size(), 0),
        tail_(schedule.transfers.size(), 0) {}

  // `uses`: if given, every use of a link is added.
  std::uint64_t run(std::uint64_t limit, std::vector<LinkUse>* uses = nullptr) {
    for (const Transfer& t : schedule_.transfers) loads_.add(t.route, schedule_.bytes_of(t));
    if (const std::uint64_t busy = loads_.busiest_ps(); busy > limit) return busy;
    uses_ = uses;
    list_sends();
    for (std::size_t n = 0; n < queue_.size(); ++n) offer(n);
    while (!events_.empty() && end_ <= limit) {
      const auto [at, hop, number] = events_.top();
      events_.pop();
      if (hop == 0) {
        issue(at, number);
      } else {
        pass(number, hop, at);
      }
    }
    return end_;
  }

 private:
  // When, hop and number. Hop 0: node `number` issues its next message. Otherwise: the head of
  // transfer `number` is before link `hop` of its route.
  using Event = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;

  void list_sends() {
    const std::size_t count = schedule_.transfers.size();
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    // As in a node's table (alg/schedule/schedule_table.h).
    const auto key = [&](std::uint32_t t) {
      const Transfer& transfer = schedule_.transfers[t];
      if (schedule_.listed_order) return std::tuple{transfer.step, false, FlowId(0)};
      const auto before = schedule_.dependencies_of(TransferId(t));
      const bool waits = before.begin() != before.end();
      return std::tuple{transfer.step, waits, transfer.flow};
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (const std::uint32_t t : order) queue_[schedule_.transfers[t].from.index()].push_back(t);
    first_waiting_.assign(count + 1, 0);
    for (std::uint32_t t = 0; t < count; ++t) {
      for (const TransferId d : schedule_.dependencies_of(TransferId(t))) {
        ++missing_[t];
        ++first_waiting_[d.index() + 1];
      }
    }
    std::partial_sum(first_waiting_.begin(), first_waiting_.end(), first_waiting_.begin());
    waiting_.resize(first_waiting_.back());
    std::vector<std::uint32_t> at(first_waiting_.begin(), first_waiting_.end() - 1);
    for (std::uint32_t t = 0; t < count; ++t) {
      for (const TransferId d : schedule_.dependencies_of(TransferId(t))) {
        waiting_[at[d.index()]++] = t;
      }
    }
  }

  // The node's next message, once all that it waits for is on its last link.
  void offer(std::size_t node) {
    if (next_[node] >= queue_[node].size()) return;
    const std::uint32_t t = queue_[node][next_[node]];
    if (missing_[t] != 0) return;
    const Transfer& transfer = schedule_.transfers[t];
    std::uint64_t at = std::max(issued_[node], transfer.not_before_ps);
    for (const TransferId d : schedule_.dependencies_of(TransferId(t))) {
      const TransferKind before = schedule_.transfers[d.index()].kind;
      at = std::max(at, usable_[d.index()] + links_.turn_ps(before, transfer.kind));
    }
    at = std::max(at, links_.room_ps(schedule_.routes.link(transfer.route, 0)));
    events_.push({at, 0, static_cast<std::uint32_t>(node)});
  }

  void issue(std::uint64_t at, std::size_t node) {
    const std::uint32_t t = queue_[node][next_[node]++];
    issued_[node] = at;
    const RouteId route = schedule_.transfers[t].route;
    links_.leave_queue(schedule_.routes.link(route, 0), pass(t, 0, at + links_.head_ps(route, 0)));
    offer(node);
  }

  // The head is at the beginning of link `hop` of its route at `at`. Returns when it enters the
  // link.
  std::uint64_t pass(std::uint32_t t, std::uint32_t hop, std::uint64_t at) {
    const Transfer& transfer = schedule_.transfers[t];
    const LinkId link = schedule_.routes.link(transfer.route, hop);
    const Bytes bytes = schedule_.bytes_of(transfer);
    const std::uint64_t start = links_.pass(link, bytes, at, tail_[t]);
    const bool goes_on = hop + 1 < schedule_.routes.hops(transfer.route);
    if (goes_on && !stores_) {
      // Its packets leave the router's input at the rate of the next link.
      const LinkId next = schedule_.routes.link(transfer.route, hop + 1);
      const std::uint64_t until = start + links_.occupancy_ps(next, bytes);
      links_.keep_busy(link, std::max(links_.free_ps(link), until));
    }
    if (uses_ != nullptr) uses_->push_back({link, TransferId(t), start, links_.free_ps(link)});
    if (goes_on) {
      events_.push({start + links_.hop_ps(link), hop + 1, t});
    } else {
      deliver(t);
    }
    return start;
  }

  void deliver(std::uint32_t t) {
    usable_[t] = tail_[t] + links_.use_ps(schedule_.transfers[t].kind);
    end_ = std::max(end_, usable_[t]);
    for (std::uint32_t s = first_waiting_[t]; s < first_waiting_[t + 1]; ++s) {
      const std::uint32_t waiting = waiting_[s];
      if (--missing_[waiting] != 0) continue;
      const std::size_t from = schedule_.transfers[waiting].from.index();
      if (next_[from] < queue_[from].size() && queue_[from][next_[from]] == waiting) offer(from);
    }
  }

  const Schedule& schedule_;
  bool stores_;  // messages of other VCs leave the input meanwhile
  MessageTimeline links_;
  LinkLoads loads_;
  std::vector<std::vector<std::uint32_t>> queue_;  // by node: its transfers in order
  std::vector<std::size_t> next_;                  // by node: of its queue
  std::vector<std::uint64_t> issued_;              // by node: its last issue
  std::vector<std::uint64_t> usable_;              // by transfer
  std::vector<std::uint32_t> missing_;             // by transfer: dependencies not sent yet
  std::vector<std::uint32_t> first_waiting_;       // by transfer, into waiting_
  std::vector<std::uint32_t> waiting_;
  std::vector<std::uint64_t> tail_;  // by transfer
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t end_ = 0;
  std::vector<LinkUse>* uses_ = nullptr;
};

}  // namespace

std::string unsuited_for_times(const Topology& topology, const char* algorithm) {
  const auto& links = topology.links();
  if (std::all_of(links.begin(), links.end(),
                  [](const TopologyLink& l) { return l.spec.bytes_per_second != 0; })) {
    return {};
  }
  return fmt::format("{} plans times, so it needs the bandwidth of every link", algorithm);
}

std::uint64_t schedule_time_ps(const Topology& topology, const Schedule& schedule,
                               const MessageTiming& timing, std::uint64_t limit) {
  if (schedule.symmetry) {
    const Schedule all = of_all_roots(schedule);
    return ScheduleTime(topology, all, timing).run(limit);
  }
  return ScheduleTime(topology, schedule, timing).run(limit);
}

std::vector<LinkUse> planned_link_uses(const Topology& topology, const Schedule& schedule,
                                       const MessageTiming& timing) {
  std::vector<LinkUse> uses;
  ScheduleTime(topology, schedule, timing).run(std::numeric_limits<std::uint64_t>::max(), &uses);
  return uses;
}

}  // namespace espalier
