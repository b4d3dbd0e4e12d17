// The observers that the options of a run ask for: waveforms, a timeline, an account of where the
// time went.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sims/cli/commands.h"
#include "sims/cli/input.h"
#include "sims/experiment/point_runner.h"
#include "sims/observe/explain/run_account.h"
#include "sims/observe/scopes/wave_session.h"
#include "sims/observe/timeline/timeline_session.h"

namespace espalier {

// Returns what is wrong with the options for these inputs, including outputs; empty if nothing is
// wrong.
[[nodiscard]] std::string observer_mistake(const RunOptions& options,
                                           const std::vector<Input>& inputs);

class RunObservers {
 public:
  // Precondition: observer_mistake() is empty. Throws the exceptions of WaveSession and
  // TimelineSession.
  RunObservers(const RunOptions& options, const Input& input, const RunPoint& point);

  // Registers the observers of the simulation.
  void watch(SimulationHooks& hooks);
  // For run_point(); nullptr if no option needs it.
  [[nodiscard]] RunAccount* account() { return account_ ? &*account_ : nullptr; }
  // What is wrong with the scopes of waves, which is known when the system is built: there was no
  // run. Empty if nothing is.
  [[nodiscard]] std::string mistake() const { return waves_ ? waves_->mistake() : ""; }
  // To be called after the run: orders the waveform's save file by the critical path.
  void finish(PointReport& report);
  // Why the account has no answer about a part; empty if it has all answers.
  [[nodiscard]] std::string unanswered() const { return account_ ? account_->mistake() : ""; }
  // Why outputs are not complete, line by line; empty if all are.
  [[nodiscard]] std::string problems() const;

 private:
  std::unique_ptr<WaveSession> waves_;
  std::unique_ptr<TimelineSession> timeline_;
  std::optional<RunAccount> account_;
  bool explains_;  // the result contains the account
  bool is_step_;   // of training
};

}  // namespace espalier
