// What happened in one run: the stations of every message, the flits that every channel carried,
// and the progress of schedule tables and program contexts. The timeline and `explain` read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "flowctl/flit_run.h"
#include "flowctl/framing.h"
#include "flowctl/virtual_channels.h"
#include "hw/ids.h"
#include "hw/topology/link_timing.h"
#include "ni/engines/context_observer.h"
#include "ni/operation.h"

namespace espalier {

// An index of RunRecord::messages.
using RecordIndex = std::uint32_t;

// A message: an operation, or the share of an operation that takes one of several parallel links.
struct MessageRecord {
  // A share has its own route and bytes; `from` and `to` are vertices of what is simulated, also
  // where one NPU stands for all.
  Operation operation;
  PacketGrid grid;
  std::uint32_t channel = 0;  // where it is injected, in RunRecord::channels
  RecordIndex whole = 0;      // the first share of its operation; itself where it is the only one
  Cycle issued = kNever;
  // The DMA engine has read it: its first flit may leave in this cycle. kNever where packets are
  // read one by one (a DMA engine of limited bandwidth).
  Cycle read = kNever;
  Cycle sent = kNever;     // its last flit leaves the NI
  Cycle visible = kNever;  // all of it is, at the receiver
  // A Reduce may be added: `visible`, or later where the NI held it. kNever of a Gather.
  Cycle adding = kNever;
  Cycle done = kNever;  // in memory, reduction included
};

// Flits of one message that leave the sender without a gap.
struct CarriedRun {
  RecordIndex message = 0;
  std::uint16_t hop = 0;       // routers passed at the receiver; 0: an injection channel
  std::uint16_t out_port = 0;  // by which the flits leave the router at the channel's end
  std::uint64_t offset = 0;    // of the first, in the message
  FlitRun flits;               // departures, in ticks
};

struct VcRecord {
  std::vector<CarriedRun> carried;  // in order
  // When the same flits leave the buffer at the channel's end, in ticks. A buffer is a queue: the
  // i-th flit that came is the i-th to leave.
  std::vector<FlitRun> left;
};

struct ChannelRecord {
  std::string name;  // of its link in the module hierarchy
  ChannelSpec spec;
  LinkTiming link;
  std::vector<VcRecord> vcs;
};

// The steps and requests of a program context, in the order in which it ran them.
struct ContextRecord {
  struct Step {
    StepPlace place;
    ProgramStep step;
    StepTimes times;                // ended is kNever if the run stopped in the step
    std::size_t first_request = 0;  // in `requests`
    std::size_t num_requests = 0;
  };
  std::vector<Step> steps;
  std::vector<RequestTimes> requests;
};

// The network interface at a vertex.
struct NiRecord {
  // A schedule table's state after an evaluation that has moved it.
  struct Move {
    Cycle at = 0;
    std::size_t issued = 0;  // entries, so far
    Timestep timestep = 0;
  };
  // A program's call, launched in cycle `at`: its contexts begin in `begins`.
  struct Launch {
    std::uint32_t call = 0;
    Cycle at = 0;
    Cycle begins = 0;
  };
  std::string name;         // empty: the vertex has no network interface
  std::vector<Move> moves;  // in order
  std::vector<Launch> launches;
  std::vector<ContextRecord> contexts;  // by block
};

struct RunRecord {
  Tick ticks_per_cycle = 1;
  Cycle end = 0;                        // the cycle after the last one
  std::vector<MessageRecord> messages;  // in the order in which they were issued
  std::vector<ChannelRecord> channels;
  std::vector<NiRecord> nis;  // by vertex
};

// Removes the last `n` flits of a queue of runs: a train was cut. `flits_of(run)`: the run's
// FlitRun.
template <class Runs, class FlitsOf>
void cut_runs(Runs& runs, std::uint64_t n, FlitsOf&& flits_of) {
  while (n != 0 && !runs.empty()) {
    auto& last = flits_of(runs.back());
    const std::uint64_t here = std::min(n, last.n);
    last.n -= here;
    n -= here;
    if (last.n == 0) runs.pop_back();
  }
}

}  // namespace espalier
