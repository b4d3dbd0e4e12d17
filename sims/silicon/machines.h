// The measured machines: which rows are theirs, which preset describes them, and which of their
// numbers are calibrated.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "alg/program/nccl_tuning.h"
#include "sims/silicon/measured_rows.h"

namespace espalier {

// A number that is fitted to the fitted third of the rows. A name with dots is a key of the
// configuration; others are read by the plan of a row (nccl_plan.h).
struct FittedNumber {
  const char* name;
  double value;
  const char* unit;  // behind the value in a configuration; empty: none
  const char* meaning;
  double start = 0;            // where a fit begins; 0: at the value
  const char* from = nullptr;  // the machine whose fit found it; nullptr: this one, or assumed
};

// Keys that plans set as well.
inline constexpr const char* kChannelRate = "system.ni.program.context_bytes_per_cycle";
inline constexpr const char* kLaunch = "system.ni.program.doorbell_cycles";

using Numbers = std::map<std::string, double>;

struct SiliconMachine {
  const char* name;
  const char* preset;
  NcclSystem nccl;
  std::vector<FittedNumber> fitted;
  std::vector<FittedNumber> given = {};  // found by another machine's fit, or assumed
  // All its rows below 1 MiB are fitted: its numbers predict the rows of another machine.
  bool fits_small = false;

  // The fitted and the given numbers as they are in the program.
  [[nodiscard]] Numbers numbers() const;
  // "49GB/s".
  [[nodiscard]] std::string text_of(const FittedNumber& number, double value) const;
};

// In the order in which users see them.
[[nodiscard]] const std::vector<SiliconMachine>& silicon_machines();

struct MachineOfRow {
  const SiliconMachine* machine = nullptr;  // nullptr: the row stands apart
  std::string why_apart;
  // The site, NCCL's version and the setting of the network tell times of the machine apart. On
  // Sophia settings are for another fabric.
  bool has_settings = false;
};
// Rows that nothing in the data can explain stand apart, with the reason.
[[nodiscard]] MachineOfRow machine_of(const MeasuredRow& row);

}  // namespace espalier
