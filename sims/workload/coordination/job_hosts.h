// The hosts of a job in its mode of coordination.
#pragma once

#include <memory>

#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/host_services.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

class JobHosts : public HostProgram {
 public:
  // Complete when the job has finished.
  [[nodiscard]] virtual const TrainingRecord& record() const = 0;
};

[[nodiscard]] constexpr bool has_cycles(CoordinationMode mode) {
  return mode != CoordinationMode::none && mode != CoordinationMode::in_ni;
}

// `job` must outlive the hosts.
[[nodiscard]] std::unique_ptr<JobHosts> make_hosts(const TrainingJob& job);

// For make_hosts: hosts that run Horovod's cycles. Precondition: has_cycles(job.spec.mode).
[[nodiscard]] std::unique_ptr<JobHosts> make_coordinated_hosts(const TrainingJob& job);

}  // namespace espalier
