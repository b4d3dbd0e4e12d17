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

// Every rank posts its collectives when woken at random times, and some when another one is over;
// it sends messages to random ranks, some of which are answered. What a rank does depends on how
// many events it has had, not on their order in a cycle.
class BusyHosts : public HostProgram {
 public:
  // `orders`: by rank, the numbers of the collectives that it posts.
  BusyHosts(std::vector<HostCollective> what, std::vector<std::vector<CollectiveNumber>> orders,
            Cycle spread, std::uint64_t seed)
      : what_(std::move(what)),
        orders_(std::move(orders)),
        spread_(spread),
        seed_(seed),
        state_(orders_.size()) {}

  void start(HostServices& services) override {
    services_ = &services;
    for (std::size_t r = 0; r < state_.size(); ++r) {
      const std::size_t wakes = orders_[r].size() + 2;
      Cycle at = 1;
      for (std::size_t w = 0; w < wakes; ++w) {
        at += draw(r, w) % spread_;
        services.wake(RankId(r), at);
      }
      open_ += wakes + orders_[r].size();
    }
  }
  void woken(RankId rank, Cycle now) override {
    note(rank, 1, 0, now);
    const std::uint64_t turn = state_[rank.index()].wakes++;
    post_next(rank, now);
    for (std::uint64_t m = 0; m < draw(rank.index(), 1000 + turn) % 3; ++m) {
      const std::uint64_t random = draw(rank.index(), 10'000 + 10 * turn + m);
      const std::size_t away = 1 + random % (state_.size() - 1);
      const Bytes bytes = 1 + mix(random) % (random % 5 == 0 ? 60'000 : 300);
      services_->send(
          {rank, RankId((rank.index() + away) % state_.size()), bytes, random % 2 + 2 * turn},
          now + 1);
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
    const HostCollective& what = what_[collective];
    return fmt::format("{} {} of group {}", to_string(what.op), collective, what.group);
  }
  void explain(WaitList&) const override {}

  // By rank: all events with their cycles, whatever their order in a cycle.
  [[nodiscard]] std::vector<std::uint64_t> events() const {
    std::vector<std::uint64_t> sums;
    for (const State& state : state_) sums.push_back(state.events);
    return sums;
  }

 private:
  struct State {
    std::uint64_t wakes = 0;
    std::size_t next = 0;
    std::uint64_t events = 0;
  };

  [[nodiscard]] std::uint64_t draw(std::uint64_t a, std::uint64_t b) const {
    return mix(mix(seed_, a), b);
  }
  void note(RankId rank, std::uint64_t kind, std::uint64_t what, Cycle now) {
    state_[rank.index()].events += mix(mix(mix(kind, what), now));
  }
  void post_next(RankId rank, Cycle now) {
    State& state = state_[rank.index()];
    const std::vector<CollectiveNumber>& order = orders_[rank.index()];
    if (state.next == order.size()) return;
    const CollectiveNumber number = order[state.next++];
    services_->post(rank, number, what_[number], now + 1);
  }

  std::vector<HostCollective> what_;                   // by number
  std::vector<std::vector<CollectiveNumber>> orders_;  // by rank
  Cycle spread_;
  std::uint64_t seed_;
  HostServices* services_ = nullptr;
  std::vector<State> state_;  // by rank
  std::size_t open_ = 0;      // events that will come
};

}  // namespace espalier::test
