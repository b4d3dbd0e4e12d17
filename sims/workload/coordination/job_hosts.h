// The hosts of a job in its mode of coordination.
#pragma once

#include <memory>

#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/host_services.h"
#include "sims/workload/coordination/training_record.h"

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
