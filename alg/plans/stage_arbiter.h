// Chooses the next one of the chunks that wait for a dimension. Used by the NI's dimension queues
// and by the pre-simulation that fixes their order (Themis, section 4.3).
#pragma once

#include <cstdint>
#include <vector>

#include "alg/plans/dimension_plan.h"

namespace espalier {

enum class QueueOrder : std::uint8_t { fifo, scf };  // scf: smallest chunk first
// Which of a stage's two sizes is compared.
enum class ChunkKey : std::uint8_t { larger, before, after };
enum class TieRule : std::uint8_t { newest, oldest };  // among equal chunks

struct ArbiterSpec {
  QueueOrder order = QueueOrder::scf;
  ChunkKey key = ChunkKey::larger;
  TieRule ties = TieRule::newest;

  friend bool operator==(const ArbiterSpec& a, const ArbiterSpec& b) {
    return a.order == b.order && a.key == b.key && a.ties == b.ties;
  }
};

// One dimension's queue of stages whose chunk is ready. Stages that become ready in the same cycle
// arrive in ascending chunk number.
class StageQueue {
 public:
  explicit StageQueue(const ArbiterSpec& spec) : spec_(spec) {}

  void push(StageRef stage, std::uint64_t key);  // key: see arbitration_key()
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  // Removes and returns the next stage. fifo: the stage that arrived first. scf: the smallest key;
  // the last (newest) or first (oldest) arrival wins ties. Precondition: not empty.
  StageRef pop();
  // The stage that pop() would return. Precondition: not empty.
  [[nodiscard]] StageRef next() const;
  // Removes `stage` if it waits here; otherwise returns false.
  bool take(StageRef stage);
  [[nodiscard]] bool holds(StageRef stage) const;

 private:
  struct Waiting {
    StageRef stage;
    std::uint64_t key = 0;
  };
  [[nodiscard]] std::vector<Waiting>::const_iterator find_next() const;

  ArbiterSpec spec_;
  std::vector<Waiting> waiting_;  // in order of arrival
};

// How many stages of a dimension may be in flight.
struct FlightSpec {
  std::uint32_t places = 8;
  // Permits more stages if these have so few bytes that the fixed delay of their steps leaves the
  // links idle: as long as sending their bytes takes less than twice this delay (section 4.3: small
  // chunks run in parallel).
  bool cover_delay = false;
};

// Tracks the stages of one dimension that are in flight.
class FlightGate {
 public:
  FlightGate(const PlannedDimension& dimension, const FlightSpec& spec);

  [[nodiscard]] bool open() const {
    return in_flight_ < spec_.places || (spec_.cover_delay && busy_ps_ < delay_ps_);
  }
  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  // A stage that begins with `resident` bytes at each NPU.
  void enter(StageKind kind, double resident) {
    ++in_flight_;
    busy_ps_ += sending_ps(kind, resident);
  }
  void leave(StageKind kind, double resident) {
    --in_flight_;
    busy_ps_ -= sending_ps(kind, resident);
  }

 private:
  // The time that the stage's bytes take at the dimension's bandwidth.
  [[nodiscard]] std::int64_t sending_ps(StageKind kind, double resident) const;

  PlannedDimension dimension_;
  FlightSpec spec_;
  std::uint32_t in_flight_ = 0;
  std::int64_t busy_ps_ = 0;
  std::int64_t delay_ps_ = 0;  // twice the fixed delay of a stage, A_K
};

// The number that the arbiter compares: what an NPU holds before the stage, after it, or the larger
// of both, in the units of DimensionPlan::compared_residents().
[[nodiscard]] std::uint64_t arbitration_key(std::uint64_t before, std::uint64_t after,
                                            ChunkKey key);
[[nodiscard]] std::uint64_t arbitration_key(const DimensionPlan& plan, StageRef stage,
                                            ChunkKey key);

}  // namespace espalier
