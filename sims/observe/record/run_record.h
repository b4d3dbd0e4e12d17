// The events of one run: the times of every message, the flits that every channel carried, and the
// progress of schedule tables and program contexts. The timeline and `explain` read this record.
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
#include "ni/engines/engine_observer.h"
#include "ni/operation.h"

namespace espalier {

// An index into RunRecord::messages.
using RecordIndex = std::uint32_t;
inline constexpr std::uint32_t kNowhere = 0xffffffffU;

// A message: an operation, or the share of an operation that takes one of several parallel links.
struct MessageRecord {
  // A share has its own route and bytes. `from` and `to` are vertices of the simulated system, even
  // if one NPU stands for all.
  Operation operation;
  PacketGrid grid;
  std::uint32_t channel = 0;       // channel of the injection, as index into RunRecord::channels
  std::uint32_t entry = kNowhere;  // of its NI's schedule table
  // The first share of its operation; the message itself if it is the only one.
  RecordIndex whole = 0;
  Cycle issued = kNever;
  // The message that made room in its injection queue in the cycle before; kNowhere: none.
  RecordIndex room_by = kNowhere;
  // The cycle in which the DMA engine has read the message, so that its first flit may leave.
  // kNever if packets are read one by one (a DMA engine with limited bandwidth).
  Cycle read = kNever;
  // It releases its injection port; kNever: not before the last flit leaves.
  Cycle released = kNever;
  Cycle sent = kNever;     // the last flit leaves the NI
  Cycle visible = kNever;  // the whole message is visible at the receiver
  // The cycle from which a Reduce may be added: `visible`, or later if the NI held it. kNever for a
  // Gather.
  Cycle adding = kNever;
  // A held Reduce: the message of the NI whose arrival or last flit ended the hold; kNowhere: none.
  RecordIndex held_for = kNowhere;
  Cycle done = kNever;  // in memory, reduction included
};

// Flits of one message that leave the sender without a gap.
struct CarriedRun {
  RecordIndex message = 0;
  std::uint16_t hop = 0;  // routers passed at the receiver; 0: an injection channel
  // Output port through which the flits leave the router at the channel's end.
  std::uint16_t out_port = 0;
  std::uint64_t offset = 0;  // offset of the first flit in the message
  FlitRun flits;             // departures, in ticks
};

struct VcRecord {
  std::vector<CarriedRun> carried;  // in order
  // The times, in ticks, at which the flits in `carried` leave the buffer at the channel's end. A
  // buffer is a queue, so flits leave in the order in which they arrived.
  std::vector<FlitRun> left;
};

struct ChannelRecord {
  std::string name;  // name of the link in the module hierarchy
  ChannelSpec spec;
  LinkTiming link;
  std::vector<VcRecord> vcs;
};

// The steps and requests of a program context in the order of execution.
struct ContextRecord {
  struct Step {
    StepPlace place;
    ProgramStep step;
    StepTimes times;                // ended is kNever if the run stopped in the step
    std::size_t first_request = 0;  // index into `requests`
    std::size_t num_requests = 0;
  };
  std::vector<Step> steps;
  std::vector<RequestTimes> requests;
};

// The network interface at a vertex.
struct NiRecord {
  // Why an entry of a schedule table issued in cycle `at`, or why a timestep began then.
  struct Released {
    Cycle at = kNever;  // kNever: not in this run
    Release why = Release::order;
    std::uint32_t after = kNowhere;  // EngineObserver: `after`
    // Event, port, any_port, reduction, post: the message; kNowhere: it was not the collective's.
    RecordIndex message = kNowhere;
  };
  // A message to or from the NI, for which an entry waited.
  struct Event {
    Cycle at = 0;
    std::size_t number = 0;  // in the table
    RecordIndex message = kNowhere;
  };
  struct Entry : Released {
    std::vector<RecordIndex> sends;
    std::vector<Event> awaited;
  };
  // A call of a program, launched in cycle `at`. Its contexts begin in cycle `begins`.
  struct Launch {
    std::uint32_t call = 0;
    Cycle at = 0;
    Cycle begins = 0;
  };
  std::string name;             // empty: the vertex has no network interface
  std::vector<Entry> entries;   // of the schedule table
  std::vector<Released> steps;  // by timestep; they begin with 1
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

// Removes the last `n` flits of a queue of runs, because a train was cut. `flits_of(run)` returns
// the FlitRun of a run.
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
