// Horovod's cycles as all ranks live through them: which operations of the control plane a cycle
// has, how large their messages are, and what is decided. Who moves the messages, and how long they
// take, is not known here: on the network it is coordinated_hosts.h, in closed form
// closed_form_run.h.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sims/workload/coordination/control_pattern.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/host_services.h"
#include "sims/workload/coordination/rank_controller.h"
#include "sims/workload/coordination/request_counter.h"

namespace espalier {

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
  // `job` must outlive it. Precondition: its mode has cycles (coordinator, hierarchical, cached).
  explicit Coordination(const TrainingJob& job);

  [[nodiscard]] RankController& controller(RankId rank) { return controllers_[rank.index()]; }
  [[nodiscard]] const ControlPattern& pattern(ControlOp op) const;

  // Rank `rank` begins its cycle `cycle`, having submitted what is complete.
  void enter(RankId rank, std::uint64_t cycle);
  // All ranks do.
  void enter_together(std::uint64_t cycle);
  // The cycle's operations, one after the other; none after the last. Asked by a rank that has
  // finished all before `index`.
  [[nodiscard]] std::optional<ControlOp> op(RankId rank, std::uint64_t cycle, std::size_t index);

  // The rank begins the operation; how long it is busy first.
  Cycle begin(RankId rank, ControlOp op);
  // What it adds to the messages of a gather; 0 in other operations.
  [[nodiscard]] Bytes own_part(RankId rank, ControlOp op) const;
  // All messages of the operation are as large, and no rank is busy before or with them. Asked when
  // all ranks have entered the cycle.
  [[nodiscard]] bool is_uniform(ControlOp op, std::uint64_t cycle) const {
    return op == ControlOp::intersect || op == ControlOp::unite ||
           op == ControlOp::broadcast_length || op == ControlOp::broadcast_list ||
           (op == ControlOp::count_up && !record(cycle).any_uncached);
  }
  // What it sends, where `gathered` is its own part and all that it has received in this operation.
  [[nodiscard]] Bytes message_bytes(RankId rank, std::uint64_t cycle, ControlOp op,
                                    Bytes gathered) const;
  // It has received the message of `from`; how long that keeps it busy.
  Cycle received(RankId rank, RankId from, ControlOp op);
  // It has finished the operation; how long it is busy then.
  Cycle finished(RankId rank, std::uint64_t cycle, ControlOp op);
  // Ranks other than 0 do nothing when they have finished it; rank 0 has.
  [[nodiscard]] bool only_root_finishes(std::uint64_t cycle, ControlOp op) const {
    return (op != ControlOp::intersect && op != ControlOp::unite) || record(cycle).is_quiet;
  }

  // The rank's cycle is over: the collectives that it has to execute, in order.
  struct Decided {
    CollectiveNumber first = 0;
    CollectiveNumber end = 0;
  };
  Decided leave(RankId rank, std::uint64_t cycle);
  // All ranks' cycle is over.
  Decided leave_together(std::uint64_t cycle);

  // By collective.
  [[nodiscard]] const std::vector<Response>& responses() const { return responses_; }
  // Ranks that did not come to the same decision, as a sentence; empty as it should be.
  [[nodiscard]] const std::string& disagreement() const { return disagreement_; }

 private:
  struct Record {
    std::size_t entered = 0;
    std::size_t left = 0;
    std::size_t entries = 0;  // of the caches
    BitVector common;
    bool common_is_empty = false;  // some rank has nothing pending
    BitVector invalid;
    bool any_invalid = false;
    bool any_uncached = false;
    std::optional<std::vector<UnitId>> cached;  // pending everywhere
    std::vector<UnitId> asked;                  // by all ranks, of the coordinator
    std::vector<UnitId> units;                  // to execute: cached, then asked
    bool is_quiet = false;                      // nothing is pending everywhere, nothing is invalid
    bool is_decided = false;
    Decided decided;
  };

  [[nodiscard]] Record& record(std::uint64_t cycle) {
    return records_[static_cast<std::size_t>(cycle - first_record_)];
  }
  [[nodiscard]] const Record& record(std::uint64_t cycle) const {
    return records_[static_cast<std::size_t>(cycle - first_record_)];
  }
  void enter(RankId rank, Record& record);
  void learn_cached(RankId rank, Record& record);
  void decide(Record& record);
  [[nodiscard]] std::size_t tensors_in(const std::vector<UnitId>& units) const;
  void disagree(RankId rank, const char* what);

  const TrainingJob& job_;
  bool uses_cache_;
  std::vector<ControlPattern> patterns_;  // by op
  std::vector<RankController> controllers_;
  std::vector<RequestCounter> counters_;  // of rank 0, or of every rank of the tree
  std::vector<std::vector<UnitId>> up_;   // by rank: what its part of the tree asks for, this cycle
  std::deque<Record> records_;
  std::uint64_t first_record_ = 0;
  std::vector<Response> responses_;
  Bytes list_bytes_ = 0;  // of the response list decided last
  std::string disagreement_;
};

}  // namespace espalier
