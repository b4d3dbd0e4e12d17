// The interface between the hosts of a job and the machine that they run on: the simulated network
// with its NIs, or its closed form. Hosts act on events and do not know SystemC.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "alg/schedule/schedule.h"
#include "flowctl/wait_list.h"
#include "hw/ids.h"

namespace espalier {

// "host_3": a rank's name in lists of waits.
[[nodiscard]] inline std::string host_name(RankId rank) {
  return "host_" + std::to_string(rank.value());
}

// A message of the control plane. The machine transports its size; hosts find the content by `tag`.
struct HostMessage {
  RankId from;
  RankId to;
  Bytes bytes = 0;  // at least 1
  std::uint64_t tag = 0;
};

// Hosts number the collectives of a job without gaps, in any order. All ranks that post a number
// mean the same collective.
using CollectiveNumber = std::uint32_t;

// A collective that hosts post: an operation with equal parts.
struct HostCollective {
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes bytes = 0;          // as CollectiveRequest::size
  std::uint32_t group = 0;  // in JobRanks::groups; 0: all ranks
  // Where collectives of a rank compete for its NI, the lowest number goes first. If NIs run out of
  // contexts, ranks may take them in different orders and wait for each other. No part of what the
  // collective is.
  std::uint32_t priority = 0;

  friend bool operator==(const HostCollective& a, const HostCollective& b) {
    return a.op == b.op && a.bytes == b.bytes && a.group == b.group;
  }
  friend bool operator<(const HostCollective& a, const HostCollective& b) {
    return std::tie(a.op, a.bytes, a.group) < std::tie(b.op, b.bytes, b.group);
  }
};

// Where the ranks of a job are, and which of them run collectives with each other.
struct JobRanks {
  std::vector<NodeId> nodes;  // by rank, none twice
  // Ranks in the order of a ring, none twice, at least one; broadcast and reduce have the first one
  // as their root. A rank may be in any number of groups. Group 0 is all ranks, whatever is here.
  std::vector<std::vector<RankId>> groups;
  // From and to: who is known to send messages to whom. Their routes are certified first.
  std::vector<std::pair<RankId, RankId>> messages = {};

  // The number of groups of the rank that is in most: so many collectives of a rank may run at the
  // same time.
  [[nodiscard]] std::uint32_t most_groups_of_a_rank() const {
    std::vector<std::uint32_t> counts(nodes.size(), 1);
    std::uint32_t most = 1;
    for (std::size_t g = 1; g < groups.size(); ++g) {
      if (groups[g].size() == 1) continue;
      for (const RankId rank : groups[g]) most = std::max(most, ++counts[rank.index()]);
    }
    return most;
  }
};

// Services of the machine for the hosts. Each time is later than the event being handled.
// The times of one rank's sends never decrease, and neither do the times of its posts.
class HostServices {
 public:
  HostServices() = default;
  virtual ~HostServices() = default;
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  // Calls HostProgram::woken in cycle `at`. Several calls may be pending.
  virtual void wake(RankId rank, Cycle at) = 0;
  // The NI of `message.from` gets the message in cycle `at`. HostProgram::received is called when
  // it is in the receiver's memory. Messages between two ranks stay in order.
  virtual void send(const HostMessage& message, Cycle at) = 0;
  // Appends the collective to the rank's stream of the group in cycle `at`. A stream runs one
  // collective after the other, and the streams of several groups run at once as far as the NI has
  // contexts. HostProgram::collective_done is called when the rank has its result; in cycle `at` if
  // the group has one rank.
  virtual void post(RankId rank, CollectiveNumber collective, const HostCollective& what,
                    Cycle at) = 0;
  // The first of alike blocks of ranks has run for all; from now on each rank acts for itself, and
  // the network takes over what it remembers of that block. Precondition: nothing is under way.
  virtual void unfold() { throw std::logic_error("this machine has no blocks of ranks"); }
};

// The hosts of a job. The order of events of one cycle must not matter.
class HostProgram {
 public:
  HostProgram() = default;
  virtual ~HostProgram() = default;
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;

  // Called before cycle 1. `services` outlive the job.
  virtual void start(HostServices& services) = 0;
  virtual void woken(RankId rank, Cycle now) = 0;
  virtual void received(const HostMessage& message, Cycle now) = 0;
  virtual void collective_done(RankId rank, CollectiveNumber collective, Cycle now) = 0;
  // The messages of the collective, which is posted for the first time, have the flow `first` or
  // later ones, but earlier ones than the next collective.
  virtual void opened(CollectiveNumber /*collective*/, FlowId /*first*/) {}
  // True as soon as nothing is left to do.
  [[nodiscard]] virtual bool finished() const = 0;
  // True if the job cannot go on: the simulation ends at once.
  [[nodiscard]] virtual bool failed() const { return false; }

  // For the watchdog: the name of a collective, and which hosts wait for whom.
  [[nodiscard]] virtual std::string name_of(CollectiveNumber collective) const = 0;
  virtual void explain(WaitList& waits) const = 0;
};

}  // namespace espalier
