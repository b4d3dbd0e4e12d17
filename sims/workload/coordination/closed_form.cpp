#include "sims/workload/coordination/closed_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "sims/workload/coordination/coordination.h"

namespace espalier {

namespace {

// Horovod's cycles for all ranks together, round by round: in a twentieth of the time that events
// take for thousands of ranks.
class CycleRun {
 public:
  // The arguments must outlive it.
  CycleRun(const TrainingJob& job, const MessageTime& messages, const ReductionTime& reductions)
      : job_(job),
        messages_(messages),
        reductions_(reductions),
        times_(job.set, job.units, job.jitter),
        coordination_(job),
        recorder_(job),
        begin_(job.spec.ranks, 1),
        now_(job.spec.ranks, 1),
        gathered_(job.spec.ranks, 0),
        flights_(kNumControlOps),
        paths_(kNumControlOps) {
    frameworks_.reserve(job.spec.ranks);
    for (std::size_t r = 0; r < job.spec.ranks; ++r) {
      frameworks_.emplace_back(job, times_, RankId(r));
    }
  }

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
    recorder_.fail(coordination_.disagreement());
    return recorder_.record();
  }

 private:
  void enter_cycle() {
    for (std::size_t r = 0; r < begin_.size(); ++r) {
      const RankId rank(r);
      RankController& controller = coordination_.controller(rank);
      const ShapeId shape = frameworks_[r].shape();
      frameworks_[r].take_until(begin_[r], [&](UnitId unit) { controller.submit(unit, shape); });
      now_[r] = begin_[r];
      coordination_.enter(rank, cycle_);
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
      recorder_.control_messages(1, bytes);
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
    recorder_.control_messages(first, first * bytes);
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
    const std::uint64_t executed = coordination_.controller(kRoot).num_executed();
    recorder_.control_cycle(static_cast<std::uint32_t>(executed / job_.units.size()), begin_[0],
                            now_[0]);
    Coordination::Decided decided;
    for (std::size_t r = 0; r < now_.size(); ++r) decided = coordination_.leave(RankId(r), cycle_);
    for (CollectiveNumber c = decided.first; c != decided.end; ++c) reduce(c);
  }
  void reduce(CollectiveNumber collective) {
    const Response& response = coordination_.responses()[collective];
    for (std::size_t r = 0; r < now_.size(); ++r) {
      now_[r] += job_.spec.times.overhead;
      recorder_.posted(RankId(r), collective, response, frameworks_[r], now_[r]);
      frameworks_[r].posted(now_[r]);
    }
    const Cycle begin = std::max(stream_free_, recorder_.collective(collective).last_posted);
    stream_free_ = begin + reductions_(response.bytes);
    recorder_.done(collective, stream_free_);
    const bool waits = job_.spec.wait == DataPlaneWait::blocking;
    for (std::size_t r = 0; r < now_.size(); ++r) {
      if (waits) now_[r] = std::max(now_[r], stream_free_);
      const std::uint32_t iteration = frameworks_[r].iteration();
      const Cycle end = frameworks_[r].reduced(response.tensors.size(), stream_free_);
      if (end != kNever) recorder_.iteration_over(iteration, end);
    }
  }

  const TrainingJob& job_;
  const MessageTime& messages_;
  const ReductionTime& reductions_;
  ReadyTimes times_;
  Coordination coordination_;
  std::vector<RankFramework> frameworks_;
  TrainingRecorder recorder_;
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

class EventMachine : public HostServices {
 public:
  explicit EventMachine(const MessageTime& messages) : messages_(messages) {}

  void run(HostProgram& hosts) {
    hosts.start(*this);
    while (!hosts.finished() && !events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.is_message) {
        hosts.received(event.message, event.at);
      } else {
        hosts.woken(event.message.from, event.at);
      }
    }
  }

  void wake(RankId rank, Cycle at) override { push({at, 0, false, {rank, rank, 0, 0}}); }
  void send(const HostMessage& message, Cycle at) override {
    push({at + messages_.flight(path(message.from, message.to), message.bytes), 0, true, message});
  }
  void post(RankId /*rank*/, CollectiveNumber /*collective*/, const HostCollective& /*what*/,
            Cycle /*at*/) override {}

 private:
  struct Event {
    Cycle at = 0;
    std::uint64_t number = 0;  // orders the events of one cycle: first asked, first handled
    bool is_message = false;   // false: the rank `message.from` wakes
    HostMessage message;

    friend bool operator>(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.number > b.number;
    }
  };

  void push(Event event) {
    event.number = next_number_++;
    events_.push(event);
  }
  [[nodiscard]] MessageTime::Path path(RankId from, RankId to) {
    const std::uint64_t pair = std::uint64_t{from.value()} << 32 | to.value();
    const auto known = paths_.find(pair);
    if (known != paths_.end()) return known->second;
    return paths_[pair] = messages_.path(from, to);
  }

  const MessageTime& messages_;
  std::unordered_map<std::uint64_t, MessageTime::Path> paths_;  // by pair of ranks
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_number_ = 0;
};

}  // namespace

void ModelledDataPlane::start(HostServices& services) {
  services_ = &services;
  hosts_.start(*this);
}

void ModelledDataPlane::post(RankId rank, CollectiveNumber collective, const HostCollective& what,
                             Cycle at) {
  auto& stream = streams_[rank.index()];
  stream.push_back({collective, what.bytes, at});
  if (stream.size() == 1) arrive(stream.front(), at);
}

void ModelledDataPlane::arrive(const Post& post, Cycle at) {
  if (post.collective >= meetings_.size()) meetings_.resize(post.collective + 1);
  Meeting& meeting = meetings_[post.collective];
  meeting.latest = std::max(meeting.latest, at);
  if (++meeting.arrived != streams_.size()) return;
  running_.push_back({post.collective, meeting.latest + reductions_(post.bytes)});
  // A collective ends everywhere in the same cycle, so waking rank 0 is enough.
  services_->wake(RankId(0), running_.back().end);
}

void ModelledDataPlane::woken(RankId rank, Cycle now) {
  const auto over = std::find_if(running_.begin(), running_.end(),
                                 [&](const Running& r) { return r.end == now; });
  if (rank == RankId(0) && over != running_.end()) {
    const Running ended = *over;
    running_.erase(over);
    end(ended);
  }
  // A host that did not ask to be woken finds no work.
  hosts_.woken(rank, now);
}

void ModelledDataPlane::end(const Running& running) {
  for (auto& stream : streams_) {
    stream.pop_front();
    if (!stream.empty()) arrive(stream.front(), std::max(stream.front().at, running.end));
  }
  for (std::size_t r = 0; r < streams_.size(); ++r) {
    hosts_.collective_done(RankId(r), running.collective, running.end);
  }
}

void ModelledDataPlane::explain(WaitList& waits) const {
  for (std::size_t r = 0; r < streams_.size(); ++r) {
    if (streams_[r].empty()) continue;
    const CollectiveNumber mine = streams_[r].front().collective;
    for (std::size_t other = 0; other < streams_.size(); ++other) {
      const bool waits_here = streams_[other].empty() || streams_[other].front().collective != mine;
      if (!waits_here) continue;
      const std::string at = streams_[other].empty()
                                 ? "has posted nothing"
                                 : "runs " + hosts_.name_of(streams_[other].front().collective);
      waits.push_back(
          {host_name(RankId(r)), host_name(RankId(other)),
           fmt::format("{}, while {} {}", hosts_.name_of(mine), host_name(RankId(other)), at)});
      break;
    }
  }
  if (waits.empty()) hosts_.explain(waits);
}

std::string run_events(HostProgram& hosts, const MessageTime& messages) {
  EventMachine(messages).run(hosts);
  if (hosts.finished()) return {};
  WaitList waits;
  hosts.explain(waits);
  std::string text = "deadlock: no host can continue";
  for (std::size_t w = 0; w < waits.size() && w < 8; ++w) {
    text += (w == 0 ? ": " : "; ") + waits[w].who + " waits for " + waits[w].whom + " (" +
            waits[w].why + ")";
  }
  return text;
}

TrainingRecord run_in_closed_form(const TrainingJob& job, const MessageTime& messages,
                                  const ReductionTime& reductions, const JobProgress& progress) {
  if (has_cycles(job.spec.mode)) return CycleRun(job, messages, reductions).run(progress);
  const auto hosts = make_hosts(job);
  ModelledDataPlane modelled(*hosts, job.spec.ranks, reductions);
  const std::string stuck = run_events(modelled, messages);
  TrainingRecord record = hosts->record();
  if (record.failure.empty()) record.failure = stuck;
  return record;
}

}  // namespace espalier
