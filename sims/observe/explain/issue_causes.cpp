#include "sims/observe/explain/issue_causes.h"

namespace espalier {

void back_from_post(const NodeClock& clock, Segment segment, Trail& trail) {
  segment.message = kNowhere;
  segment.kind = SegmentKind::clock_skew;
  trail.add(segment, clock.late);
  segment.kind = SegmentKind::late_start;
  trail.add(segment, 0);
}

}  // namespace espalier
