#include "sims/choose/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "sims/process/child_process.h"
#include "sims/system/plan_simulation.h"
#include "sims/system/program_simulation.h"

namespace espalier {

namespace {

// Two known times are as far apart as this, or simulations decide.
constexpr double kListError = 1.01;
// Routers delay such a schedule, so that its plan says little about the number of segments.
constexpr double kLate = 1.02;

class Simulations {
 public:
  Simulations(const Topology& topology, const SystemConfig& system,
              const CollectiveConfig& collective, const Choices& choices)
      : topology_(topology), choices_(choices) {
    healthy_.system = system;
    healthy_.collective = collective;
  }

  // Simulates the candidates for which `wanted` holds and which are not too large.
  template <class Wanted>
  void run(std::vector<Candidate>& candidates, const Wanted& wanted) const {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::pair<Candidate*, NumberOfCopy>> children;
    for (Candidate& candidate : candidates) {
      if (wanted(candidate) && !candidate.is_large) {
        children.emplace_back(&candidate, start(candidate));
      }
    }
    for (auto& [candidate, child] : children) {
      const std::optional<Cycle> cycles = child.wait();
      candidate->failed = !cycles;
      candidate->is_large = cycles == kNever;
      if (cycles && !candidate->is_large) {
        candidate->simulated_us =
            static_cast<double>(*cycles) * 1e6 / static_cast<double>(healthy_.system.clock.hertz);
      }
    }
    choices_.add_simulating_seconds(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }

 private:
  // Its cycles; kNever: too many to simulate.
  [[nodiscard]] NumberOfCopy start(const Candidate& candidate) const {
    return NumberOfCopy([&]() -> std::optional<std::uint64_t> {
      SimulationHooks hooks;
      hooks.most_evaluations = kMostEvaluations;
      const SimulationOutcome outcome = simulate_work(topology_, healthy_, candidate.make(), hooks);
      // When the run has noticed that its budget is spent depends on the machine.
      if (outcome.evaluations > kMostEvaluations) return kNever;
      return outcome.verified ? std::optional(outcome.cycles) : std::nullopt;
    });
  }

  const Topology& topology_;
  RunPoint healthy_;
  const Choices& choices_;
};

// Whether one of the two is faster by more than their times are off.
bool is_settled(const Candidate& a, const Candidate& b) {
  if (a.failed || b.failed) return true;
  if (a.simulated_us && b.simulated_us) return true;
  const double ratio = std::max(a.us(), b.us()) / std::min(a.us(), b.us());
  return a.is_known() && b.is_known() && ratio > kListError;
}

}  // namespace

SimulationOutcome simulate_work(const Topology& topology, const RunPoint& point,
                                const CollectiveWork& work, const SimulationHooks& hooks) {
  if (work.plan) return simulate_plan(topology, point, work.plan->plan, hooks).simulation;
  return work.program ? simulate_program(topology, point, *work.program, 0, hooks)
                      : simulate_collective(topology, point, *work.tables, hooks);
}

double reach_us(const Candidate& best, const PlanError& of_plan) {
  return best.us() * (best.is_known() ? of_plan.faster : best.error.slower);
}

bool is_faster(const Candidate& a, const Candidate& b) {
  // What is too large to simulate may be as late as its plan may be wrong.
  const auto us = [](const Candidate& c) { return c.us() * (c.is_large ? c.error.slower : 1); };
  return a.failed != b.failed ? b.failed : us(a) < us(b);
}

std::string to_text(const Candidate& candidate) {
  // Four digits, and no exponent.
  const auto digits = [](double us) {
    return us < 1000 ? fmt::format("{:.4g}", us) : fmt::format("{:.0f}", us);
  };
  const std::string planned = digits(candidate.planned_us);
  const auto& [name, by] = std::tie(candidate.name, candidate.by);
  if (candidate.failed) return fmt::format("{}, not completed ({} {})", name, planned, by);
  if (candidate.is_large)
    return fmt::format("{}, {} us {}, too large to simulate", name, planned, by);
  return candidate.simulated_us ? fmt::format("{}, {} us simulated ({} {})", name,
                                              digits(*candidate.simulated_us), planned, by)
                                : fmt::format("{}, {} us {}", name, planned, by);
}

std::string why_text(const std::vector<Candidate>& candidates) {
  if (candidates.size() == 1) return to_text(candidates.front());
  return fmt::format("{}; next is {}", to_text(candidates[0]), to_text(candidates[1]));
}

void confirm(std::vector<Candidate>& candidates, const Topology& topology,
             const SystemConfig& system, const CollectiveConfig& collective,
             const Choices& choices) {
  const Simulations simulations(topology, system, collective, choices);
  const Candidate& first = candidates.front();
  const auto may_win = [&](const Candidate& c) {
    return &c != &first && c.us() <= reach_us(first, c.error);
  };
  if (std::any_of(candidates.begin(), candidates.end(), may_win)) {
    simulations.run(candidates, [](const Candidate& c) { return !c.is_known(); });
    const auto next = std::min_element(candidates.begin() + 1, candidates.end(), is_faster);
    if (!is_settled(first, *next)) {
      simulations.run(candidates, [](const Candidate& c) { return !c.simulated_us; });
    }
  }
  for (Candidate& candidate : candidates) {
    const auto try_others = std::exchange(candidate.others, {});
    const bool late =
        candidate.is_large || candidate.is_planned_badly ||
        (candidate.simulated_us && *candidate.simulated_us > kLate * candidate.planned_us);
    if (!late || !try_others) continue;
    std::vector<Candidate> others = try_others();
    simulations.run(others, [](const Candidate&) { return true; });
    for (Candidate& other : others) {
      if (other.simulated_us && is_faster(other, candidate)) candidate = std::move(other);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(), is_faster);
}

}  // namespace espalier
