// Hosts that do everything at once, drawn at random.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "hw/hash.h"
#include "sims/workload/graph/host_services.h"

namespace espalier::test {

// Every rank posts the collectives in the same order, woken at random times, and posts some of them
// when another one is done; it sends messages to random ranks when woken, some of which are
// answered. What a rank does depends on how many events it has had, not on their order in a cycle.
class BusyHosts : public HostProgram {
 public:
  BusyHosts(std::size_t ranks, std::vector<Bytes> sizes, Cycle spread, std::uint64_t seed)
      : sizes_(std::move(sizes)), spread_(spread), seed_(seed), ranks_(ranks) {}

  void start(HostServices& services) override {
    services_ = &services;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      Cycle at = 1;
      for (std::uint64_t w = 0; w < kWakes; ++w) {
        at += draw(r, w) % spread_;
        services.wake(RankId(r), at);
      }
    }
    open_ = ranks_.size() * (kWakes + sizes_.size());
  }
  void woken(RankId rank, Cycle now) override {
    note(rank, 1, 0, now);
    const std::uint64_t turn = ranks_[rank.index()].wakes++;
    post_next(rank, now);
    for (std::uint64_t m = 0; m < 1 + draw(rank.index(), 100 + turn) % 3; ++m) {
      const std::uint64_t random = draw(rank.index(), 1000 + 10 * turn + m);
      const std::size_t away = 1 + random % (ranks_.size() - 1);
      const RankId to((rank.index() + away) % ranks_.size());
      // Odd tags are answered.
      services_->send({rank, to, 1 + mix(random) % 1500, random % 2 + 2 * turn}, now + 1);
      open_ += 1 + random % 2;
    }
    --open_;
  }
  void received(const HostMessage& message, Cycle now) override {
    note(message.to, 2, mix(message.from.index(), message.tag), now);
    if (message.tag % 2 == 1) services_->send({message.to, message.from, 24, 0}, now + 1);
    --open_;
  }
  void collective_done(RankId rank, CollectiveNumber collective, Cycle now) override {
    note(rank, 3, collective, now);
    if (collective % 2 == 0) post_next(rank, now);
    --open_;
  }
  [[nodiscard]] bool finished() const override { return open_ == 0; }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override {
    return fmt::format("<tensor {}>", collective);
  }
  void explain(WaitList&) const override {}

  // By rank: all events with their cycles, whatever their order in a cycle.
  [[nodiscard]] std::vector<std::uint64_t> events() const {
    std::vector<std::uint64_t> sums;
    for (const Rank& rank : ranks_) sums.push_back(rank.events);
    return sums;
  }

 private:
  static constexpr std::uint64_t kWakes = 12;  // at least as many as collectives
  struct Rank {
    std::uint64_t wakes = 0;
    CollectiveNumber next = 0;
    std::uint64_t events = 0;
  };

  [[nodiscard]] std::uint64_t draw(std::uint64_t a, std::uint64_t b) const {
    return mix(mix(seed_, a), b);
  }
  void note(RankId rank, std::uint64_t kind, std::uint64_t what, Cycle now) {
    ranks_[rank.index()].events += mix(mix(mix(kind, what), now));
  }
  void post_next(RankId rank, Cycle now) {
    CollectiveNumber& next = ranks_[rank.index()].next;
    if (next == sizes_.size()) return;
    services_->post(rank, next, {CollectiveOp::all_reduce, sizes_[next]}, now + 1);
    ++next;
  }

  HostServices* services_ = nullptr;
  std::vector<Bytes> sizes_;
  Cycle spread_;
  std::uint64_t seed_;
  std::vector<Rank> ranks_;
  std::size_t open_ = 0;  // events that will come
};

}  // namespace espalier::test
