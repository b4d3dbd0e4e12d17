#include "sims/workload/coordination/closed_form_run.h"

#include "sims/workload/coordination/closed_form_machine.h"
#include "sims/workload/coordination/cycle_run.h"
#include "sims/workload/coordination/job_hosts.h"

namespace espalier {

TrainingRecord run_in_closed_form(const TrainingJob& job, const MessageTime& messages,
                                  const ReductionTime& reductions, const JobProgress& progress) {
  if (has_cycles(job.spec.mode)) return CycleRun(job, messages, reductions).run(progress);
  const auto hosts = make_hosts(job);
  ClosedFormMachine machine(job.spec.ranks, messages, reductions);
  const std::string stuck = machine.run(*hosts);
  TrainingRecord record = hosts->record();
  if (record.failure.empty()) record.failure = stuck;
  return record;
}

}  // namespace espalier
