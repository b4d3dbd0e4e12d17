// The time that a schedule takes, message by message and without the flit model.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"

namespace espalier {

// Empty if every link has a bandwidth; otherwise why `algorithm` cannot plan times, for the user.
[[nodiscard]] std::string unsuited_for_times(const Topology& topology, const char* algorithm);

// From the first issue to the last arrival, in ps, if every NI serves its messages in the order of
// its table, each as soon as its dependencies have arrived and its port's queue has room, and every
// link is first come first served, for whole messages. Where every message passes one link this is
// what the machine does without lockstep, but for ties and for messages in several VCs, whose
// packets interleave. Longer routes are cut through; routers have room for all. Where the time is
// over `limit`, the answer is some time over `limit` that the schedule does not beat.
[[nodiscard]] std::uint64_t schedule_time_ps(
    const Topology& topology, const Schedule& schedule, const MessageTiming& timing,
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());

// A message on a link of its route, as in schedule_time_ps().
struct LinkUse {
  LinkId link;
  TransferId transfer;
  std::uint64_t start_ps = 0;
  std::uint64_t end_ps = 0;  // when the link is free for the next message
};
// In the order in which links take them. Precondition: no symmetry.
[[nodiscard]] std::vector<LinkUse> planned_link_uses(const Topology& topology,
                                                     const Schedule& schedule,
                                                     const MessageTiming& timing);

class MessageTimes {
 public:
  MessageTimes(const Topology& topology, const RouteSet& routes, const MessageTiming& timing)
      : topology_(topology), routes_(routes), timing_(timing) {}
  // The time that a message of `bytes` occupies a link.
  [[nodiscard]] std::uint64_t occupancy_ps(LinkId link, Bytes bytes) const;
  // The same of the slowest link of a route.
  [[nodiscard]] std::uint64_t slowest_ps(RouteId route, Bytes bytes) const;
  // From the start of a message to its use at the end of the route.
  template <class Message>
  [[nodiscard]] std::uint64_t arrival_ps(const Message& message, Bytes bytes) const {
    return head_ps(message.route, routes_.hops(message.route)) + slowest_ps(message.route, bytes) +
           timing_.delivery_ps + (message.kind == TransferKind::reduce ? timing_.reduction_ps : 0);
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

 private:
  const Topology& topology_;
  const RouteSet& routes_;
  const MessageTiming& timing_;
};

// Links that are first come first served, for whole messages. Messages are cut through at the
// routers, which have room for them.
class LinkTimeline {
 public:
  LinkTimeline(const MessageTimes& times, std::size_t num_links)
      : times_(times), free_(num_links, 0) {}

  // A message is on its way over `link`: since when its head has been at the beginning of the link,
  // and when its tail was at the end of the link before, which becomes the end of this one. Returns
  // when it enters the link.
  std::uint64_t pass(LinkId link, Bytes bytes, std::uint64_t head, std::uint64_t& tail);
  // When the link is free.
  [[nodiscard]] std::uint64_t free_ps(LinkId link) const { return free_[link.index()]; }

 private:
  const MessageTimes& times_;
  std::vector<std::uint64_t> free_;
};

}  // namespace espalier
