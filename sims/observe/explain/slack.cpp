#include "sims/observe/explain/delays.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace espalier {

namespace {

// The latest issue of an entry that nothing depends on.
constexpr Cycle kUnbounded = Cycle{1} << 62;

struct Issue {
  Cycle at;
  NodeId node;
  std::size_t entry;
};

class Backward {
 public:
  Backward(const TableCauses& tables, const RecordedRun& run) : tables_(tables), index_(run.index) {
    Cycle end = 0;
    for (std::size_t n = 0; n < tables.num_nodes(); ++n) {
      for (const RecordIndex m : index_.of(NodeId(n))) end = std::max(end, index_.done(m));
    }
    for (std::size_t n = 0; n < tables.num_nodes(); ++n) {
      const NodeId node(n);
      // Entries that issue after the end, while control messages still arrive, send nothing.
      std::size_t entries = tables.issued_entries(node);
      while (entries != 0 && tables.issued_at(node, entries - 1) > end) --entries;
      latest_.emplace_back(entries);
      for (std::size_t e = 0; e < entries; ++e) {
        issues_.push_back({tables.issued_at(node, e), node, e});
      }
    }
    latest_done_.assign(run.record.messages.size(), end);
    latest_sent_.assign(run.record.messages.size(), kUnbounded);
    for (RecordIndex m = 0; m < run.record.messages.size(); ++m) {
      const MessageRecord& message = run.record.messages[m];
      const bool was_held = message.adding != kNever && message.adding > message.visible;
      if (!was_held || message.operation.is_background()) continue;
      for (const RecordIndex other : index_.to(message.operation.to)) {
        if (index_.done(other) == message.adding) holds_.push_back({message.adding, m, other});
      }
    }
    std::sort(holds_.begin(), holds_.end(), [](const Hold& a, const Hold& b) {
      return std::tie(a.until, a.message, a.other) > std::tie(b.until, b.message, b.other);
    });
    // The consequences of an issue come later, or further down in the same table.
    std::sort(issues_.begin(), issues_.end(), [](const Issue& a, const Issue& b) {
      return std::tie(a.at, a.node, a.entry) > std::tie(b.at, b.node, b.entry);
    });
    auto hold = holds_.begin();
    for (const Issue& issue : issues_) {
      for (; hold != holds_.end() && hold->until >= issue.at; ++hold) settle(*hold);
      settle(issue);
    }
  }

  [[nodiscard]] Cycle slack(const Issue& issue) const {
    return latest_[issue.node.index()][issue.entry] - issue.at;
  }
  [[nodiscard]] const std::vector<Issue>& issues() const { return issues_; }

 private:
  // A Reduce that was kept beside memory until another message of the NI was in memory.
  struct Hold {
    Cycle until;
    RecordIndex message;
    RecordIndex other;
  };
  void settle(const Hold& hold) {
    const Cycle took = index_.done(hold.message) - hold.until;
    limit({PathEvent::Kind::done, hold.other}, latest_done(hold.message) - took);
  }
  void settle(const Issue& issue) {
    const auto& entries = tables_.program(issue.node).entries;
    const ProgramEntry& entry = entries[issue.entry];
    Cycle latest = kUnbounded;
    for (const RecordIndex m : tables_.record_of(issue.node, issue.entry).sends) {
      latest = std::min(latest, latest_done(m) - (index_.done(m) - issue.at));
      latest = std::min(latest, latest_sent_[m] - (index_.sent(m) - issue.at));
    }
    const std::size_t after =
        tables_.in_table_order() ? issue.entry + 1 : tables_.end_of_step(issue.node, issue.entry);
    if (after < latest_[issue.node.index()].size()) {
      const Cycle next = latest_[issue.node.index()][after];
      const Cycle steps = entries[after].step - entry.step;
      latest = std::min(latest, next - steps);
      if (steps != 0) {
        const std::size_t loader = tables_.first_of_step(issue.node, issue.entry);
        counter_[{issue.node, loader}] = next - (steps - 1);
      }
    }
    // The step's first entry loads the counter that the next step waits for.
    const auto counted = counter_.find({issue.node, issue.entry});
    if (counted != counter_.end()) {
      latest = std::min(latest, counted->second - tables_.step_time(issue.node, entry.step));
    }
    const auto released = released_.find({issue.node, issue.entry});
    if (released != released_.end()) latest = std::min(latest, released->second);
    latest_[issue.node.index()][issue.entry] = latest;
    if (tables_.is_posted_late(entry.step)) {
      latest_post_ = std::min(latest_post_, latest - (entry.step - tables_.posted_step() + 1));
    }
    const EntryCause why = tables_.cause(issue.node, issue.entry);
    if (why.kind == SegmentKind::ni_queue) {
      if (why.event.kind == PathEvent::Kind::sent) {
        limit(why.event, latest - 1);
      } else {
        // The message of another entry released its port as long after its own issue.
        limit_issue(issue.node, why.entry, latest - (issue.at - why.at));
      }
    }
    if (tables_.begins_drained(issue.node, issue.entry)) settle_drain(issue, latest);
    // The step could begin only after a reduction.
    if (why.kind == SegmentKind::lockstep && why.event.kind == PathEvent::Kind::done) {
      limit(why.event, latest - (entry.step - entries[issue.entry - 1].step - 1));
    }
    for (const NiRecord::Event& event : tables_.record_of(issue.node, issue.entry).awaited) {
      limit(index_.event_at(issue.node, event.message),
            latest - 1 - tables_.turnaround(issue.node, issue.entry));
    }
  }

