// A stretch of time on a critical path, and what it was spent on.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "sims/observe/record/run_record.h"

namespace espalier {

enum class SegmentKind : std::uint8_t {
  serialization,    // flits leave one after the other, at the rate of the channel `channel`
  link,             // on the wire of `channel`
  router,           // in the pipeline of the router at the end of `channel`
  arbitration,      // the output towards `channel`, its VC, or the crossbar input, had `other`
  credit,           // no room in the VC behind `channel`
  allocation,       // everything was free, and the switch allocator had not come to it
  ni_queue,         // an injection channel carried `other`, or the queue in front of it was full
  dma,              // memory was read for it
  ni,               // from the NI into its router, from the last router into memory
  reduction,        // it was added, or waited for the reduction unit
  dependency,       // what it needs is there: write-back, and the look at the schedule
  lockstep,         // the down-counter, or what else a timestep waits for
  issue,            // entries before it in the table
  late_start,       // the host had not posted the collective
  clock_skew,       // the NI's own clock was behind, or slow
  doorbell,         // the host had not posted this one of several collectives
  dimension_queue,  // a stage waited for its dimension
  launch,           // a call's doorbell, and the load of its steps into the contexts
  decode,           // a step is decoded
  memory_port,      // data move through the port that the contexts of an NI share, or wait for it
  context_rate,     // a context's own loads and stores
  fence,            // before the flag that completes a slot
  network_post,     // a slot is posted to the network, after those before it
  slot_credit,      // from a freed slot of a connection to its sender's use of it
  request_limit,    // latency that more requests under way would have hidden
  unexplained       // no rule says why; a defect of this account
};
inline constexpr std::size_t kNumSegmentKinds = 26;

// As in results: "link_latency".
[[nodiscard]] const char* name_of(SegmentKind kind);

inline constexpr std::uint32_t kNowhere = 0xffffffffU;

struct Segment {
  SegmentKind kind = SegmentKind::unexplained;
  Cycle from = 0;
  Cycle to = 0;
  RecordIndex message = kNowhere;  // whose time it is; none before the first one's issue
  std::uint32_t channel = kNowhere;
  std::uint32_t waits_in = kNowhere;    // the channel in whose buffer it is: arbitration, credit
  std::uint32_t vertex = kNowhere;      // of the network interface
  std::uint32_t context = kNowhere;     // of that NI
  std::uint32_t step = kNowhere;        // of the context, in ContextRecord::steps
  RecordIndex other = kNowhere;         // arbitration, ni_queue: who was served
  std::uint32_t bottleneck = kNowhere;  // of a wait: the channel that held it up, at its end

  [[nodiscard]] Cycle cycles() const { return to - from; }
};

// A path as it is found, last segment first.
class Trail {
 public:
  // From `end` back to `begin`: nothing before that is explained.
  Trail(Cycle end, Cycle begin) : at_(end), begin_(begin) {}

  // Where it has come to: everything later is explained.
  [[nodiscard]] Cycle at() const { return at_; }
  // Explains the time from `from` to at(); nothing where none has passed. `segment`: its kind and
  // places.
  void add(Segment segment, Cycle from);
  // In order of time.
  [[nodiscard]] std::vector<Segment> take();

 private:
  Cycle at_;
  Cycle begin_;
  std::vector<Segment> segments_;
};

}  // namespace espalier
