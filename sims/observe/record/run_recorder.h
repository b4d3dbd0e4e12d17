// Records a run. The memory grows with the number of messages and of runs of flits, not with the
// number of cycles.
#pragma once

#include <memory>

#include "sims/observe/record/run_record.h"
#include "sims/system/simulation.h"

namespace espalier {

// Throws std::invalid_argument if routers or network interfaces are not built in: messages cannot
// be followed through them.
void refuse_sockets(Fabric& fabric);

class RunRecorder : public SystemObserver {
 public:
  RunRecorder();
  ~RunRecorder() override;

  void begin(Fabric& fabric) override;
  void advance(Cycle) override {}
  void finish(Cycle end) override;

  // Complete after finish().
  [[nodiscard]] const RunRecord& record() const { return record_; }

 private:
  struct Watchers;

  RunRecord record_;
  std::unique_ptr<Watchers> watchers_;  // observers of the fabric's channels and network interfaces
};

}  // namespace espalier
