// Hosts without cycles: they act on a unit as soon as their framework has completed it.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sims/workload/coordination/control_pattern.h"
#include "sims/workload/coordination/rank_framework.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

namespace {

class EventDrivenHosts : public JobHosts {
 public:
  explicit EventDrivenHosts(const TrainingJob& job)
      : job_(job),
        times_(job.set, job.units, job.jitter),
        woken_at_(job.spec.ranks, kNever),
        left_(job.spec.ranks),
        recorder_(job) {
    frameworks_.reserve(job.spec.ranks);
    for (std::size_t r = 0; r < job.spec.ranks; ++r) {
      frameworks_.emplace_back(job, times_, RankId(r));
    }
  }

  void start(HostServices& services) override {
    services_ = &services;
    for (std::size_t r = 0; r < frameworks_.size(); ++r) wake_when_complete(RankId(r));
  }
  void woken(RankId rank, Cycle now) override {
    frameworks_[rank.index()].take_until(now, [&](UnitId unit) { completed(rank, unit, now); });
    wake_when_complete(rank);
  }
  void collective_done(RankId rank, CollectiveNumber collective, Cycle now) override {
    recorder_.done(collective, now);
    RankFramework& framework = frameworks_[rank.index()];
    const std::uint32_t iteration = framework.iteration();
    const Cycle end =
        framework.reduced(job_.units[unit_of(collective).index()].tensors.size(), now);
    if (end != kNever) recorder_.iteration_over(iteration, end);
    if (framework.finished()) {
      --left_;
    } else {
      wake_when_complete(rank);
    }
  }
  [[nodiscard]] bool finished() const override { return left_ == 0; }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override {
    return name_of_tensors(job_, job_.units[unit_of(collective).index()].tensors);
  }
  [[nodiscard]] const TrainingRecord& record() const override { return recorder_.record(); }

 protected:
  // A unit is complete on a rank.
  virtual void completed(RankId rank, UnitId unit, Cycle now) = 0;
  // The unit that a collective reduces.
  [[nodiscard]] virtual UnitId unit_of(CollectiveNumber collective) const = 0;

  void post(RankId rank, CollectiveNumber collective, UnitId unit, Cycle at) {
    const TensorUnit& what = job_.units[unit.index()];
    RankFramework& framework = frameworks_[rank.index()];
    recorder_.posted(rank, collective, {what.tensors, what.bytes}, framework, at);
    framework.posted(at);
    services_->post(rank, collective, {CollectiveOp::all_reduce, what.bytes}, at);
  }

  [[nodiscard]] const TrainingJob& job() const { return job_; }
  [[nodiscard]] HostServices& services() { return *services_; }
  [[nodiscard]] const RankFramework& framework(RankId rank) const {
    return frameworks_[rank.index()];
  }
  [[nodiscard]] TrainingRecorder& recorder() { return recorder_; }

 private:
  void wake_when_complete(RankId rank) {
    const Cycle next = frameworks_[rank.index()].next_ready();
    Cycle& wake = woken_at_[rank.index()];
    if (next == kNever || next == wake) return;
    wake = next;
    services_->wake(rank, next);
  }

  const TrainingJob& job_;
  ReadyTimes times_;
  std::vector<RankFramework> frameworks_;
  std::vector<Cycle> woken_at_;  // by rank: for the next unit to complete
  HostServices* services_ = nullptr;
  std::size_t left_;  // ranks whose framework has not finished
  TrainingRecorder recorder_;
};

// A message holds the number of its unit or collective, the tree's number and its direction. It
// fits into one flit.
constexpr Bytes kMessageBytes = 4;
constexpr std::uint64_t kDown = std::uint64_t{1} << 32;

// Coordination in the network interfaces. For each unit, an NI has a bit of its own and one for
// each of its children in a tree over all ranks. When all bits of a unit are set, the NI tells its
// parent. When all bits are set at the root, the collective starts on all ranks, in the order in
// which units became complete at the root. Software neither polls nor takes part.
class NiHosts : public EventDrivenHosts {
 public:
  explicit NiHosts(const TrainingJob& job) : EventDrivenHosts(job) {
    missing_.reserve(job.spec.ranks * job.units.size());
    for (std::size_t r = 0; r < job.spec.ranks; ++r) {
      missing_.insert(missing_.end(), job.units.size(), 1 + children_of(RankId(r)));
    }
  }

