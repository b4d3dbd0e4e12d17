// The hosts of a job in its mode of coordination.
#pragma once

#include <memory>

#include "sims/coordination/coordination_spec.h"
#include "sims/coordination/host_services.h"
#include "sims/coordination/training_record.h"

namespace espalier {

class JobHosts : public HostProgram {
 public:
  // Complete once the job has finished.
  [[nodiscard]] virtual const TrainingRecord& record() const = 0;
};

[[nodiscard]] constexpr bool has_cycles(CoordinationMode mode) {
  return mode != CoordinationMode::none && mode != CoordinationMode::in_ni;
}

// `job` must outlive them.
[[nodiscard]] std::unique_ptr<JobHosts> make_hosts(const TrainingJob& job);

}  // namespace espalier
