// The runs of `compare`: simulated in the order of their planned times, until they are certain to
// lose.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sims/study/workers.h"

namespace espalier {

class RunStore;
struct RunPoint;

// An algorithm that takes longer than so many times the best time is not simulated to the end, as
// the texts say.
inline constexpr double kLosing = 5;
inline constexpr const char* kLoses = "> 5 x the best: not simulated to the end; --full does";
inline constexpr const char* kPlannedToLose =
    "planned to take > 5 x the best: not simulated to the end; --full does";
inline constexpr const char* kProvenSlowly =
    "certifying the program takes minutes, so it is not simulated; --full does";

struct ComparedPoint {
  const RunPoint* point;
  std::string name;          // in messages: its algorithm, or its file
  std::string schedule;      // file of its tables; empty: the algorithm makes them
  std::string system;        // in tables; empty: all points have the same
  std::size_t nodes;         // of the system
  WorkerReport report = {};  // `result` has `stopped_ns` if it was stopped (docs/collectives.md)
};

struct ComparisonSettings {
  unsigned jobs = 0;
  WorkerLimits limits = {};
  bool full = false;          // nothing is stopped
  std::string choices = {};   // WorkerTask
  RunStore* store = nullptr;  // of finished simulations; nullptr: none
};

// Makes the reports. Returns the signal that stopped the simulations, or 0.
[[nodiscard]] int compare_points(std::vector<ComparedPoint>& points,
                                 const ComparisonSettings& settings);

// Simulates the points `which` again; their results get an explanation of where the time went.
// Returns the signal that stopped the simulations, or 0.
[[nodiscard]] int explain_points(std::vector<ComparedPoint>& points,
                                 const std::vector<std::size_t>& which,
                                 const ComparisonSettings& settings);

struct ExplainedRun {
  const RunPoint* point;
  std::string schedule;  // file of its tables; empty: the algorithm makes them
  nlohmann::ordered_json* result;
};

// Simulates each run again with system.ni.lockstep: off, in a process of its own, if its account
// has a large lockstep wait. `explanation.without_lockstep` gets the cycles and the verdict of that
// run, and `explanation.verdict` a sentence that compares the two. Returns the signal that stopped
// it, or 0.
[[nodiscard]] int compare_without_lockstep(const std::vector<ExplainedRun>& runs, unsigned jobs,
                                           RunStore* store);

}  // namespace espalier
