// A coordinated training job in closed form, for more ranks than a network can be simulated for.
// Decisions (coordination.h) and message patterns are the same as in the simulated job. The times
// of messages and collectives are computed for an idle network.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "hw/ids.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/host_services.h"
#include "sims/workload/coordination/training_recorder.h"

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
