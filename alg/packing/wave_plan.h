// Plans when the messages of periodic schedules start. A wave is one message for every hop of every
// tree; wave after wave passes, one segment of the data each, and every link repeats its order with
// each period (modulo scheduling). The plan gives the order in which an NI table lists its sends.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"

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

// The time that a message of `bytes` occupies a link, and the time from its start to its use at
// the end of the route.
class MessageTimes {
 public:
  MessageTimes(const Topology& topology, const RouteSet& routes, const MessageTiming& timing)
      : topology_(topology), routes_(routes), timing_(timing) {}
  [[nodiscard]] std::uint64_t occupancy_ps(LinkId link, Bytes bytes) const;
  [[nodiscard]] std::uint64_t arrival_ps(const WaveOp& op, Bytes bytes) const;
  // From the start of a message to its head at the start of hop `hop`.
  [[nodiscard]] std::uint64_t head_ps(RouteId route, std::size_t hop) const;

 private:
  const Topology& topology_;
  const RouteSet& routes_;
  const MessageTiming& timing_;
};

// The ops that wait for each op: successors[begin[o] .. begin[o + 1]).
struct WaveSuccessors {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> successors;
};
[[nodiscard]] WaveSuccessors successors_of(const std::vector<WaveOp>& ops);
struct RemainingPaths {
  std::vector<std::uint32_t> order;      // ops, predecessors first
  std::vector<std::uint64_t> remaining;  // by op: start to the last arrival that waits for it
};
// On idle links. `arrival`: by op, from its start to its use.
[[nodiscard]] RemainingPaths remaining_paths(const std::vector<WaveOp>& ops,
                                             const WaveSuccessors& after,
                                             const std::vector<std::uint64_t>& arrival);

// Ready ops with the longest remaining path go first. `segment`: bytes of a share of 1.
// `periodic` false: a single wave without a period. `stretch`: of the shortest period that the
// busiest link permits, the first one that is tried.
[[nodiscard]] WavePlan plan_wave(const Topology& topology, const RouteSet& routes,
                                 const std::vector<WaveOp>& ops, Bytes segment,
                                 const MessageTiming& timing, bool periodic, double stretch = 1);

// Exchanges slots, so that a wave passes in less time (slot_exchange.h). The period stays. The
// other arguments are plan_wave()'s.
void shorten_span(const Topology& topology, const RouteSet& routes, const std::vector<WaveOp>& ops,
                  Bytes segment, const MessageTiming& timing, WavePlan& plan);

// The plan without a period: `waves` copies of the ops, wave by wave, are ops of one wave, and each
// starts as early as gaps between the others allow (justify_sends.h). The other arguments are
// plan_wave()'s.
[[nodiscard]] WavePlan justified(const Topology& topology, const RouteSet& routes,
                                 const std::vector<WaveOp>& ops, Bytes segment,
                                 const MessageTiming& timing, const WavePlan& plan,
                                 std::uint32_t waves);

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
[[nodiscard]] std::uint64_t replay_ps(const Topology& topology, const RouteSet& routes,
                                      const std::vector<WaveOp>& ops, Bytes segment,
                                      const MessageTiming& timing, const WavePlan& plan,
                                      std::uint32_t waves);

}  // namespace espalier
