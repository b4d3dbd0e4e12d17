// Simulates planned cases in child processes, each distinct configuration once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sims/report/figure/figure_jobs.h"
#include "sims/silicon/nccl_plan.h"

namespace espalier {

struct CaseTime {
  double microseconds = 0;
  std::string failure;  // empty: none
};

class SiliconRuns {
 public:
  // `program`: the executable that simulates. Finished points are kept in `folder`; empty: only in
  // memory.
  SiliconRuns(const std::string& program, std::size_t at_once, const std::string& folder);

  // The times of the plans, in their order. nullopt if a signal stopped the simulations.
  [[nodiscard]] std::optional<std::vector<CaseTime>> times_of(const std::vector<CasePlan>& plans);
  [[nodiscard]] int signal() const { return signal_; }
  [[nodiscard]] std::size_t simulations() const { return simulations_; }

 private:
  struct Run;
  [[nodiscard]] bool simulate(std::vector<Run>& runs);

  std::string program_;
  std::size_t at_once_;
  std::optional<PointCache> cache_;
  std::map<std::vector<std::string>, CaseTime> known_;  // by settings
  int signal_ = 0;
  std::size_t simulations_ = 0;
};

}  // namespace espalier
