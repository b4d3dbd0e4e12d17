// Hosts without cycles: they act on a unit as soon as their framework has completed it.
#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "sims/workload/coordination/control_pattern.h"
#include "sims/workload/coordination/rank_framework.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

namespace {

// A message holds the number of its unit or collective, the tree's number and its direction. It
// fits into one flit.
constexpr Bytes kMessageBytes = 4;
constexpr std::uint64_t kDown = std::uint64_t{1} << 32;

// in_ni: coordination in the network interfaces. For each unit, an NI has a bit of its own and one
// for each of its children in a tree over all ranks. When all bits of a unit are set, the NI tells
// its parent. When all bits are set at the root, the collective starts on all ranks, in the order
// in which units became complete at the root. Software neither polls nor takes part.
//
// none: every rank reduces the units that it completes, in its own order. Shows what goes wrong
// without coordination (Romero et al., section 2.2.1). A collective means the same unit of the same
// iteration on all ranks.
class EventDrivenHosts : public JobHosts {
 public:
  explicit EventDrivenHosts(const TrainingJob& job)
      : JobHosts(job),
        in_ni_(job.spec.mode == CoordinationMode::in_ni),
        woken_at_(job.spec.ranks, kNever) {
    for (std::size_t r = 0; in_ni_ && r < job.spec.ranks; ++r) {
      missing_.insert(missing_.end(), job.units.size(), 1 + children_of(RankId(r)));
    }
  }

  void start(HostServices& services) override {
    services_ = &services;
    for (std::size_t r = 0; r < job_.spec.ranks; ++r) wake_when_complete(RankId(r));
  }
  // Units that take effect in the same cycle start in the order of their numbers.
  void woken(RankId rank, Cycle now) override {
    ranks_[rank].take_until(now, [&](UnitId unit) {
      if (in_ni_) return set_bit(rank, unit, now);
      const std::size_t before = ranks_[rank].iteration() * job_.units.size();
      post(rank, static_cast<CollectiveNumber>(before + unit.index()),
           now + job_.spec.times.overhead);
    });
    wake_when_complete(rank);
    while (rank == kRoot && !at_root_.empty() && at_root_.begin()->first == now) {
      started_.push_back(at_root_.begin()->second);
      at_root_.erase(at_root_.begin());
      start_collective(kRoot, static_cast<CollectiveNumber>(started_.size() - 1), now);
    }
  }
  void received(const HostMessage& message, Cycle now) override {
    ranks_.control_messages(1, message.bytes);
    if ((message.tag & kDown) != 0) {
      start_collective(message.to, static_cast<CollectiveNumber>(message.tag & (kDown - 1)), now);
    } else {
      set_bit(message.to, UnitId(message.tag), now);
    }
  }
  void collective_done(RankId rank, CollectiveNumber collective, Cycle now) override {
    ranks_.done(rank, collective, now);
    wake_when_complete(rank);
  }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override {
    return name_of_tensors(job_, unit_of(collective).tensors);
  }
  void explain(WaitList& waits) const override {
    for (std::size_t r = 0; in_ni_ && r < job_.spec.ranks; ++r) {
      for (std::size_t u = 0; u < job_.units.size(); ++u) {
        const std::uint32_t left = missing_[r * job_.units.size() + u];
        const std::uint32_t all = 1 + children_of(RankId(r));
        if (left == all) continue;
        waits.push_back({host_name(RankId(r)), "",
                         fmt::format("{} of {} bits of unit {} are missing", left, all, u)});
      }
    }
  }

 private:
  [[nodiscard]] const TensorUnit& unit_of(CollectiveNumber collective) const {
    return job_.units[in_ni_ ? started_[collective].index() : collective % job_.units.size()];
  }
  void wake_when_complete(RankId rank) {
    const Cycle next = ranks_[rank].next_ready();
    Cycle& wake = woken_at_[rank.index()];
    if (next == kNever || next == wake) return;
    wake = next;
    services_->wake(rank, next);
  }
  void post(RankId rank, CollectiveNumber collective, Cycle at) {
    const TensorUnit& what = unit_of(collective);
    JobHosts::post(rank, collective, {what.tensors, what.bytes}, at);
  }
  // Sets the rank's own bit, or the bit of a child.
  void set_bit(RankId rank, UnitId unit, Cycle now) {
    std::uint32_t& missing = missing_[rank.index() * job_.units.size() + unit.index()];
    if (--missing != 0) return;
    missing = 1 + children_of(rank);
    const Cycle shown = now + job_.spec.times.ni_update;
    if (rank == kRoot) {
      at_root_.emplace(shown, unit);
      services_->wake(kRoot, shown);
      return;
    }
    const RankId parent((rank.index() - 1) / job_.spec.arity);
    services_->send({rank, parent, kMessageBytes, unit.index()}, shown);
  }
  // Starts the collective on the rank and below it.
  void start_collective(RankId rank, CollectiveNumber collective, Cycle now) {
    const Cycle shown = now + job_.spec.times.ni_update;
    post(rank, collective, shown);
    for (std::uint32_t c = 0; c < children_of(rank); ++c) {
      const RankId child(rank.index() * job_.spec.arity + 1 + c);
      services_->send({rank, child, kMessageBytes, kDown | collective}, shown);
    }
  }
  [[nodiscard]] std::uint32_t children_of(RankId rank) const {
    return tree_children(job_.spec.ranks, job_.spec.arity, rank);
  }

  bool in_ni_;
  std::vector<Cycle> woken_at_;                 // by rank: for the next unit to complete
  std::vector<std::uint32_t> missing_;          // by rank, unit: bits not yet set
  std::set<std::pair<Cycle, UnitId>> at_root_;  // complete units, from this cycle on
  std::vector<UnitId> started_;                 // by collective
};

}  // namespace

std::unique_ptr<JobHosts> make_hosts(const TrainingJob& job) {
  if (has_cycles(job.spec.mode)) return make_coordinated_hosts(job);
  return std::make_unique<EventDrivenHosts>(job);
}

}  // namespace espalier
