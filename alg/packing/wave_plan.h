// Plans when the messages of periodic schedules start. A wave is one message for every hop of every
// tree; wave after wave passes, one segment of the data each, and every link repeats its order with
// each period (modulo scheduling). The plan gives the order in which an NI table lists its sends.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"
#include "alg/time/message_timeline.h"

namespace espalier {

// One message of a wave.
struct WaveOp {
  NodeId from;
  NodeId to;
  RouteId route;
  TransferKind kind = TransferKind::copy;
  std::uint32_t unit = 0;            // the tree unit (flow) to which it belongs
  std::uint32_t share = 1;           // its data, in units of data of the wave's segment
  std::vector<std::uint32_t> after;  // ops of the same wave that must have arrived at `from`
};

struct WavePlan {
  std::uint64_t period_ps = 0;  // 0: there is one wave
  std::uint64_t span_ps = 0;    // start of the first to the arrival of the last op of a wave
  std::vector<std::uint64_t> start_ps;  // by op, in wave 0
  double stretch = 1;                   // period over the busiest link's time
  // When `waves` waves have arrived at the latest.
  [[nodiscard]] std::uint64_t end_ps(std::uint64_t waves) const {
    return (waves - 1) * period_ps + span_ps;
  }
};

// What is planned: the messages of a wave, each of so many segments as its share.
struct WaveTask {
  const Topology& topology;
  const RouteSet& routes;
  const std::vector<WaveOp>& ops;
  Bytes segment = 0;  // bytes of a share of 1
  const MessageTiming& timing;
};

// The ops that wait for each op: successors[begin[o] .. begin[o + 1]).
struct WaveSuccessors {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> successors;
};
[[nodiscard]] WaveSuccessors successors_of(const std::vector<WaveOp>& ops);
// By op, on idle links: from its start to its use, by the root's Gathers if some of them wait for
// it.
[[nodiscard]] std::vector<std::uint64_t> arrivals_of(const WaveTask& task);
struct RemainingPaths {
  std::vector<std::uint32_t> order;      // ops, predecessors first
  std::vector<std::uint64_t> remaining;  // by op: start to the last arrival that waits for it
  // Ops with long paths first. Predecessors have longer paths, so they come first.
  [[nodiscard]] std::vector<std::uint32_t> longest_first() const;
};
// `arrival`: by op, from its start to its use.
[[nodiscard]] RemainingPaths remaining_paths(const std::vector<WaveOp>& ops,
                                             const WaveSuccessors& after,
                                             const std::vector<std::uint64_t>& arrival);

// Ready ops with the longest remaining path go first. `periodic` false: a single wave without a
// period. `stretch`: of the shortest period that the busiest link permits, the first one that is
// tried.
[[nodiscard]] WavePlan plan_wave(const WaveTask& task, bool periodic, double stretch = 1);

// Exchanges slots, so that a wave passes in less time (slot_exchange.cpp). The period stays.
void shorten_span(const WaveTask& task, WavePlan& plan);

// The plan without a period: `waves` copies of the ops, wave by wave, are ops of one wave, and each
// starts as early as gaps between the others allow (justify_sends.cpp).
[[nodiscard]] WavePlan justified(const WaveTask& task, const WavePlan& plan, std::uint32_t waves);

// ---- messages that switches store (RateRule::own): stored_plan.cpp ----

// A message that fits into a VC buffer passes each link at the link's own rate: the buffer stores
// data that come faster than they leave, and a packet from a slower link waits until it streams
// without a gap (router_rules.h). So every link gives a slot of its own length, no earlier than the
// data can be there. A later slot keeps the message in the buffer; a message takes the slots with
// which it waits there least. The period is the time of the busiest link.
//
// Only NIs keep their slots. Behind the NIs, messages share links packet by packet, so a message
// may come about a slot late. The plan leaves that time before other messages need its data.
// Precondition: every op has a share of 1.
[[nodiscard]] WavePlan plan_stored_wave(const WaveTask& task);

// ---- without a period, for networks without switches: list_plan.cpp ----
// Every link, when it is free, sends the ready message with the highest priority.

// The plan of `segments` copies of the ops, copy by copy. The
// ready message with the longest remaining path goes first; a copy counts `lead_ps` more for every
// copy behind it, so with a long lead the copies pass one after the other. The lower
// copy wins ties. This is the machine's own time: a node alone feeds its links.
// Planning stops once the plan would take longer than `limit_ps`; the returned span is then a lower
// bound above the limit. Precondition: every route has one hop.
[[nodiscard]] WavePlan plan_list(
    const WaveTask& task, std::uint32_t segments, std::uint64_t lead_ps,
    std::uint64_t limit_ps = std::numeric_limits<std::uint64_t>::max());

// The time that the ops take on the busiest link.
[[nodiscard]] std::uint64_t busiest_link_ps(const WaveTask& task);

// ---- plans as tables ----

// One send of a table, in the planned order.
struct WaveSend {
  std::uint64_t start_ps = 0;
  std::uint32_t wave = 0;
  std::uint32_t op = 0;
};
// The sends of all waves, by planned start.
[[nodiscard]] std::vector<WaveSend> all_sends(const WavePlan& plan, std::uint32_t waves);

// Adds the sends of all waves to `schedule`, which has its chunks and the routes of the ops: one
// timestep, in the planned order. `chunk_of` names the chunk (and flow) of an op in a wave; chunks
// of no bytes are left out. `held`: no send starts before it is planned to.
void add_sends(Schedule& schedule, const std::vector<WaveOp>& ops, const WavePlan& plan,
               std::uint32_t waves, bool held,
               const std::function<ChunkId(const WaveOp& op, std::uint32_t wave)>& chunk_of);

// Several nodes send over one link: only slots keep their messages in the planned order.
[[nodiscard]] bool shares_links(const RouteSet& routes, const std::vector<WaveOp>& ops);

// The time that the sends take if every NI serves them in order and every link is first come first
// served: what the machine does where no two nodes share a link.
[[nodiscard]] std::uint64_t replay_ps(const WaveTask& task, const WavePlan& plan,
                                      std::uint32_t waves);

}  // namespace espalier
