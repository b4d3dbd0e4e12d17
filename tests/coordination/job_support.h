// Small training jobs, and machines for them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/hash.h"
#include "sims/workload/coordination/closed_form.h"

namespace espalier {

// A latency of its own for every pair of ranks, and so much for each byte.
class PairLatency : public MessageTime {
 public:
  PairLatency(std::uint64_t seed, Cycle least, Cycle spread)
      : seed_(seed), least_(least), spread_(spread) {}
  [[nodiscard]] Path path(RankId from, RankId to) const override {
    const std::uint64_t pair = mix(mix(seed_, from.index()), to.index());
    return static_cast<Path>(least_ + (spread_ == 0 ? 0 : pair % spread_));
  }
  [[nodiscard]] Cycle flight(Path path, Bytes bytes) const override { return path + bytes / 16; }

 private:
  std::uint64_t seed_;
  Cycle least_;
  Cycle spread_;
};

struct AffineReduction {
  Cycle fixed;
  Bytes bytes_per_cycle;

  Cycle operator()(const HostCollective& what) const {
    return fixed + what.bytes / bytes_per_cycle;
  }
};

// What is drawn; a test prints it, and makes it smaller where it fails.
struct JobCase {
  std::uint64_t seed = 1;
  CoordinationMode mode = CoordinationMode::cached;
  std::uint32_t ranks = 4;
  std::uint32_t tensors = 5;
  std::uint32_t groups = 0;
  std::uint32_t iterations = 3;
  std::uint32_t capacity = 1024;
  std::uint32_t new_shapes_every = 0;
  Cycle cycle = 50;
  Cycle latency_spread = 40;
  Bytes threshold = 4096;
  bool fuse_groups = true;
  bool blocking = false;
  double jitter = 0.5;
  std::uint32_t order_window = 4;
  std::uint32_t lost_permille = 0;

  [[nodiscard]] std::string text() const {
    return fmt::format(
        "seed {} mode {} ranks {} tensors {} groups {} iterations {} capacity {} shapes {} cycle "
        "{} spread {} threshold {} fuse {} blocking {} jitter {} window {} "
        "lost {}",
        seed, static_cast<int>(mode), ranks, tensors, groups, iterations, capacity,
        new_shapes_every, cycle, latency_spread, threshold, fuse_groups, blocking, jitter,
        order_window, lost_permille);
  }
};

inline TrainingJob make_job(const JobCase& c) {
  TensorSet set;
  set.compute = 100 + 40 * Cycle{c.tensors};
  for (std::uint32_t t = 0; t < c.tensors; ++t) {
    set.tensors.push_back({fmt::format("t{}", t), 4 * (1 + mix(c.seed, t) % 1000),
                           100 + Cycle{t} * 40 + mix(c.seed, t + 1000) % 30});
  }
  std::sort(set.tensors.begin(), set.tensors.end(),
            [](const Tensor& a, const Tensor& b) { return a.ready < b.ready; });
  CoordinationSpec spec;
  spec.mode = c.mode;
  spec.ranks = c.ranks;
  spec.iterations = c.iterations;
  spec.cache_capacity = c.capacity;
  spec.arity = 2 + static_cast<std::uint32_t>(c.seed % 3);
  spec.new_shapes_every = c.new_shapes_every;
  spec.wait = c.blocking ? DataPlaneWait::blocking : DataPlaneWait::asynchronous;
  spec.lost_permille = c.lost_permille;
  spec.times = {c.cycle, 3, 2, 1};
  spec.fusion = {c.threshold, c.fuse_groups};
  return make_training_job(spec, std::move(set), c.groups,
                           {c.jitter / 2, c.jitter, c.order_window, c.seed});
}

// Hosts whose posts are written down, rank by rank.
class WatchedHosts : public HostProgram, public HostServices {
 public:
  WatchedHosts(HostProgram& hosts, std::size_t ranks) : posts(ranks), hosts_(hosts) {}

  void start(HostServices& services) override {
    services_ = &services;
    hosts_.start(*this);
  }
  void woken(RankId rank, Cycle now) override { hosts_.woken(rank, now); }
  void received(const HostMessage& message, Cycle now) override { hosts_.received(message, now); }
  void collective_done(RankId rank, CollectiveNumber collective, Cycle now) override {
    hosts_.collective_done(rank, collective, now);
  }
  [[nodiscard]] bool finished() const override { return hosts_.finished(); }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override {
    return hosts_.name_of(collective);
  }
  void explain(WaitList& waits) const override { hosts_.explain(waits); }

  void wake(RankId rank, Cycle at) override { services_->wake(rank, at); }
  void send(const HostMessage& message, Cycle at) override { services_->send(message, at); }
  void post(RankId rank, CollectiveNumber collective, const HostCollective& what,
            Cycle at) override {
    posts[rank.index()].push_back(collective);
    sizes[collective] = what.bytes;
    services_->post(rank, collective, what, at);
  }

  std::vector<std::vector<CollectiveNumber>> posts;  // by rank
  std::map<CollectiveNumber, Bytes> sizes;

 private:
  HostProgram& hosts_;
  HostServices* services_ = nullptr;
};

// What is wrong with how a job ran, as a sentence; empty as it should be.
inline std::string check_order(const JobCase& c) {
  const TrainingJob job = make_job(c);
  const PairLatency messages(c.seed, 5, c.latency_spread);
  const auto hosts = make_hosts(job);
  WatchedHosts watched(*hosts, c.ranks);
  ModelledDataPlane modelled(watched, c.ranks, AffineReduction{70, 8});
  const std::string stuck = run_events(modelled, &messages);
  if (!stuck.empty()) return stuck;
  if (!hosts->record().failure.empty()) return hosts->record().failure;
  for (const auto& posts : watched.posts) {
    if (posts != watched.posts.front()) return "two ranks posted in different orders";
  }
  Bytes reduced = 0;
  for (const CollectiveNumber posted : watched.posts.front()) reduced += watched.sizes[posted];
  if (reduced != job.set.bytes() * c.iterations) return "not every gradient was reduced once";
  return {};
}

}  // namespace espalier
