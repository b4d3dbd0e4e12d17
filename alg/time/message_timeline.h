// The time of a message over links, NI ports and hops: on idle links, and behind other messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "alg/routes/route_set.h"
#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"

namespace espalier {

// On idle links.
class MessageTimes {
 public:
  MessageTimes(const Topology& topology, const RouteSet& routes, const MessageTiming& timing)
      : topology_(topology), routes_(routes), timing_(timing) {}
  // The time that a message of `bytes` occupies a link.
  [[nodiscard]] std::uint64_t occupancy_ps(LinkId link, Bytes bytes) const;
  // The same of the slowest link of a route.
  [[nodiscard]] std::uint64_t slowest_ps(RouteId route, Bytes bytes) const;
  // From the end of a message's last link to its use.
  [[nodiscard]] std::uint64_t use_ps(TransferKind kind) const {
    return timing_.delivery_ps + (kind == TransferKind::reduce ? timing_.reduction_ps : 0);
  }
  // From the start of a message to its use at the end of the route.
  template <class Message>
  [[nodiscard]] std::uint64_t arrival_ps(const Message& message, Bytes bytes) const {
    return head_ps(message.route, routes_.hops(message.route)) + slowest_ps(message.route, bytes) +
           use_ps(message.kind);
  }
  // Between the use of a message and a message that waits for it: a root's turnaround.
  [[nodiscard]] std::uint64_t turn_ps(TransferKind before, TransferKind after) const {
    const bool turns = before == TransferKind::reduce && after == TransferKind::copy;
    return turns ? timing_.turnaround_ps : 0;
  }
  // From the start of a message to its head at the start of hop `hop`, and from its start on the
  // first link to there.
  [[nodiscard]] std::uint64_t head_ps(RouteId route, std::size_t hop) const;
  [[nodiscard]] std::uint64_t flight_ps(RouteId route, std::size_t hop) const {
    return head_ps(route, hop) - head_ps(route, 0);
  }
  // A head's time over a link and the router behind it.
  [[nodiscard]] std::uint64_t hop_ps(LinkId link) const {
    return topology_.link(link).spec.latency_ps + timing_.router_ps;
  }

 protected:
  const Topology& topology_;
  const RouteSet& routes_;
  const MessageTiming& timing_;
};

// The time for which messages occupy each link.
class LinkLoads {
 public:
  LinkLoads(const Topology& topology, const RouteSet& routes, const MessageTiming& timing)
      : times_(topology, routes, timing), routes_(routes), busy_(topology.num_links(), 0) {}
  // `count` messages of `bytes` each.
  void add(RouteId route, Bytes bytes, std::uint64_t count = 1) {
    for (const LinkId l : routes_.links(route)) {
      busy_[l.index()] += times_.occupancy_ps(l, bytes) * count;
    }
  }
  [[nodiscard]] std::uint64_t busiest_ps() const {
    return busy_.empty() ? 0 : *std::max_element(busy_.begin(), busy_.end());
  }

 private:
  MessageTimes times_;
  const RouteSet& routes_;
  std::vector<std::uint64_t> busy_;
};

// Links that are first come first served, for whole messages, and the queues of the NI ports that
// feed them. Messages are cut through at the routers, which have room for them.
class MessageTimeline : public MessageTimes {
 public:
  MessageTimeline(const Topology& topology, const RouteSet& routes, const MessageTiming& timing);

  // A message is on its way over `link`: since when its head has been at the beginning of the link,
  // and when its tail was at the end of the link before, which becomes the end of this one. Returns
  // when it enters the link.
  std::uint64_t pass(LinkId link, Bytes bytes, std::uint64_t head, std::uint64_t& tail);
  // When the link is free.
  [[nodiscard]] std::uint64_t free_ps(LinkId link) const { return free_[link.index()]; }
  void keep_busy(LinkId link, std::uint64_t until) { free_[link.index()] = until; }

  // When the queue of the port before `link` has room for another message.
  [[nodiscard]] std::uint64_t room_ps(LinkId link) const {
    return left_[link.index() * timing_.send_queue + oldest_[link.index()]];
  }
  // The next message of the port enters the link at `start`, and leaves the queue.
  void leave_queue(LinkId link, std::uint64_t start);

 private:
  std::vector<std::uint64_t> free_;  // by link
  std::vector<std::uint64_t> left_;  // by link, a ring: when its last messages left the queue
  std::vector<std::size_t> oldest_;  // by link, of the ring
};

}  // namespace espalier
