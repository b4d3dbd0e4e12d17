#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "sims/explain/critical_path.h"
#include "sims/explain/slips.h"

namespace espalier {

namespace {

// By timestep: when the median of the NIs that have entries in it begins it.
std::map<Timestep, Cycle> median_begins(const TableCauses& tables) {
  std::map<Timestep, std::vector<Cycle>> begins;
  for (std::size_t n = 0; n < tables.num_nodes(); ++n) {
    const NodeId node(n);
    Timestep last = 0;
    for (std::size_t e = 0; e < tables.issued_entries(node); ++e) {
      const Timestep step = tables.program(node).entries[e].step;
      if (step != last) begins[step].push_back(tables.issued_at(node, e));
      last = step;
    }
  }
  std::map<Timestep, Cycle> medians;
  for (auto& [step, cycles] : begins) {
    const auto middle = cycles.begin() + static_cast<std::ptrdiff_t>((cycles.size() - 1) / 2);
    std::nth_element(cycles.begin(), middle, cycles.end());
    medians[step] = *middle;
  }
  return medians;
}

class StepSlips {
 public:
  StepSlips(const TableCauses& tables, const RunRecord& record)
      : tables_(tables), record_(record), medians_(median_begins(tables)) {}

  [[nodiscard]] std::vector<Slip> all() const {
    std::vector<Slip> slips;
    for (std::size_t n = 0; n < tables_.num_nodes(); ++n) {
      for (std::size_t e = 0; e < tables_.issued_entries(NodeId(n)); ++e) {
        const Slip slip = at(NodeId(n), e);
        if (slip.cycles != 0) slips.push_back(slip);
      }
    }
    return slips;
  }

 private:
  [[nodiscard]] Cycle behind(Timestep step, Cycle issued) const {
    const Cycle median = medians_.at(step);
    return issued - std::min(issued, median);
  }
  [[nodiscard]] Slip at(NodeId node, std::size_t entry) const {
    const auto& entries = tables_.program(node).entries;
    Slip slip;
    slip.vertex = node.value();
    slip.step = entries[entry].step;
    slip.behind = behind(slip.step, tables_.issued_at(node, entry));
    if (slip.behind == 0) return slip;
    Cycle before = 0;
    if (entry != 0) {
      before = behind(entries[entry - 1].step, tables_.issued_at(node, entry - 1));
    }
    const EntryCause cause = tables_.cause(node, entry);
    slip.delay.cause.kind = cause.kind;
    slip.delay.cause.vertex = slip.vertex;
    if (cause.event.kind == PathEvent::Kind::done || cause.event.kind == PathEvent::Kind::sent) {
      slip.message = cause.event.message;
      const Cycle issued = record_.messages[slip.message].issued;
      before = std::max(before, behind(tables_.step_of(slip.message), issued));
    }
    slip.cycles = slip.behind - std::min(slip.behind, before);
    slip.delay.cycles = slip.cycles;
    name_clock(node, slip);
    return slip;
  }
  // A host that is late, or a clock that is behind or slow.
  void name_clock(NodeId node, Slip& slip) const {
    const NodeClock& clock = tables_.clock(node);
    if (slip.delay.cause.kind == SegmentKind::late_start && clock.skew > clock.late) {
      slip.delay.cause.kind = SegmentKind::clock_skew;
    }
    if (slip.delay.cause.kind == SegmentKind::lockstep && clock.per_step != 0) {
      slip.delay.cause.kind = SegmentKind::clock_skew;
    }
  }

  const TableCauses& tables_;
  const RunRecord& record_;
  std::map<Timestep, Cycle> medians_;
};

}  // namespace

std::vector<Slip> step_slips(const TableCauses& tables, const RunRecord& record,
                             const MessageWalk& walk, const IdleNetwork& network,
                             std::size_t most) {
  std::vector<Slip> slips = StepSlips(tables, record).all();
  std::sort(slips.begin(), slips.end(), [](const Slip& a, const Slip& b) {
    return std::tie(b.cycles, a.step, a.vertex) < std::tie(a.cycles, b.step, b.vertex);
  });
  slips.resize(std::min(slips.size(), most));
  for (Slip& slip : slips) {
    if (slip.message == kNowhere) continue;
    const std::vector<Segment> way = account_of(record, walk, slip.message);
    slip.delay = largest_delay(way, idle_latency(network, record.messages[slip.message]));
    // As on an idle network: the step is shorter than the way.
    if (slip.delay.cycles == 0) slip.delay = largest_delay(way, {});
  }
  return slips;
}

}  // namespace espalier
