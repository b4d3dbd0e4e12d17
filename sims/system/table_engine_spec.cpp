#include "sims/system/table_engine_spec.h"

#include "sims/system/step_time.h"

namespace espalier {

ScheduleTableEngine::Spec table_engine_spec(const SystemConfig& config,
                                            const ScheduleTables& tables,
                                            const std::vector<PostedCollective>& posts,
                                            const SystemTiming& timing, std::uint32_t ni_ports) {
  ScheduleTableEngine::Spec spec;
  spec.lockstep = config.ni.lockstep;
  spec.issue_per_cycle = ni_ports;
  spec.turnaround = config.ni.turnaround_cycles;
  spec.step_time = step_times(tables, config, timing);
  for (const PostedCollective& post : posts) spec.releases.push_back({post.first_step, post.at});
  return spec;
}

}  // namespace espalier
