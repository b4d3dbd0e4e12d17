#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "sims/observe/explain/critical_path.h"
#include "sims/observe/explain/slips.h"

namespace espalier {

namespace {

bool begins_step(const TableCauses& tables, NodeId node, std::size_t entry) {
  return tables.first_of_step(node, entry) == entry;
}

// By timestep: when the median of the NIs that have entries in it begins it.
std::map<Timestep, Cycle> median_begins(const TableCauses& tables) {
  std::map<Timestep, std::vector<Cycle>> begins;
  for (std::size_t n = 0; n < tables.num_nodes(); ++n) {
    const NodeId node(n);
    for (std::size_t e = 0; e < tables.issued_entries(node); ++e) {
      if (!begins_step(tables, node, e)) continue;
      begins[tables.program(node).entries[e].step].push_back(tables.issued_at(node, e));
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
        if (!begins_step(tables_, NodeId(n), e)) continue;
        const Slip slip = at(NodeId(n), e);
        if (slip.cycles != 0) slips.push_back(slip);
      }
    }
    return slips;
  }

 private:
  // An entry, against the beginning of its timestep.
  [[nodiscard]] Cycle behind(NodeId node, std::size_t entry) const {
    const Cycle issued = tables_.issued_at(node, entry);
    return issued - std::min(issued, medians_.at(tables_.program(node).entries[entry].step));
  }
  // What the step's beginning waited for last, among its entries and those of the step before.
  [[nodiscard]] EntryCause cause(NodeId node, std::size_t entry) const {
    EntryCause cause = tables_.cause(node, entry);
    const std::size_t oldest = entry == 0 ? 0 : tables_.first_of_step(node, entry - 1);
    while (cause.kind == SegmentKind::issue && cause.entry > oldest) {
      cause = tables_.cause(node, cause.entry);
    }
    return cause;
  }
  // Precondition: the entry begins its step.
  [[nodiscard]] Slip at(NodeId node, std::size_t entry) const {
    Slip slip;
    slip.vertex = node.value();
    slip.step = tables_.program(node).entries[entry].step;
    slip.behind = behind(node, entry);
    if (slip.behind == 0) return slip;
    Cycle before = 0;
    if (entry != 0) before = behind(node, tables_.first_of_step(node, entry - 1));
    const EntryCause why = cause(node, entry);
    slip.delay.cause.kind = why.kind;
    slip.delay.cause.vertex = slip.vertex;
    if (why.event.kind == PathEvent::Kind::done || why.event.kind == PathEvent::Kind::sent) {
      slip.message = why.event.message;
      const NodeId from = record_.messages[slip.message].operation.from;
      before = std::max(before, behind(from, tables_.entry_of(slip.message)));
    }
    slip.cycles = slip.behind - std::min(slip.behind, before);
    slip.delay.cycles = slip.cycles;
    name_clock(node, slip);
    return slip;
  }
  // A host that is late, or a clock that is behind or slow, by as much as they are.
  void name_clock(NodeId node, Slip& slip) const {
    const NodeClock& clock = tables_.clock(node);
    Delay& delay = slip.delay;
    if (delay.cause.kind == SegmentKind::late_start) {
      const bool is_skewed = clock.skew > clock.late;
      if (is_skewed) delay.cause.kind = SegmentKind::clock_skew;
      delay.cycles = std::min(slip.cycles, is_skewed ? clock.skew : clock.late);
    }
    if (delay.cause.kind == SegmentKind::lockstep && 2 * clock.per_step >= slip.cycles) {
      delay.cause.kind = SegmentKind::clock_skew;
      delay.cycles = std::min(slip.cycles, clock.per_step);
    }
  }

  const TableCauses& tables_;
  const RunRecord& record_;
  std::map<Timestep, Cycle> medians_;
};

}  // namespace

namespace {

// Messages that no entry waits for: what keeps these keeps nobody but the end.
std::vector<Slip> last_messages(const TableCauses& tables, const RunRecord& record,
                                const MessageIndex& index, const MessageWalk& walk,
                                const UnloadedNetwork& network) {
  std::vector<bool> is_awaited(record.messages.size(), false);
  for (std::size_t n = 0; n < tables.num_nodes(); ++n) {
    for (std::size_t e = 0; e < tables.issued_entries(NodeId(n)); ++e) {
      for (const TableCauses::Awaited& awaited : tables.awaited(NodeId(n), e)) {
        if (awaited.event.kind == PathEvent::Kind::done) is_awaited[awaited.event.message] = true;
      }
    }
  }
  std::vector<Slip> slips;
  for (std::size_t n = 0; n < tables.num_nodes(); ++n) {
    for (const RecordIndex m : index.to(NodeId(n))) {
      const MessageRecord& message = record.messages[m];
      const Cycle took = message.done - message.issued;
      const CyclesByKind idle = idle_latency(network, message);
      if (is_awaited[m] || took <= idle.total()) continue;
      Slip slip;
      slip.vertex = message.operation.to.value();
      slip.step = tables.step_of(m);
      const Cycle queued = cycles_by_kind(account_of(record, walk, m)).of(SegmentKind::ni_queue);
      slip.cycles = took - std::min(took, idle.total() + queued);
      slip.message = m;
      if (slip.cycles != 0) slips.push_back(slip);
    }
  }
  return slips;
}

}  // namespace

std::vector<Slip> step_slips(const TableCauses& tables, const RunRecord& record,
                             const MessageIndex& index, const MessageWalk& walk,
                             const UnloadedNetwork& network, std::size_t most) {
  std::vector<Slip> slips = StepSlips(tables, record).all();
  for (const Slip& slip : last_messages(tables, record, index, walk, network)) {
    slips.push_back(slip);
  }
  std::sort(slips.begin(), slips.end(), [](const Slip& a, const Slip& b) {
    return std::tie(b.cycles, a.step, a.vertex) < std::tie(a.cycles, b.step, b.vertex);
  });
  slips.resize(std::min(slips.size(), most));
  for (Slip& slip : slips) {
    if (slip.message == kNowhere) continue;
    // None where the message took what it takes on an idle network: the step is shorter than that.
    slip.delay = largest_delay(account_of(record, walk, slip.message),
                               idle_latency(network, record.messages[slip.message]));
  }
  return slips;
}

}  // namespace espalier
