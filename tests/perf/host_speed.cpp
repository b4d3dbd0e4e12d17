// How fast hosts run on a simulated network: all-reduces that they post one after the other, and
// short messages of recursive doubling. Prints simulated cycles, wall-clock seconds and rates.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <systemc>
#include <vector>

#include "alg/generators/generator.h"
#include "sims/point/config.h"
#include "sims/system/host_simulation.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

constexpr std::uint64_t kNvlink = 50'000'000'000;
constexpr std::uint64_t kInfiniBand = 23'000'000'000;

class Training : public HostProgram {
 public:
  Training(std::size_t ranks, std::uint32_t count, Bytes bytes)
      : ranks_(ranks), count_(count), bytes_(bytes), left_(ranks * count) {}

  void start(HostServices& services) override {
    for (std::size_t r = 0; r < ranks_; ++r) {
      for (std::uint32_t c = 0; c < count_; ++c)
        services.post(RankId(r), c, {CollectiveOp::all_reduce, bytes_}, 1 + 1000 * c);
    }
  }
  void woken(RankId, Cycle) override {}
  void received(const HostMessage&, Cycle) override {}
  void collective_done(RankId, CollectiveNumber, Cycle) override { --left_; }
  [[nodiscard]] bool finished() const override { return left_ == 0; }
  [[nodiscard]] std::string name_of(CollectiveNumber c) const override {
    return fmt::format("all-reduce {}", c);
  }
  void explain(WaitList&) const override {}

 private:
  std::size_t ranks_;
  std::uint32_t count_;
  Bytes bytes_;
  std::size_t left_;
};

// Each rank begins a round when it has its partner's message of the last one.
class RecursiveDoubling : public HostProgram {
 public:
  RecursiveDoubling(std::size_t ranks, std::uint32_t rounds)
      : rounds_(rounds), state_(ranks), left_(ranks) {
    while ((std::size_t{1} << steps_) < ranks) ++steps_;
  }

  void start(HostServices& services) override {
    services_ = &services;
    for (std::size_t r = 0; r < state_.size(); ++r) say(RankId(r), 1);
  }
  void woken(RankId, Cycle) override {}
  void received(const HostMessage& message, Cycle now) override {
    State& state = state_[message.to.index()];
    state.come.resize(std::size_t{steps_} * rounds_, false);
    state.come[message.tag] = true;
    while (state.step < state.come.size() && state.come[state.step]) {
      if (++state.step == state.come.size()) {
        --left_;
      } else {
        say(message.to, now + 1);
      }
    }
  }
  void collective_done(RankId, CollectiveNumber, Cycle) override {}
  [[nodiscard]] bool finished() const override { return left_ == 0; }
  [[nodiscard]] std::string name_of(CollectiveNumber) const override { return {}; }
  void explain(WaitList&) const override {}

 private:
  struct State {
    std::size_t step = 0;
    std::vector<bool> come;
  };
  void say(RankId rank, Cycle at) {
    const std::size_t step = state_[rank.index()].step;
    const std::size_t partner = rank.index() ^ (std::size_t{1} << step % steps_);
    services_->send({rank, RankId(partner), 32, step}, at);
  }

  HostServices* services_ = nullptr;
  std::uint32_t rounds_;
  std::uint32_t steps_ = 0;
  std::vector<State> state_;
  std::size_t left_;
};

void report(const Topology& topology, HostProgram& hosts, Bytes packet_bytes) {
  RunPoint point;
  point.system.clock.flit_bytes = 64;
  point.system.flow_control.mode = FlowControlMode::message;
  point.system.flow_control.payload_bytes = packet_bytes;
  point.system.flow_control.sub_message_bytes = std::max<Bytes>(packet_bytes, 4096);
  point.system.ni.lockstep = LockstepMode::off;
  point.system.router.vc_depth_flits = 4096;
  const auto tables_of = [&](const HostCollective& what) {
    CollectiveRequest request;
    request.size = what.bytes;
    return lower_to_tables(find_generator("ring")->generate(topology, request));
  };
  JobRanks ranks;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) ranks.nodes.emplace_back(n);
  const auto begin = std::chrono::steady_clock::now();
  const HostedOutcome outcome = simulate_hosts(topology, point, ranks, hosts, tables_of, {});
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const std::uint64_t messages = outcome.simulation.latency.messages + outcome.host_messages;
  fmt::print("{}: {}{} cycles, {} messages, {:.2f} s, {:.0f} messages/s\n", topology.name(),
             outcome.simulation.verified ? "" : outcome.simulation.failure + ", ",
             outcome.simulation.cycles, messages, wall.count(),
             static_cast<double>(messages) / wall.count());
}

}  // namespace
}  // namespace espalier

int sc_main(int argc, char** argv) {
  using namespace espalier;
  prepare_kernel();
  const std::string what = argc > 1 ? argv[1] : "";
  const Bytes packet_bytes = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 4096;
  const auto cluster = [](std::uint32_t servers, std::uint32_t gpus) {
    return make_gpu_cluster({servers, gpus, gpus, 1}, {500'000, kNvlink}, {700'000, kInfiniBand});
  };
  if (what == "collectives") {
    Training hosts(96, 20, 5'000'000);
    report(cluster(16, 6), hosts, packet_bytes);
  } else if (what == "messages") {
    RecursiveDoubling hosts(1024, 10);
    report(cluster(128, 8), hosts, packet_bytes);
  } else {
    fmt::print(stderr, "usage: host_speed collectives|messages [PACKET_BYTES]\n");
    return 2;
  }
  return 0;
}

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
