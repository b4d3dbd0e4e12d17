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
  void finish(Cycle end) override;
  // Why the file is not complete; empty if it is.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::uint64_t clock_hertz_;
  PerfettoFile file_;
  RunRecorder recorder_;
  std::vector<bool> is_link_;  // by channel
  std::string problem_;
};

}  // namespace espalier
