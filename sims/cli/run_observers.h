// Who looks at a run while it is simulated, as its options ask for: waveforms, a timeline, an
// account of where the time went.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sims/cli/input.h"
#include "sims/cli/run_command.h"
#include "sims/experiment/point_runner.h"
#include "sims/observe/explain/run_account.h"
#include "sims/observe/scopes/wave_session.h"
#include "sims/observe/timeline/timeline_session.h"

namespace espalier {

// What is wrong with the options for runs of these; empty where nothing is.
[[nodiscard]] std::string observer_mistake(const RunOptions& options,
                                           const std::vector<Input>& inputs);

class RunObservers {
 public:
  // Precondition: no mistake; `point`: the one that is run here, where there are waves or a
  // timeline. Throws as WaveSession and TimelineSession.
  RunObservers(const RunOptions& options, const Input& input, const RunPoint& point);

  // Those of the simulation; both for run_point().
  void watch(SimulationHooks& hooks);
  [[nodiscard]] RunAccount* account() { return account_ ? &*account_ : nullptr; }
  // After the run: what is only known then.
  void finish(PointReport& report);

 private:
  std::unique_ptr<WaveSession> waves_;
  std::unique_ptr<TimelineSession> timeline_;
  std::optional<RunAccount> account_;
  bool explains_;  // the result has the account
};

}  // namespace espalier
