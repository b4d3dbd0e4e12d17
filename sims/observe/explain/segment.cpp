#include "sims/observe/explain/segment.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace espalier {

const char* name_of(SegmentKind kind) {
  // In the order of SegmentKind.
  static constexpr const char* kNames[] = {"serialization",
                                           "link_latency",
                                           "router_pipeline",
                                           "arbitration_loss",
                                           "credit_stall",
                                           "switch_allocation",
                                           "ni_queue",
                                           "dma",
                                           "injection_and_ejection",
                                           "reduction",
                                           "dependency_wait",
                                           "lockstep_wait",
                                           "slot_wait",
                                           "passed_rows",
                                           "issue",
                                           "late_start",
                                           "clock_skew",
                                           "doorbell",
                                           "dimension_queue",
                                           "launch",
                                           "decode",
                                           "memory_port",
                                           "context_rate",
                                           "fence",
                                           "network_post",
                                           "slot_credit",
                                           "request_limit",
                                           "unexplained"};
  static_assert(std::size(kNames) == kNumSegmentKinds);
  return kNames[static_cast<std::size_t>(kind)];
}

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
