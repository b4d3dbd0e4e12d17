// The stations of messages at a network interface, and the moves of its schedule table or program
// contexts, written down.
#pragma once

#include <cstdint>
#include <vector>

#include "ni/engine_view.h"
#include "ni/engines/context_observer.h"
#include "ni/ni_observer.h"
#include "sims/observe/record/message_records.h"

namespace espalier {

class NiRecorder : public NiObserver, public ContextObserver {
 public:
  // Before the simulation, after the NI's engine is loaded. `channels`: its injection ports', in
  // RunRecord::channels. Writes into `record`, which must outlive it, as must the records.
  NiRecorder(NetworkInterface& ni, std::vector<std::uint32_t> channels, NiRecord& record,
             MessageRecords& records);

  void evaluated(const NetworkInterface& ni, Cycle now) override;
  void message_issued(MessageId message, std::uint32_t port, Cycle read, Cycle now) override;
  void message_sent(MessageId message, Cycle now) override { records_[message].sent = now; }
  void message_visible(MessageId message, Cycle now) override { records_[message].visible = now; }
  void reduction_begins(MessageId message, Cycle now) override { records_[message].adding = now; }
  void message_done(MessageId message, Cycle now) override { records_[message].done = now; }

  void call_launched(std::uint32_t call, Cycle now, Cycle begins) override {
    record_.launches.push_back({call, now, begins});
  }
  void step_began(const StepPlace& place, const ProgramStep& step, Cycle now) override;
  void request_ended(const StepPlace& place, const RequestTimes& times) override;
  void step_ended(const StepPlace& place, const StepTimes& times) override;

 private:
  std::vector<std::uint32_t> channels_;
  NiRecord& record_;
  MessageRecords& records_;
  EngineView view_;  // kept for its memory
  bool has_table_ = false;
};

}  // namespace espalier
