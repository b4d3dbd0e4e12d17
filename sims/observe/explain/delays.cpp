#include "sims/observe/explain/delays.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>

#include "ni/reduction_unit.h"
#include "sims/point/ni_config.h"
#include "sims/point/system_config.h"

namespace espalier {

namespace {

struct CyclesByKind {
  std::array<Cycle, kNumSegmentKinds> cycles{};

  [[nodiscard]] Cycle& of(SegmentKind kind) { return cycles[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Cycle of(SegmentKind kind) const { return cycles[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Cycle total() const {
    return std::accumulate(cycles.begin(), cycles.end(), Cycle{0});
  }
};

// The latency of a message over an idle, healthy network, from its issue until it is in memory.
CyclesByKind idle_latency(const UnloadedNetwork& network, const MessageRecord& message) {
  const NiConfig& ni = network.config.ni;
  CyclesByKind idle;
  const RouteId route = message.operation.route;
  const std::size_t hops = network.routes.hops(route);
  Tick slowest = network.timing.ticks_per_cycle;
  for (std::size_t h = 0; h < hops; ++h) {
    const LinkTiming& link = network.timing.links[network.routes.link(route, h).index()];
    idle.of(SegmentKind::link) += link.latency;
    slowest = std::max(slowest, link.ticks_per_flit);
  }
  idle.of(SegmentKind::serialization) =
      (message.grid.flits - 1) * slowest / network.timing.ticks_per_cycle;
  idle.of(SegmentKind::dma) = ni.dma_latency_cycles;
  idle.of(SegmentKind::ni) = ni.injection_cycles + ni.ejection_cycles + ni.delivery_cycles;
  idle.of(SegmentKind::router) = (hops + 1) * network.config.router.pipeline_cycles;
  if (message.operation.on_arrival == TransferKind::reduce) {
    const ReductionConfig& unit = ni.reduction;
    idle.of(SegmentKind::reduction) = unit.latency_cycles;
    if (unit.mode == ReductionMode::after_message) {
      const ReductionSpec spec{unit.mode, unit.latency_cycles, unit.bytes_per_cycle,
                               unit.block_bytes};
      idle.of(SegmentKind::reduction) += ReductionUnit(spec, 1).occupancy(message.operation.bytes);
    }
  }
  return idle;
}

CyclesByKind cycles_by_kind(const std::vector<Segment>& segments) {
  CyclesByKind sums;
  for (const Segment& segment : segments) sums.of(segment.kind) += segment.cycles();
  return sums;
}

// The kind of segment with the most cycles beyond `idle`, of a message that took `segments`.
DelayCause largest_cause(const std::vector<Segment>& segments, const CyclesByKind& idle) {
  const CyclesByKind took = cycles_by_kind(segments);
  DelayCause cause;
  SegmentKind worst = SegmentKind::unexplained;
  for (std::size_t k = 0; k < kNumSegmentKinds; ++k) {
    const Cycle more = took.cycles[k] - std::min(took.cycles[k], idle.cycles[k]);
    if (more <= cause.cycles) continue;
    cause.cycles = more;
    worst = static_cast<SegmentKind>(k);
  }
  std::vector<Segment> places;
  for (const Segment& segment : segments) {
    if (segment.kind != worst || cause.cycles == 0) continue;
    const auto same = std::find_if(places.begin(), places.end(), [&](const Segment& place) {
      return place.what() == segment.what();
    });
    if (same == places.end()) {
      places.push_back(segment);
    } else {
      same->to += segment.cycles();
    }
  }
  for (const Segment& place : places) {
    if (cause.where.cycles() < place.cycles()) cause.where = place;
  }
  return cause;
}

void add_late_nis(const std::vector<NodeClock>& clocks, std::vector<Delay>& delays) {
  for (std::size_t n = 0; n < clocks.size(); ++n) {
    const auto add = [&](SegmentKind kind, Cycle cycles) {
      if (cycles == 0) return;
      Delay delay;
      delay.vertex = static_cast<std::uint32_t>(n);
      delay.at = clocks[n].start();
      delay.cycles = cycles;
      delay.cause.where.kind = kind;
      delay.cause.where.vertex = delay.vertex;
      delay.cause.cycles = cycles;
      delays.push_back(delay);
    };
    add(SegmentKind::late_start, clocks[n].late);
    add(SegmentKind::clock_skew, clocks[n].skew);
  }
}

bool is_worse(const Delay& a, const Delay& b) {
  return std::tie(a.cycles, b.message) > std::tie(b.cycles, a.message);
}

// Adds the messages that took longer than over an idle, healthy network, largest first, as far as
// they are among the `most` worst of `worst`. Time in the queue behind earlier messages of the same
// NI is the plan's own order, and no delay.
template <class Counts>
void add_late_messages(const RecordedRun& run, const UnloadedNetwork& network, Counts&& counts,
                       std::size_t most, std::vector<Delay>& worst) {
  // `cycles` is an upper bound: time in the NI's queue is not subtracted yet.
  std::vector<Delay> late;
  for (RecordIndex m = 0; m < run.record.messages.size(); ++m) {
    const MessageRecord& message = run.record.messages[m];
    if (message.operation.is_background() || !counts(m)) continue;
    const Cycle took = message.done - message.issued;
    const Cycle idle = idle_latency(network, message).total();
    if (took <= idle) continue;
    Delay delay;
    delay.vertex = message.operation.to.value();
    delay.message = m;
    delay.at = message.done;
    delay.cycles = took - idle;
    late.push_back(delay);
  }
  std::sort(late.begin(), late.end(), is_worse);
  std::stable_sort(worst.begin(), worst.end(), is_worse);
  for (Delay& delay : late) {
    if (worst.size() >= most && delay.cycles <= worst[most - 1].cycles) break;
    const std::vector<Segment> segments = run.account_of(delay.message);
    CyclesByKind idle = idle_latency(network, run.record.messages[delay.message]);
    idle.of(SegmentKind::ni_queue) = cycles_by_kind(segments).of(SegmentKind::ni_queue);
    delay.cycles -= std::min(delay.cycles, idle.of(SegmentKind::ni_queue));
    if (delay.cycles == 0) continue;
    delay.cause = largest_cause(segments, idle);
    worst.insert(std::upper_bound(worst.begin(), worst.end(), delay, is_worse), delay);
  }
  worst.resize(std::min(worst.size(), most));
}

// Calls visit(node, entry) for each issued entry that begins its timestep.
template <class Visit>
void for_each_step(const TableCauses& tables, Visit&& visit) {
  for (std::size_t n = 0; n < tables.num_nodes(); ++n) {
    for (std::size_t e = 0; e < tables.issued_entries(NodeId(n)); ++e) {
      if (tables.first_of_step(NodeId(n), e) == e) visit(NodeId(n), e);
    }
  }
}

// By timestep: the cycle in which the median of the NIs with entries begins the step.
std::map<Timestep, Cycle> median_begins(const TableCauses& tables) {
  std::map<Timestep, std::vector<Cycle>> begins;
  for_each_step(tables, [&](NodeId node, std::size_t e) {
    begins[tables.program(node).entries[e].step].push_back(tables.issued_at(node, e));
  });
  std::map<Timestep, Cycle> medians;
  for (auto& [step, cycles] : begins) {
    const auto middle = cycles.begin() + static_cast<std::ptrdiff_t>((cycles.size() - 1) / 2);
    std::nth_element(cycles.begin(), middle, cycles.end());
    medians[step] = *middle;
  }
  return medians;
}

class StepDelays {
 public:
  StepDelays(const TableCauses& tables, const RunRecord& record)
      : tables_(tables), record_(record), medians_(median_begins(tables)) {}

  // Precondition: the entry begins its step.
  [[nodiscard]] Delay at(NodeId node, std::size_t entry) const {
    Delay delay;
    delay.vertex = node.value();
    delay.step = tables_.program(node).entries[entry].step;
    delay.at = tables_.issued_at(node, entry);
    delay.behind = behind(node, entry);
    Cycle before = 0;
    if (entry != 0) before = behind(node, tables_.first_of_step(node, entry - 1));
    const EntryCause why = cause(node, entry);
    delay.cause.where.kind = why.kind;
    delay.cause.where.vertex = delay.vertex;
    if (why.event.kind == PathEvent::Kind::done || why.event.kind == PathEvent::Kind::sent) {
      delay.message = why.event.message;
      const NodeId from = record_.messages[delay.message].operation.from;
      before = std::max(before, behind(from, record_.messages[delay.message].entry));
    }
    delay.cycles = delay.behind - std::min(delay.behind, before);
    delay.cause.cycles = delay.cycles;
    name_clock(node, delay);
    return delay;
  }

 private:
  // Cycles by which an entry issued later than the median NI began the timestep.
  [[nodiscard]] Cycle behind(NodeId node, std::size_t entry) const {
    const Cycle issued = tables_.issued_at(node, entry);
    return issued - std::min(issued, medians_.at(tables_.program(node).entries[entry].step));
  }
  // The event that the entry, the first of its step, waited for last. Goes back over entries that
  // only followed another entry, at most to the first entry of the step before.
  [[nodiscard]] EntryCause cause(NodeId node, std::size_t entry) const {
    EntryCause cause = tables_.cause(node, entry);
    const std::size_t oldest = entry == 0 ? 0 : tables_.first_of_step(node, entry - 1);
    while (cause.kind == SegmentKind::issue && cause.entry > oldest) {
      cause = tables_.cause(node, cause.entry);
    }
    return cause;
  }
  // Names a late host, or a clock that is behind or slow, and at most their cycles.
  void name_clock(NodeId node, Delay& delay) const {
    const NodeClock& clock = tables_.clock(node);
    DelayCause& cause = delay.cause;
    if (cause.where.kind == SegmentKind::late_start) {
      const bool is_skewed = clock.skew > clock.late;
      if (is_skewed) cause.where.kind = SegmentKind::clock_skew;
      cause.cycles = std::min(delay.cycles, is_skewed ? clock.skew : clock.late);
    }
    if (delay.cycles == 0) return;
    if (cause.where.kind == SegmentKind::lockstep && 2 * clock.per_step >= delay.cycles) {
      cause.where.kind = SegmentKind::clock_skew;
      cause.cycles = std::min(delay.cycles, clock.per_step);
    }
  }

  const TableCauses& tables_;
  const RunRecord& record_;
  std::map<Timestep, Cycle> medians_;
};

// By message: an entry of its receiver waits for it. Otherwise only the run's end depends on it.
std::vector<bool> awaited_messages(const TableCauses& tables, const RunRecord& record) {
  std::vector<bool> is_awaited(record.messages.size(), false);
  for (std::size_t n = 0; n < tables.num_nodes(); ++n) {
    for (std::size_t e = 0; e < tables.issued_entries(NodeId(n)); ++e) {
      for (const auto& [at, number, m] : tables.record_of(NodeId(n), e).awaited) {
        if (record.messages[m].operation.from != NodeId(n)) is_awaited[m] = true;
      }
    }
  }
  return is_awaited;
}

// No cause if the message took its idle latency: the step is shorter than that.
void name_cause(const RecordedRun& run, const UnloadedNetwork& network, Delay& delay) {
  if (delay.message == kNowhere) return;
  delay.cause = largest_cause(run.account_of(delay.message),
                              idle_latency(network, run.record.messages[delay.message]));
}

}  // namespace

std::vector<Delay> message_delays(const RecordedRun& run, const UnloadedNetwork& network,
                                  const std::vector<NodeClock>& clocks, std::size_t most) {
  std::vector<Delay> worst;
  add_late_nis(clocks, worst);
  const auto counts = [&](RecordIndex m) {
    return run.index.last_done(run.record.messages[m].whole) == m;
  };
  add_late_messages(run, network, counts, most, worst);
  return worst;
}

std::vector<Delay> step_delays(const TableCauses& tables, const RecordedRun& run,
                               const UnloadedNetwork& network, std::size_t most) {
  const std::vector<bool> is_awaited = awaited_messages(tables, run.record);
  const auto counts = [&](RecordIndex m) {
    return run.record.messages[m].whole == m && !is_awaited[m];
  };
  std::vector<Delay> delays;
  add_late_messages(run, network, counts, run.record.messages.size(), delays);
  for (Delay& delay : delays) delay.step = tables.step_of(delay.message);
  const StepDelays steps(tables, run.record);
  for_each_step(tables, [&](NodeId node, std::size_t e) {
    const Delay delay = steps.at(node, e);
    if (delay.cycles != 0) delays.push_back(delay);
  });
  std::sort(delays.begin(), delays.end(), [](const Delay& a, const Delay& b) {
    return std::tie(b.cycles, a.step, a.vertex) < std::tie(a.cycles, b.step, b.vertex);
  });
  delays.resize(std::min(delays.size(), most));
  for (Delay& delay : delays) name_cause(run, network, delay);
  return delays;
}

std::vector<Delay> delays_in_step(const TableCauses& tables, const RecordedRun& run,
                                  const UnloadedNetwork& network, Timestep step) {
  const StepDelays steps(tables, run.record);
  std::vector<Delay> delays;
  for_each_step(tables, [&](NodeId node, std::size_t e) {
    if (tables.program(node).entries[e].step == step) delays.push_back(steps.at(node, e));
  });
  std::stable_sort(delays.begin(), delays.end(),
                   [](const Delay& a, const Delay& b) { return a.at > b.at; });
  for (Delay& delay : delays) name_cause(run, network, delay);
  return delays;
}

}  // namespace espalier
