#include <algorithm>
#include <tuple>

#include "sims/observe/explain/critical_path.h"
#include "sims/observe/explain/slips.h"

namespace espalier {

namespace {

void add_late_nis(const std::vector<NodeClock>& clocks, std::vector<Slip>& slips) {
  for (std::size_t n = 0; n < clocks.size(); ++n) {
    const auto add = [&](SegmentKind kind, Cycle cycles) {
      if (cycles == 0) return;
      Slip slip;
      slip.vertex = static_cast<std::uint32_t>(n);
      slip.cycles = cycles;
      slip.delay.cause.kind = kind;
      slip.delay.cause.vertex = slip.vertex;
      slip.delay.cycles = cycles;
      slips.push_back(slip);
    };
    add(SegmentKind::late_start, clocks[n].late);
    add(SegmentKind::clock_skew, clocks[n].skew);
  }
}

bool is_worse(const Slip& a, const Slip& b) {
  return std::tie(a.cycles, b.message) > std::tie(b.cycles, a.message);
}

}  // namespace

std::vector<Slip> message_slips(const RunRecord& record, const MessageIndex& index,
                                const MessageWalk& walk, const UnloadedNetwork& network,
                                const std::vector<NodeClock>& clocks, std::size_t most) {
  std::vector<Slip> late;  // at most that late: time in queues included
  for (RecordIndex m = 0; m < record.messages.size(); ++m) {
    const MessageRecord& message = record.messages[m];
    if (message.operation.is_background() || index.last_done(message.whole) != m) continue;
    const Cycle took = message.done - message.issued;
    const Cycle idle = idle_latency(network, message).total();
    if (took <= idle) continue;
    Slip slip;
    slip.vertex = message.operation.to.value();
    slip.message = m;
    slip.cycles = took - idle;
    late.push_back(slip);
  }
  std::sort(late.begin(), late.end(), is_worse);
  std::vector<Slip> worst;
  add_late_nis(clocks, worst);
  std::stable_sort(worst.begin(), worst.end(), is_worse);
  for (Slip& slip : late) {
    if (worst.size() >= most && slip.cycles <= worst[most - 1].cycles) break;
    const std::vector<Segment> segments = account_of(record, walk, slip.message);
    CyclesByKind idle = idle_latency(network, record.messages[slip.message]);
    idle.of(SegmentKind::ni_queue) = cycles_by_kind(segments).of(SegmentKind::ni_queue);
    slip.cycles -= std::min(slip.cycles, idle.of(SegmentKind::ni_queue));
    if (slip.cycles == 0) continue;
    slip.delay = largest_delay(segments, idle);
    worst.insert(std::upper_bound(worst.begin(), worst.end(), slip, is_worse), slip);
  }
  worst.resize(std::min(worst.size(), most));
  return worst;
}

}  // namespace espalier
