// A candidate of `algorithm: auto`: its planned time, how far that is off, and the short simulation
// that confirms it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sims/choose/choices.h"
#include "sims/choose/collective_work.h"
#include "sims/point/config.h"

namespace espalier {

// By which factors a machine may be faster and slower than planned.
struct PlanError {
  double faster = 1;
  double slower = 1;
};
// Messages over one link: routers break ties between them otherwise. The plan is the machine's own
// if NIs list the messages in the planned order and nothing else limits them.
inline constexpr PlanError kExactPlan{1.05, 1};
inline constexpr PlanError kOneLinkPlan{1.05, 2};
// Messages over several links, which share routers' buffers.
inline constexpr PlanError kContendedPlan{2, 2};
// Programs whose messages pass one link.
inline constexpr PlanError kProgramPlan{1.06, 2};
// A plan on dimensions, by its pre-simulation.
inline constexpr PlanError kForecast{1.1, 1.1};

struct Candidate {
  std::string algorithm;       // a generator, a built-in program, or a planner
  std::uint32_t segments = 0;  // of a generator's request
  std::string name;            // "ring in 4 segments"
  double planned_us = 0;
  PlanError error;
  std::function<CollectiveWork()> make;
  // Where the machine is later than planned: the same algorithm in other numbers of segments.
  std::function<std::vector<Candidate>()> others = {};
  const char* by = "planned";  // where planned_us is from: "forecast" of a pre-simulation
  // Simulating it takes more work than choosing is worth (kMostEvaluations).
  bool is_large = false;
  bool is_planned_badly = false;  // others may be faster even if it takes as long as planned
  std::optional<double> simulated_us = {};
  bool failed = false;  // its simulation did not end with the right data

  [[nodiscard]] double us() const { return simulated_us.value_or(planned_us); }
  // The time is the machine's own.
  [[nodiscard]] bool is_known() const { return simulated_us || error.slower == 1; }
};

// Of a simulation that chooses: about two seconds of one core. A message takes eight at least.
inline constexpr std::uint64_t kMostEvaluations = 4'000'000;
inline constexpr std::uint64_t kMessageEvaluations = 8;

// The time below which a plan may be faster than `best`.
[[nodiscard]] double reach_us(const Candidate& best, const PlanError& of_plan);
// A candidate whose simulation failed is slower than every other one.
[[nodiscard]] bool is_faster(const Candidate& a, const Candidate& b);

// "forest, 2.634 us planned"
[[nodiscard]] std::string to_text(const Candidate& candidate);
// Why the first candidate is taken; `candidates` begins with the fastest.
[[nodiscard]] std::string why_text(const std::vector<Candidate>& candidates);

// Simulates the candidates whose planned times do not settle which one is the fastest, alone on the
// healthy system, and moves the fastest to the front. SystemC elaborates once per process, so each
// has a child process, and all run at the same time: call before this process simulates.
// Precondition: the first one is planned to be the fastest, or known to be the fastest of its kind.
// `choices` gets the time that this process waits.
void confirm(std::vector<Candidate>& candidates, const Topology& topology,
             const SystemConfig& system, const CollectiveConfig& collective,
             const Choices& choices);

}  // namespace espalier
