// Whether lockstep decides the time of an explained run: the run is repeated without it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace espalier {

struct RunPoint;

struct ExplainedRun {
  const RunPoint* point;
  std::string schedule;  // file of its tables; empty: the algorithm makes them
  nlohmann::ordered_json* result;
};

// Simulates each run again with system.ni.lockstep: off, in a process of its own, if its account
// has a large lockstep wait. `explanation.without_lockstep` gets the cycles and the verdict of that
// run, and `explanation.verdict` a sentence that compares the two. Returns the signal that stopped
// it, or 0.
[[nodiscard]] int compare_without_lockstep(const std::vector<ExplainedRun>& runs, unsigned jobs);

}  // namespace espalier
