#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "sims/observe/explain/parts.h"

namespace espalier {

namespace {

// The latest issue of an entry that nothing depends on.
constexpr Cycle kUnbounded = Cycle{1} << 62;

void limit(Cycle& latest, Cycle until) { latest = std::min(latest, until); }

// From the end backwards: the latest cycle of each event.
class LatestEvents {
 public:
  LatestEvents(const StepRules& rules, const RecordedRun& run, Cycle end)
      : rules_(rules),
        record_(run.record),
        index_(run.index),
        done_(run.record.messages.size(), end),
        sent_(run.record.messages.size(), kUnbounded) {
    // By cycle: a held message and one that it waited for, or the issue of a node's entry. The
    // consequences of an issue come later, or further down in the same table.
    std::vector<std::tuple<Cycle, bool, std::uint32_t, std::size_t>> events;
    for (std::uint32_t n = 0; n < rules.causes.num_nodes(); ++n) {
      // Entries that issue after the end, while control messages still arrive, send nothing.
      const auto& entries = record_.nis[n].entries;
      std::size_t issued = entries.size();
      while (issued != 0 && entries[issued - 1].at > end) --issued;
      issues_.emplace_back(issued, kUnbounded);
      for (std::size_t e = 0; e < issued; ++e) events.emplace_back(entries[e].at, false, n, e);
    }
    for (RecordIndex m = 0; m < done_.size(); ++m) {
      const MessageRecord& message = record_.messages[m];
      const bool was_held = message.adding != kNever && message.adding > message.visible;
      if (!was_held || message.operation.is_background()) continue;
      for (const RecordIndex other : index_.to(message.operation.to)) {
        const Cycle until = index_.done(other);
        if (until == message.adding) events.emplace_back(until, true, m, other);
      }
    }
    std::sort(events.rbegin(), events.rend());
    for (const auto& [at, is_hold, who, what] : events) {
      if (is_hold) {
        limit(done_[what], done(who) - (index_.done(who) - at));
      } else {
        settle(NodeId(who), what);
      }
    }
  }

  [[nodiscard]] const std::vector<Cycle>& issues(NodeId node) const {
    return issues_[node.index()];
  }

 private:
  [[nodiscard]] Cycle done(RecordIndex message) const {
    const bool holds_post = rules_.causes.step_of(message) < posted_;
    return holds_post ? std::min(done_[message], post_) : done_[message];
  }

  // All that follows from the issue is settled.
  void settle(NodeId node, std::size_t e) {
    const TableCauses& causes = rules_.causes;
    const auto& entries = causes.program(node).entries;
    const ProgramEntry& entry = entries[e];
    const NiRecord::Entry& record = causes.record_of(node, e);
    const std::size_t first = causes.first_of_step(node, e);
    std::vector<Cycle>& issues = issues_[node.index()];
    for (const RecordIndex m : record.sends) {
      limit(issues[e], done(m) - (index_.done(m) - record.at));
      limit(issues[e], sent_[m] - (index_.sent(m) - record.at));
    }
    // Without the authors' rules, entries issue in the order of the table.
    std::size_t next = e + 1;
    while (rules_.authors && next < issues.size() && entries[next].step == entry.step) ++next;
    if (next < issues.size()) {
      const Cycle steps = entries[next].step - entry.step;
      limit(issues[e], issues[next] - steps);
      // The step's first entry loads the counter that the next step waits for.
      const Cycle counts = rules_.healthy.step_time[entry.step - 1] + causes.clock(node).per_step;
      if (steps != 0) limit(issues[first], issues[next] - (steps - 1) - counts);
    }
    const Cycle latest = issues[e];
    if (posted_ != 0 && entry.step >= posted_) limit(post_, latest - (entry.step - posted_ + 1));
    const EntryCause why = causes.cause(node, e);
    const bool by_send = why.event.kind == PathEvent::Kind::sent;
    if (why.kind == SegmentKind::ni_queue) {
      // Without an event: another entry's message released its port as long after its own issue.
      limit(by_send ? sent_[why.event.message] : issues[why.entry],
            by_send ? latest - 1 : latest - (record.at - why.at));
    }
    const Cycle since = e == 0 ? 0 : entry.step - entries[e - 1].step;
    const LockstepMode mode = rules_.healthy.lockstep;
    const bool drains =
        mode == LockstepMode::drain || (mode == LockstepMode::nop && entry.op != TableOp::nop);
    // The step begins after all sends of the step before have released their ports.
    const bool begins = drains && e != 0 && first == e;
    for (std::size_t b = begins ? causes.first_of_step(node, e - 1) : e; b < e; ++b) {
      const NiRecord::Entry& before = causes.record_of(node, b);
      for (const RecordIndex m : before.sends) {
        const Cycle released = std::min(record_.messages[m].released, index_.sent(m));
        limit(issues[b], latest - since - (released - before.at));
      }
    }
    // The step could begin only after a reduction.
    if (why.kind == SegmentKind::lockstep && why.event.kind == PathEvent::Kind::done) {
      limit(done_[why.event.message], latest - (since - 1));
    }
    const Cycle turnaround = entry.reads_back ? rules_.healthy.turnaround : 0;
    for (const NiRecord::Event& event : record.awaited) {
      const bool is_own = index_.event_at(node, event.message).kind == PathEvent::Kind::sent;
      limit((is_own ? sent_ : done_)[event.message], latest - 1 - turnaround);
    }
  }

  const StepRules& rules_;
  const RunRecord& record_;
  const MessageIndex& index_;
  std::vector<std::vector<Cycle>> issues_;  // by node, entry
  std::vector<Cycle> done_;                 // by message
  std::vector<Cycle> sent_;
  // The hosts post this step when all messages of the steps before have arrived; 0: there is none.
  const Timestep posted_ = rules_.authors ? rules_.authors->posted_step : 0;
  Cycle post_ = kUnbounded;  // arrival of the last of them
};

}  // namespace

Describer::Json slack_account(const RecordedRun& run, const Describer& describer,
                              const StepRules& rules, Cycle end) {
  const LatestEvents latest(rules, run, end);
  std::map<Timestep, std::map<NodeId, Cycle>> smallest;
  for (std::size_t n = 0; n < rules.causes.num_nodes(); ++n) {
    const NodeId node(n);
    for (std::size_t e = 0; e < latest.issues(node).size(); ++e) {
      const Cycle slack = latest.issues(node)[e] - rules.causes.issued_at(node, e);
      if (slack > kUnbounded / 2) continue;
      const Timestep step = rules.causes.program(node).entries[e].step;
      limit(smallest[step].emplace(node, slack).first->second, slack);
    }
  }
  auto json = Describer::Json::array();
  for (const auto& [step, cycles] : smallest) {
    const auto least =
        std::min_element(cycles.begin(), cycles.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    auto& row =
        json.emplace_back(Describer::Json{{"step", step},
                                          {"least_cycles", least->second},
                                          {"least_at", describer.ni(least->first.value())}});
    for (const auto& [node, slack] : cycles)
      row["cycles_by_ni"][describer.ni(node.value())] = slack;
  }
  return json;
}

}  // namespace espalier
