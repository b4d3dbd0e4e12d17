// `espalier run --timeline FILE`: the timeline of one simulation, written when the simulation is
// over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sims/observe/record/run_recorder.h"
#include "sims/observe/timeline/perfetto_file.h"
#include "sims/system/simulation.h"

namespace espalier {

class TimelineSession : public SystemObserver {
 public:
  // Creates the file. Throws std::runtime_error if this fails.
  TimelineSession(const std::string& path, std::uint64_t clock_hertz);

  void begin(Fabric& fabric) override;
  void advance(Cycle until) override { recorder_.advance(until); }
  // Throws std::runtime_error if the file is not complete.
  void finish(Cycle end) override;

 private:
  std::uint64_t clock_hertz_;
  PerfettoFile file_;
  RunRecorder recorder_;
  std::vector<bool> is_link_;  // by channel
};

}  // namespace espalier
