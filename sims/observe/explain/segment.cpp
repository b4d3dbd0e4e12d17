#include "sims/observe/explain/segment.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace espalier {

namespace {

struct KindWords {
  const char* name;
  const char* meaning;  // nullptr: the name's words
  bool is_work = false;
};

// In the order of SegmentKind.
constexpr KindWords kKinds[] = {
    {"serialization", "sending flits over links, no single one of which decides", true},
    {"link_latency", "the latency of links, because steps wait for one another"},
    {"router_pipeline", "the pipelines of routers"},
    {"arbitration_loss", "contention: waiting for other messages at routers"},
    {"credit_stall", "waiting for credits: buffers are too shallow for the links"},
    {"switch_allocation", nullptr},
    {"ni_queue", "waiting in the queue of an NI behind its other messages"},
    {"dma", nullptr, true},
    {"injection_and_ejection", nullptr, true},
    {"reduction", "reduction units of NIs", true},
    {"dependency_wait", "waiting for data that other messages bring"},
    {"lockstep_wait", "waiting for lockstep's down-counters"},
    {"slot_wait", "waiting for the planned slots of messages"},
    {"passed_rows", "passing table rows that do not issue", true},
    {"issue", nullptr, true},
    {"late_start", "hosts that start late"},
    {"clock_skew", "skewed lockstep clocks"},
    {"doorbell", "doorbells of hosts"},
    {"dimension_queue", "waiting in the queues of dimensions"},
    {"launch", "launching programs", true},
    {"decode", "decoding the steps of programs", true},
    {"memory_port", "memory ports of NIs", true},
    {"context_rate", "the request rate of program contexts", true},
    {"fence", nullptr, true},
    {"network_post", nullptr, true},
    {"slot_credit", "waiting for FIFO slots of connections"},
    {"request_limit", "the limit of requests in flight"},
    {"unexplained", nullptr},
};
static_assert(std::size(kKinds) == kNumSegmentKinds);

}  // namespace

const char* name_of(SegmentKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }

std::string meaning_of(const std::string& name) {
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const KindWords& words) { return words.name == name; });
  if (kind != std::end(kKinds) && kind->meaning != nullptr) return kind->meaning;
  return plain_words(name);
}

std::string plain_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

bool is_work(SegmentKind kind) { return kKinds[static_cast<std::size_t>(kind)].is_work; }

void Trail::add(Segment segment, Cycle from) {
  from = std::max(from, begin_);
  if (from >= at_) return;
  segment.from = from;
  segment.to = std::exchange(at_, from);
  if (!segments_.empty()) {
    Segment& next = segments_.back();
    if (next.what() == segment.what()) {
      next.from = segment.from;
      return;
    }
  }
  segments_.push_back(segment);
}

std::vector<Segment> Trail::take() {
  std::reverse(segments_.begin(), segments_.end());
  return std::move(segments_);
}

}  // namespace espalier
