// Horovod's cycles on all ranks: the operations of the control plane in a cycle, the sizes of their
// messages, and the decisions. coordinated_hosts.cpp moves the messages over a network,
// closed_form.cpp in closed form.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sims/workload/coordination/control_pattern.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/rank_controller.h"
#include "sims/workload/coordination/rank_framework.h"
#include "sims/workload/coordination/tensor_set.h"
#include "sims/workload/graph/host_services.h"

namespace espalier {

// The coordinator's message table: which units have been requested by how many sources (Romero et
// al., section 2.2.2). In a tree of coordinators, every rank has a table for the ranks below it.
class RequestCounter {
 public:
  // A unit is complete when `sources` sources have requested it: all ranks, or a rank and its
  // children in the tree.
  RequestCounter(std::uint32_t sources, std::size_t units) : sources_(sources), asked_(units, 0) {}

  // Takes one source's list. Appends units that become complete to `complete`, in the order of the
  // list.
  void count(const std::vector<UnitId>& list, std::vector<UnitId>& complete) {
    for (const UnitId unit : list) {
      if (++asked_[unit.index()] != sources_) continue;
      asked_[unit.index()] = 0;
      complete.push_back(unit);
    }
  }

 private:
  std::uint32_t sources_;
  std::vector<std::uint32_t> asked_;  // by unit
};

enum class ControlOp : std::uint8_t {
  intersect,         // bit vectors, AND
  unite,             // invalid bits, OR
  gather_lengths,    // of request lists
  gather_lists,      // request lists, to the coordinator
  count_up,          // request lists, from coordinator to coordinator
  broadcast_length,  // of the response list
  broadcast_list,    // the response list
};
inline constexpr std::size_t kNumControlOps = 7;

class Coordination {
 public:
  // `job` must outlive it. Precondition: has_cycles(job.spec.mode).
  explicit Coordination(const TrainingJob& job);

  [[nodiscard]] RankController& controller(RankId rank) { return controllers_[rank.index()]; }
  [[nodiscard]] const ControlPattern& pattern(ControlOp op) const;

  // The rank begins the cycle in cycle `at` of the clock. It submits the units that its framework
  // has completed.
  void enter(RankId rank, std::uint64_t cycle, RankFramework& framework, Cycle at);
  // The cycle's operation number `index`; none after the last. Precondition: the rank has finished
  // the operations before it.
  [[nodiscard]] std::optional<ControlOp> op(RankId rank, std::uint64_t cycle, std::size_t index);

  // The rank begins the operation. Returns how long it is busy first.
  Cycle begin(RankId rank, ControlOp op);
  // The rank's part of a gather; 0 in other operations.
  [[nodiscard]] Bytes own_part(RankId rank, ControlOp op) const;
  // True if all messages of the operation have one size and no rank spends time on handling them.
  // Precondition: all ranks have entered the cycle.
  [[nodiscard]] bool is_uniform(ControlOp op, std::uint64_t cycle) const {
    return op == ControlOp::intersect || op == ControlOp::unite ||
           op == ControlOp::broadcast_length || op == ControlOp::broadcast_list ||
           (op == ControlOp::count_up && !record(cycle).any_uncached);
  }
  // Size of a message that the rank sends. `gathered`: the rank's own part and everything that it
  // has received in this operation.
  [[nodiscard]] Bytes message_bytes(RankId rank, std::uint64_t cycle, ControlOp op,
                                    Bytes gathered) const;
  // The rank has received the message of `from`. Returns how long the rank is busy with it.
  Cycle received(RankId rank, RankId from, ControlOp op);
  // The rank has finished the operation. Returns how long the rank is busy afterwards.
  Cycle finished(RankId rank, std::uint64_t cycle, ControlOp op);
  // True if finished() takes time only on rank 0. Precondition: rank 0 has finished.
  [[nodiscard]] bool only_root_finishes(std::uint64_t cycle, ControlOp op) const {
    return (op != ControlOp::intersect && op != ControlOp::unite) || record(cycle).is_quiet;
  }

  // The rank's cycle is over. Returns the collectives that it has to execute, in order.
  struct Decided {
    CollectiveNumber first = 0;
    CollectiveNumber end = 0;
  };
  Decided leave(RankId rank, std::uint64_t cycle);

  // By number of the collective.
  [[nodiscard]] const std::vector<Response>& responses() const { return responses_; }
  // A sentence that names a rank which decided differently. Empty in a correct run.
  [[nodiscard]] const std::string& disagreement() const { return disagreement_; }

 private:
  struct Record {
    std::size_t entered = 0;
    std::size_t left = 0;
    std::size_t entries = 0;  // in every rank's cache
    BitVector common;
    bool common_is_empty = false;  // a rank has nothing pending
    BitVector invalid;
    bool any_invalid = false;
    bool any_uncached = false;
    std::optional<std::vector<UnitId>> cached;  // pending everywhere
    std::vector<UnitId> asked;                  // the coordinator heard all ranks' requests
    std::vector<UnitId> units;                  // to execute: cached, then asked
    bool is_quiet = false;                      // no bit is common, none is invalid
    bool is_decided = false;
    Decided decided;
  };

  [[nodiscard]] Record& record(std::uint64_t cycle) {
    return records_[static_cast<std::size_t>(cycle - first_record_)];
  }
  [[nodiscard]] const Record& record(std::uint64_t cycle) const {
    return records_[static_cast<std::size_t>(cycle - first_record_)];
  }
  void learn_cached(RankId rank, Record& record);
  void decide(Record& record);
  [[nodiscard]] std::size_t tensors_in(const std::vector<UnitId>& units) const;
  void disagree(RankId rank, const char* what);

  const TrainingJob& job_;
  bool uses_cache_;
  std::vector<ControlPattern> patterns_;  // by op
  std::vector<RankController> controllers_;
  std::vector<RequestCounter> counters_;  // rank 0's; hierarchical: every rank's
  std::vector<std::vector<UnitId>> up_;   // by rank: requests of its subtree in this cycle
  std::deque<Record> records_;
  std::uint64_t first_record_ = 0;
  std::vector<Response> responses_;
  Bytes list_bytes_ = 0;  // of the latest response list
  std::string disagreement_;
};

}  // namespace espalier
