#include "sims/workload/coordination/closed_form.h"

#include <algorithm>

#include "sims/workload/coordination/coordination.h"

namespace espalier {

namespace {

// Horovod's cycles for all ranks together, round by round: in a twentieth of the time that events
// take for thousands of ranks.
class CycleRun {
 public:
  // The arguments must outlive it.
  CycleRun(const TrainingJob& job, const MessageTime& messages, const CollectiveTime& reductions)
      : job_(job),
        messages_(messages),
        reductions_(reductions),
        ranks_(job),
        coordination_(job),
        begin_(job.spec.ranks, 1),
        now_(job.spec.ranks, 1),
        gathered_(job.spec.ranks, 0),
        flights_(kNumControlOps),
        paths_(kNumControlOps) {}

  TrainingRecord run(const JobProgress& progress) {
    const std::uint64_t last = std::uint64_t{job_.spec.iterations} * job_.units.size();
    const RankController& root = coordination_.controller(kRoot);
    while (root.num_executed() != last && coordination_.disagreement().empty()) {
      enter_cycle();
      for (std::size_t i = 0; const auto op = coordination_.op(kRoot, cycle_, i); ++i) {
        run_operation(*op);
      }
      execute();
      for (std::size_t r = 0; r < begin_.size(); ++r) {
        begin_[r] = std::max(now_[r] + 1, begin_[r] + job_.spec.times.cycle);
      }
      ++cycle_;
      if (progress) progress(static_cast<double>(root.num_executed()) / static_cast<double>(last));
    }
    ranks_.fail(coordination_.disagreement());
    return ranks_.record();
  }

