// A training iteration of one NPU as what it computes, in order, and what it communicates beside
// that (Themis, sections 5.2 and 6.2). Plain data: no network, no time of communication.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

// Which NPUs take part, see sims/workload/training/parallel_groups.h.
enum class CommunicationScope : std::uint8_t { all, model, data };

// Whose waiting Fig. 12 shows in which colour. Not the scope: DLRM's embeddings are model-parallel
// and go to all NPUs.
enum class Parallelism : std::uint8_t { data, model };

// `bytes`, as in CollectiveConfig::size: all_reduce, reduce_scatter: what every NPU has to add up;
// all_gather: of the result; all_to_all: what every NPU sends, its own part included.
struct CommunicationOp {
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes bytes = 0;
  CommunicationScope scope = CommunicationScope::all;
  friend bool operator==(const CommunicationOp& a, const CommunicationOp& b) {
    return a.op == b.op && a.bytes == b.bytes && a.scope == b.scope;
  }
};

enum class ComputePhase : std::uint8_t {
  forward,
  forward_again,  // recomputed during back-propagation; Fig. 12 counts it as forward
  input_gradient,
  weight_gradient
};
[[nodiscard]] constexpr bool is_forward(ComputePhase phase) {
  return phase == ComputePhase::forward || phase == ComputePhase::forward_again;
}

struct ComputeStep {
  std::string layer;
  ComputePhase phase = ComputePhase::forward;
  double nanoseconds = 0;
};

inline constexpr std::size_t kIterationEnd = std::numeric_limits<std::size_t>::max();

struct Communication {
  CommunicationOp op;
  Parallelism parallelism = Parallelism::data;
  std::size_t issued_after = 0;               // step
  std::size_t waited_before = kIterationEnd;  // step, later than issued_after
};

struct Workload {
  std::string name;
  std::vector<ComputeStep> steps;
  std::vector<Communication> communications;  // ascending in issued_after: the order of issue

  // For those who write workloads, step by step.
  std::size_t compute(std::string layer, ComputePhase phase, double nanoseconds) {
    steps.push_back({std::move(layer), phase, nanoseconds});
    return steps.size() - 1;
  }
  // After the last step so far; waited for at the iteration's end.
  std::size_t issue(const CommunicationOp& op, Parallelism parallelism) {
    communications.push_back({op, parallelism, steps.size() - 1, kIterationEnd});
    return communications.size() - 1;
  }
  // The next step waits for communication `c`.
  void wait(std::size_t c) { communications[c].waited_before = steps.size(); }
  void issue_blocking(const CommunicationOp& op, Parallelism parallelism) {
    wait(issue(op, parallelism));
  }
};

}  // namespace espalier
