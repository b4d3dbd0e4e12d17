// What is simulated for a measured case: settings of a configuration, by NCCL's choice.
#pragma once

#include <string>
#include <vector>

#include "sims/silicon/machines.h"

namespace espalier {

// What tells measured times of one machine apart.
struct MeasuredCase {
  MeasuredOp op = MeasuredOp::all_reduce;
  std::string setting;
  std::string kernel;
  Bytes size = 0;
  std::string nccl;  // version; empty: the machine's
  std::string site;  // empty: does not matter
};
[[nodiscard]] bool operator<(const MeasuredCase& a, const MeasuredCase& b);

// A simulation, and how often its time counts.
struct PlannedRun {
  std::vector<std::string> settings;  // "key=value"
  double weight = 1;
};

struct CasePlan {
  std::string how;  // "ring Simple x24"
  // The time is the weighted sum of the runs' times. More than one run: a program that repeats
  // itself over so much data is simulated with two smaller sizes, and continued along the line
  // through them.
  std::vector<PlannedRun> runs;
  double added_microseconds = 0;
  // What the host takes for an operation. It prepares one while the GPUs execute the one before, so
  // that the longer of both counts.
  double host_microseconds = 0;
};

[[nodiscard]] CasePlan plan_case(const SiliconMachine& machine, const MeasuredCase& measured,
                                 const Numbers& numbers);

}  // namespace espalier