 private:
  void enter_cycle() {
    for (std::size_t r = 0; r < begin_.size(); ++r) {
      now_[r] = begin_[r];
      coordination_.enter(RankId(r), cycle_, ranks_[RankId(r)], begin_[r]);
    }
  }
  void run_operation(ControlOp op) {
    if (coordination_.is_uniform(op, cycle_)) {
      run_uniform(op);
    } else {
      for (std::size_t r = 0; r < now_.size(); ++r) {
        now_[r] += coordination_.begin(RankId(r), op);
        gathered_[r] = coordination_.own_part(RankId(r), op);
      }
      std::size_t first = 0;
      for (const auto& round : coordination_.pattern(op).rounds) {
        run_round(op, first, round);
        first += round.size();
      }
    }
    now_[0] += coordination_.finished(kRoot, cycle_, op);
    if (coordination_.only_root_finishes(cycle_, op)) return;
    for (std::size_t r = 1; r < now_.size(); ++r) {
      now_[r] += coordination_.finished(RankId(r), cycle_, op);
    }
  }
  // `first`: number of the round's first message in the pattern.
  void run_round(ControlOp op, std::size_t first, const std::vector<PatternMessage>& round) {
    const std::vector<MessageTime::Path>& of_op = paths(op);
    const Cycle overhead = job_.spec.times.overhead;
    arrival_.resize(round.size());
    sent_bytes_.resize(round.size());
    for (std::size_t m = 0; m < round.size(); ++m) {
      const RankId from = round[m].from;
      const Bytes bytes = coordination_.message_bytes(from, cycle_, op, gathered_[from.index()]);
      now_[from.index()] += overhead;
      sent_bytes_[m] = bytes;
      arrival_[m] = now_[from.index()] + messages_.flight(of_op[first + m], bytes);
      ranks_.control_messages(1, bytes);
    }
    for (std::size_t m = 0; m < round.size(); ++m) {
      const RankId to = round[m].to;
      Cycle& now = now_[to.index()];
      now = std::max(now, arrival_[m]) + overhead;
      gathered_[to.index()] += sent_bytes_[m];
      now += coordination_.received(to, round[m].from, op);
    }
  }
  // Fast path for messages of one size whose receipt costs only the overhead.
  void run_uniform(ControlOp op) {
    const Cycle overhead = job_.spec.times.overhead;
    const Bytes bytes = coordination_.message_bytes(RankId(0), cycle_, op, 0);
    const std::vector<Cycle>& times = flights(op, bytes);
    std::size_t first = 0;  // first message of the round
    for (const auto& round : coordination_.pattern(op).rounds) {
      arrival_.resize(round.size());
      for (std::size_t m = 0; m < round.size(); ++m) {
        arrival_[m] = (now_[round[m].from.index()] += overhead) + times[first + m];
      }
      for (std::size_t m = 0; m < round.size(); ++m) {
        Cycle& now = now_[round[m].to.index()];
        now = std::max(now, arrival_[m]) + overhead;
      }
      first += round.size();
    }
    ranks_.control_messages(first, first * bytes);
  }
  // Both are indexed by message of the operation's pattern.
  [[nodiscard]] const std::vector<MessageTime::Path>& paths(ControlOp op) {
    std::vector<MessageTime::Path>& known = paths_[static_cast<std::size_t>(op)];
    if (!known.empty()) return known;
    for (const auto& round : coordination_.pattern(op).rounds) {
      for (const PatternMessage& m : round) known.push_back(messages_.path(m.from, m.to));
    }
    return known;
  }
  [[nodiscard]] const std::vector<Cycle>& flights(ControlOp op, Bytes bytes) {
    Flights& known = flights_[static_cast<std::size_t>(op)];
    if (known.bytes == bytes) return known.times;
    known.bytes = bytes;
    known.times.clear();
    for (const MessageTime::Path path : paths(op)) {
      known.times.push_back(messages_.flight(path, bytes));
    }
    return known.times;
  }
  void execute() {
    ranks_.control_cycle(coordination_.controller(kRoot).num_executed(), begin_[0], now_[0]);
    Coordination::Decided decided;
    for (std::size_t r = 0; r < now_.size(); ++r) decided = coordination_.leave(RankId(r), cycle_);
    for (CollectiveNumber c = decided.first; c != decided.end; ++c) reduce(c);
  }
  void reduce(CollectiveNumber collective) {
    const Response& response = coordination_.responses()[collective];
    for (std::size_t r = 0; r < now_.size(); ++r) {
      now_[r] += job_.spec.times.overhead;
      ranks_.posted(RankId(r), collective, response, now_[r]);
    }
    const Cycle begin = std::max(stream_free_, ranks_.record().collectives[collective].last_posted);
    stream_free_ = begin + reductions_({CollectiveOp::all_reduce, response.bytes});
    const bool waits = job_.spec.wait == DataPlaneWait::blocking;
    for (std::size_t r = 0; r < now_.size(); ++r) {
      if (waits) now_[r] = std::max(now_[r], stream_free_);
      ranks_.done(RankId(r), collective, stream_free_);
    }
  }

  const TrainingJob& job_;
  const MessageTime& messages_;
  const CollectiveTime& reductions_;
  TrainingRanks ranks_;
  Coordination coordination_;
  std::uint64_t cycle_ = 0;
  std::vector<Cycle> begin_;       // by rank: start of its current cycle
  std::vector<Cycle> now_;         // by rank: time of its thread
  std::vector<Bytes> gathered_;    // by rank, in the current operation
  std::vector<Cycle> arrival_;     // by message of a round
  std::vector<Bytes> sent_bytes_;  // by message of a round
  struct Flights {
    Bytes bytes = 0;
    std::vector<Cycle> times;
  };
  std::vector<Flights> flights_;                       // by operation, for the most recent size
  std::vector<std::vector<MessageTime::Path>> paths_;  // by operation
  Cycle stream_free_ = 0;                              // end of the previous collective
};

}  // namespace

TrainingRecord run_in_closed_form(const TrainingJob& job, const MessageTime& messages,
                                  const CollectiveTime& reductions, const JobProgress& progress) {
  if (has_cycles(job.spec.mode)) return CycleRun(job, messages, reductions).run(progress);
  const auto hosts = make_hosts(job);
  ModelledDataPlane modelled(*hosts, job.spec.ranks, reductions);
  const std::string stuck = run_events(modelled, &messages);
  TrainingRecord record = hosts->record();
  if (record.failure.empty()) record.failure = stuck;
  return record;
}

}  // namespace espalier
