// A coordinated training job in closed form, for more ranks than a network can be simulated for.
// Decisions (coordination.h) and message patterns are the same as in the simulated job. The times
// of messages and collectives are computed for an idle network.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "flowctl/wait_list.h"
#include "hw/ids.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/training_recorder.h"
#include "sims/workload/graph/host_services.h"

namespace espalier {

class MessageTime {
 public:
  // The number of a path. Two paths on which every message takes the same time have the same
  // number.
  using Path = std::uint32_t;

  MessageTime() = default;
  virtual ~MessageTime() = default;
  MessageTime(const MessageTime&) = delete;
  MessageTime& operator=(const MessageTime&) = delete;

  // Precondition: from != to.
  [[nodiscard]] virtual Path path(RankId from, RankId to) const = 0;
  // From the sender's NI to the receiver's memory; at least 1.
  [[nodiscard]] virtual Cycle flight(Path path, Bytes bytes) const = 0;
};

// Time of an all-reduce of so many bytes that all ranks begin at the same time; at least 1.
using ReductionTime = std::function<Cycle(Bytes)>;

// Steps with a fixed latency each, and bytes at a rank's bandwidth (Thakur et al., IJHPCA 2005;
// NCCL's rings, and its double binary trees from version 2.4 on).
struct AllReduceForm {
  enum class Kind : std::uint8_t {
    ring,  // 2 (N - 1) steps, each with an N-th of the bytes
    tree,  // up and down ceil(log2 N) levels, pipelined: all bytes once each way
  };
  Kind kind;
  double ranks;
  Cycle step;
  double bytes_per_cycle;

  [[nodiscard]] Cycle operator()(Bytes bytes) const {
    const double steps = kind == Kind::ring ? ranks - 1 : std::ceil(std::log2(ranks));
    const double share = kind == Kind::ring ? (ranks - 1) / ranks : 1;
    const double cycles = 2 * (steps * static_cast<double>(step) +
                               share * static_cast<double>(bytes) / bytes_per_cycle);
    return cycles < 1 ? 1 : static_cast<Cycle>(std::ceil(cycles));
  }
};

// Collectives without a network, for hosts above and a machine below that moves their messages. A
// collective begins when all ranks have reached it in their streams, and takes the time of a
// formula.
class ModelledDataPlane : public HostProgram, public HostServices {
 public:
  // `hosts` must outlive it.
  ModelledDataPlane(HostProgram& hosts, std::size_t ranks, ReductionTime reductions)
      : hosts_(hosts), reductions_(std::move(reductions)), streams_(ranks) {}

  void start(HostServices& services) override;
  void woken(RankId rank, Cycle now) override;
  void received(const HostMessage& message, Cycle now) override { hosts_.received(message, now); }
  // The machine below runs no collectives, so this is never called.
  void collective_done(RankId /*rank*/, CollectiveNumber /*collective*/, Cycle /*now*/) override {}
  [[nodiscard]] bool finished() const override { return hosts_.finished(); }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override {
    return hosts_.name_of(collective);
  }
  // Lists ranks whose next collectives differ.
  void explain(WaitList& waits) const override;

  void wake(RankId rank, Cycle at) override { services_->wake(rank, at); }
  void send(const HostMessage& message, Cycle at) override { services_->send(message, at); }
  void post(RankId rank, CollectiveNumber collective, const HostCollective& what,
            Cycle at) override;

 private:
  struct Post {
    CollectiveNumber collective = 0;
    Bytes bytes = 0;
    Cycle at = 0;
  };
  struct Meeting {
    std::size_t arrived = 0;
    Cycle latest = 0;
  };
  struct Running {
    CollectiveNumber collective = 0;
    Cycle end = 0;  // the same on all ranks
  };

  // A rank has reached the first collective of its stream, which begins with the last rank.
  void arrive(const Post& post, Cycle at);
  void end(const Running& running);

  HostProgram& hosts_;
  ReductionTime reductions_;
  std::vector<std::deque<Post>> streams_;  // by rank
  std::vector<Meeting> meetings_;          // by collective
  HostServices* services_ = nullptr;
  std::vector<Running> running_;
};

// Called with the finished share of all iterations, 0 to 1.
using JobProgress = std::function<void(double)>;

// Ranks go through each operation of the control plane together, round by round.
[[nodiscard]] TrainingRecord run_in_closed_form(const TrainingJob& job, const MessageTime& messages,
                                                const ReductionTime& reductions,
                                                const JobProgress& progress);

// Runs hosts event by event. Messages do not contend with each other. The hosts post no
// collectives: a ModelledDataPlane above the machine keeps them. Returns an empty text when the
// hosts have finished. If they cannot finish, returns which host waits for which other host.
[[nodiscard]] std::string run_events(HostProgram& hosts, const MessageTime& messages);

}  // namespace espalier
