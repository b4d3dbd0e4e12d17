// Plans when the messages of periodic schedules start. A round is one message for every hop of
// every tree; every link repeats its order with each period (modulo scheduling).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"
#include "alg/time/message_timeline.h"

namespace espalier {

constexpr Bytes kLeastMessage = 256;  // that plans cut; less is mostly head; if off: 21 % slower

// One message of a round.
struct RoundOp {
  NodeId from;
  NodeId to;
  RouteId route;
  TransferKind kind = TransferKind::copy;
  std::uint32_t unit = 0;            // the tree unit (flow) to which it belongs
  std::uint32_t share = 1;           // its data, in units of data of the round's segment
  std::vector<std::uint32_t> after;  // ops of the same round that must have arrived at `from`
};

// Of a message, in about nanoseconds: to plan where switches store it, and to move it into gaps.
constexpr std::uint64_t kWorkOfStored = 10'000;
constexpr std::uint64_t kWorkOfJustified = 8000;

struct RoundPlan {
  std::uint64_t period_ps = 0;  // 0: there is one round
  std::uint64_t span_ps = 0;    // start of the first to the arrival of the last op of a round
  std::vector<std::uint64_t> start_ps;  // by op, in round 0
  double stretch = 1;                   // period over the busiest link's time
  std::uint64_t work = 0;               // of planning it, in about nanoseconds
  // When `rounds` rounds have arrived at the latest.
  [[nodiscard]] std::uint64_t end_ps(std::uint64_t rounds) const {
    return (rounds - 1) * period_ps + span_ps;
  }
};

// What is planned: the messages of a round, each of so many segments as its share.
struct RoundTask {
  const Topology& topology;
  const RouteSet& routes;
  const std::vector<RoundOp>& ops;
  Bytes segment = 0;  // bytes of a share of 1
  const MessageTiming& timing;
  // By unit; empty: all have as many. A unit has no message in the rounds after its data have
  // ended. Only plans without a period leave out its time on the links.
  std::vector<Bytes> unit_bytes = {};
  [[nodiscard]] std::uint32_t messages(const RoundOp& op, std::uint32_t rounds) const {
    return unit_bytes.empty() ? rounds
                              : static_cast<std::uint32_t>(std::min<Bytes>(
                                    rounds, (unit_bytes[op.unit] + segment - 1) / segment));
  }
};

// Every unit `together` times, one copy per segment.
[[nodiscard]] std::vector<RoundOp> tree_copies(const std::vector<RoundOp>& ops,
                                               std::uint32_t together);

// The ops that wait for each op: successors[begin[o] .. begin[o + 1]).
struct RoundSuccessors {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> successors;
};
[[nodiscard]] RoundSuccessors successors_of(const std::vector<RoundOp>& ops);
// By op, on idle links: from its start to its use, by the root's Gathers if some of them wait for
// it.
[[nodiscard]] std::vector<std::uint64_t> arrivals_of(const RoundTask& task);
struct RemainingPaths {
  std::vector<std::uint32_t> order;      // ops, predecessors first
  std::vector<std::uint64_t> remaining;  // by op: start to the last arrival that waits for it
  // Ops with long paths first. Predecessors have longer paths, so they come first.
  [[nodiscard]] std::vector<std::uint32_t> longest_first() const;
};
// `arrival`: by op, from its start to its use.
[[nodiscard]] RemainingPaths remaining_paths(const std::vector<RoundOp>& ops,
                                             const RoundSuccessors& after,
                                             const std::vector<std::uint64_t>& arrival);

// Ready ops with the longest remaining path go first. `periodic` false: a single round without a
// period. `stretch`: of the shortest period that the busiest link permits, the first one that is
// tried.
[[nodiscard]] RoundPlan plan_round(const RoundTask& task, bool periodic, double stretch = 1);

// Exchanges time slots, so that a round passes in less time (time_slot_exchange.cpp). The period
// stays.
void shorten_span(const RoundTask& task, RoundPlan& plan);

// The plan without a period: `rounds` copies of the ops, round by round, are ops of one round, and
// each starts as early as gaps between the others allow (justify_sends.cpp).
[[nodiscard]] RoundPlan justified(const RoundTask& task, const RoundPlan& plan,
                                  std::uint32_t rounds);

// ---- messages that switches store (RateRule::own): stored_plan.cpp ----

// A message that fits into a VC buffer passes each link at the link's own rate (router_rules.h), so
// every link gives a time slot of its own length. A message takes the time slots with which it
// waits least in buffers. Behind the NIs nothing keeps time slots: the plan leaves the time of one
// before others need the data. Precondition: every op has a share of 1.
[[nodiscard]] RoundPlan plan_stored_round(const RoundTask& task);

// ---- without a period, for networks without switches: list_plan.cpp ----

// `segments` copies of the ops, copy by copy. A free link sends the ready message with the longest
// remaining path; a copy counts `lead_ps` more for every copy behind it. The lower copy wins ties.
// This is the machine's own time: a node alone feeds its links. Planning stops once the plan would
// take longer than `limit_ps`; the span is then a lower bound. Precondition: routes have one hop.
[[nodiscard]] RoundPlan plan_list(
    const RoundTask& task, std::uint32_t segments, std::uint64_t lead_ps,
    std::uint64_t limit_ps = std::numeric_limits<std::uint64_t>::max());

// The time that the ops take on the busiest link.
[[nodiscard]] std::uint64_t busiest_link_ps(const RoundTask& task);

// ---- plans as tables ----

// One send of a table, in the planned order.
struct RoundSend {
  std::uint64_t start_ps = 0;
  std::uint32_t round = 0;
  std::uint32_t op = 0;
};
// The sends of all rounds, by planned start.
[[nodiscard]] std::vector<RoundSend> all_sends(const RoundPlan& plan, std::uint32_t rounds);

// Adds the sends of all rounds to `schedule`, which has its chunks and the routes of the ops: one
// timestep, in the planned order. `chunk_of` names the chunk (and flow) of an op in a round; chunks
// of no bytes are left out. `held`: no send starts before it is planned to.
void add_sends(Schedule& schedule, const std::vector<RoundOp>& ops, const RoundPlan& plan,
               std::uint32_t rounds, bool held,
               const std::function<ChunkId(const RoundOp& op, std::uint32_t round)>& chunk_of);

// Several nodes send over one link: only time slots keep their messages in the planned order.
[[nodiscard]] bool shares_links(const RouteSet& routes, const std::vector<RoundOp>& ops);

// Some message passes links of different rates. Its end may be some flits later than planned.
[[nodiscard]] bool mixes_rates(const RoundTask& task);
// With longer messages there: one that misses its time slot by a flit delays all behind it.
[[nodiscard]] RoundTask guarded(RoundTask task);

// The time that the sends take if every NI serves them in order and every link is first come first
// served: what the machine does where no two nodes share a link.
[[nodiscard]] std::uint64_t replay_ps(const RoundTask& task, const RoundPlan& plan,
                                      std::uint32_t rounds);

}  // namespace espalier
