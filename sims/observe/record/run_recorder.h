// Writes down what happens in a run, as RunRecord says. Memory goes with messages and with runs of
// flits, not with cycles.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sims/observe/record/channel_recorder.h"
#include "sims/observe/record/ni_recorder.h"
#include "sims/system/simulation.h"

namespace espalier {

class RunRecorder : public SystemObserver {
 public:
  void begin(Fabric& fabric) override;
  void advance(Cycle) override {}
  void finish(Cycle end) override;

  // Complete after finish().
  [[nodiscard]] const RunRecord& record() const { return record_; }

 private:
  void watch_channels(Fabric& fabric);
  void watch_nis(Fabric& fabric);

  RunRecord record_;
  std::optional<MessageRecords> messages_;
  FlitInSwitch in_switch_;
  std::vector<std::unique_ptr<ChannelRecorder>> channels_;
  std::vector<std::unique_ptr<NiRecorder>> nis_;
};

}  // namespace espalier
