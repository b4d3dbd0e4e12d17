// Collects what external modules do wrong at their ports.
#pragma once

#include <string>

#include "hw/clock/clock_domain.h"
#include "hw/ids.h"

namespace espalier {

// The first broken rule stops the simulation, because nothing after it can be trusted.
class ProtocolWatch {
 public:
  explicit ProtocolWatch(ClockDomain& clock) : clock_(clock) {}

  // `port`: hierarchical name of the port's vertex and the port, e.g. "r_1_1, output 2".
  void report(const std::string& port, Cycle now, const std::string& rule);
  // "r_1_1, output 2: cycle 17: ..."; empty if no rule has been broken.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool is_broken() const { return !problem_.empty(); }

 private:
  ClockDomain& clock_;
  std::string problem_;
};

}  // namespace espalier