  // Units that take effect in the same cycle start in the order of their numbers.
  void woken(RankId rank, Cycle now) override {
    EventDrivenHosts::woken(rank, now);
    if (rank != kRoot || at_root_.empty()) return;
    std::vector<UnitId> shown;
    for (const Complete& complete : at_root_) {
      if (complete.at == now) shown.push_back(complete.unit);
    }
    at_root_.erase(std::remove_if(at_root_.begin(), at_root_.end(),
                                  [&](const Complete& c) { return c.at == now; }),
                   at_root_.end());
    std::sort(shown.begin(), shown.end());
    for (const UnitId unit : shown) {
      started_.push_back(unit);
      start_collective(kRoot, static_cast<CollectiveNumber>(started_.size() - 1), now);
    }
  }
  void received(const HostMessage& message, Cycle now) override {
    recorder().control_messages(1, message.bytes);
    if ((message.tag & kDown) != 0) {
      start_collective(message.to, static_cast<CollectiveNumber>(message.tag & (kDown - 1)), now);
    } else {
      set_bit(message.to, UnitId(message.tag), now);
    }
  }
  void explain(WaitList& waits) const override {
    for (std::size_t r = 0; r < job().spec.ranks; ++r) {
      for (std::size_t u = 0; u < job().units.size(); ++u) {
        const std::uint32_t left = missing_[r * job().units.size() + u];
        const std::uint32_t all = 1 + children_of(RankId(r));
        if (left == all) continue;
        waits.push_back({host_name(RankId(r)), "",
                         fmt::format("{} of {} bits of unit {} are missing", left, all, u)});
      }
    }
  }

 private:
  void completed(RankId rank, UnitId unit, Cycle now) override { set_bit(rank, unit, now); }
  [[nodiscard]] UnitId unit_of(CollectiveNumber collective) const override {
    return started_[collective];
  }

  // Sets the rank's own bit, or the bit of a child.
  void set_bit(RankId rank, UnitId unit, Cycle now) {
    if (--missing(rank, unit) != 0) return;
    missing(rank, unit) = 1 + children_of(rank);
    const Cycle shown = now + job().spec.times.ni_update;
    if (rank == kRoot) {
      at_root_.push_back({shown, unit});
      services().wake(kRoot, shown);
      return;
    }
    const RankId parent((rank.index() - 1) / job().spec.arity);
    services().send({rank, parent, kMessageBytes, unit.index()}, shown);
  }
  // Starts the collective on the rank and below it.
  void start_collective(RankId rank, CollectiveNumber collective, Cycle now) {
    const Cycle shown = now + job().spec.times.ni_update;
    post(rank, collective, started_[collective], shown);
    for (std::uint32_t c = 0; c < children_of(rank); ++c) {
      const RankId child(rank.index() * job().spec.arity + 1 + c);
      services().send({rank, child, kMessageBytes, kDown | collective}, shown);
    }
  }
  [[nodiscard]] std::uint32_t children_of(RankId rank) const {
    return tree_children(job().spec.ranks, job().spec.arity, rank);
  }
  [[nodiscard]] std::uint32_t& missing(RankId rank, UnitId unit) {
    return missing_[rank.index() * job().units.size() + unit.index()];
  }

  std::vector<std::uint32_t> missing_;  // by rank, unit: bits not yet set
  struct Complete {
    Cycle at = 0;
    UnitId unit;
  };
  std::vector<Complete> at_root_;  // takes effect at `at`
  std::vector<UnitId> started_;    // by collective
};

// Every rank reduces the units that it completes, in its own order. Shows what goes wrong without
// coordination (Romero et al., section 2.2.1). A collective means the same unit of the same
// iteration on all ranks.
class UncoordinatedHosts : public EventDrivenHosts {
 public:
  using EventDrivenHosts::EventDrivenHosts;

  void received(const HostMessage& /*message*/, Cycle /*now*/) override {}
  void explain(WaitList& /*waits*/) const override {}

 private:
  void completed(RankId rank, UnitId unit, Cycle now) override {
    const std::size_t of_iteration = framework(rank).iteration() * job().units.size();
    post(rank, static_cast<CollectiveNumber>(of_iteration + unit.index()), unit,
         now + job().spec.times.overhead);
  }
  [[nodiscard]] UnitId unit_of(CollectiveNumber collective) const override {
    return UnitId(collective % job().units.size());
  }
};

}  // namespace

std::unique_ptr<JobHosts> make_hosts(const TrainingJob& job) {
  switch (job.spec.mode) {
    case CoordinationMode::none:
      return std::make_unique<UncoordinatedHosts>(job);
    case CoordinationMode::in_ni:
      return std::make_unique<NiHosts>(job);
    case CoordinationMode::coordinator:
    case CoordinationMode::hierarchical:
    case CoordinationMode::cached:
      break;
  }
  return make_coordinated_hosts(job);
}

}  // namespace espalier
