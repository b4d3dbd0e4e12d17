// The candidates of `algorithm: auto`, what is known of their times, and the short simulations that
// confirm a choice.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "hw/topology/link_timing.h"
#include "sims/experiment/choices.h"
#include "sims/process/child_process.h"
#include "sims/system/simulation.h"

namespace espalier {

// How far planned times are off. The first is of messages over several links, which share routers'
// buffers; the others are of messages over one link, if their NIs list them in the planned order.
inline constexpr double kPlannersError = 2;
inline constexpr double kListError = 1.01;
// How much faster than planned a schedule of messages over one link may be: ties between messages
// for a link are broken otherwise in routers. A program, too.
inline constexpr double kTieError = 1.05;
inline constexpr double kProgramError = 1.06;
// Of a plan on dimensions, by its pre-simulation.
inline constexpr double kForecastError = 1.1;

struct Rival {
  std::string name;
  double planned_us = 0;
  const char* by = "planned";  // where planned_us is from: "forecast" of a pre-simulation
  bool is_exact = false;       // the planned time is the machine's own, but for ties
  std::function<SimulationOutcome()> run = {};  // simulates it, in a process that has not simulated
  std::optional<double> simulated_us = {};
  bool failed = false;  // its simulation did not end with the right data

  [[nodiscard]] double us() const { return simulated_us.value_or(planned_us); }
  // The time is the machine's own.
  [[nodiscard]] bool is_known() const { return simulated_us || is_exact; }
};

// "forest, 2.634 us planned"
[[nodiscard]] std::string to_text(const Rival& rival);
// Why the first one is taken.
[[nodiscard]] std::string why_text(const Rival& taken, const Rival& next);

// Whether one of the two is faster by more than the planned times are off.
[[nodiscard]] bool is_settled(const Rival& a, const Rival& b);
// A rival whose simulation failed is slower than every other one.
[[nodiscard]] bool is_faster(const Rival& a, const Rival& b);

// Simulates the rivals for which `wanted` holds. SystemC elaborates once per process, so each has a
// child process; all run at the same time. Call before this process simulates. `us`: the time of so
// many cycles. `choices` gets the time that this process waits.
void simulate(const std::vector<Rival*>& rivals, const std::function<bool(const Rival&)>& wanted,
              const std::function<double(Cycle)>& us, const Choices& choices);

// The time of so many cycles.
[[nodiscard]] std::function<double(Cycle)> microseconds(const ClockSpec& clock);

// Answers questions while this process simulates: the constructor forks a child that has not.
class ChoiceProcess {
 public:
  using Answer = std::function<Choice(Bytes size)>;
  explicit ChoiceProcess(const Answer& answer);
  ~ChoiceProcess();
  ChoiceProcess(const ChoiceProcess&) = delete;
  ChoiceProcess& operator=(const ChoiceProcess&) = delete;

  // The child's answer for a collective of this size. Throws std::runtime_error with the child's
  // error.
  [[nodiscard]] Choice ask(Bytes size);

 private:
  Descriptor questions_;
  Descriptor answers_;
  std::optional<ChildProcess> child_;
};

}  // namespace espalier
