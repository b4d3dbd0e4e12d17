// The times of whole messages, without the flit model: on a link, on a route, and on links that
// several messages want.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"

namespace espalier {

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
