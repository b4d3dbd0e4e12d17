#include "ni/schedule_table_engine.h"

#include <algorithm>

namespace espalier {

ScheduleTableEngine::ScheduleTableEngine(const TableProgram& program, const Spec& spec)
    : program_(program),
      spec_(spec),
      clear_at_(program.entries.size(), 0),
      seen_(program.arrival_keys.size(), false) {
  pending_.reserve(program.entries.size());
  for (const ProgramEntry& entry : program.entries) pending_.push_back(entry.waits_for);
}

void ScheduleTableEngine::arrived(const ArrivalKey& key, Cycle now) {
  const auto& keys = program_.arrival_keys;
  for (auto k = std::lower_bound(keys.begin(), keys.end(), key); k != keys.end() && *k == key;
       ++k) {
    const auto index = static_cast<std::size_t>(k - keys.begin());
    if (seen_[index]) continue;
    seen_[index] = true;
    const std::uint32_t entry = program_.waiters[index];
    --pending_[entry];
    clear_at_[entry] = now + 1 + (program_.entries[entry].reads_back ? spec_.turnaround : 0);
  }
}

Cycle ScheduleTableEngine::advance_timestep(Cycle now, const BackEndState& back_end) {
  if (timestep_ != 0 && spec_.lockstep != LockstepMode::off) {
    if (lockstep_until_ > now) return lockstep_until_;
    if (!back_end.reduction_idle) return back_end.reduction_idle_at;
    if (spec_.lockstep == LockstepMode::drain && !back_end.all_sent) return kNever;
  }
  ++timestep_;
  counter_loaded_ = false;
  return now + 1;
}

void ScheduleTableEngine::load_lockstep_counter(Cycle now) {
  counter_loaded_ = true;
  const bool counts =
      spec_.lockstep == LockstepMode::estimate || spec_.lockstep == LockstepMode::full;
  lockstep_until_ = now + (counts ? spec_.step_time[timestep_ - 1] : 0);
}

std::vector<ArrivalKey> ScheduleTableEngine::head_waits_for() const {
  std::vector<ArrivalKey> missing;
  for (std::size_t k = 0; k < program_.waiters.size() && !done(); ++k) {
    if (program_.waiters[k] == head_ && !seen_[k]) missing.push_back(program_.arrival_keys[k]);
  }
  return missing;
}

}  // namespace espalier
