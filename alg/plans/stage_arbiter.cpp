#include "alg/plans/stage_arbiter.h"

#include <algorithm>
#include <cmath>

namespace espalier {

void StageQueue::push(StageRef stage, std::uint64_t key) { waiting_.push_back({stage, key}); }

std::vector<StageQueue::Waiting>::const_iterator StageQueue::find_next() const {
  auto next = waiting_.begin();
  if (spec_.order == QueueOrder::fifo) return next;
  for (auto it = waiting_.begin() + 1; it != waiting_.end(); ++it) {
    const bool newest_wins = spec_.ties == TieRule::newest && it->key == next->key;
    if (it->key < next->key || newest_wins) next = it;
  }
  return next;
}

StageRef StageQueue::next() const { return find_next()->stage; }

StageRef StageQueue::pop() {
  const auto next = find_next();
  const StageRef stage = next->stage;
  waiting_.erase(next);
  return stage;
}

bool StageQueue::take(StageRef stage) {
  const auto it = std::find_if(waiting_.begin(), waiting_.end(),
                               [&](const Waiting& w) { return w.stage == stage; });
  if (it == waiting_.end()) return false;
  waiting_.erase(it);
  return true;
}

bool StageQueue::holds(StageRef stage) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiting& w) { return w.stage == stage; });
}

std::uint64_t arbitration_key(std::uint64_t before, std::uint64_t after, ChunkKey key) {
  if (key == ChunkKey::larger) return std::max(before, after);
  return key == ChunkKey::before ? before : after;
}

std::uint64_t arbitration_key(const DimensionPlan& plan, StageRef stage, ChunkKey key) {
  const std::vector<std::uint64_t> residents = plan.compared_residents(stage.chunk);
  return arbitration_key(residents[stage.stage], residents[stage.stage + 1], key);
}

FlightGate::FlightGate(const PlannedDimension& dimension, const FlightSpec& spec)
    : dimension_(dimension), spec_(spec) {
  const StageSteps steps(dimension_.algorithm, dimension_.size);
  delay_ps_ =
      static_cast<std::int64_t>(std::uint64_t{2} * steps.steps() * dimension_.step_latency_ps);
}

std::int64_t FlightGate::sending_ps(StageKind kind, double resident) const {
  const double bytes = bytes_sent(kind, dimension_.algorithm, dimension_.size, resident);
  return std::llround(bytes * 1e12 / static_cast<double>(dimension_.bytes_per_second));
}

}  // namespace espalier
