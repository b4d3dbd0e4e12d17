#include "sims/observe/explain/segment.h"

#include <algorithm>
#include <utility>

namespace espalier {

const char* name_of(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::serialization:
      return "serialization";
    case SegmentKind::link:
      return "link_latency";
    case SegmentKind::router:
      return "router_pipeline";
    case SegmentKind::arbitration:
      return "arbitration_loss";
    case SegmentKind::credit:
      return "credit_stall";
    case SegmentKind::allocation:
      return "switch_allocation";
    case SegmentKind::ni_queue:
      return "ni_queue";
    case SegmentKind::dma:
      return "dma";
    case SegmentKind::ni:
      return "injection_and_ejection";
    case SegmentKind::reduction:
      return "reduction";
    case SegmentKind::dependency:
      return "dependency_wait";
    case SegmentKind::lockstep:
      return "lockstep_wait";
    case SegmentKind::issue:
      return "issue";
    case SegmentKind::late_start:
      return "late_start";
    case SegmentKind::clock_skew:
      return "clock_skew";
    case SegmentKind::doorbell:
      return "doorbell";
    case SegmentKind::dimension_queue:
      return "dimension_queue";
    case SegmentKind::launch:
      return "launch";
    case SegmentKind::decode:
      return "decode";
    case SegmentKind::memory_port:
      return "memory_port";
    case SegmentKind::context_rate:
      return "context_rate";
    case SegmentKind::fence:
      return "fence";
    case SegmentKind::network_post:
      return "network_post";
    case SegmentKind::slot_credit:
      return "slot_credit";
    case SegmentKind::request_limit:
      return "request_limit";
    case SegmentKind::unexplained:
      break;
  }
  return "unexplained";
}

void Trail::add(Segment segment, Cycle from) {
  from = std::max(from, begin_);
  if (from >= at_) return;
  segment.from = from;
  segment.to = std::exchange(at_, from);
  if (!segments_.empty()) {
    Segment& next = segments_.back();
    if (next.kind == segment.kind && next.message == segment.message &&
        next.channel == segment.channel && next.waits_in == segment.waits_in &&
        next.vertex == segment.vertex && next.context == segment.context &&
        next.step == segment.step && next.other == segment.other &&
        next.bottleneck == segment.bottleneck) {
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
