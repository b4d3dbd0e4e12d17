#include "sims/workload/coordination/job_hosts.h"

#include "sims/workload/coordination/coordinated_hosts.h"
#include "sims/workload/coordination/ni_hosts.h"
#include "sims/workload/coordination/uncoordinated_hosts.h"

namespace espalier {

std::unique_ptr<JobHosts> make_hosts(const TrainingJob& job) {
  switch (job.spec.mode) {
    case CoordinationMode::none:
      return std::make_unique<UncoordinatedHosts>(job);
    case CoordinationMode::in_ni:
      return std::make_unique<NiHosts>(job);
    case CoordinationMode::coordinator:
    case CoordinationMode::hierarchical:
    case CoordinationMode::cached:
      break;
  }
  return std::make_unique<CoordinatedHosts>(job);
}

}  // namespace espalier