  // The entry's step begins after all sends of the step before have released their ports.
  void settle_drain(const Issue& issue, Cycle latest) {
    const auto& entries = tables_.program(issue.node).entries;
    const Cycle steps = entries[issue.entry].step - entries[issue.entry - 1].step;
    for (std::size_t e = tables_.first_of_step(issue.node, issue.entry - 1); e < issue.entry; ++e) {
      for (const RecordIndex m : tables_.record_of(issue.node, e).sends) {
        const Cycle held = index_.released(m) - tables_.issued_at(issue.node, e);
        limit_issue(issue.node, e, latest - steps - held);
      }
    }
  }
  // The entry must issue by then, so that its port is free in time.
  void limit_issue(NodeId node, std::size_t entry, Cycle until) {
    const auto [place, is_new] = released_.emplace(std::make_pair(node, entry), until);
    if (!is_new) place->second = std::min(place->second, until);
  }

  // The hosts post later steps when all messages of the steps before have arrived.
  [[nodiscard]] Cycle latest_done(RecordIndex message) const {
    const bool holds_post =
        tables_.posted_step() != 0 && !tables_.is_posted_late(tables_.step_of(message));
    return holds_post ? std::min(latest_done_[message], latest_post_) : latest_done_[message];
  }

  void limit(const PathEvent& event, Cycle until) {
    auto& latest = event.kind == PathEvent::Kind::sent ? latest_sent_ : latest_done_;
    latest[event.message] = std::min(latest[event.message], until);
  }

  const TableCauses& tables_;
  const MessageIndex& index_;
  std::vector<Hold> holds_;                 // latest first
  std::vector<Issue> issues_;               // latest first
  std::vector<std::vector<Cycle>> latest_;  // by node, entry
  std::vector<Cycle> latest_done_;          // by message
  std::vector<Cycle> latest_sent_;
  Cycle latest_post_ = kUnbounded;  // arrival of the last message before posted_step()
  std::map<std::pair<NodeId, std::size_t>, Cycle> counter_;  // by loading entry: latest next step
  // By entry: its latest issue so that its port is free in time.
  std::map<std::pair<NodeId, std::size_t>, Cycle> released_;
};

}  // namespace

std::vector<StepSlack> step_slack(const TableCauses& tables, const RecordedRun& run) {
  const Backward backward(tables, run);
  std::map<std::pair<Timestep, NodeId>, Cycle> smallest;
  for (const Issue& issue : backward.issues()) {
    const Timestep step = tables.program(issue.node).entries[issue.entry].step;
    const Cycle slack = backward.slack(issue);
    if (slack > kUnbounded / 2) continue;
    const auto [place, is_new] = smallest.emplace(std::make_pair(step, issue.node), slack);
    if (!is_new) place->second = std::min(place->second, slack);
  }
  std::vector<StepSlack> slacks;
  slacks.reserve(smallest.size());
  for (const auto& [where, slack] : smallest) slacks.push_back({where.first, where.second, slack});
  return slacks;
}

}  // namespace espalier
