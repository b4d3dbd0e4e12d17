// `espalier run --timeline FILE`: the timeline of one simulation, written when the simulation is
// over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sims/observe/record/busy_links.h"
#include "sims/observe/record/run_recorder.h"
#include "sims/observe/timeline/perfetto_file.h"
#include "sims/system/simulation.h"

namespace espalier {

class TimelineSession : public SystemObserver {
 public:
  // Creates the file. Throws std::runtime_error if this fails.
  TimelineSession(const std::string& path, std::uint64_t clock_hertz);

  void begin(Fabric& fabric) override;
  void advance(Cycle until) override { links_->advance(until); }
  void finish(Cycle end) override;
  // Of a step, whose messages are too many for a record: instead of the three above.
  void write(const GraphHosts& hosts, const BusyLinks& links);
  // Why the file is not complete; empty if it is.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  template <class Write>
  void write_file(Tick ticks_per_cycle, const Write& write);

  std::uint64_t clock_hertz_;
  PerfettoFile file_;
  RunRecorder recorder_;
  std::optional<BusyLinks> links_;
  std::string problem_;
};

}  // namespace espalier
