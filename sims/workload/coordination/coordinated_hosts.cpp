// Hosts that run Horovod's cycles.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "sims/workload/coordination/coordination.h"
#include "sims/workload/coordination/rank_framework.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

namespace {

// The hosts of a training job, event by event. Each rank has a framework that computes and a
// background thread that runs Horovod's cycles and blocks in each operation of the control plane.
class CoordinatedHosts : public JobHosts {
 public:
  // `job` must outlive it.
  explicit CoordinatedHosts(const TrainingJob& job)
      : JobHosts(job), coordination_(job), hosts_(job.spec.ranks) {
    for (std::size_t op = 0; op < kNumControlOps; ++op) {
      steps_.push_back(
          steps_by_rank(coordination_.pattern(static_cast<ControlOp>(op)), job.spec.ranks));
    }
  }

  void start(HostServices& services) override {
    services_ = &services;
    for (std::size_t r = 0; r < hosts_.size(); ++r) services.wake(RankId(r), 1);
  }
  void woken(RankId rank, Cycle now) override {
    Host& h = host(rank);
    if (h.stage == Stage::asleep && h.cycle_begin == now) begin_cycle(rank, now);
  }
  void received(const HostMessage& message, Cycle now) override {
    ranks_.control_messages(1, message.bytes);
    Host& h = host(message.to);
    h.inbox.push_back({message.from, message.tag, message.bytes, now});
    if (h.stage == Stage::in_cycle) run(message.to);
  }
  void collective_done(RankId rank, CollectiveNumber collective, Cycle now) override {
    Host& h = host(rank);
    ranks_.done(rank, collective, now);
    if (finished()) ranks_.fail(coordination_.disagreement());
    if (h.stage != Stage::executing) return;
    h.now = std::max(h.now, now);
    if (h.next == h.end) {
      sleep(rank);
    } else {
      post_next(rank);
    }
  }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override {
    return name_of_tensors(job_, coordination_.responses()[collective].tensors);
  }
  void explain(WaitList& waits) const override {
    for (std::size_t r = 0; r < hosts_.size(); ++r) {
      const Host& h = hosts_[r];
      if (h.stage != Stage::in_cycle) continue;
      const PatternStep& step = steps(h, RankId(r))[h.step];
      waits.push_back({host_name(RankId(r)), host_name(step.peer),
                       fmt::format("its message in cycle {}", h.cycle)});
    }
  }

 private:
  struct Arrival {
    RankId from;
    std::uint64_t tag = 0;
    Bytes bytes = 0;
    Cycle at = 0;
  };
  enum class Stage : std::uint8_t { asleep, in_cycle, executing, stopped };
  struct Host {
    Stage stage = Stage::asleep;
    std::uint64_t cycle = 0;  // the current one, or the next one
    Cycle cycle_begin = 1;
    Cycle now = 1;  // time of its thread, which may be ahead of the clock
    std::size_t op_index = 0;
    ControlOp op = ControlOp::intersect;
    std::size_t step = 0;  // in the operation's pattern
    Bytes gathered = 0;
    std::vector<Arrival> inbox;
    CollectiveNumber next = 0;  // [next, end) are to be posted
    CollectiveNumber end = 0;
  };

  [[nodiscard]] Host& host(RankId rank) { return hosts_[rank.index()]; }
  void begin_cycle(RankId rank, Cycle now) {
    Host& h = host(rank);
    coordination_.enter(rank, h.cycle, ranks_[rank], now);
    h.stage = Stage::in_cycle;
    h.now = now;
    h.op_index = 0;
    if (begin_op(rank)) {
      run(rank);
    } else {
      end_cycle(rank);
    }
  }
  // Runs the thread until it waits for a message or for time to pass.
  void run(RankId rank) {
    Host& h = host(rank);
    while (run_steps(rank)) {
      h.now += coordination_.finished(rank, h.cycle, h.op);
      ++h.op_index;
      if (!begin_op(rank)) {
        end_cycle(rank);
        return;
      }
    }
  }
  // False if a message is missing.
  bool run_steps(RankId rank) {
    Host& h = host(rank);
    const auto& todo = steps(h, rank);
    for (; h.step < todo.size(); ++h.step) {
      const PatternStep& step = todo[h.step];
      if (!step.sends) {
        if (!take_message(rank, step.peer)) return false;
        continue;
      }
      h.now += job_.spec.times.overhead;
      const Bytes bytes = coordination_.message_bytes(rank, h.cycle, h.op, h.gathered);
      services_->send({rank, step.peer, bytes, tag_of(h)}, h.now);
    }
    return true;
  }
  bool take_message(RankId rank, RankId from) {
    Host& h = host(rank);
    const auto arrival = std::find_if(h.inbox.begin(), h.inbox.end(), [&](const Arrival& a) {
      return a.from == from && a.tag == tag_of(h);
    });
    if (arrival == h.inbox.end()) return false;
    h.now = std::max(h.now, arrival->at) + job_.spec.times.overhead;
    h.gathered += arrival->bytes;
    h.inbox.erase(arrival);
    h.now += coordination_.received(rank, from, h.op);
    return true;
  }
  // False after the cycle's last operation.
  bool begin_op(RankId rank) {
    Host& h = host(rank);
    const auto op = coordination_.op(rank, h.cycle, h.op_index);
    if (!op) return false;
    h.op = *op;
    h.step = 0;
    h.now += coordination_.begin(rank, h.op);
    h.gathered = coordination_.own_part(rank, h.op);
    return true;
  }
  void end_cycle(RankId rank) {
    Host& h = host(rank);
    if (rank == kRoot) {
      ranks_.control_cycle(coordination_.controller(rank).num_executed(), h.cycle_begin, h.now);
    }
    const Coordination::Decided decided = coordination_.leave(rank, h.cycle);
    ++h.cycle;
    h.next = decided.first;
    h.end = decided.end;
    if (h.next == h.end) {
      sleep(rank);
      return;
    }
    h.stage = Stage::executing;
    post_next(rank);
  }
  void post_next(RankId rank) {
    Host& h = host(rank);
    do {
      h.now += job_.spec.times.overhead;
      const CollectiveNumber collective = h.next++;
      post(rank, collective, coordination_.responses()[collective], h.now);
    } while (h.next != h.end && job_.spec.wait == DataPlaneWait::asynchronous);
    if (job_.spec.wait == DataPlaneWait::asynchronous) sleep(rank);
  }
  void sleep(RankId rank) {
    Host& h = host(rank);
    const std::uint64_t last = std::uint64_t{job_.spec.iterations} * job_.units.size();
    if (coordination_.controller(rank).num_executed() == last) {
      h.stage = Stage::stopped;
      return;
    }
    h.stage = Stage::asleep;
    h.cycle_begin = std::max(h.now + 1, h.cycle_begin + job_.spec.times.cycle);
    services_->wake(rank, h.cycle_begin);
  }
  // Tag of the messages of the current operation.
  [[nodiscard]] static std::uint64_t tag_of(const Host& host) {
    return host.cycle * 8 + host.op_index;
  }
  [[nodiscard]] const std::vector<PatternStep>& steps(const Host& host, RankId rank) const {
    return steps_[static_cast<std::size_t>(host.op)][rank.index()];
  }

  Coordination coordination_;
  std::vector<std::vector<std::vector<PatternStep>>> steps_;  // by operation, rank
  std::vector<Host> hosts_;
};

}  // namespace

std::unique_ptr<JobHosts> make_coordinated_hosts(const TrainingJob& job) {
  return std::make_unique<CoordinatedHosts>(job);
}

}  // namespace espalier
