// A stretch of time on a critical path, and the reason for it.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "hw/ids.h"
#include "sims/observe/record/run_record.h"

namespace espalier {

enum class SegmentKind : std::uint8_t {
  serialization,    // flits leave one after the other, at the rate of `channel`
  link,             // on the wire of `channel`
  router,           // in the pipeline of the router at the end of `channel`
  arbitration,      // `other` had the output towards `channel`, its VC, or the crossbar input
  credit,           // the buffer at the end of `channel` has no room
  allocation,       // everything was free, but the switch allocator granted other requests
  ni_queue,         // an injection channel carried `other`, or the queue in front of it was full
  dma,              // memory was read for it
  ni,               // from the NI into its router, or from the last router into memory
  reduction,        // the reduction unit adds it, or is busy
  dependency,       // from the awaited event to the issue: write-back, reading the schedule
  lockstep,         // the down-counter, or the reductions and sends that a timestep waits for
  slot,             // the slot counter: the planned start of an entry
  passed_rows,      // the table memory read rows that do not issue in this pass
  issue,            // earlier entries of the table
  late_start,       // the host had not posted the collective
  clock_skew,       // the NI's own clock was behind, or slow
  doorbell,         // the host had not posted this collective of several
  dimension_queue,  // a stage waited for its dimension
  launch,           // a call's doorbell, and the load of its steps into the contexts
  decode,           // a step is decoded
  memory_port,      // the port that the contexts of an NI share moves data, or is busy
  context_rate,     // a context's own loads and stores
  fence,            // before the flag that completes a slot
  network_post,     // the proxy sends and receives the network's slots, one after the other
  slot_credit,      // from a freed slot of a connection to its sender's use of it
  request_limit,    // latency that more requests in flight would have hidden
  unexplained       // no rule gives a reason; a defect of the account
};
inline constexpr std::size_t kNumSegmentKinds = 28;

// As in results: "link_latency".
[[nodiscard]] const char* name_of(SegmentKind kind);
// "link latency", of such a name.
[[nodiscard]] std::string plain_words(std::string name);
// True if an NI that spends the time works: it sends, reads, adds, decodes. False if it waits.
[[nodiscard]] bool is_work(SegmentKind kind);
// What a kind, by its name, means for a reader who does not know the list of kinds.
[[nodiscard]] std::string meaning_of(const std::string& name);

struct Segment {
  SegmentKind kind = SegmentKind::unexplained;
  Cycle from = 0;
  Cycle to = 0;
  RecordIndex message = kNowhere;  // that spends the time; kNowhere before the first issue
  std::uint32_t channel = kNowhere;
  std::uint32_t waits_in = kNowhere;    // arbitration, credit: the channel whose buffer holds it
  std::uint32_t vertex = kNowhere;      // of the network interface
  std::uint32_t context = kNowhere;     // of that NI
  std::uint32_t step = kNowhere;        // of the context, in ContextRecord::steps
  RecordIndex other = kNowhere;         // arbitration, ni_queue: the message that was served
  std::uint32_t bottleneck = kNowhere;  // of a wait: the channel on which flits were moving

  // Segments of a message at a network interface, and on a channel.
  [[nodiscard]] static Segment at(SegmentKind kind, RecordIndex message, NodeId vertex) {
    Segment segment;
    segment.kind = kind;
    segment.message = message;
    segment.vertex = vertex.value();
    return segment;
  }
  [[nodiscard]] static Segment on(SegmentKind kind, RecordIndex message, std::uint32_t channel) {
    Segment segment;
    segment.kind = kind;
    segment.message = message;
    segment.channel = channel;
    return segment;
  }

  // The same places for another reason.
  [[nodiscard]] Segment as(SegmentKind other_kind) const {
    Segment segment = *this;
    segment.kind = other_kind;
    return segment;
  }

  [[nodiscard]] Cycle cycles() const { return to - from; }
  // All members but the cycles.
  [[nodiscard]] auto what() const {
    return std::tie(kind, message, channel, waits_in, vertex, context, step, other, bottleneck);
  }
};

// A path under construction, from its last segment back to its first.
class Trail {
 public:
  // From `end` back to `begin`; time before `begin` is ignored.
  Trail(Cycle end, Cycle begin) : at_(end), begin_(begin) {}

  // All time from this cycle on is explained.
  [[nodiscard]] Cycle at() const { return at_; }
  // Explains the time from `from` to at(), if `from` is earlier. `segment`: the kind and places.
  void add(Segment segment, Cycle from);
  // In order of time.
  [[nodiscard]] std::vector<Segment> take();

 private:
  Cycle at_;
  Cycle begin_;
  std::vector<Segment> segments_;
};

}  // namespace espalier
